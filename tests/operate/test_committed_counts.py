"""KAFKA-14457: metrics have what is committed, although an active controller's image has more."""

from __future__ import annotations

from kraftctl.operate.committed_counts import FENCED, CommittedCounts
from kraftctl_protocol.generated.create_topics_request import CreatableTopic, CreateTopicsRequest
from tests.node.audited_node import audited_node
from tests.support.simulator.cluster.lone_node import LoneNode


def topics(*names: str) -> CreateTopicsRequest:
    return CreateTopicsRequest(
        topics=[CreatableTopic(name=name, num_partitions=2, replication_factor=1) for name in names],
        timeout_ms=60_000,
    )


def look(counts: CommittedCounts, node: LoneNode) -> bool:
    return counts.look(node.controller, node.raft.high_watermark)


def test_what_is_not_committed_is_not_counted() -> None:
    node = audited_node(1)
    counts = CommittedCounts()
    assert look(counts, node)
    assert counts.committed is not None
    assert (counts.committed.topics, counts.committed.partitions) == (0, 0)
    node.send(topics("one"))
    assert node.controller.image.topics.partition_count == 2, "it is in the image"
    assert not look(counts, node)
    assert counts.committed.topics == 0
    node.settle()
    assert look(counts, node)
    assert counts.committed is not None
    assert (counts.committed.topics, counts.committed.partitions) == (1, 2)


def test_under_constant_load_they_are_those_of_the_look_before() -> None:
    """There is always something that is not committed."""
    node = audited_node(1)
    counts = CommittedCounts()
    node.send(topics("one"))
    assert not look(counts, node)
    assert node.flush()
    node.run_for(0)
    node.send(topics("two"))
    assert look(counts, node), "what was in the image before is committed now"
    assert counts.committed is not None
    assert counts.committed.topics == 1


def test_what_a_former_leader_had_counted_is_dropped() -> None:
    node = audited_node(1)
    counts = CommittedCounts()
    assert look(counts, node)
    node.send(topics("lost"))
    assert not look(counts, node)
    node.controller.renounce()
    assert look(counts, node)
    assert counts.committed is not None
    assert counts.committed.topics == 0


def test_brokers_have_their_states() -> None:
    node = audited_node(1, 2)
    counts = CommittedCounts()
    node.pass_time(20_000)
    assert look(counts, node)
    assert counts.committed is not None
    assert counts.committed.broker_states == ((1, FENCED), (2, FENCED))
    assert node.controller.state.fencings.timed_out_count == 2
