"""Kafka's own RuntimeLoggerManager answers changes of log levels alike, and the same levels apply."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from kraftctl.controller.state.log_levels import LogLevels
from kraftctl_protocol.config_resource import BROKER_LOGGER
from kraftctl_protocol.generated.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from tests.support.active_controller import ActiveController
from tests.support.kafkas_words import in_our_words
from tests.support.processes.oracle import ask_kafka

pytestmark = pytest.mark.java

ORACLE = Path(__file__).parent / "oracle" / "LogLevelsOracle.java"

NAMES = ["kraftctl.raft", "kraftctl.server", "kraftctl.server.ssl", "kafka.authorizer.logger"]
LEVELS = ["TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL", "OFF", "ALL", "info", "", "X", "-"]
OPERATIONS = [0, 0, 0, 0, 1, 1, 2, 3]

Change = tuple[int, str, str]


def changes(rng: random.Random) -> list[tuple[str, list[Change]]]:
    """Of names of nodes that are the node's own, and others, and of one or two loggers."""
    asked: list[tuple[str, list[Change]]] = []
    for _ in range(400):
        node = rng.choice(
            ["3000"] * 12 + ["", "x", "3001", "+3000", "03000", "-3000", "3000 ", "99999999999"]
        )
        count = rng.choice([1, 1, 2])
        names = rng.sample([*NAMES, *NAMES, "root", "nope"], count)
        asked.append((node, [(rng.choice(OPERATIONS), name, rng.choice(LEVELS)) for name in names]))
    # A null level to set is an UNKNOWN_SERVER_ERROR in Kafka, by accident.
    return [(node, made) for node, made in asked if all(op != 0 or level != "-" for op, _, level in made)]


def test_same_answers_and_levels() -> None:
    asked = changes(random.Random(20261127))
    lines = [",".join(NAMES)]
    for node, made in asked:
        lines.append(f"{node}\t{';'.join(f'{op}:{name}:{level}' for op, name, level in made)}")
    printed = ask_kafka(ORACLE, "".join(f"{line}\n" for line in lines))
    expected = printed.rpartition("answers\n")[2].splitlines()
    assert len(expected) == len(asked)
    active = ActiveController()
    active.controller.state.log_levels = LogLevels(dict.fromkeys(NAMES, None))
    differences = [
        f"{node!r} {made}: {mine!r}, Kafka {answer!r}"
        for (node, made), answer in zip(asked, map(in_our_words, expected), strict=True)
        if (mine := answer_of(active, node, made)) != answer
    ]
    assert not differences, "\n".join(differences[:20]) + f"\n{len(differences)} in all"


def answer_of(active: ActiveController, node: str, made: list[Change]) -> str:
    configs = [
        AlterableConfig(name=name, config_operation=op, value=None if level == "-" else level)
        for op, name, level in made
    ]
    resource = AlterConfigsResource(resource_type=BROKER_LOGGER, resource_name=node, configs=configs)
    response = active.request(IncrementalAlterConfigsRequest(resources=[resource])).responses[0]
    levels = active.controller.state.log_levels
    shown = ",".join(f"{name}={levels.level(name)}" for name in ["root", *NAMES])
    message = "null" if response.error_message is None else response.error_message
    return f"{response.error_code}\t{message}\t{shown}"
