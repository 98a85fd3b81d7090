"""Each situation of partitions, topics and reassignments has its first cause and its next step."""

from __future__ import annotations

import pytest

from kraftctl.explain.mark import Mark
from kraftctl.explain.why_partition import explain_partition, min_isr
from kraftctl.explain.why_reassignment import explain_reassignment
from kraftctl.explain.why_topic import explain_topic
from kraftctl_protocol.generated.clear_elr_record import ClearElrRecord
from tests.support.explained_log import Ask, ExplainedLog, Make, change, check_explanation, partition
from tests.support.explained_situations import (
    electable,
    last_leader_available,
    under_min_isr,
)


def of_partition(topic: str) -> Ask:
    return lambda evidence: explain_partition(evidence, topic, 0)


def of_topic(topic: str) -> Ask:
    return lambda evidence: explain_topic(evidence, topic)


def of_reassignment(topic: str) -> Ask:
    return lambda evidence: explain_reassignment(evidence, topic, 0)


CASES = [
    pytest.param(
        last_leader_available,
        of_partition("orders"),
        "orders-0 has no leader",
        "no replica is known to have all records: its ISR and ELR are empty",
        "ask again; the last leader is elected by itself. If it stays so, kafka-leader-election"
        " --election-type unclean --topic orders --partition 0 elects any live replica, AND LOSES RECORDS",
        id="the-last-leader-is-available",
    ),
    pytest.param(
        electable,
        of_partition("orders"),
        "orders-0 has no leader",
        "the active controller has not elected broker 2 yet, which may lead",
        "ask again; if it lasts, the log of the active controller says why it elects none",
        id="no-leader-although-one-may-lead",
    ),
]


@pytest.mark.parametrize(("make", "ask", "statement", "first_cause", "next_step"), CASES)
def test_the_first_cause_is_the_right_one(
    make: Make, ask: Ask, statement: str, first_cause: str | None, next_step: str
) -> None:
    check_explanation(make, ask, statement, first_cause, next_step)


@pytest.mark.parametrize(
    ("of_the_topic", "of_the_cluster", "expected", "source"),
    [
        (" 2 ", None, 2, "topic"),
        ("+3", "2", 3, "topic"),
        (None, " 3", 3, "cluster"),
        ("two", "3", 3, "cluster"),
        ("0", "3", 3, "cluster"),
        ("-1", "0", 1, "default; the properties files of controllers may have another"),
    ],
)
def test_min_isr_is_read_as_kafka_reads_it(
    of_the_topic: str | None, of_the_cluster: str | None, expected: int, source: str
) -> None:
    log = ExplainedLog()
    if of_the_topic is not None:
        log.config("min.insync.replicas", of_the_topic, topic="orders")
    if of_the_cluster is not None:
        log.config("min.insync.replicas", of_the_cluster)
    assert min_isr(log.evidence(), "orders") == (expected, source)


@pytest.mark.parametrize(
    ("of_the_topic", "of_the_cluster", "expected"),
    [
        (" TRUE ", None, "is allowed (unclean.leader.election.enable=true, topic)"),
        ("yes", "True", "is allowed (unclean.leader.election.enable=true, cluster)"),
        ("FALSE", "true", "is refused (unclean.leader.election.enable=false, topic)"),
    ],
)
def test_whether_an_unclean_election_is_allowed_is_read_as_kafka_reads_it(
    of_the_topic: str, of_the_cluster: str | None, expected: str
) -> None:
    log = ExplainedLog()
    log.brokers(1, 2)
    log.topic("orders", partition([1, 2], isr=[1]))
    log.config("unclean.leader.election.enable", of_the_topic, topic="orders")
    if of_the_cluster is not None:
        log.config("unclean.leader.election.enable", of_the_cluster)
    log.fence(1, change("orders", 0, leader=-1))
    fact = explain_partition(log.evidence(), "orders", 0).facts[0]
    assert fact.endswith(f"broker 2 may lack records, and an unclean election {expected}")


