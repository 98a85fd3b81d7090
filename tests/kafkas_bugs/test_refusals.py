"""Where Kafka's controller does worse and kraftctl does not follow it: docs/differences.md has each as a row.

Most of these requests make Kafka's controller resign, as it does for whatever a handler throws.
tests/interop/test_differences.py shows that on Kafka 4.3.1.
"""

from __future__ import annotations

import math
from typing import Any

import pytest

from kraftctl_protocol.config_resource import BROKER, TOPIC
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated import alter_configs_request as legacy
from kraftctl_protocol.generated import alter_partition_request as isr
from kraftctl_protocol.generated import create_acls_request as acls
from kraftctl_protocol.generated import fetch_snapshot_request as snapshots
from kraftctl_protocol.generated import incremental_alter_configs_request as configs
from kraftctl_protocol.generated.alter_client_quotas_request import (
    AlterClientQuotasRequest,
    EntityData,
    EntryData,
    OpData,
)
from kraftctl_protocol.generated.alter_partition_response import AlterPartitionResponse
from kraftctl_protocol.generated.create_partitions_request import (
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from kraftctl_protocol.generated.create_topics_request import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from kraftctl_protocol.generated.describe_delegation_token_request import DescribeDelegationTokenRequest
from kraftctl_protocol.generated.describe_user_scram_credentials_request import (
    DescribeUserScramCredentialsRequest,
)
from kraftctl_protocol.generated.unregister_broker_request import UnregisterBrokerRequest
from kraftctl_protocol.message import Message
from tests.support.active_controller import ActiveController
from tests.support.simulator.quorum import StartQuorum

RECOVERED, UNKNOWN_STATE = 0, 9
SET, APPEND, SUBTRACT, UNKNOWN_OPERATION = 0, 2, 3, 9


@pytest.fixture
def active() -> ActiveController:
    """Brokers 1 to 3, and a topic."""
    active = ActiveController()
    active.start_brokers(1, 2, 3)
    active.create_topic("t", replication_factor=3)
    return active


def shrink(active: ActiveController, topic_name: str, recovery_state: int = RECOVERED) -> Errors:
    """The error of the partition, when its leader asks for an ISR of itself."""
    topic = active.controller.image.topics.topic_by_name(topic_name)
    assert topic is not None
    partition = topic.partitions[0]
    broker = active.controller.image.cluster.brokers[partition.leader]
    wanted = isr.PartitionData(
        partition_index=0,
        leader_epoch=partition.leader_epoch,
        partition_epoch=partition.partition_epoch,
        new_isr_with_epochs=[isr.BrokerState(broker_id=partition.leader, broker_epoch=-1)],
        leader_recovery_state=recovery_state,
    )
    request = isr.AlterPartitionRequest(
        broker_id=partition.leader,
        broker_epoch=broker.epoch,
        topics=[isr.TopicData(topic_id=topic.topic_id, partitions=[wanted])],
    )
    response = active.request(request)
    assert isinstance(response, AlterPartitionResponse)
    return Errors(response.topics[0].partitions[0].error_code)


def test_blanks_around_min_insync_replicas_stop_no_alter_partition(active: ActiveController) -> None:
    config = CreatableTopicConfig(name="min.insync.replicas", value=" 2 ")
    topic = CreatableTopic(name="blanks", num_partitions=1, replication_factor=3, configs=[config])
    assert active.request(CreateTopicsRequest(topics=[topic])).topics[0].error_code == 0
    assert shrink(active, "blanks") == Errors.NONE


def test_an_unknown_recovery_state_is_refused_for_its_partition(active: ActiveController) -> None:
    assert shrink(active, "t", UNKNOWN_STATE) == Errors.INVALID_REQUEST


@pytest.mark.parametrize("resource", [(TOPIC, "t"), (BROKER, "1"), (BROKER, "")])
@pytest.mark.parametrize(
    ("operation", "value", "error"),
    [
        pytest.param(UNKNOWN_OPERATION, "delete", Errors.INVALID_REQUEST, id="unknown-operation"),
        pytest.param(-1, "delete", Errors.INVALID_REQUEST, id="negative-operation"),
        pytest.param(APPEND, None, Errors.INVALID_CONFIG, id="append-null"),
        pytest.param(SUBTRACT, None, Errors.INVALID_CONFIG, id="subtract-null"),
    ],
)
def test_what_a_config_cannot_be_changed_by_is_refused_for_its_resource(
    active: ActiveController, resource: tuple[int, str], operation: int, value: str | None, error: Errors
) -> None:
    key = "cleanup.policy" if resource[0] == TOPIC else "log.cleanup.policy"
    change = configs.AlterableConfig(name=key, config_operation=operation, value=value)
    altered = configs.AlterConfigsResource(
        resource_type=resource[0], resource_name=resource[1], configs=[change]
    )
    request = configs.IncrementalAlterConfigsRequest(resources=[altered])
    assert active.request(request).responses[0].error_code == error


ACL: dict[str, Any] = {
    "resource_type": 2,
    "resource_name": "t",
    "resource_pattern_type": 3,
    "principal": "User:a",
    "host": "*",
    "operation": 3,
    "permission_type": 3,
}

UNKNOWN, ANY, MATCH = 0, 1, 2

CODES = ("resource_type", "resource_pattern_type", "operation", "permission_type")


@pytest.mark.parametrize(
    ("field", "code"),
    [
        *(
            (field, code)
            for field in ("resource_type", "operation", "permission_type")
            for code in (UNKNOWN, ANY)
        ),
        *(("resource_pattern_type", code) for code in (UNKNOWN, ANY, MATCH)),
    ],
)
def test_a_code_that_no_acl_can_have_is_refused_for_its_entry(
    active: ActiveController, field: str, code: int
) -> None:
    entries = [acls.AclCreation(**{**ACL, field: code}), acls.AclCreation(**ACL)]
    controller = ActiveController(
        authorizer_class_name="org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        super_users="User:ANONYMOUS",
    )
    results = controller.request(acls.CreateAclsRequest(creations=entries)).results
    assert [result.error_code for result in results] == [Errors.INVALID_REQUEST, Errors.NONE]


@pytest.mark.parametrize("rate", [pytest.param(math.nan, id="nan"), pytest.param(math.inf, id="infinity")])
@pytest.mark.parametrize("key", ["controller_mutation_rate", "request_percentage", "producer_byte_rate"])
def test_a_quota_is_a_finite_number(active: ActiveController, key: str, rate: float) -> None:
    entry = EntryData(
        entity=[EntityData(entity_type="user", entity_name="u")], ops=[OpData(key=key, value=rate)]
    )
    response = active.request(AlterClientQuotasRequest(entries=[entry]))
    assert response.entries[0].error_code == Errors.INVALID_REQUEST


def test_too_many_new_partitions_are_refused_before_any_is_created(active: ActiveController) -> None:
    topic = CreatePartitionsTopic(name="t", count=20_000, assignments=None)
    response = active.request(CreatePartitionsRequest(topics=[topic], timeout_ms=10_000))
    assert response.results[0].error_code == Errors.POLICY_VIOLATION
    created = active.controller.image.topics.topic_by_name("t")
    assert created is not None
    assert len(created.partitions) == 1


@pytest.mark.parametrize(
    "topics",
    [
        pytest.param([], id="no-topic"),
        pytest.param([snapshots.TopicSnapshot(name="__cluster_metadata", partitions=[])], id="no-partition"),
    ],
)
def test_a_fetch_snapshot_of_nothing_is_read_no_further(
    start_quorum: StartQuorum, topics: list[snapshots.TopicSnapshot]
) -> None:
    quorum = start_quorum(7, [1, 2, 3], [])
    refused = quorum.ask(quorum.led(), snapshots.FetchSnapshotRequest(topics=topics))
    quorum.run_for(100)
    assert refused.error == Errors.INVALID_REQUEST


@pytest.mark.parametrize(
    "request_of_brokers",
    [
        pytest.param(DescribeUserScramCredentialsRequest(users=None), id="all-users"),
        pytest.param(DescribeDelegationTokenRequest(owners=None), id="all-owners"),
    ],
)
def test_what_brokers_answer_themselves_is_refused_with_a_response(
    active: ActiveController, request_of_brokers: Message
) -> None:
    assert active.request(request_of_brokers).error_code == Errors.UNKNOWN_SERVER_ERROR


def test_two_resources_of_a_type_that_is_not_known_are_refused_with_a_response(
    active: ActiveController,
) -> None:
    resource = legacy.AlterConfigsResource(resource_type=99, resource_name="x")
    response = active.request(legacy.AlterConfigsRequest(resources=[resource, resource]))
    assert {each.error_code for each in response.responses} == {Errors.UNSUPPORTED_VERSION}


def test_a_live_broker_can_be_unregistered(active: ActiveController) -> None:
    """As in Kafka: its heartbeats are refused from then on, until it is started again."""
    epoch = active.controller.image.cluster.brokers[1].epoch
    assert active.request(UnregisterBrokerRequest(broker_id=1)).error_code == Errors.NONE
    assert active.heartbeat(1, epoch=epoch).error_code == Errors.STALE_BROKER_EPOCH


def test_a_broker_that_is_fenced_while_it_shuts_down_stays_out_of_new_partitions() -> None:
    """As in Kafka: only another incarnation of the broker ends its controlled shutdown."""
    active = ActiveController()
    active.start_brokers(1)
    active.create_topic("t")
    assert not active.heartbeat(1, shut_down=True).should_shut_down
    active.pass_time(60_000)
    assert active.controller.image.cluster.brokers[1].fenced
    assert not active.heartbeat(1).is_fenced
    assert active.controller.image.cluster.brokers[1].in_controlled_shutdown
    active.pass_time(60_000)
    active.register(1, number=2)
    assert not active.controller.image.cluster.brokers[1].in_controlled_shutdown


def test_a_heartbeat_may_report_that_all_directories_failed(active: ActiveController) -> None:
    broker = active.controller.image.cluster.brokers[1]
    response = active.heartbeat(1, offline=list(broker.directories))
    assert response.error_code == Errors.NONE
    topic = active.controller.image.topics.topic_by_name("t")
    assert topic is not None
    assert 1 not in topic.partitions[0].isr
    assert active.heartbeat(1).error_code == Errors.NONE
