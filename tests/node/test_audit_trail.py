"""The audit log has one line for each request that asks for a change, and says what came of it."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from kraftctl.apis.api import Owner
from kraftctl.apis.api_table import API_TABLE, AUDITED_API_KEYS, AUDITED_ON_DEMAND_API_KEYS
from kraftctl.config.controller_config import STANDARD_AUTHORIZER
from kraftctl.controller.audit import described_change
from kraftctl.controller.audit.change_list import CHANGES_MAX, ChangeList
from kraftctl.controller.audit.described_change import DESCRIBING
from kraftctl.controller.request_handlers import HANDLERS
from kraftctl.controller.results.controller_result import ControllerResult
from kraftctl.image.metadata_image import MetadataImage
from kraftctl.raft.events import ShutdownRequested
from kraftctl.server.logs.audit_log import LINE_BYTES_MAX
from kraftctl_protocol.api_keys import ApiKey
from kraftctl_protocol.config_resource import BROKER_LOGGER
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.alter_configs_request import AlterableConfig as LegacyConfig
from kraftctl_protocol.generated.alter_configs_request import AlterConfigsRequest
from kraftctl_protocol.generated.alter_configs_request import AlterConfigsResource as LegacyResource
from kraftctl_protocol.generated.alter_partition_reassignments_request import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from kraftctl_protocol.generated.alter_user_scram_credentials_request import (
    AlterUserScramCredentialsRequest,
    ScramCredentialUpsertion,
)
from kraftctl_protocol.generated.broker_registration_request import BrokerRegistrationRequest
from kraftctl_protocol.generated.create_acls_request import AclCreation, CreateAclsRequest
from kraftctl_protocol.generated.create_delegation_token_request import CreateDelegationTokenRequest
from kraftctl_protocol.generated.create_topics_request import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from kraftctl_protocol.generated.delete_topics_request import DeleteTopicsRequest, DeleteTopicState
from kraftctl_protocol.generated.envelope_request import EnvelopeRequest
from kraftctl_protocol.generated.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kraftctl_protocol.generated.renew_delegation_token_request import RenewDelegationTokenRequest
from kraftctl_protocol.generated.unregister_broker_request import UnregisterBrokerRequest
from kraftctl_protocol.generated.update_features_request import FeatureUpdateKey, UpdateFeaturesRequest
from kraftctl_protocol.message import Message
from kraftctl_protocol.principal import KafkaPrincipal
from kraftctl_protocol.unknown_acl_codes import names_unknown
from tests.node.audited_node import Line, audited_node, line_after, lines
from tests.node.test_rights import forwarded
from tests.support.active_controller import CLUSTER_ID, NODE_ID, registration, request_type
from tests.support.effort import FIRST_SEED
from tests.support.simulator.cluster.lone_node import LoneNode
from tests.support.wire.random_messages import RandomMessages

ON_DEMAND = ",".join(API_TABLE[key].name for key in AUDITED_ON_DEMAND_API_KEYS)
TOPIC = 2
BROKER = 4


ACL_CODES: dict[str, Any] = {
    "resource_type": 2,
    "resource_pattern_type": 3,
    "operation": 3,
    "permission_type": 3,
}


def topics(*names: str, **fields: Any) -> CreateTopicsRequest:
    created = [CreatableTopic(name=name, num_partitions=2, replication_factor=1) for name in names]
    return CreateTopicsRequest(topics=created, **fields)


def named(line: Line) -> dict[str, list[str]]:
    return {result["error"]: result["resources"] for result in line["results"]}


def test_a_line_says_who_asked_where_and_what_came_of_it() -> None:
    node = audited_node(1)
    end_offset = node.raft.end_offset
    line = line_after(node, topics("a", "b"))
    assert (line.pop("time_ms"), line.pop("received_time_ms")) == (node.process.clock.wall_ms(),) * 2
    assert line.pop("time").endswith("Z")
    assert line == {
        "cluster_id": CLUSTER_ID,
        "node_id": NODE_ID,
        "leader_epoch": node.raft.epoch,
        "principal": "User:ANONYMOUS",
        "token_authenticated": False,
        "address": "127.0.0.1",
        "listener": "CONTROLLER",
        "client_id": "test",
        "forwarded_by": None,
        "api": "CreateTopics",
        "api_version": CreateTopicsRequest.HIGHEST_VERSION,
        "correlation_id": 1,
        "validate_only": False,
        "changes": [
            {"topic": name, "partitions": 2, "replication_factor": 1, "configs": {}} for name in "ab"
        ],
        "changes_left_out": 0,
        "outcome": "committed",
        "results": [{"error": "NONE", "count": 2, "resources": ["a", "b"]}],
        "first_offset": end_offset,
        "last_offset": end_offset + 5,
        "failure": None,
    }
    assert node.raft.end_offset == end_offset + 6


def test_a_line_is_written_once_its_records_are_committed() -> None:
    node = audited_node(1)
    node.send(topics("t"))
    node.run_for(0)
    assert lines(node) == [], "nothing is flushed"
    node.settle()
    assert [line["outcome"] for line in lines(node)] == ["committed"]


def test_a_request_of_an_envelope_is_its_clients() -> None:
    """The broker's rights and name are those of the envelope alone."""
    node = audited_node(1)
    alice = KafkaPrincipal("User", "alice", token_authenticated=True)
    envelope = forwarded(topics("t"), alice)
    envelope.client_host_address = b"\x0a\x00\x00\x07"
    line = line_after(node, envelope)
    client = (line["principal"], line["token_authenticated"], line["address"], line["client_id"])
    assert client == ("User:alice", True, "10.0.0.7", "admin")
    assert (line["api"], line["correlation_id"], line["outcome"]) == ("CreateTopics", 99, "committed")
    assert line["forwarded_by"] == {
        "principal": "User:ANONYMOUS",
        "address": "127.0.0.1",
        "client_id": "test",
    }


