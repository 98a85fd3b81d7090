"""Partitions that nothing asks about have marks only while they are being reassigned."""

from __future__ import annotations

import pytest

from kraftctl.explain.mark import Mark
from kraftctl.explain.replayed_log import ReplayedLog
from kraftctl.explain.why_reassignment import explain_reassignments
from kraftctl_protocol.generated.remove_topic_record import RemoveTopicRecord
from kraftctl_protocol.message import Message
from tests.support.explained_log import ExplainedLog, change, directory, partition

ORDERS = b"orders".ljust(16, b".")


def unwatched() -> ExplainedLog:
    """Returns a log of which no topic is asked about."""
    log = ExplainedLog()
    log.log = ReplayedLog(lambda _: False)
    log.brokers(1, 2)
    log.topic("orders", *[partition([1]) for _ in range(4)])
    return log


def reassign(log: ExplainedLog, index: int) -> Mark:
    moved = change("orders", index, replicas=[2, 1], adding_replicas=[2], removing_replicas=[1])
    moved.directories = [directory(2), directory(1)]
    return log.write(moved)


def test_only_the_partition_that_is_being_reassigned_has_marks() -> None:
    log = unwatched()
    log.write(change("orders", 1, leader=-1))
    assert log.log.marks.partitions == {}
    begun = reassign(log, 2)
    assert list(log.log.marks.partitions) == [(ORDERS, 2)]
    explanation = explain_reassignments(log.evidence())
    assert explanation.subject == "reassignment of orders-2"
    assert explanation.statement.since == begun


def test_what_is_older_than_the_reassignment_has_no_time_and_what_follows_has_one() -> None:
    log = unwatched()
    log.write(change("orders", 0, leader=-1))
    reassign(log, 0)
    assert explain_reassignments(log.evidence()).causes[0].since is None
    log.write(change("orders", 0, leader=1))
    lost = log.write(change("orders", 0, leader=-1))
    cause = explain_reassignments(log.evidence()).causes[0]
    assert (cause.text, cause.since) == ("orders-0 has no leader", lost)


@pytest.mark.parametrize(
    "end",
    [
        pytest.param(change("orders", 0, adding_replicas=[], removing_replicas=[]), id="it-ends"),
        pytest.param(RemoveTopicRecord(topic_id=ORDERS), id="the-topic-is-deleted"),
    ],
)
def test_the_marks_go_with_the_reassignment(end: Message) -> None:
    log = unwatched()
    reassign(log, 0)
    log.write(change("orders", 0, isr=[1, 2]))
    assert list(log.log.marks.partitions) == [(ORDERS, 0)]
    log.write(end)
    assert log.log.marks.partitions == {}


def test_a_snapshot_of_a_reassignment_says_how_old_it_is_at_least() -> None:
    log = unwatched()
    log.in_snapshot = True
    log.topic("moved", partition([2, 1], adding_replicas=[2], removing_replicas=[1]))
    since = explain_reassignments(log.evidence()).statement.since
    assert since == Mark(log.offset, log.now_ms, is_latest_possible=True)
