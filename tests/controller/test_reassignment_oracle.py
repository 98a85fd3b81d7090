"""Kafka's own controller starts and completes the same reassignments (KAFKA-15665, KAFKA-19975).

All targets of up to four replicas among five brokers, for one to four present replicas, with every ISR.
"""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from kraftctl.controller.replication_control.partition_reassignment import (
    PlannedReassignment,
    complete_reassignment,
)
from tests.support.processes.oracle import ask_kafka

pytestmark = [pytest.mark.java, pytest.mark.prevents("KAFKA-15665", "KAFKA-19975")]

ORACLE = Path(__file__).parent / "oracle" / "ReassignmentOracle.java"

Brokers = tuple[int, ...]

BROKERS = (1, 2, 3, 4, 5)
REPLICAS_MAX = 4


def cases() -> list[tuple[Brokers, Brokers, Brokers]]:
    """Replicas, target and ISR."""
    result: list[tuple[Brokers, Brokers, Brokers]] = []
    for count in range(1, REPLICAS_MAX + 1):
        replicas = BROKERS[:count]
        for size in range(1, REPLICAS_MAX + 1):
            for target in itertools.permutations(BROKERS, size):
                members = sorted({*replicas, *target})
                for in_sync in range(1, len(members) + 1):
                    isrs = itertools.combinations(members, in_sync)
                    result += [(replicas, target, isr) for isr in isrs]
    return result


def listed(brokers: Brokers) -> str:
    return ",".join(map(str, brokers))


def line(replicas: Brokers, target: Brokers, isr: Brokers) -> str:
    """What the oracle prints, if this code is right."""
    planned = PlannedReassignment(replicas, target)
    completed = complete_reassignment(
        replicas=planned.replicas, removing=planned.removing, adding=planned.adding, isr=isr
    )
    last = "-" if completed is None else f"{listed(completed.replicas)};{listed(completed.isr)}"
    return "\t".join([listed(planned.removing), listed(planned.adding), listed(planned.replicas), last])


def test_same_steps() -> None:
    asked = cases()
    printed = ask_kafka(ORACLE, "".join("\t".join(map(listed, case)) + "\n" for case in asked))
    answers = printed.splitlines()
    assert len(answers) == len(asked) > 10_000
    assert len({answer.rsplit("\t", 1)[1] for answer in answers}) > 1_000
    differences = [
        f"{case}: {line(*case)!r}, Kafka {answer!r}"
        for case, answer in zip(asked, answers, strict=True)
        if line(*case) != answer
    ]
    assert not differences, "\n".join(differences[:20]) + f"\n{len(differences)} in all"
