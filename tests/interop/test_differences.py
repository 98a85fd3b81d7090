"""What docs/differences.md says of Kafka 4.3.1, asked of its own controller: it resigns, ends, or is silent.

When one of these no longer occurs, its row goes, and kraftctl may do as Kafka does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from kraftctl.dev.cluster import Cluster
from kraftctl.dev.polling import await_result
from kraftctl.metadata import features
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated import add_raft_voter_request as voters
from kraftctl_protocol.generated import alter_configs_request as legacy
from kraftctl_protocol.generated import alter_partition_request as isr
from kraftctl_protocol.generated import begin_quorum_epoch_request as begin
from kraftctl_protocol.generated import create_acls_request as acls
from kraftctl_protocol.generated import create_partitions_request as partitions
from kraftctl_protocol.generated import create_topics_request as topics
from kraftctl_protocol.generated import describe_quorum_request as quorum
from kraftctl_protocol.generated import end_quorum_epoch_request as end
from kraftctl_protocol.generated import incremental_alter_configs_request as configs
from kraftctl_protocol.generated import update_raft_voter_request as update
from kraftctl_protocol.generated.api_versions_request import ApiVersionsRequest
from kraftctl_protocol.generated.api_versions_response import ApiVersionsResponse
from kraftctl_protocol.generated.create_topics_response import CreateTopicsResponse
from kraftctl_protocol.generated.describe_quorum_response import DescribeQuorumResponse
from kraftctl_protocol.generated.describe_user_scram_credentials_request import (
    DescribeUserScramCredentialsRequest,
)
from kraftctl_protocol.generated.fetch_snapshot_request import FetchSnapshotRequest
from kraftctl_protocol.generated.update_features_request import FeatureUpdateKey, UpdateFeaturesRequest
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_topic import METADATA_TOPIC
from tests.support.processes.kafka import kafka
from tests.support.wire.controller_client import ControllerClient, StandInBroker
from tests.support.wire.refusing_controller import SETTINGS, refusals

pytestmark = [pytest.mark.interop, pytest.mark.long]

SILENCE_SECONDS = 5.0

TOPIC = 2
APPEND, SUBTRACT, UNKNOWN = 2, 3, 9


class Javas:
    """A Java controller with brokers 1 and 2, which it may lose."""

    def __init__(self, cluster: Cluster, brokers: Sequence[int] = (1, 2)) -> None:
        self.cluster = cluster
        self.port = cluster.controller.port
        self._count = 0
        with ControllerClient(self.port) as client:
            self._brokers = [StandInBroker(client, broker_id, cluster.cluster_id) for broker_id in brokers]
            for broker in self._brokers:
                await_result(broker.register, "the controller is active")
                await_result(broker.is_unfenced, "the broker is unfenced")

    def ask(self, request: Message, timeout_s: float = 60.0, version: int | None = None) -> Message:
        with ControllerClient(self.port, timeout_s=timeout_s) as client:
            return client.call(request, request.HIGHEST_VERSION if version is None else version, Message)

    def error(self, request: Message) -> Errors:
        (refusal,) = refusals(self.ask(request))
        return refusal.error

    def epoch(self) -> int:
        """That of its leadership, once it leads."""
        return await_result(self._epoch, "the controller leads")

    def _epoch(self) -> int | None:
        topic = quorum.TopicData(topic_name=METADATA_TOPIC, partitions=[quorum.PartitionData()])
        response = self.ask(quorum.DescribeQuorumRequest(topics=[topic]))
        assert isinstance(response, DescribeQuorumResponse)
        partition = response.topics[0].partitions[0]
        return None if partition.error_code else partition.leader_epoch

    def kraft_version(self) -> int:
        response = self.ask(
            ApiVersionsRequest(client_software_name="a", client_software_version="1"), version=3
        )
        assert isinstance(response, ApiVersionsResponse)
        levels = {each.name: each.max_version_level for each in response.finalized_features}
        return levels.get(features.KRAFT_VERSION, 0)

    def resigns_at(self, request: Message) -> bool:
        before = self.epoch()
        assert self.error(request) == Errors.UNKNOWN_SERVER_ERROR
        return await_result(lambda: self.epoch() > before, "the controller leads again")

    def new_topic(self, min_isr: str | None = None) -> bytes:
        """Of one partition, led by broker 1."""
        self._count += 1
        config = topics.CreatableTopicConfig(name="min.insync.replicas", value=min_isr)
        topic = topics.CreatableTopic(
            name=f"t{self._count}",
            num_partitions=-1,
            replication_factor=-1,
            assignments=[topics.CreatableReplicaAssignment(partition_index=0, broker_ids=[1, 2])],
            configs=[config] if min_isr else [],
        )
        request = topics.CreateTopicsRequest(topics=[topic], timeout_ms=10_000)
        return await_result(lambda: self._created(request), "the controller leads")

    def _created(self, request: Message) -> bytes | None:
        response = self.ask(request)
        assert isinstance(response, CreateTopicsResponse)
        (result,) = response.topics
        assert result.error_code in (Errors.NONE, Errors.NOT_CONTROLLER), result
        return result.topic_id if result.error_code == Errors.NONE else None

    def shrink(self, topic_id: bytes, recovery_state: int = 0) -> Message:
        partition = isr.PartitionData(
            partition_index=0,
            new_isr_with_epochs=[isr.BrokerState(broker_id=1, broker_epoch=-1)],
            leader_recovery_state=recovery_state,
        )
        topic = isr.TopicData(topic_id=topic_id, partitions=[partition])
        return isr.AlterPartitionRequest(
            broker_id=1, broker_epoch=self._brokers[0].broker_epoch, topics=[topic]
        )


@pytest.fixture(scope="module")
def java(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Javas]:
    directory = tmp_path_factory.mktemp("java")
    with Cluster(
        kafka(), directory, brokers=0, java_controller=True, controller_settings=SETTINGS
    ) as cluster:
        yield Javas(cluster)


def test_it_resigns_at_blanks_around_min_insync_replicas(java: Javas) -> None:
    assert java.resigns_at(java.shrink(java.new_topic(" 2 ")))


def test_it_resigns_at_an_unknown_recovery_state(java: Javas) -> None:
    assert java.resigns_at(java.shrink(java.new_topic(), UNKNOWN))


@pytest.mark.parametrize(
    ("operation", "value"), [(UNKNOWN, "delete"), (-1, "delete"), (APPEND, None), (SUBTRACT, None)]
)
def test_it_resigns_at_what_no_config_can_be_changed_by(
    java: Javas, operation: int, value: str | None
) -> None:
    java.new_topic()
    change = configs.AlterableConfig(name="cleanup.policy", config_operation=operation, value=value)
    resource = configs.AlterConfigsResource(resource_type=TOPIC, resource_name="t1", configs=[change])
    assert java.resigns_at(configs.IncrementalAlterConfigsRequest(resources=[resource]))


@pytest.mark.parametrize("field", ["resource_type", "resource_pattern_type", "operation", "permission_type"])
def test_it_knows_no_reason_for_codes_that_no_acl_can_have(java: Javas, field: str) -> None:
    fields: dict[str, Any] = {
        "resource_type": 2, "resource_name": "t", "resource_pattern_type": 3, "principal": "User:a",
        "host": "*", "operation": 3, "permission_type": 3,
    }  # fmt: skip
    any_code = acls.CreateAclsRequest(creations=[acls.AclCreation(**{**fields, field: 1})])
    assert java.error(any_code) == Errors.UNKNOWN_SERVER_ERROR
    with pytest.raises(ConnectionError):
        java.ask(acls.CreateAclsRequest(creations=[acls.AclCreation(**{**fields, field: 0})]))


def test_it_creates_partitions_that_it_refuses(java: Javas) -> None:
    java.new_topic()

    def request(count: int) -> Message:
        topic = partitions.CreatePartitionsTopic(name="t1", count=count, assignments=None)
        return partitions.CreatePartitionsRequest(topics=[topic], timeout_ms=10_000)

    assert java.error(request(20_000)) == Errors.UNKNOWN_SERVER_ERROR
    assert java.error(request(10_001)) == Errors.INVALID_PARTITIONS, "there are as many now"


@pytest.mark.parametrize(
    "request_",
    [
        pytest.param(DescribeUserScramCredentialsRequest(users=None), id="users"),
        pytest.param(
            legacy.AlterConfigsRequest(
                resources=[legacy.AlterConfigsResource(resource_type=99, resource_name="x")] * 2
            ),
            id="resources",
        ),
    ],
)
def test_it_never_answers(java: Javas, request_: Message) -> None:
    with pytest.raises(TimeoutError):
        java.ask(request_, SILENCE_SECONDS)


LISTENER = voters.Listener(name=" ", host="localhost", port=1)


def from_leader(message: Any, request: Any, *names: str) -> Message:
    """A request that names the leader, with these listeners; `message` has its structures."""
    partition = message.PartitionData(leader_id=3000, leader_epoch=1)
    endpoints = [message.LeaderEndpoint(name=name, host="localhost", port=1) for name in names]
    topic = message.TopicData(topic_name=METADATA_TOPIC, partitions=[partition])
    found: Message = request(cluster_id=None, topics=[topic], leader_endpoints=endpoints)
    return found


@pytest.mark.parametrize(
    "request_",
    [
        pytest.param(FetchSnapshotRequest(), id="snapshot-of-nothing"),
        pytest.param(
            voters.AddRaftVoterRequest(
                cluster_id=None, voter_id=5, voter_directory_id=b"d" * 16, listeners=[LISTENER]
            ),
            id="nameless-listener-of-a-voter",
        ),
        pytest.param(
            update.UpdateRaftVoterRequest(
                cluster_id=None,
                current_leader_epoch=1,
                voter_id=5,
                voter_directory_id=b"d" * 16,
                listeners=[update.Listener(name="", host="localhost", port=1)],
            ),
            id="nameless-listener-of-an-update",
        ),
        pytest.param(
            from_leader(begin, begin.BeginQuorumEpochRequest, " "), id="nameless-listener-of-a-leader"
        ),
        pytest.param(from_leader(end, end.EndQuorumEpochRequest, " "), id="nameless-listener-at-the-end"),
        pytest.param(
            from_leader(begin, begin.BeginQuorumEpochRequest, "CONTROLLER", "OTHER"),
            id="more-listeners-of-the-leader-itself",
        ),
        pytest.param(
            from_leader(end, end.EndQuorumEpochRequest, "CONTROLLER", "OTHER"),
            id="more-listeners-of-the-leader-itself-at-the-end",
        ),
    ],
)
def test_its_process_ends(tmp_path: Path, request_: Message) -> None:
    with Cluster(kafka(), tmp_path, brokers=0, java_controller=True, controller_settings=SETTINGS) as cluster:
        assert Javas(cluster, brokers=()).epoch() == 1
        with ControllerClient(cluster.controller.port) as client, pytest.raises(ConnectionError):
            client.call(request_, request_.HIGHEST_VERSION, Message)
        await_result(lambda: not cluster.controller.running, "the process ends")


def test_it_raises_kraft_version_with_a_request_that_it_refuses(tmp_path: Path) -> None:
    updates = [
        FeatureUpdateKey(feature=features.KRAFT_VERSION, max_version_level=1),
        FeatureUpdateKey(feature=features.SHARE_VERSION, max_version_level=9),
    ]
    request = UpdateFeaturesRequest(feature_updates=updates)
    with Cluster(kafka(), tmp_path, brokers=0, java_controller=True, dynamic=False) as cluster:
        java = Javas(cluster, brokers=())
        assert java.epoch()
        assert java.kraft_version() == 0
        assert java.error(request) == Errors.INVALID_UPDATE_VERSION
        await_result(java.kraft_version, "kraft.version is 1")
