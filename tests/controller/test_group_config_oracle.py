"""Kafka's own validator accepts and refuses the same configs of groups: 4.4.0, and 4.3.1 for its own keys."""

from __future__ import annotations

import itertools
import random
from pathlib import Path

import pytest

from kraftctl.config.controller_config import ControllerConfig
from kraftctl.controller.configuration_control.validate_group_configs import GroupConfigCheck
from kraftctl.metadata.config_definitions.generated.group_config_data import GROUP_CONFIG_KEYS
from kraftctl_codegen.config_definitions.dump import KAFKA_VERSION
from tests.support.active_controller import BASE_PROPERTIES
from tests.support.processes.oracle import kafkas_answers

pytestmark = pytest.mark.java

ORACLE = Path(__file__).parent / "oracle" / "GroupConfigOracle.java"

OF_4_4 = frozenset(
    {
        "consumer.assignor.offload.enable",
        "errors.deadletterqueue.copy.record.enable",
        "errors.deadletterqueue.topic.name",
        "share.assignor.offload.enable",
        "streams.acceptable.recovery.lag",
        "streams.assignor.name",
        "streams.assignor.offload.enable",
        "streams.num.warmup.replicas",
        "streams.rack.aware.assignment.tags",
        "streams.task.offset.interval.ms",
    }
)
"""Kafka 4.3.1 refuses these keys as unknown."""

VALUES = [
    *("", " ", "-1", "0", "1", "2", "3", "5", "10", "20", "21", "100", "999", "1000", "2000", "4999"),
    *("5000", "10000", "14999", "15000", "15001", "30000", "45000", "60000", "60001", "+45000", " 45000 "),
    *("2147483647", "2147483648", "1.5", "true", " FALSE ", "x", "latest", "earliest", "LATEST"),
    *("by_duration:PT1H", "by_duration:-PT1H", "read_committed", "READ_COMMITTED", "sticky", "Sticky"),
    *(" sticky ", "highly_available", "a,b", "a, a", "a,,b", "__dlq", "_dlq", "dlq", " __dlq"),
]

NODES: list[dict[str, str]] = [
    {},
    {
        "group.consumer.session.timeout.ms": "50000",
        "group.consumer.heartbeat.interval.ms": "10000",
        "group.share.heartbeat.interval.ms": "6000",
        "group.streams.max.standby.replicas": "5",
        "group.streams.max.warmup.replicas": "5",
        "group.streams.min.task.offset.interval.ms": "20000",
        "group.share.min.delivery.count.limit": "3",
        "group.consumer.min.session.timeout.ms": "5000",
        "group.consumer.max.heartbeat.interval.ms": "60000",
    },
]
"""Each changes the node before it."""

NUMBERS = ("5000", "9999", "10000", "15000", "45000", "50000", "60000", "2", "5", "6")


def groups(node: int) -> list[dict[str, str]]:
    names = [*GROUP_CONFIG_KEYS, "no.such.key"]
    rng = random.Random(node)
    numbers = sorted(name for name, key in GROUP_CONFIG_KEYS.items() if key.type == "INT")
    return [
        {},
        *({name: value} for name, value in itertools.product(names, VALUES)),
        *({name: rng.choice(NUMBERS) for name in rng.sample(numbers, rng.randint(2, 4))} for _ in range(500)),
    ]


@pytest.mark.parametrize("version", [KAFKA_VERSION, "4.3.1"])
def test_same_verdicts(version: str) -> None:
    lines: list[str] = []
    asked: list[tuple[GroupConfigCheck, dict[str, str]] | None] = []
    node: dict[str, str] = {}
    for number, change in enumerate(NODES):
        node |= change
        lines += [f"node\t{key}\t{value}" for key, value in change.items()]
        asked += [None] * len(change)
        check = GroupConfigCheck(ControllerConfig({**BASE_PROPERTIES, **node}))
        for group in groups(number):
            lines.append("\t".join(["group", *itertools.chain(*group.items())]))
            asked.append((check, group))
    differences = [
        f"{case[1]}: Kafka says {verdict}, here {error}"
        for case, verdict in zip(asked, kafkas_answers(ORACLE, lines, version), strict=True)
        if case is not None
        and (version == KAFKA_VERSION or OF_4_4.isdisjoint(case[1]))
        and ((error := case[0].why_invalid("g", case[1])) is not None) == (verdict == "1")
    ]
    assert not differences, "\n".join(differences[:20]) + f"\n{len(differences)} in all"
