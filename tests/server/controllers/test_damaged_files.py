"""Each file that a start reads in the directory of the log, in each way in which a disk damages a file.

The start refuses with one line that names the file and the next step, or runs where it needs the file for
nothing that it cannot find elsewhere. It never ends with a traceback.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from kraftctl_protocol.generated.kraft_version_record import KRaftVersionRecord
from kraftctl_protocol.generated.snapshot_header_record import SnapshotHeaderRecord
from kraftctl_protocol.log_file_names import PARTITION_DIRECTORY
from tests.support.corrupt_directory import (
    CorruptDirectory,
    Snapshot,
    copy_of,
    make_directory,
    metadata_value,
    properties_file,
    start,
)
from tests.support.corrupt_logs import level

KINDS: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda content: b"",
    "cut": lambda content: content[: len(content) // 2],
    "zeros": lambda content: bytes(len(content)),
    "zeros-at-the-end": lambda content: (
        content[: len(content) // 2] + bytes(len(content) - len(content) // 2)
    ),
    "random": lambda content: random.Random(1).randbytes(max(len(content), 64)),
}

SEGMENT = f"{PARTITION_DIRECTORY}/00000000000000000000"
SNAPSHOT = f"{PARTITION_DIRECTORY}/00000000000000000002-0000000001.checkpoint"
FIRST_CHECKPOINT = f"{PARTITION_DIRECTORY}/00000000000000000000-0000000000.checkpoint"
RECOVERY_POINT = "metadata-recovery-point"

REFUSED = (
    "meta.properties",
    RECOVERY_POINT,
    f"{PARTITION_DIRECTORY}/quorum-state",
    f"{PARTITION_DIRECTORY}/leader-epoch-checkpoint",
    f"{PARTITION_DIRECTORY}/partition.metadata",
    f"{SEGMENT}.log",
    SNAPSHOT,
)
"""Files without which the directory cannot be used."""

MADE_ANEW = (
    ".lock",
    f"{SEGMENT}.index",
    f"{SEGMENT}.timeindex",
    f"{PARTITION_DIRECTORY}/last-opened-by-kraftctl.deleted",
)
"""Files whose content a start does not need."""

READ_WHILE_THE_LOG_IS_EMPTY = ("bootstrap.checkpoint", FIRST_CHECKPOINT)

TWO_LINES = ("cut", "zeros-at-the-end")
"""One of the two lines of the recovery point is whole after these."""


@pytest.fixture(scope="module")
def static_quorum(tmp_path_factory: pytest.TempPathFactory) -> CorruptDirectory:
    directory = make_directory(tmp_path_factory.mktemp("static"), static=True)
    content = Snapshot(directory.epoch)
    value = metadata_value(level("metadata.version", 30))
    directory.snapshot(content.header(), content.records(value), content.footer(), offset=2)
    return directory


@pytest.fixture(scope="module")
def empty_log(tmp_path_factory: pytest.TempPathFactory) -> CorruptDirectory:
    """Formatted for a dynamic quorum; the file with the first records is there, too."""
    directory = make_directory(tmp_path_factory.mktemp("dynamic"))
    content = Snapshot(0)
    first = content.control(SnapshotHeaderRecord(), KRaftVersionRecord(kraft_version=0))
    value = metadata_value(level("metadata.version", 30))
    directory.write("bootstrap.checkpoint", first + content.records(value) + content.footer())
    for path in [*directory.partition.glob("0*.[lit]*"), directory.quorum_state]:
        path.unlink()
    (directory.path / RECOVERY_POINT).unlink()
    return directory


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", REFUSED + MADE_ANEW)
def test_start(tmp_path: Path, static_quorum: CorruptDirectory, name: str, kind: str) -> None:
    directory = copy_of(static_quorum, tmp_path / "data")
    _damage(directory.path / name, kind)
    is_needed = name in REFUSED and not (name == RECOVERY_POINT and kind in TWO_LINES)
    _check(properties_file(tmp_path, directory.path, static=True), directory.path / name, is_needed)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", READ_WHILE_THE_LOG_IS_EMPTY)
def test_start_with_an_empty_log(tmp_path: Path, empty_log: CorruptDirectory, name: str, kind: str) -> None:
    shutil.copytree(empty_log.path, tmp_path / "data")
    _damage(tmp_path / "data" / name, kind)
    _check(properties_file(tmp_path, tmp_path / "data"), tmp_path / "data" / name, True)


def test_every_file_of_a_directory_is_in_the_table(
    static_quorum: CorruptDirectory, empty_log: CorruptDirectory
) -> None:
    found = {
        path.relative_to(directory.path).as_posix()
        for directory in (static_quorum, empty_log)
        for path in directory.path.rglob("*")
        if path.is_file()
    }
    assert found == {*REFUSED, *MADE_ANEW, *READ_WHILE_THE_LOG_IS_EMPTY}


def _damage(path: Path, kind: str) -> None:
    content = path.read_bytes()
    path.unlink()
    path.write_bytes(KINDS[kind](content))


def _check(file: Path, damaged: Path, is_refused: bool) -> None:
    outcome = start(file)
    assert "Traceback" not in outcome.log
    if not is_refused:
        assert (outcome.status, outcome.active) == (0, True), outcome
        return
    assert outcome.status == 1, outcome
    assert str(damaged) in outcome.error, outcome
    assert "Next step: " in outcome.error
    assert outcome.error.count("\n") == 1