NO_TOPIC = IncrementalAlterConfigsRequest(
    resources=[
        AlterConfigsResource(
            resource_type=TOPIC,
            resource_name="no",
            configs=[AlterableConfig(name="retention.ms", value="1")],
        )
    ]
)


@pytest.mark.parametrize(
    ("request_", "outcome", "results"),
    [
        pytest.param(topics("t", validate_only=True), "unchanged", {"NONE": ["t"]}, id="validated"),
        pytest.param(topics("bad/name"), "refused", {"INVALID_TOPIC_EXCEPTION": ["bad/name"]}, id="refused"),
        pytest.param(
            topics("good", "bad/name"),
            "committed",
            {"NONE": ["good"], "INVALID_TOPIC_EXCEPTION": ["bad/name"]},
            id="partly",
        ),
        pytest.param(NO_TOPIC, "refused", {"UNKNOWN_TOPIC_OR_PARTITION": ["no"]}, id="unknown"),
        pytest.param(
            UnregisterBrokerRequest(broker_id=9), "refused", {"BROKER_ID_NOT_REGISTERED": []}, id="unnamed"
        ),
        pytest.param(
            CreateAclsRequest(creations=[AclCreation(**ACL_CODES)] * 2),
            "refused",
            {"SECURITY_DISABLED": ["[0]", "[1]"]},
            id="without-names",
        ),
        pytest.param(
            AlterPartitionReassignmentsRequest(
                topics=[ReassignableTopic(name="no", partitions=[ReassignablePartition(partition_index=3)])]
            ),
            "refused",
            {"UNKNOWN_TOPIC_OR_PARTITION": ["no-3"]},
            id="partitions",
        ),
    ],
)
def test_outcomes(request_: Message, outcome: str, results: dict[str, list[str]]) -> None:
    line = line_after(audited_node(1), request_)
    assert (line["outcome"], named(line)) == (outcome, results)
    assert (line["first_offset"] is None) == (outcome != "committed")


def test_a_missing_right_is_a_denial() -> None:
    node = audited_node(authorizer_class_name=STANDARD_AUTHORIZER, super_users="User:root")
    for request in (UnregisterBrokerRequest(broker_id=1), topics("t"), EnvelopeRequest()):
        line = line_after(node, request)
        assert (line["outcome"], line["api"]) == ("denied", request.NAME.removesuffix("Request"))


