"""Bugs that Kafka's controllers once had with snapshots and long results; each test names the issue."""

from __future__ import annotations

import random

import pytest

from kraftctl.controller.request_handlers import HANDLERS
from kraftctl.controller.results.batch_limits import BATCH_BYTES_MAX, RECORDS_PER_BATCH_MAX
from kraftctl.controller.results.controller_result import ControllerResult
from kraftctl.controller.results.moment import Moment
from kraftctl.controller.results.request_context import RequestContext
from kraftctl.controller.state.controller_state import ControllerState
from kraftctl.metadata.snapshot_batches import SnapshotBatches
from kraftctl.raft import events
from kraftctl_protocol import config_resource
from kraftctl_protocol.api_keys import ApiKey
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.broker_heartbeat_request import BrokerHeartbeatRequest
from kraftctl_protocol.generated.broker_heartbeat_response import BrokerHeartbeatResponse
from kraftctl_protocol.generated.broker_registration_response import BrokerRegistrationResponse
from kraftctl_protocol.generated.config_record import ConfigRecord
from kraftctl_protocol.generated.create_partitions_request import (
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from kraftctl_protocol.generated.create_topics_request import CreatableTopic, CreateTopicsRequest
from kraftctl_protocol.generated.create_topics_response import CreateTopicsResponse
from kraftctl_protocol.generated.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kraftctl_protocol.generated.no_op_record import NoOpRecord
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import RecordAndVersion
from kraftctl_protocol.record_batch import read_batches
from tests.support.active_controller import registration
from tests.support.effort import seeds
from tests.support.simulator.checks.recovery_checks import read_log
from tests.support.simulator.cluster.lone_node import LoneNode
from tests.support.simulator.quorum import quorums

BROKER = 1
NEXT_LEADERSHIP_MS = 3_000
CONFIGS = 120
"""So many of 30,000 characters are taken in one request."""


def serving_node(snapshot_bytes: int) -> LoneNode:
    """A node with one unfenced broker."""
    node = LoneNode(snapshot_bytes=snapshot_bytes)
    node.settle()
    epoch = node.ask(registration(BROKER), BrokerRegistrationResponse).broker_epoch
    beat = BrokerHeartbeatRequest(
        broker_id=BROKER, broker_epoch=epoch, current_metadata_offset=node.raft.end_offset
    )
    assert not node.ask(beat, BrokerHeartbeatResponse).is_fenced
    return node


def topic(name: str, partitions: int) -> CreateTopicsRequest:
    return CreateTopicsRequest(
        topics=[CreatableTopic(name=name, num_partitions=partitions, replication_factor=1)]
    )


def log_bytes(node: LoneNode) -> int:
    return len(node.log())


@pytest.mark.prevents("KAFKA-14300")
def test_leaders_of_short_epochs_still_take_snapshots() -> None:
    """KAFKA-14300: bytes written before a resignation count for the next snapshot."""
    bytes_max = 20_000
    node = serving_node(bytes_max)
    number = 0
    while not node.snapshot_ids():
        before = log_bytes(node)
        assert before < 2 * bytes_max
        node.send(topic(f"topic-{number}", partitions=20))
        node.settle()
        number += 1
        epoch = node.raft.epoch
        node.offer(events.ResignRequested(epoch))
        node.pass_time(NEXT_LEADERSHIP_MS)
        assert node.raft.epoch > epoch
        assert node.controller.active
        assert log_bytes(node) - before < bytes_max // 4
    assert number > 4


@pytest.mark.prevents("KAFKA-14300")
def test_voters_that_lead_in_turn_all_take_snapshots() -> None:
    """KAFKA-14300: what a voter wrote as leader and what it read as follower count together."""
    bytes_max = 30_000
    between = {"metadata.log.max.record.bytes.between.snapshots": str(bytes_max)}
    with quorums() as start_quorum:
        quorum = start_quorum(9, [1, 2, 3], properties=between)
        led: list[int] = []
        while not all(process.raft.log_start_offset > 0 for process in quorum.running()):
            leader = quorum.led()
            led.append(leader.node_id)
            assert len(led) < 20, "no snapshots"
            before = len(read_log(leader.partition.log))
            quorum.append(leader, 40)
            quorum.run_for(1_000)
            assert len(read_log(leader.partition.log)) - before < bytes_max // 4
            epoch = leader.raft.epoch
            leader.loop.offer(events.ResignRequested(epoch))
            quorum.run_for(6_000)
            assert quorum.led().raft.epoch > epoch
        assert len(set(led)) > 1


@pytest.mark.prevents("KAFKA-17713")
@pytest.mark.parametrize("seed", seeds(6))
def test_snapshots_end_where_a_batch_ends(seed: int) -> None:
    """KAFKA-17713: a reader cannot continue in the middle of a batch."""
    rng = random.Random(seed)
    node = serving_node(snapshot_bytes=300)
    for number in range(40):
        node.send(topic(f"topic-{number}", partitions=rng.randrange(1, 30)))
        if rng.random() < 0.5:
            node.flush()
        if rng.random() < 0.5:
            node.run_for(0)
        if rng.random() < 0.1:
            node.settle()
            node.offer(events.ResignRequested(node.raft.epoch))
            node.pass_time(NEXT_LEADERSHIP_MS)
    node.settle()
    headers = [batch.header for batch in read_batches(node.log())]
    ends = {header.last_offset + 1: header.partition_leader_epoch for header in headers}
    snapshot_ids = node.snapshot_ids()
    assert len(snapshot_ids) > 5
    assert {id_.offset: id_.epoch for id_ in snapshot_ids}.items() <= ends.items()


@pytest.mark.prevents("KAFKA-14222")
def test_a_snapshot_of_any_size_is_written_and_read() -> None:
    """KAFKA-14222: the writer of snapshots had five buffers of 8 MiB; a longer one was never written."""
    node = LoneNode(snapshot_bytes=48 << 20)
    node.settle()
    brokers = 0
    while not node.snapshot_ids():
        assert log_bytes(node) < 60 << 20
        brokers += 1
        node.ask(registration(brokers), BrokerRegistrationResponse)
        assert ask_at_length(node, configs_of(str(brokers), CONFIGS, "v" * 30_000)) == {Errors.NONE}
    (snapshot_id,) = node.snapshot_ids()
    sizes = [batch.header.size_bytes for batch in node.snapshot(snapshot_id)]
    assert sum(sizes) > 5 * BATCH_BYTES_MAX
    assert max(sizes) <= BATCH_BYTES_MAX
    node.restart()
    node.settle()
    assert node.controller.active
    for number in range(1, brokers + 1):
        stored = node.controller.image.configurations.config(config_resource.BROKER, str(number))
        assert len(stored) == CONFIGS


@pytest.mark.prevents("KAFKA-14222")
def test_no_batch_of_a_snapshot_is_larger_than_a_reader_s_buffer() -> None:
    """KAFKA-14222: however many records are written together, and however long they are."""
    value = "v" * 30_000
    record = ConfigRecord(resource_type=config_resource.BROKER, resource_name="", name="k", value=value)
    records = [RecordAndVersion(record, 0)] * 1_500
    sizes = [len(batch) for batch in SnapshotBatches(1, 0).records(records)]
    assert sum(sizes) > 5 * BATCH_BYTES_MAX
    assert max(sizes) <= BATCH_BYTES_MAX


def ask_at_length(node: LoneNode, request: Message) -> set[int]:
    """The error codes of a request that may be so long that it is decoded beside the loop."""
    request_id = node.send(request)
    node.pass_time(100)
    answer = node.answers[request_id]
    results = next(
        getattr(answer, name) for name in ("topics", "results", "responses") if hasattr(answer, name)
    )
    return {result.error_code for result in results}


def configs_of(broker: str, count: int, value: str) -> IncrementalAlterConfigsRequest:
    configs = [AlterableConfig(name=f"config-{number}", value=value) for number in range(count)]
    resource = AlterConfigsResource(
        resource_type=config_resource.BROKER, resource_name=broker, configs=configs
    )
    return IncrementalAlterConfigsRequest(resources=[resource])


@pytest.mark.prevents("KAFKA-14204", "KAFKA-21129")
@pytest.mark.parametrize(
    ("count", "expected"),
    [
        pytest.param(RECORDS_PER_BATCH_MAX + 1, [RECORDS_PER_BATCH_MAX, 1], id="one-more"),
        pytest.param(2 * RECORDS_PER_BATCH_MAX, [RECORDS_PER_BATCH_MAX] * 2, id="two-whole-batches"),
    ],
)
def test_a_long_result_is_appended_in_batches(
    monkeypatch: pytest.MonkeyPatch, count: int, expected: list[int]
) -> None:
    """KAFKA-14204, KAFKA-21129: one batch was too large, or the last one empty: the leader resigned."""
    node = serving_node(snapshot_bytes=1 << 30)
    create_topics = HANDLERS[ApiKey.CREATE_TOPICS]

    def with_more_records(
        state: ControllerState, context: RequestContext, request: Message, moment: Moment
    ) -> ControllerResult:
        result = create_topics(state, context, request, moment)
        no_op = RecordAndVersion(NoOpRecord(), 0)
        records = result.records + [no_op] * (count - len(result.records))
        return ControllerResult.of(records, result.response)

    monkeypatch.setitem(HANDLERS, ApiKey.CREATE_TOPICS, with_more_records)
    epoch, before = node.raft.epoch, node.raft.end_offset
    response = node.ask(topic("orders", partitions=1), CreateTopicsResponse)
    assert response.topics[0].error_code == Errors.NONE
    assert node.controller.active
    assert node.raft.epoch == epoch
    assert node.raft.high_watermark == node.raft.end_offset == before + count
    counts = [len(batch.records) for batch in read_batches(node.log()) if batch.header.base_offset >= before]
    assert counts == expected


@pytest.mark.prevents("KAFKA-14996")
@pytest.mark.parametrize(
    "wanted",
    [
        pytest.param(
            CreateTopicsRequest(
                topics=[
                    CreatableTopic(name=f"topic-{number}", num_partitions=100, replication_factor=1)
                    for number in range(100)
                ]
            ),
            id="10000-partitions-and-their-topics",
        ),
        pytest.param(
            CreatePartitionsRequest(
                timeout_ms=60_000,
                topics=[
                    CreatePartitionsTopic(name=name, count=5_002, assignments=None)
                    for name in ("orders", "refunds")
                ],
            ),
            id="10002-partitions-of-two-topics",
        ),
    ],
)
def test_a_request_for_more_than_a_batch_is_refused(wanted: Message) -> None:
    """KAFKA-14996: records that could not be appended together cost the leader its leadership."""
    node = serving_node(snapshot_bytes=1 << 30)
    for name in ("orders", "refunds"):
        node.ask(topic(name, partitions=1), CreateTopicsResponse)
    epoch, before = node.raft.epoch, node.raft.end_offset
    assert ask_at_length(node, wanted) == {Errors.POLICY_VIOLATION}
    assert node.controller.active
    assert (node.raft.epoch, node.raft.end_offset) == (epoch, before)
    after = node.ask(topic("payments", partitions=1), CreateTopicsResponse)
    assert after.topics[0].error_code == Errors.NONE