def test_isr_and_elr_are_empty_since_the_later_change() -> None:
    log = ExplainedLog()
    log.brokers(1, 2)
    log.topic("orders", partition([1, 2], isr=[1]))
    isr = log.fence(1, change("orders", 0, isr=[], leader=-1, eligible_leader_replicas=[1]))
    for record in (change("orders", 0, eligible_leader_replicas=[]), ClearElrRecord(topic_name="orders")):
        log.write(change("orders", 0, eligible_leader_replicas=[1]))
        cleared = log.write(record)
        log.write(change("orders", 0, last_known_elr=[1]))
        cause = explain_partition(log.evidence(), "orders", 0).causes[0]
        assert (cause.text.split(":")[0], cause.since) == (
            "no replica is known to have all records",
            cleared,
        )
        assert cleared.offset > isr.offset


@pytest.mark.parametrize("topic", ["orders", None])
def test_a_partition_under_a_min_isr_that_is_newer_than_its_isr_has_no_time(topic: str | None) -> None:
    log = ExplainedLog()
    log.brokers(1, 2)
    log.topic("orders", partition([1, 2]))
    log.config("min.insync.replicas", "2", topic=topic)
    log.config("min.insync.replicas", "2", topic="others")
    small = log.fence(2, change("orders", 0, isr=[1]))
    log.config("min.insync.replicas", "1", topic="others")
    log.config("retention.ms", "100", topic="orders")
    asked = (of_partition("orders"), of_topic("orders"))
    first = small.offset + 1
    assert [ask(log.evidence()).statement.since for ask in asked] == [Mark(first, small.timestamp_ms)] * 2
    log.config("min.insync.replicas", "3", topic=topic)
    assert [ask(log.evidence()).statement.since for ask in asked] == [None, None]


def test_a_cluster_default_that_the_topic_overrides_changes_no_time() -> None:
    log = ExplainedLog()
    under_min_isr(log)
    before = explain_partition(log.evidence(), "orders", 0).statement.since
    log.config("min.insync.replicas", "3")
    assert before is not None
    assert explain_partition(log.evidence(), "orders", 0).statement.since == before


@pytest.mark.parametrize("fields", [{"leader": -1}, {"leader": 2}, {"leader": 2, "leader_recovery_state": 1}])
def test_a_topic_is_as_it_is_since_its_leader_changed(fields: dict[str, int]) -> None:
    log = ExplainedLog()
    log.brokers(1, 2)
    log.topic("orders", partition([1, 2]))
    led = log.write(change("orders", 0, **fields))
    log.write(change("orders", 0, isr=[2, 1, 3]))
    assert explain_topic(log.evidence(), "orders").statement.since == led


def test_the_elr_may_lead_only_without_an_isr() -> None:
    log = ExplainedLog()
    log.brokers(1, 2, 3)
    log.topic("orders", partition([1, 2], isr=[1], eligible_leader_replicas=[2]))
    log.fence(1, change("orders", 0, leader=-1))
    explanation = explain_partition(log.evidence(), "orders", 0)
    assert explanation.causes[0].text == "the only replica that may lead, broker 1, is fenced"
    assert explanation.facts[0].startswith("eligible: {1} (ISR); broker 2 may lack records, and an unclean")


def test_partitions_with_the_same_causes_are_named_together() -> None:
    log = ExplainedLog()
    log.brokers(1, 2)
    log.topic("orders", *[partition([each]) for each in (1, 1, 2, 1, 1, 1, 1)])
    gone = [change("orders", index, leader=-1) for index in (0, 1, 3, 4, 5, 6)]
    log.fence(1, *gone)
    log.fence(2, change("orders", 2, leader=-1))
    explanation = explain_topic(log.evidence(), "orders")
    assert explanation.statement.text == "7 of 7 partitions of orders have no leader"
    assert [cause.text for cause in explanation.causes if cause.text.startswith("orders")] == [
        "orders-0, orders-1, orders-3, orders-4, orders-5 and 1 more: its only replica, broker 1, is fenced",
        "orders-2: its only replica, broker 2, is fenced",
    ]
