"""Which requests wait for uncommitted records, and how long: Kafka answers some outside its queue."""

from __future__ import annotations

import pytest

from kraftctl.apis.api import Owner, WaitsFor
from kraftctl.apis.api_table import API_TABLE
from kraftctl.config.controller_config import STANDARD_AUTHORIZER
from kraftctl.metadata import features
from kraftctl.raft import events
from kraftctl_protocol.api_keys import ApiKey
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.alter_client_quotas_request import (
    AlterClientQuotasRequest,
    EntityData,
    EntryData,
    OpData,
)
from kraftctl_protocol.generated.api_versions_request import ApiVersionsRequest
from kraftctl_protocol.generated.api_versions_response import ApiVersionsResponse
from kraftctl_protocol.generated.broker_heartbeat_request import BrokerHeartbeatRequest
from kraftctl_protocol.generated.broker_heartbeat_response import BrokerHeartbeatResponse
from kraftctl_protocol.generated.broker_registration_response import BrokerRegistrationResponse
from kraftctl_protocol.generated.controller_registration_request import (
    ControllerRegistrationRequest,
    Feature,
    Listener,
)
from kraftctl_protocol.generated.create_acls_request import AclCreation, CreateAclsRequest
from kraftctl_protocol.generated.create_topics_request import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreateTopicsRequest,
)
from kraftctl_protocol.generated.create_topics_response import CreateTopicsResponse
from kraftctl_protocol.generated.describe_acls_request import DescribeAclsRequest
from kraftctl_protocol.generated.describe_cluster_request import DescribeClusterRequest
from kraftctl_protocol.generated.describe_configs_request import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from kraftctl_protocol.generated.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kraftctl_protocol.generated.list_partition_reassignments_request import (
    ListPartitionReassignmentsRequest,
)
from kraftctl_protocol.generated.sasl_authenticate_request import SaslAuthenticateRequest
from kraftctl_protocol.generated.sasl_handshake_request import SaslHandshakeRequest
from kraftctl_protocol.generated.update_features_request import FeatureUpdateKey, UpdateFeaturesRequest
from kraftctl_protocol.message import Message
from tests.support.active_controller import registration
from tests.support.simulator.cluster.lone_node import LoneNode

API_VERSIONS = ApiVersionsRequest(client_software_name="test", client_software_version="1")
DESCRIBE_CLUSTER = DescribeClusterRequest(endpoint_type=2)
DESCRIBE_CONFIGS = DescribeConfigsRequest(
    resources=[
        DescribeConfigsResource(resource_type=4, resource_name="", configuration_keys=["log.retention.ms"])
    ]
)
DESCRIBE_ACLS = DescribeAclsRequest(
    resource_type_filter=1, pattern_type_filter=1, operation=1, permission_type=1
)
ALTER_CONFIGS = IncrementalAlterConfigsRequest(
    resources=[
        AlterConfigsResource(
            resource_type=4, resource_name="", configs=[AlterableConfig(name="log.retention.ms", value="1")]
        )
    ]
)
ALTER_QUOTAS = AlterClientQuotasRequest(
    entries=[
        EntryData(
            entity=[EntityData(entity_type="user", entity_name="alice")],
            ops=[OpData(key="request_percentage", value=1.0)],
        )
    ]
)
LOWER_TRANSACTION_VERSION = UpdateFeaturesRequest(
    feature_updates=[
        FeatureUpdateKey(feature=features.TRANSACTION_VERSION, max_version_level=1, upgrade_type=2)
    ]
)
CREATE_ACL = CreateAclsRequest(
    creations=[
        AclCreation(
            resource_type=2,
            resource_name="t",
            resource_pattern_type=3,
            principal="User:alice",
            host="*",
            operation=3,
            permission_type=3,
        )
    ]
)
CREATE_TOPIC = CreateTopicsRequest(
    topics=[CreatableTopic(name="orders", num_partitions=1, replication_factor=1)]
)
REGISTER_CONTROLLER = ControllerRegistrationRequest(
    controller_id=4000,
    incarnation_id=bytes(15) + b"\x09",
    listeners=[Listener(name="CONTROLLER", host="host", port=1)],
    features=[Feature(name="metadata.version", min_supported_version=7, max_supported_version=30)],
)
READ_WAIT_MS = 2_000
"""controller.quorum.request.timeout.ms by default."""


