"""The state of a running cluster, as its brokers describe it to any client that may see it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, TypeVar

from kraftctl_admin.admin_client import AdminClient
from kraftctl_admin.errors import RefusedError, UnavailableError
from kraftctl_protocol.config_resource import BROKER, CLIENT_METRICS, CLUSTER_DEFAULT, GROUP, NAMES, TOPIC
from kraftctl_protocol.errors import Errors, error_of
from kraftctl_protocol.generated.api_versions_response import ApiVersionsResponse
from kraftctl_protocol.generated.describe_acls_request import DescribeAclsRequest
from kraftctl_protocol.generated.describe_acls_response import DescribeAclsResponse
from kraftctl_protocol.generated.describe_client_quotas_request import DescribeClientQuotasRequest
from kraftctl_protocol.generated.describe_client_quotas_response import DescribeClientQuotasResponse
from kraftctl_protocol.generated.describe_configs_request import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from kraftctl_protocol.generated.describe_configs_response import DescribeConfigsResponse
from kraftctl_protocol.generated.describe_user_scram_credentials_request import (
    DescribeUserScramCredentialsRequest,
)
from kraftctl_protocol.generated.describe_user_scram_credentials_response import (
    DescribeUserScramCredentialsResponse,
)
from kraftctl_protocol.generated.list_config_resources_request import ListConfigResourcesRequest
from kraftctl_protocol.generated.list_config_resources_response import ListConfigResourcesResponse
from kraftctl_protocol.generated.metadata_request import MetadataRequest
from kraftctl_protocol.generated.metadata_response import MetadataResponse
from kraftctl_protocol.scram import MECHANISM_NAMES
from kraftctl_protocol.uuids import uuid_to_string
from kraftctl_security.peer_versions import api_versions_request
from kraftctl_spark.log.log_location import SOFTWARE
from kraftctl_spark.restore.cluster_state import (
    ClusterState,
    NamedAcl,
    QuotaKey,
    ResourceConfig,
    ScramIdentity,
    TopicReplicas,
)
from kraftctl_spark.restore.wire_numbers import acl_name

RESOURCES_PER_REQUEST: Final = 100
"""A topic is described with some 40 configs, 3 KB."""

ANY: Final = 1
"""The value that matches all of a kind in filters of ACLs."""

DYNAMIC_SOURCES: Final = {TOPIC: (1,), BROKER: (2,), CLIENT_METRICS: (7,), GROUP: (8,)}
DYNAMIC_DEFAULT_BROKER: Final = (3,)
"""The sources of DescribeConfigs for what is set at the resource itself."""

GONE: Final = (Errors.UNKNOWN_TOPIC_OR_PARTITION, Errors.GROUP_ID_NOT_FOUND)
KRAFT_VERSION: Final = "kraft.version"
"""It is the quorum's, and no feature of what is restored."""

T = TypeVar("T")


def live_state(client: AdminClient, groups: Iterable[str] = ()) -> ClusterState:
    """Asks for everything; AdminError when something is refused.

    `groups` are those to describe where the brokers cannot list groups that have configs (before Kafka 4.1).
    """
    listed = _listed(client, groups)
    topics = topics_of(client)
    described = client.describe_cluster()
    brokers = frozenset(node.broker_id for node in described.brokers)
    others = [one for one in listed if one[0] in (CLIENT_METRICS, GROUP)]
    resources = [(TOPIC, name) for name in topics] + [(BROKER, CLUSTER_DEFAULT), *others]
    configs = list(_configs(client, resources))
    for broker in sorted(brokers):
        with client.only(broker) as one:  # A broker describes no other one.
            configs += _configs(one, [(BROKER, str(broker))])
    return ClusterState(
        described.cluster_id,
        topics=topics,
        configs={config: value for config, value, _ in configs},
        config_types={config: kind for config, _, kind in configs},
        acls=_acls(client),
        quotas=_quotas(client),
        users=_users(client),
        features=_features(client),
        hidden_topics=frozenset(name for kind, name in listed if kind == TOPIC) - topics.keys(),
        brokers=brokers,
    )


