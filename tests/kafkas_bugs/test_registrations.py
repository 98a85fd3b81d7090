"""Bugs that Kafka's controllers had with registered brokers do not exist here; each test names the issue."""

from __future__ import annotations

from typing import TypeVar

import pytest

from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.broker_heartbeat_request import BrokerHeartbeatRequest
from kraftctl_protocol.generated.broker_heartbeat_response import BrokerHeartbeatResponse
from kraftctl_protocol.generated.broker_registration_request import BrokerRegistrationRequest, Feature
from kraftctl_protocol.generated.broker_registration_response import BrokerRegistrationResponse
from kraftctl_protocol.generated.create_topics_request import CreatableTopic, CreateTopicsRequest
from kraftctl_protocol.generated.create_topics_response import CreateTopicsResponse
from kraftctl_protocol.generated.register_broker_record import RegisterBrokerRecord
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import decode_metadata_record
from kraftctl_protocol.record_batch import read_batches
from tests.support.active_controller import registration
from tests.support.simulator.checks.recovery_checks import read_log
from tests.support.simulator.cluster.cluster import Cluster
from tests.support.simulator.cluster.direct_client import DirectClient
from tests.support.simulator.cluster.process import ControllerProcess
from tests.support.simulator.cluster.three_nodes import NODE_IDS

M = TypeVar("M", bound=Message)

ANSWER_MS_MAX = 20_000
SESSION_MS = 9_000
FAR_OFFSET = 1 << 40


def ask(cluster: Cluster, request: Message, response_type: type[M]) -> M:
    """The response of the active controller."""
    client = DirectClient(cluster.await_active())
    request_id = client.send(request)
    cluster.run_until(lambda: request_id in client.answers, ANSWER_MS_MAX, "answered", 5)
    answer = client.answers[request_id]
    assert isinstance(answer, response_type)
    return answer


def register(cluster: Cluster, request: BrokerRegistrationRequest) -> BrokerRegistrationResponse:
    return ask(cluster, request, BrokerRegistrationResponse)


def start_broker(cluster: Cluster, broker_id: int) -> None:
    """Register and unfence."""
    epoch = register(cluster, registration(broker_id)).broker_epoch
    beat = BrokerHeartbeatRequest(
        broker_id=broker_id, broker_epoch=epoch, current_metadata_offset=FAR_OFFSET, want_fence=False
    )
    assert not ask(cluster, beat, BrokerHeartbeatResponse).is_fenced


def last_registration(process: ControllerProcess) -> tuple[int, int]:
    """Offset of the last RegisterBrokerRecord in the log of `process`, and the epoch that it has."""
    found: tuple[int, int] | None = None
    for batch in read_batches(read_log(process.partition.log)):
        for record in [] if batch.header.is_control else batch.records:
            decoded = decode_metadata_record(record.value or b"").record
            if isinstance(decoded, RegisterBrokerRecord):
                found = record.offset, decoded.broker_epoch
    assert found is not None
    return found


@pytest.mark.prevents("KAFKA-15213")
def test_each_controller_replays_a_registration_with_its_own_offset() -> None:
    """KAFKA-15213: also when records of the former incarnation come before it in the same batch."""
    cluster = Cluster(1, NODE_IDS, dynamic=False, properties={"min.insync.replicas": "2"})
    with cluster.files.attach():
        cluster.start()
        start_broker(cluster, 1)
        start_broker(cluster, 2)
        topic = CreatableTopic(name="t", num_partitions=2, replication_factor=2)
        assert (
            ask(cluster, CreateTopicsRequest(topics=[topic]), CreateTopicsResponse).topics[0].error_code == 0
        )
        cluster.run_for(2 * SESSION_MS)
        epoch = register(cluster, registration(1, number=2)).broker_epoch
        cluster.run_for(2_000)
        offset, recorded_epoch = last_registration(cluster.await_active())
        assert recorded_epoch == epoch < offset
        images = [process.controller.image.cluster for process in cluster.running()]
        assert [image.registration_offsets[1] for image in images] == [offset] * len(NODE_IDS)
        assert [image.brokers[1].epoch for image in images] == [epoch] * len(NODE_IDS)


@pytest.mark.prevents("KAFKA-13841")
def test_after_a_failover_fenced_brokers_that_sent_no_heartbeat_get_replicas() -> None:
    """KAFKA-13841: the new leader knows it by its registration alone."""
    cluster = Cluster(2, NODE_IDS, dynamic=False)
    with cluster.files.attach():
        cluster.start()
        start_broker(cluster, 1)
        register(cluster, registration(2))
        cluster.await_active().lose_power()
        topic = CreatableTopic(name="t", num_partitions=3, replication_factor=2)
        answer = ask(cluster, CreateTopicsRequest(topics=[topic]), CreateTopicsResponse)
        assert answer.topics[0].error_code == 0
        created = cluster.await_active().controller.image.topics.topic_by_name("t")
        assert created is not None
        for partition in created.partitions.values():
            assert sorted(partition.replicas) == [1, 2]
            assert (partition.isr, partition.leader) == ((1,), 1)


@pytest.mark.prevents("KAFKA-17305")
@pytest.mark.parametrize(
    ("dynamic", "offered", "error"),
    [
        pytest.param(True, None, Errors.UNSUPPORTED_VERSION, id="not-listed"),
        pytest.param(True, (0, 0), Errors.UNSUPPORTED_VERSION, id="level-0-only"),
        pytest.param(True, (1, 1), Errors.NONE, id="the-level-of-the-quorum"),
        pytest.param(False, None, Errors.NONE, id="not-listed-and-not-needed"),
    ],
)
def test_a_broker_has_to_support_the_kraft_version_that_raft_has(
    dynamic: bool, offered: tuple[int, int] | None, error: Errors
) -> None:
    """KAFKA-17305: the level is not among the finalized features of the metadata log."""
    request = registration(1)
    request.features = [feature for feature in request.features if feature.name != "kraft.version"]
    if offered is not None:
        low, high = offered
        request.features.append(
            Feature(name="kraft.version", min_supported_version=low, max_supported_version=high)
        )
    cluster = Cluster(1, NODE_IDS[:1], dynamic=dynamic)
    with cluster.files.attach():
        cluster.start()
        assert Errors(register(cluster, request).error_code) == error
        assert (1 in cluster.await_active().controller.image.cluster.brokers) is (error == Errors.NONE)