@pytest.fixture
def node() -> LoneNode:
    node = LoneNode()
    node.settle()
    return node


def pending(node: LoneNode, write: Message) -> int:
    """The id of a write that is appended and not committed."""
    request_id = node.send(write)
    assert request_id not in node.answers
    return request_id


def resign(node: LoneNode) -> None:
    """What is not committed yet is refused. No request is answered twice: the process asserts it."""
    node.offer(events.ResignRequested(node.raft.epoch))
    assert not node.controller.active


def transaction_version(response: Message) -> int:
    assert isinstance(response, ApiVersionsResponse)
    levels = {feature.name: feature.max_version_level for feature in response.finalized_features}
    return levels[features.TRANSACTION_VERSION]


def configs_of(response: Message) -> list[tuple[str, str]]:
    (result,) = response.results
    return [(config.name, config.value) for config in result.configs]


@pytest.mark.parametrize(
    "request_",
    [
        pytest.param(API_VERSIONS, id="ApiVersions"),
        pytest.param(SaslHandshakeRequest(mechanism="PLAIN"), id="SaslHandshake"),
        pytest.param(SaslAuthenticateRequest(auth_bytes=b"x"), id="SaslAuthenticate"),
        pytest.param(DESCRIBE_CLUSTER, id="DescribeCluster"),
        pytest.param(DESCRIBE_CONFIGS, id="DescribeConfigs"),
        pytest.param(DESCRIBE_ACLS, id="DescribeAcls"),
    ],
)
def test_answered_while_something_else_is_not_committed(node, request_):
    pending(node, ALTER_QUOTAS)
    assert node.send(request_) in node.answers


def test_only_heartbeats_and_what_kafka_answers_outside_its_queue_do_not_wait():
    controllers = [api for api in API_TABLE.values() if api.owner not in (Owner.RAFT, Owner.NODE)]
    assert {ApiKey(api.key) for api in controllers if api.waits_for != WaitsFor.ALL_BEFORE} == {
        ApiKey.BROKER_HEARTBEAT,
        ApiKey.API_VERSIONS,
        ApiKey.SASL_HANDSHAKE,
        ApiKey.SASL_AUTHENTICATE,
        ApiKey.DESCRIBE_CLUSTER,
        ApiKey.DESCRIBE_CONFIGS,
        ApiKey.DESCRIBE_ACLS,
        ApiKey.DESCRIBE_DELEGATION_TOKEN,
        ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS,
    }


def test_a_read_of_the_controllers_queue_waits_for_all_before_it(node):
    pending(node, ALTER_QUOTAS)
    read = node.send(ListPartitionReassignmentsRequest())
    node.run_for(10 * READ_WAIT_MS)
    assert read not in node.answers
    node.settle()
    assert read in node.answers


def test_api_versions_reports_committed_features_only(node):
    before = node.ask(API_VERSIONS, ApiVersionsResponse)
    assert transaction_version(before) == 2
    pending(node, LOWER_TRANSACTION_VERSION)
    during = node.answers[node.send(API_VERSIONS)]
    assert (transaction_version(during), during.finalized_features_epoch) == (
        2, before.finalized_features_epoch,
    )  # fmt: skip
    node.settle()
    after = node.ask(API_VERSIONS, ApiVersionsResponse)
    assert transaction_version(after) == 1
    assert after.finalized_features_epoch > before.finalized_features_epoch


