"""Kafka's own controller has the same lists after APPEND and SUBTRACT (KAFKA-13862)."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from kraftctl.controller.configuration_control.incremental_alter_configs import (
    APPEND,
    SUBTRACT,
    changed_list,
)
from kraftctl.metadata.config_definitions.config_keys import config_keys
from kraftctl_protocol.config_resource import TOPIC
from tests.support.processes.oracle import ask_kafka

pytestmark = [pytest.mark.java, pytest.mark.prevents("KAFKA-13862")]

ORACLE = Path(__file__).parent / "oracle" / "ChangedListOracle.java"

CLEANUP_POLICY = config_keys(TOPIC)["cleanup.policy"]
"""The default of the list in the oracle is that of this key."""

UNSET = "-"

OPERATIONS = {APPEND: "APPEND", SUBTRACT: "SUBTRACT"}


def lists() -> list[str]:
    """Of up to three items, some of them empty."""
    items = ("delete", "b", " b", "")
    return [",".join(chosen) for count in (1, 2, 3) for chosen in itertools.product(items, repeat=count)]


def test_same_lists() -> None:
    asked = list(itertools.product([UNSET, *lists()], OPERATIONS, lists()))
    lines = [f"{present}\t{OPERATIONS[operation]}\t{value}\n" for present, operation, value in asked]
    answers = ask_kafka(ORACLE, "".join(lines)).split("\n")[:-1]
    assert len(answers) == len(asked)
    differences = [
        f"{present!r} {OPERATIONS[operation]} {value!r}: {mine!r}, Kafka {answer!r}"
        for (present, operation, value), answer in zip(asked, answers, strict=True)
        if (mine := changed_list(None if present == UNSET else present, CLEANUP_POLICY, operation, value))
        != answer
    ]
    assert not differences, "\n".join(differences[:20]) + f"\n{len(differences)} in all"