def test_an_envelope_that_is_refused_unopened_has_a_line() -> None:
    line = line_after(audited_node(), EnvelopeRequest(request_principal=b"\xff\xff"))
    assert (line["api"], line["outcome"]) == ("Envelope", "refused")
    assert named(line) == {"PRINCIPAL_DESERIALIZATION_FAILURE": []}


def test_a_bug_on_our_side_is_a_failure() -> None:
    node = audited_node(1)
    before = HANDLERS[ApiKey.CREATE_TOPICS]

    def failing(*arguments: Any) -> ControllerResult:
        raise AssertionError("as planned")

    HANDLERS[ApiKey.CREATE_TOPICS] = failing
    try:
        line = line_after(node, topics("t"))
    finally:
        HANDLERS[ApiKey.CREATE_TOPICS] = before
    assert (line["outcome"], named(line)) == ("failed", {"UNKNOWN_SERVER_ERROR": ["t"]})


def test_a_request_that_cannot_be_described_is_served() -> None:
    node = audited_node(1)
    before = DESCRIBING[ApiKey.CREATE_TOPICS]

    def failing(request: Message, image: MetadataImage, found: ChangeList) -> None:
        raise AssertionError("as planned")

    DESCRIBING[ApiKey.CREATE_TOPICS] = failing
    try:
        line = line_after(node, topics("t"))
    finally:
        DESCRIBING[ApiKey.CREATE_TOPICS] = before
    assert (line["outcome"], line["changes"]) == ("committed", [])
    assert line["failure"].startswith("AssertionError: as planned")


def test_a_change_that_is_lost_with_leadership_says_so() -> None:
    node = audited_node(1)
    end_offset = node.raft.end_offset
    node.send(topics("t"))
    node.run_for(0)
    node.offer(ShutdownRequested())
    node.settle()
    (line,) = lines(node)
    assert (line["outcome"], line["first_offset"]) == ("lost", end_offset)
    assert named(line) == {"NOT_CONTROLLER": ["t"]}


def test_a_controller_that_does_not_lead_has_no_line() -> None:
    """The sender asks the one that does, and that one has the line."""
    node = audited_node()
    node.restart()
    for request in (topics("t"), forwarded(topics("t"), KafkaPrincipal("User", "alice"))):
        node.send(request)
    node.run_for(0)
    assert lines(node) == []


def test_a_client_that_leaves_has_its_line() -> None:
    node = audited_node(1)
    node.cancel(node.send(topics("t")))
    node.settle()
    assert [line["outcome"] for line in lines(node)] == ["committed"]


# Which requests have a line.


def test_without_a_file_nothing_is_noted() -> None:
    node = LoneNode(kraftctl_audit_log_path="")
    node.settle()
    node.send(topics("t"))
    node.settle()
    assert node.process.audit_entries == []


def test_every_audited_api_is_described() -> None:
    assert set(DESCRIBING) == (AUDITED_API_KEYS | AUDITED_ON_DEMAND_API_KEYS) - {ApiKey.ENVELOPE}


def test_every_api_that_may_change_something_is_audited() -> None:
    """Those that the active controller or raft handles, except for reads, heartbeats and raft's own."""
    unaudited = {
        API_TABLE[key].name
        for key, api in API_TABLE.items()
        if api.owner in (Owner.ACTIVE, Owner.RAFT)
        and key not in AUDITED_API_KEYS | AUDITED_ON_DEMAND_API_KEYS
    }
    raft = {"Vote", "BeginQuorumEpoch", "EndQuorumEpoch", "Fetch", "FetchSnapshot"}
    reads = {"DescribeQuorum", "ListPartitionReassignments"}
    assert unaudited == {*raft, *reads, "BrokerHeartbeat"}


FETCHES = {ApiKey.FETCH, ApiKey.FETCH_SNAPSHOT}
"""They change nothing, and the simulator takes them for those of its own replicas."""