def test_api_versions_reports_the_older_of_two_pending_changes_once_it_is_committed(node):
    pending(node, LOWER_TRANSACTION_VERSION)
    back = UpdateFeaturesRequest(
        feature_updates=[FeatureUpdateKey(feature=features.TRANSACTION_VERSION, max_version_level=2)]
    )
    second = pending(node, back)
    assert node.flush()
    assert second not in node.answers, "it shares the next flush"
    assert transaction_version(node.answers[node.send(API_VERSIONS)]) == 1
    node.settle()
    assert transaction_version(node.ask(API_VERSIONS, ApiVersionsResponse)) == 2


def test_features_that_were_never_committed_are_forgotten_with_the_leadership(node):
    pending(node, LOWER_TRANSACTION_VERSION)
    resign(node)
    assert transaction_version(node.answers[node.send(API_VERSIONS)]) == 2


def test_a_read_waits_for_a_change_of_what_it_reads_and_not_for_ever(node):
    write = pending(node, ALTER_CONFIGS)
    read = node.send(DESCRIBE_CONFIGS)
    cluster = node.send(DESCRIBE_CLUSTER)
    assert read not in node.answers
    assert cluster in node.answers
    node.run_for(READ_WAIT_MS - 1)
    assert read not in node.answers
    node.run_for(1)
    (result,) = node.answers[read].results
    assert result.error_code == Errors.REQUEST_TIMED_OUT
    node.settle()
    assert write in node.answers
    assert configs_of(node.answers[node.send(DESCRIBE_CONFIGS)]) == [("log.retention.ms", "1")]


def test_a_read_that_waited_is_answered_with_the_commit(node):
    pending(node, ALTER_CONFIGS)
    read = node.send(DESCRIBE_CONFIGS)
    node.settle()
    assert configs_of(node.answers[read]) == [("log.retention.ms", "1")]
    node.pass_time(2 * READ_WAIT_MS)


def test_a_read_that_waited_is_refused_with_the_leadership(node):
    write = pending(node, ALTER_CONFIGS)
    read = node.send(DESCRIBE_CONFIGS)
    resign(node)
    assert node.answers[write].responses[0].error_code == Errors.NOT_CONTROLLER
    assert node.answers[read].results[0].error_code == Errors.NOT_CONTROLLER
    node.pass_time(2 * READ_WAIT_MS)


@pytest.mark.parametrize(
    ("write", "read"),
    [
        pytest.param(CREATE_ACL, DESCRIBE_ACLS, id="DescribeAcls for an ACL"),
        pytest.param(CREATE_ACL, DESCRIBE_CLUSTER, id="DescribeCluster for an ACL"),
        pytest.param(CREATE_ACL, DESCRIBE_CONFIGS, id="DescribeConfigs for an ACL"),
        pytest.param(CREATE_TOPIC, DESCRIBE_CONFIGS, id="DescribeConfigs for a topic"),
        pytest.param(REGISTER_CONTROLLER, DESCRIBE_CLUSTER, id="DescribeCluster for a controller"),
        pytest.param(LOWER_TRANSACTION_VERSION, DESCRIBE_CLUSTER, id="DescribeCluster for a feature"),
    ],
)
def test_a_read_waits_for_each_part_that_it_is_taken_from(write, read):
    node = LoneNode(authorizer_class_name=STANDARD_AUTHORIZER, super_users="User:ANONYMOUS")
    node.settle()
    epoch = node.ask(registration(1), BrokerRegistrationResponse).broker_epoch
    beat = BrokerHeartbeatRequest(
        broker_id=1, broker_epoch=epoch, current_metadata_offset=node.raft.end_offset
    )
    assert not node.ask(beat, BrokerHeartbeatResponse).is_fenced
    pending(node, write)
    asked = node.send(read)
    assert asked not in node.answers
    node.settle()
    assert asked in node.answers


def test_a_read_that_waited_too_long_is_not_refused_again_with_the_leadership(node):
    write = pending(node, ALTER_CONFIGS)
    read = node.send(DESCRIBE_CONFIGS)
    node.run_for(READ_WAIT_MS)
    assert read in node.answers
    assert write not in node.answers
    resign(node)
    assert write in node.answers


