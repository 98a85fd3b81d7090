"""Corrupt files with valid checksums: `kraftctl start` refuses them, or runs where Kafka does, too.

Refused is: exit status 1 and one line on standard error that names the file, what was found and the next
step.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support import corrupt_logs, corrupt_small_files, corrupt_snapshots
from tests.support.corrupt_case import CorruptCase
from tests.support.corrupt_directory import CorruptDirectory, copy_of, make_directory, properties_file, start

CASES = corrupt_logs.CASES + corrupt_snapshots.CASES + corrupt_small_files.CASES


@pytest.fixture(scope="module")
def dynamic_quorum(tmp_path_factory: pytest.TempPathFactory) -> CorruptDirectory:
    return make_directory(tmp_path_factory.mktemp("dynamic"))


@pytest.fixture(scope="module")
def static_quorum(tmp_path_factory: pytest.TempPathFactory) -> CorruptDirectory:
    return make_directory(tmp_path_factory.mktemp("static"), static=True)


@pytest.mark.prevents("corrupt-content")
@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in CASES])
def test_start(
    tmp_path: Path, dynamic_quorum: CorruptDirectory, static_quorum: CorruptDirectory, case: CorruptCase
) -> None:
    directory = copy_of(static_quorum if case.static else dynamic_quorum, tmp_path / "data")
    case.make(directory)
    segments = {path: path.read_bytes() for path in directory.partition.glob("*.log")}
    outcome = start(properties_file(tmp_path, directory.path, static=case.static), case.until)
    assert "Traceback" not in outcome.log
    if case.accepted:
        assert (outcome.status, outcome.late) == (0, False), outcome
        assert re.search(case.accepted, outcome.log), outcome
        return
    assert outcome.status == 1, outcome
    assert re.search(case.refused, outcome.error), outcome
    assert str(directory.path) in outcome.error or "epoch 2147483647" in outcome.error
    assert "Next step: " in outcome.error
    assert outcome.error.count("\n") == 1
    assert len(outcome.error) < 1500, "an operator has to read it"
    for path, content in segments.items():
        assert path.read_bytes().startswith(content), "a refused start loses nothing"
