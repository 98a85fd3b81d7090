"""Bugs that Kafka's snapshots once had do not exist here; each test names the issue."""

from __future__ import annotations

import random

import pytest

from kraftctl.raft import events
from kraftctl_protocol.generated.broker_heartbeat_request import BrokerHeartbeatRequest
from kraftctl_protocol.generated.broker_heartbeat_response import BrokerHeartbeatResponse
from kraftctl_protocol.generated.broker_registration_response import BrokerRegistrationResponse
from kraftctl_protocol.generated.create_topics_request import CreatableTopic, CreateTopicsRequest
from kraftctl_protocol.record_batch import read_batches
from tests.support.active_controller import registration
from tests.support.effort import seeds
from tests.support.simulator.lone_node import LoneNode

BROKER = 1
NEXT_LEADERSHIP_MS = 3_000


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