@pytest.mark.parametrize("api_key", sorted(set(API_TABLE) - FETCHES), ids=lambda key: API_TABLE[key].name)
def test_a_request_has_one_line_exactly_if_its_api_is_audited(api_key: int) -> None:
    """Whatever is asked, and however often."""
    node = audited_node(1, kraftctl_audit_log_internal_apis=ON_DEMAND)
    rng = random.Random(FIRST_SEED + api_key)
    messages = RandomMessages(rng, ["t", "a"], [bytes(16)], [0, 1, 2, -1], {})
    api = API_TABLE[api_key]
    expected = 0
    for _ in range(5):
        request = messages.message(request_type(api_key), api.highest)
        if isinstance(request, BrokerRegistrationRequest):
            request.features = registration(1).features
        if names_unknown(request):
            continue  # closes the connection, as other bytes that are no request
        node.send(request, api.highest)
        node.settle()
        expected += api_key in AUDITED_API_KEYS | AUDITED_ON_DEMAND_API_KEYS
        assert len(lines(node)) == expected, request
    node.pass_time(10_000)
    assert len(lines(node)) == expected, "an election of voters ends, and so do requests that wait for it"
    assert {line["api"] for line in lines(node)} <= {api.name}


def test_what_brokers_do_in_the_course_of_their_work_is_left_out() -> None:
    node = audited_node(1)
    node.send(request_type(ApiKey.ALLOCATE_PRODUCER_IDS)())
    node.settle()
    assert lines(node) == []


# What is asked for.


def configs(resource: str, *values: tuple[str, int, str | None], kind: int = TOPIC) -> Message:
    altered = [
        AlterableConfig(name=name, config_operation=operation, value=value)
        for name, operation, value in values
    ]
    changed = AlterConfigsResource(resource_type=kind, resource_name=resource, configs=altered)
    return IncrementalAlterConfigsRequest(resources=[changed])


def test_configurations_have_the_value_that_is_replaced() -> None:
    node = audited_node(1)
    line_after(node, topics("t"))
    line_after(node, configs("t", ("retention.ms", 0, "1000"), ("segment.ms", 0, "50")))
    line = line_after(node, configs("t", ("retention.ms", 0, "2000"), ("segment.ms", 1, None)))
    common = {"resource_type": "TOPIC", "resource": "t"}
    assert line["changes"] == [
        {**common, "config": "retention.ms", "operation": "SET", "old": "1000", "new": "2000"},
        {**common, "config": "segment.ms", "operation": "DELETE", "old": "50", "new": None},
    ]
    flush = LegacyConfig(name="flush.ms", value="7")
    resource = LegacyResource(resource_type=TOPIC, resource_name="t", configs=[flush])
    replaced = line_after(node, AlterConfigsRequest(resources=[resource]))
    assert replaced["changes"] == [
        {**common, "config": "flush.ms", "operation": "SET", "old": None, "new": "7"},
        {**common, "config": "retention.ms", "operation": "DELETE", "old": "2000", "new": None},
    ]


def test_levels_of_loggers_are_named_and_nothing_else() -> None:
    node = audited_node()
    request = configs(str(NODE_ID), ("root", 0, "DEBUG"), ("root", 0, SECRET), kind=BROKER_LOGGER)
    line = line_after(node, request)
    assert [change["new"] for change in line["changes"]] == ["DEBUG", "(redacted)"]
    assert line["outcome"] == "refused"
    line = line_after(node, configs(str(NODE_ID), ("root", 0, "INFO"), kind=BROKER_LOGGER))
    assert (line["outcome"], line["first_offset"]) == ("unchanged", None)


def test_topics_that_are_deleted_by_id_have_their_names() -> None:
    node = audited_node(1)
    line_after(node, topics("t"))
    topic = node.controller.image.topics.topic_by_name("t")
    assert topic is not None
    line = line_after(
        node, DeleteTopicsRequest(timeout_ms=60_000, topics=[DeleteTopicState(topic_id=topic.topic_id)])
    )
    assert [change["topic"] for change in line["changes"]] == ["t"]
    assert line["outcome"] == "committed"


