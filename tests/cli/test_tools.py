"""`kraftctl storage`, `features` and `cluster` answer as Kafka's tools: status, standard output and requests.

`REWRITE=1 pytest -m java` on this file records again what Kafka's tools answer.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.recorded_tools import (
    RELEASES,
    comparable,
    make_recording,
    our_answer,
    recording,
    recording_file,
    stored_text,
)
from tests.cli.tool_cases import CASES, ToolCase, tool_node, write_directories
from tests.support.wire.scripted_node import ScriptedNode

BEFORE, LATEST = RELEASES

AS_LATEST = {
    "kafka-storage version-mapping -r 4.4": "a level of production",
    "kafka-storage version-mapping -r 4.4-IV0": "share.version 2",
    "kafka-storage version-mapping -r 4.4-IV2": "a level that 4.3 does not know",
    "kafka-storage feature-dependencies -f share.version=2": "a level that 4.3 does not know",
    "kafka-storage feature-dependencies -f metadata.version=33": "a level that 4.3 does not know",
    "kafka-features --bootstrap-server NODE describe": "the name of level 33",
    "kafka-features --bootstrap-controller NODE describe": "the name of level 33",
    "kafka-features --bootstrap-server NODE describe --node-id 2": "the name of level 33",
    "kafka-features --bootstrap-controller NODE describe --node-id 1": "the name of level 33",
    "kafka-cluster unregister-controller -C NODE -i 3": "an operation of 4.4",
    "kafka-cluster unregister-controller --bootstrap-server NODE --id 3": "an operation of 4.4",
    "kafka-cluster unregister-controller -C NODE -i 9": "an operation of 4.4",
}
"""Calls that are answered as by Kafka 4.4 where that differs from 4.3.1, and why."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("tools")
    write_directories(made)
    return made


@pytest.fixture(scope="module")
def node() -> Iterator[ScriptedNode]:
    with tool_node() as started:
        yield started


@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in CASES])
def test_the_answer_is_kafkas(case: ToolCase, folder: Path, node: ScriptedNode) -> None:
    expected = recording(LATEST if case.name in AS_LATEST else BEFORE)[case.name]
    assert comparable(our_answer(case, folder, node)) == comparable(expected)


def test_the_releases_differ_where_the_latest_is_the_judge() -> None:
    before, latest = map(recording, RELEASES)
    assert [name for name in AS_LATEST if before[name] == latest[name]] == []


@pytest.mark.java
@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("release", RELEASES)
def test_kafka_still_answers_it(release: str, folder: Path, node: ScriptedNode) -> None:
    answers = make_recording(release, folder, node)
    if os.environ.get("REWRITE") == "1":
        recording_file(release).write_text(stored_text(answers))
    assert json.loads(recording_file(release).read_text()) == json.loads(stored_text(answers))
