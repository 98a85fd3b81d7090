"""What a controller answers to those who read, computed anew from a state: ACLs, configs, features and so on.

A DescribeConfigs is compared by the values that are set dynamically, by which one can see everything that the
log says of configs; defaults come from tables that tests compare with Kafka's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from kraftctl_protocol.api_keys import ApiKey
from kraftctl_protocol.generated.describe_acls_request import DescribeAclsRequest
from kraftctl_protocol.generated.list_partition_reassignments_request import ListPartitionReassignmentsRequest
from tests.support.simulator.checks.asked_requests import AskedRequest
from tests.support.simulator.reference.rows import BROKER, TOPIC, Key, State, rows_of
from tests.support.simulator.reference.values import Acl

ANY = 1
MATCH = 2
LITERAL = 3
PREFIXED = 4

TOPIC_SOURCE = 1
SOURCES = {TOPIC: 1, BROKER: 2, 16: 7, 32: 8}
"""Resource type -> the source of what is set for exactly this resource: Kafka's ConfigSource ids."""

CLUSTER_DEFAULT_SOURCE = 3

FINALIZED_SINCE = 3
"""The version of ApiVersions that has features."""

Difference = Callable[[AskedRequest, Any, State, int], str]


class Read(NamedTuple):
    """`difference` compares a response with one state of `tables`; empty if it is what the state says."""

    is_of_leader: bool
    tables: list[Key]
    difference: Difference


def _unlike(found: object, expected: object) -> str:
    return "" if found == expected else f"{found}, not {expected}"


def acls(asked: AskedRequest, response: Any, state: State, last_end: int) -> str:
    request = asked.request
    assert isinstance(request, DescribeAclsRequest)
    found = sorted(
        Acl(
            resource.resource_type,
            resource.resource_name,
            resource.pattern_type,
            acl.principal,
            acl.host,
            acl.operation,
            acl.permission_type,
        )
        for resource in response.resources
        for acl in resource.acls
    )
    expected = sorted({acl for _, acl in rows_of(state, "acl") if _acl_matches(request, acl)})
    return _unlike(found, expected)


def _acl_matches(request: DescribeAclsRequest, acl: Acl) -> bool:
    """KIP-290: MATCH is every pattern that covers the name, ANY every pattern with that name."""
    name, pattern = request.resource_name_filter, request.pattern_type_filter
    if pattern == MATCH and name is not None:
        if acl.pattern_type == PREFIXED:
            covers = name.startswith(acl.resource_name)
        else:
            covers = acl.resource_name in (name, "*")
        if not covers:
            return False
    elif name is not None and acl.resource_name != name:
        return False
    return (
        request.resource_type_filter in (ANY, acl.resource_type)
        and pattern in (ANY, MATCH, acl.pattern_type)
        and request.principal_filter in (None, acl.principal)
        and request.host_filter in (None, acl.host)
        and request.operation in (ANY, acl.operation)
        and request.permission_type in (ANY, acl.permission_type)
    )


def configs(asked: AskedRequest, response: Any, state: State, last_end: int) -> str:
    """Null values are of sensitive configs."""
    for result, resource in zip(response.results, asked.request.resources, strict=True):  # type: ignore[attr-defined]
        kind, name = resource.resource_type, resource.resource_name
        if result.error_code or kind not in SOURCES:
            continue
        source = CLUSTER_DEFAULT_SOURCE if kind == BROKER and not name else SOURCES[kind]
        found = {one.name: one.value for one in result.configs if one.config_source == source}
        wanted = {
            key[3]: value
            for key, value in rows_of(state, "config", kind, name)
            if not resource.configuration_keys or key[3] in resource.configuration_keys
        }
        known = {one.name for one in result.configs}
        expected = {key: value for key, value in wanted.items() if key in known}
        for key in expected:
            if key in found and found[key] is None:
                expected[key] = None
        if found != expected:
            return f"{kind} {name}: {found}, not {expected}"
    return ""


def controllers(asked: AskedRequest, response: Any, state: State, last_end: int) -> str:
    """Their endpoints for the listener that the request came in by."""
    found = [(one.broker_id, one.host, one.port) for one in response.brokers]
    expected = sorted(
        (key[1], endpoint.host, endpoint.port)
        for key, controller in rows_of(state, "controller")
        for name, endpoint in controller.listeners.items()
        if name == asked.listener
    )
    return _unlike(found, expected)


def reassignments(asked: AskedRequest, response: Any, state: State, last_end: int) -> str:
    request = asked.request
    assert isinstance(request, ListPartitionReassignmentsRequest)
    found = {
        (topic.name, one.partition_index): (
            tuple(one.replicas),
            tuple(one.adding_replicas),
            tuple(one.removing_replicas),
        )
        for topic in response.topics
        for one in topic.partitions
    }
    named = None
    if request.topics is not None:
        named = {(topic.name, index) for topic in request.topics for index in topic.partition_indexes}
    expected = {}
    for (_, topic_id, index), partition in rows_of(state, "partition"):
        name = state.get(("topic", topic_id))
        if partition.reassigning and (named is None or (name, index) in named):
            expected[name, index] = (
                partition.replicas,
                partition.adding_replicas,
                partition.removing_replicas,
            )
    return _unlike(found, expected)


def features(asked: AskedRequest, response: Any, state: State, last_end: int) -> str:
    """kraft.version is raft's. The offset may be that of a snapshot, which was the last one then."""
    if asked.version < FINALIZED_SINCE:
        return ""
    found = {one.name: one.max_version_level for one in response.finalized_features}
    found.pop("kraft.version", None)
    expected = {key[1]: level for key, level in rows_of(state, "feature")}
    offset = state.get(("features offset",), -1)
    if found == expected and offset <= response.finalized_features_epoch < max(last_end, 0):
        return ""
    if found == expected and offset == response.finalized_features_epoch:
        return ""
    return f"{found} of offset {response.finalized_features_epoch}, not {expected} of {offset}"


READS: dict[int, Read] = {
    ApiKey.DESCRIBE_ACLS: Read(False, [("acl",)], acls),
    ApiKey.DESCRIBE_CONFIGS: Read(False, [("config",)], configs),
    ApiKey.DESCRIBE_CLUSTER: Read(False, [("controller",)], controllers),
    ApiKey.LIST_PARTITION_REASSIGNMENTS: Read(True, [("partition",), ("topic",)], reassignments),
    ApiKey.API_VERSIONS: Read(False, [("feature",), ("features offset",)], features),
}

NOT_OF_THE_LOG: dict[int, str] = {
    ApiKey.DESCRIBE_QUORUM: "of raft: raft_response_rules",
    ApiKey.FETCH: "of raft: quorum_checks compares what is appended, broker_checks what brokers get",
    ApiKey.FETCH_SNAPSHOT: "of raft: what was downloaded is compared with the log when it is loaded",
}
"""What else a controller answers to those who read -> where it is checked."""
