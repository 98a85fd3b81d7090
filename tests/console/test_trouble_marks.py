"""Since when a partition is so, in a log that began with a snapshot, and with a limit on marks."""

from __future__ import annotations

from kraftctl.console.trouble_marks import DELETED_MAX, TroubleMarks
from kraftctl.explain.why_partition import explain_partition
from kraftctl_protocol.generated.remove_topic_record import RemoveTopicRecord
from kraftctl_protocol.generated.topic_record import TopicRecord
from tests.support.explained_log import ExplainedLog, change, partition

KEPT_MAX = 20
TOPICS = 3_000


class MarkedLog(ExplainedLog):
    """Replays into a log that keeps few marks."""

    def __init__(self) -> None:
        super().__init__()
        self.marks = TroubleMarks(KEPT_MAX)
        self.log.marks = self.marks


def test_what_a_snapshot_has_is_of_its_time_or_earlier() -> None:
    log = MarkedLog()
    log.in_snapshot = True
    log.brokers(1, 2)
    log.topic("orders", partition([1, 2], isr=[1]), partition([1, 2]))
    log.in_snapshot = False
    since = explain_partition(log.evidence(), "orders", 0).statement.since
    assert since is not None
    assert since.is_latest_possible
    changed = log.write(change("orders", 1, isr=[1]))
    assert explain_partition(log.evidence(), "orders", 1).statement.since == changed
    assert len(log.marks.partitions) == 1


def test_a_log_from_its_beginning_has_the_marks_of_explain() -> None:
    log, plain = MarkedLog(), ExplainedLog()
    for each in (log, plain):
        each.brokers(1, 2)
        each.topic("orders", partition([1, 2]))
        each.write(change("orders", 0, leader=2))
        each.write(change("orders", 0, isr=[2]))
    assert explain_partition(log.evidence(), "orders", 0) == explain_partition(plain.evidence(), "orders", 0)


def test_too_many_marks_are_dropped_but_for_those_of_troubles() -> None:
    log = MarkedLog()
    log.brokers(1, 2)
    log.topic("orders", *[partition([1, 2]) for _ in range(KEPT_MAX + 1)])
    lost = log.write(change("orders", 3, isr=[1]))
    log.marks.sweep(log.log.image)
    assert [index for _, index in log.marks.partitions] == [3]
    assert explain_partition(log.evidence(), "orders", 3).statement.since == lost
    assert explain_partition(log.evidence(), "orders", 4).statement.since is None
    log.write(change("orders", 4, isr=[1]))
    assert explain_partition(log.evidence(), "orders", 4).statement.since is not None


def test_of_deleted_topics_the_latest_are_known() -> None:
    log = MarkedLog()
    log.brokers(1)
    for number in range(TOPICS):
        name, topic_id = f"topic-{number}", number.to_bytes(16, "big")
        log.write(
            TopicRecord(name=name, topic_id=topic_id), partition([1], topic_id=topic_id, partition_id=0)
        )
        log.config("min.insync.replicas", "1", topic=name)
        log.write(RemoveTopicRecord(topic_id=topic_id))
    marks = log.marks
    assert list(marks.deleted_topics) == [f"topic-{each}" for each in range(TOPICS - DELETED_MAX, TOPICS)]
    kept = (marks._watched, marks.topics, marks.partitions, marks.min_isr_configs)
    assert [len(each) for each in kept] == [0, 0, 0, 0]


def test_few_marks_are_kept() -> None:
    log = MarkedLog()
    log.brokers(1)
    log.topic("orders", *[partition([1]) for _ in range(KEPT_MAX)])
    log.marks.sweep(log.log.image)
    assert len(log.marks.partitions) == KEPT_MAX