def led_by(*broker_ids: int) -> CreateTopicsRequest:
    assignment = CreatableReplicaAssignment(partition_index=0, broker_ids=list(broker_ids))
    topic = CreatableTopic(name="led", num_partitions=-1, replication_factor=-1, assignments=[assignment])
    return CreateTopicsRequest(topics=[topic])


def heartbeat(
    node: LoneNode, broker_id: int, *, fence: bool = False, shut_down: bool = False
) -> BrokerHeartbeatRequest:
    return BrokerHeartbeatRequest(
        broker_id=broker_id,
        broker_epoch=node.controller.image.cluster.brokers[broker_id].epoch,
        current_metadata_offset=node.raft.end_offset,
        want_fence=fence,
        want_shut_down=shut_down,
    )


def test_a_heartbeat_that_changes_nothing_waits_for_no_topic(node):
    node.ask(registration(1), BrokerRegistrationResponse)
    assert not node.ask(heartbeat(node, 1), BrokerHeartbeatResponse).is_fenced
    pending(node, CREATE_TOPIC)
    beat = node.send(heartbeat(node, 1))
    assert node.answers[beat] == BrokerHeartbeatResponse(is_caught_up=True, is_fenced=False)


def test_a_heartbeat_waits_for_changes_of_its_registration_however_long_that_takes(node):
    node.ask(registration(1), BrokerRegistrationResponse)
    unfencing = pending(node, heartbeat(node, 1))
    second = pending(node, heartbeat(node, 1))
    node.run_for(10 * READ_WAIT_MS)
    assert not {unfencing, second} & set(node.answers)
    node.settle()
    assert [node.answers[beat].is_fenced for beat in (unfencing, second)] == [False, False]


def test_a_heartbeat_waits_for_no_change_of_another_broker(node):
    for broker_id in (1, 2):
        node.ask(registration(broker_id), BrokerRegistrationResponse)
    assert not node.ask(heartbeat(node, 1), BrokerHeartbeatResponse).is_fenced
    pending(node, heartbeat(node, 2))
    beat = node.send(heartbeat(node, 1))
    assert node.answers[beat] == BrokerHeartbeatResponse(is_caught_up=True, is_fenced=False)


def test_a_heartbeat_waits_for_nothing_behind_the_change_of_its_broker(node):
    node.ask(registration(1), BrokerRegistrationResponse)
    unfencing = pending(node, heartbeat(node, 1))
    topic = pending(node, CREATE_TOPIC)
    second = pending(node, heartbeat(node, 1))
    assert node.flush()
    assert {unfencing, second} <= set(node.answers)
    assert topic not in node.answers


def test_a_shutdown_that_an_uncommitted_fencing_allows_waits_for_it(node):
    for broker_id in (1, 2):
        node.ask(registration(broker_id), BrokerRegistrationResponse)
        node.ask(heartbeat(node, broker_id), BrokerHeartbeatResponse)
    node.ask(led_by(1, 2), CreateTopicsResponse)
    for _ in range(2):
        assert not node.ask(heartbeat(node, 1, shut_down=True), BrokerHeartbeatResponse).should_shut_down
    pending(node, heartbeat(node, 2, fence=True))
    allowed = pending(node, heartbeat(node, 1, shut_down=True))
    node.settle()
    assert node.answers[allowed].should_shut_down


def test_a_fenced_broker_that_may_stop_waits_for_changes_of_others(node):
    """It has no record of its own to wait for."""
    for broker_id in (1, 2):
        node.ask(registration(broker_id), BrokerRegistrationResponse)
    pending(node, heartbeat(node, 2))
    allowed = pending(node, heartbeat(node, 1, shut_down=True))
    node.settle()
    assert node.answers[allowed].should_shut_down


def test_an_unfencing_that_is_lost_with_the_leadership_was_never_announced(node):
    node.ask(registration(1), BrokerRegistrationResponse)
    beats = [pending(node, heartbeat(node, 1)) for _ in range(2)]
    resign(node)
    assert [node.answers[beat].error_code for beat in beats] == [Errors.NOT_CONTROLLER] * 2
