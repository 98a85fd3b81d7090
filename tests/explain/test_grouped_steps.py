"""Several partitions together: the step is that of the cause which is named first, and the time is of all."""

from __future__ import annotations

from itertools import permutations

import pytest

from kraftctl.explain.why_reassignment import explain_reassignments
from kraftctl.explain.why_topic import explain_topic
from tests.support.explained_log import ExplainedLog, change, partition

ORDERS = sorted(set(permutations((1, 2, 2))))
"""Two of three partitions are on broker 2."""


@pytest.mark.parametrize("brokers", ORDERS)
def test_the_step_of_a_topic_is_of_its_first_cause(brokers: tuple[int, ...]) -> None:
    log = ExplainedLog()
    log.brokers(1, 2)
    log.topic("orders", *(partition([each], leader=-1) for each in brokers))
    log.fence(1)
    log.fence(2)
    found = explain_topic(log.evidence(), "orders")
    assert found.causes[0].text.endswith(": its only replica, broker 2, is fenced")
    assert found.next_step == "start broker 2; it is elected when it is unfenced"


@pytest.mark.parametrize("brokers", ORDERS)
def test_the_step_of_reassignments_is_of_their_first_cause(brokers: tuple[int, ...]) -> None:
    log = ExplainedLog()
    log.brokers(1, 2, 3)
    added = (partition([3, each], isr=[3], leader=3, adding_replicas=[each]) for each in brokers)
    log.topic("orders", *added)
    log.fence(1)
    log.fence(2)
    found = explain_reassignments(log.evidence())
    assert "broker 2, which is being added, is fenced" in found.causes[0].text
    assert found.next_step.startswith("start broker 2; ")


def test_partitions_of_one_batch_have_one_time() -> None:
    log = ExplainedLog()
    log.brokers(1, 2)
    log.topic("orders", partition([1]), partition([1]), partition([2]))
    log.fence(1, change("orders", 0, leader=-1), change("orders", 1, leader=-1))
    since = explain_topic(log.evidence(), "orders").statement.since
    assert since is not None
    assert since.timestamp_ms == log.now_ms


def test_partitions_of_different_times_have_none() -> None:
    """The first of them by its index may be the last that went."""
    log = ExplainedLog()
    log.brokers(1, 2)
    log.topic("orders", partition([1]), partition([2]))
    log.fence(1, change("orders", 0, leader=-1))
    log.fence(2, change("orders", 1, leader=-1))
    found = explain_topic(log.evidence(), "orders")
    assert found.statement.text == "2 of 2 partitions of orders have no leader"
    assert found.statement.since is None
