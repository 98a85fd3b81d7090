"""Kafka's own validator accepts and refuses the same topic configs."""

from __future__ import annotations

import itertools
import random
from pathlib import Path

import pytest

from kraftctl.controller.configuration_control.validate_topic_configs import why_topic_configs_invalid
from kraftctl.metadata.config_definitions.generated.topic_config_data import TOPIC_CONFIG_KEYS
from kraftctl_codegen.config_definitions.dump import KAFKA_VERSION
from tests.support.active_controller import ActiveController
from tests.support.processes.oracle import kafkas_answers

pytestmark = pytest.mark.java

ORACLE = Path(__file__).parent / "oracle" / "TopicConfigOracle.java"

VALUES = [
    *("", " ", "0", "1", "-1", "-2", "-3", "+5", "05", "1.5", "0.5", "1e2", ".5", "5.", "1e", "0x10", "1_0"),
    *("2147483647", "2147483648", "-2147483648", "9223372036854775807", "9223372036854775808", "1048576"),
    *("true", "TRUE", " true ", "false", "yes", "compact", "delete", "compact,delete", "compact , delete"),
    *("delete,", ",delete", "delete,delete", "gzip", "producer", "uncompressed", "GZIP", "CreateTime"),
    *(
        "LogAppendTime",
        "*",
        "0:1",
        "0:1,1:2",
        "0:1, 1:2",
        "0:",
        ":1",
        "a:b",
        "*,0:1",
        "*,*",
        "17",
        "18",
        "9",
        "10",
    ),
    *(
        "22",
        "23",
        "-131072",
        "-131073",
        "NaN",
        "Infinity",
        "-Infinity",
        "1f",
        "1d",
        "1L",
        "0.0",
        "1.0",
        "1.0001",
    ),
    *("604800000", "604800001", "86400000", "2147483639", "2147483640", "١", "1\N{NO-BREAK SPACE}", "- 1"),
]

REMOTE_KEYS = (
    *("remote.storage.enable", "remote.log.copy.disable", "remote.log.delete.on.disable", "cleanup.policy"),
    *("retention.ms", "local.retention.ms", "retention.bytes", "local.retention.bytes"),
    *("min.compaction.lag.ms", "max.compaction.lag.ms", "remote.copy.lag.ms", "remote.copy.lag.bytes"),
)

COMBINED_VALUES = (
    "true",
    "false",
    "delete",
    "compact",
    "",
    "-2",
    "-1",
    "0",
    "1000",
    "604800000",
    "604800001",
)


def candidates() -> list[dict[str, str]]:
    """Every key with every value, and random combinations of those that depend on each other."""
    names = [*TOPIC_CONFIG_KEYS, "no.such.key"]
    singles = [{name: value} for name, value in itertools.product(names, VALUES)]
    rng = random.Random(5)
    combined = []
    for _ in range(3_000):
        chosen = rng.sample(REMOTE_KEYS, rng.randint(2, 6))
        configs = {name: rng.choice(COMBINED_VALUES) for name in chosen}
        configs["remote.storage.enable"] = "true"
        combined.append(configs)
    return singles + combined


def test_same_verdicts():
    configs = candidates()
    lines = ["\t".join(part for pair in entry.items() for part in pair) for entry in configs]
    verdicts = kafkas_answers(ORACLE, lines, KAFKA_VERSION)
    active = ActiveController(remote_log_storage_system_enable="true")
    differences = []
    for entry, verdict in zip(configs, verdicts, strict=True):
        error = why_topic_configs_invalid(active.config, dict(entry))
        if (error is not None) == (verdict == "1"):
            differences.append(f"{entry}: Kafka says {verdict}, here {error}")
    assert not differences, "\n".join(differences[:20]) + f"\n{len(differences)} in all"