def chunks(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Yields at most `size` items at a time."""
    for start in range(0, len(items), size):
        yield items[start : start + size]


def topics_of(client: AdminClient) -> dict[str, TopicReplicas]:
    """Returns the topics that the client may describe."""
    request = MetadataRequest(topics=None, allow_auto_topic_creation=False)
    response = client.call(request, MetadataResponse, lambda answer: (error_of(answer.error_code), None))
    found: dict[str, TopicReplicas] = {}
    for topic in response.topics:
        if topic.error_code != Errors.NONE:
            raise RefusedError(f"MetadataRequest for {topic.name}", error_of(topic.error_code), None)
        parts = sorted(topic.partitions, key=lambda one: one.partition_index)
        found[str(topic.name)] = TopicReplicas(
            tuple(tuple(one.replica_nodes) for one in parts), uuid_to_string(topic.topic_id)
        )
    return found


def _listed(client: AdminClient, groups: Iterable[str]) -> list[tuple[int, str]]:
    """Returns what has configs. From Kafka 4.1 on, this includes topics that Metadata leaves out, because the
    client may not describe them.
    """
    request = ListConfigResourcesRequest()
    try:
        response = client.call(
            request, ListConfigResourcesResponse, lambda answer: (error_of(answer.error_code), None)
        )
    except (
        UnavailableError
    ):  # Brokers before 3.7 have neither; this release of Kafka's protocol begins later.
        return [(GROUP, group) for group in groups]
    found = {(one.resource_type, one.resource_name) for one in response.config_resources}
    return sorted(found | {(GROUP, group) for group in groups})


def _configs(
    client: AdminClient, resources: Sequence[tuple[int, str]]
) -> Iterator[tuple[ResourceConfig, str | None, int]]:
    """Yields each config with its value and type."""
    for some in chunks(resources, RESOURCES_PER_REQUEST):
        asked = [
            DescribeConfigsResource(resource_type=kind, resource_name=name, configuration_keys=None)
            for kind, name in some
        ]
        response = client.call(
            DescribeConfigsRequest(resources=asked), DescribeConfigsResponse, lambda _: (Errors.NONE, None)
        )
        for result in response.results:
            error, kind, name = error_of(result.error_code), result.resource_type, result.resource_name
            if error in GONE:
                continue
            if error != Errors.NONE:
                what = f"DescribeConfigsRequest for {NAMES.get(kind, kind)} {name}"
                raise RefusedError(what, error, result.error_message)
            sources = DYNAMIC_SOURCES[kind]
            if (kind, name) == (BROKER, CLUSTER_DEFAULT):
                sources = DYNAMIC_DEFAULT_BROKER
            for config in result.configs:
                if config.config_source in sources:
                    value = None if config.is_sensitive else config.value
                    yield ResourceConfig(NAMES[kind], name, config.name), value, config.config_type


def _acls(client: AdminClient) -> frozenset[NamedAcl] | None:
    request = DescribeAclsRequest(
        resource_type_filter=ANY, pattern_type_filter=ANY, operation=ANY, permission_type=ANY
    )
    request.resource_name_filter = request.principal_filter = request.host_filter = None
    try:
        response = client.call(request, DescribeAclsResponse, _error_in)
    except RefusedError as error:
        if error.error == Errors.SECURITY_DISABLED:
            return None
        raise
    return frozenset(
        NamedAcl(
            acl_name("resource_type", resource.resource_type),
            resource.resource_name,
            acl_name("pattern_type", resource.pattern_type),
            acl.principal,
            acl.host,
            acl_name("operation", acl.operation),
            acl_name("permission", acl.permission_type),
        )
        for resource in response.resources
        for acl in resource.acls
    )


def _quotas(client: AdminClient) -> dict[QuotaKey, float]:
    response = client.call(DescribeClientQuotasRequest(), DescribeClientQuotasResponse, _error_in)
    return {
        QuotaKey(
            tuple(sorted((part.entity_type, part.entity_name) for part in entry.entity)), one.key
        ): one.value
        for entry in response.entries or ()
        for one in entry.values
    }


def _users(client: AdminClient) -> dict[ScramIdentity, int]:
    request = DescribeUserScramCredentialsRequest(users=None)
    response = client.call(request, DescribeUserScramCredentialsResponse, _error_in)
    return {
        ScramIdentity(result.user, MECHANISM_NAMES.get(one.mechanism, str(one.mechanism))): one.iterations
        for result in response.results
        for one in result.credential_infos
    }


def _features(client: AdminClient) -> dict[str, int]:
    response = client.call(
        api_versions_request(*SOFTWARE),
        ApiVersionsResponse,
        lambda answer: (error_of(answer.error_code), None),
    )
    levels = {one.name: one.max_version_level for one in response.finalized_features}
    return {name: level for name, level in levels.items() if name != KRAFT_VERSION}


def _error_in(
    response: DescribeAclsResponse | DescribeClientQuotasResponse | DescribeUserScramCredentialsResponse,
) -> tuple[Errors, str | None]:
    return error_of(response.error_code), response.error_message