def test_a_level_of_a_feature_has_the_one_before() -> None:
    node = audited_node(kraftctl_audit_log_internal_apis="")
    update = FeatureUpdateKey(feature="group.version", max_version_level=0, upgrade_type=2)
    line = line_after(node, UpdateFeaturesRequest(feature_updates=[update]))
    assert line["changes"] == [{"feature": "group.version", "old": 1, "new": 0}]


SECRET = "planted-secret"


def scram(node: LoneNode) -> Message:
    secret = SECRET.encode() + bytes(32 - len(SECRET))
    return AlterUserScramCredentialsRequest(
        upsertions=[
            ScramCredentialUpsertion(
                name="alice", mechanism=1, iterations=4096, salt=secret, salted_password=secret
            )
        ]
    )


@pytest.mark.parametrize(
    "request_",
    [
        pytest.param(scram, id="scram"),
        pytest.param(
            lambda node: configs("1", ("ssl.keystore.password", 0, SECRET), kind=BROKER), id="password"
        ),
        pytest.param(lambda node: configs("1", ("unknown.to.kafka", 0, SECRET), kind=BROKER), id="unknown"),
        pytest.param(
            lambda node: AlterConfigsRequest(
                resources=[
                    LegacyResource(
                        resource_type=BROKER,
                        resource_name="1",
                        configs=[LegacyConfig(name="ssl.key.password", value=SECRET)],
                    )
                ]
            ),
            id="legacy",
        ),
        pytest.param(
            lambda node: CreateTopicsRequest(
                topics=[
                    CreatableTopic(
                        name="t",
                        num_partitions=1,
                        replication_factor=1,
                        configs=[CreatableTopicConfig(name="my.password", value=SECRET)],
                    )
                ]
            ),
            id="new-topic",
        ),
        pytest.param(lambda node: RenewDelegationTokenRequest(hmac=SECRET.encode()), id="token"),
    ],
)
def test_no_secret_is_in_a_line(request_: Callable[[LoneNode], Message]) -> None:
    node = audited_node(1)
    for _ in range(2):
        text = repr(line_after(node, request_(node)))
        assert SECRET not in text
        assert "cGxhbnRlZC1zZWNyZXQ" not in text, "nor in base64"
    assert "alice" in text or "changes': []" not in text


def test_the_secret_of_a_new_token_is_not_in_its_line() -> None:
    node = audited_node(delegation_token_secret_key=SECRET)
    create = CreateDelegationTokenRequest(owner_principal_type="User", owner_principal_name="bob")
    line = line_after(node, forwarded(create, KafkaPrincipal("User", "alice")))
    assert line["outcome"] == "committed"
    assert line["changes"] == [{"owner": "User:bob", "renewers": [], "max_lifetime_ms": 0}]
    assert set(line["results"][0]) == {"error", "count", "resources"}


@pytest.mark.parametrize(
    ("count", "length"), [(5_000, 5), (30, 15_000), (5_000, 249)], ids=["many", "long", "both"]
)
def test_a_line_has_a_limit_and_says_how_much_is_missing(count: int, length: int) -> None:
    node = audited_node(1)
    names = [f"{number:05d}" + "ü" * (length - 5) for number in range(count)]
    line = line_after(node, topics(*names))
    assert 0 < len(line["changes"]) <= CHANGES_MAX
    assert len(line["changes"]) + line["changes_left_out"] == count
    assert sum(result["count"] for result in line["results"]) == count
    assert len(repr(line)) < LINE_BYTES_MAX


def test_a_name_cannot_begin_another_line() -> None:
    line = line_after(audited_node(1), topics('t\n{"outcome":"committed"}\u2028'))
    assert line["outcome"] == "refused"


def test_the_descriptions_are_part_of_no_result() -> None:
    """They are read when nothing is appended yet: the image is what it was."""
    assert described_change.describe(ApiKey.ENVELOPE, EnvelopeRequest(), MetadataImage()).changes == []


def test_errors_have_their_names() -> None:
    line = line_after(audited_node(1), UnregisterBrokerRequest(broker_id=1))
    assert (line["outcome"], list(named(line))) == ("committed", [Errors.NONE.name])
