"""Other accounts cannot read what a controller writes, and a directory that lets them is named."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kraftctl.cli import main
from kraftctl.storage.directory_lock import DirectoryLock
from kraftctl.storage.durable_files import create_directory, replace_file
from kraftctl.storage.readable_log import why_readable
from kraftctl.storage.segment import Segment
from kraftctl_protocol.log_file_names import BOOTSTRAP_CHECKPOINT, PARTITION_DIRECTORY
from tests.support.controller_properties import controller_properties, properties_file

FORMAT = (
    "--cluster-id",
    "6QZIAEZ1QvSU4fLrEHR8Mg",
    "--standalone",
    "--add-scram",
    "SCRAM-SHA-256=[name=a,password=x]",
)


@contextmanager
def umask(mask: int) -> Iterator[None]:
    previous = os.umask(mask)
    try:
        yield
    finally:
        os.umask(previous)


def modes(directory: Path) -> dict[str, int]:
    found = {str(path.relative_to(directory)): path for path in directory.rglob("*")} | {".": directory}
    return {name: stat.S_IMODE(path.stat().st_mode) for name, path in found.items()}


def open_to_others(found: dict[str, int]) -> dict[str, str]:
    """The parent of what was made is not closed: it has no secrets, and may be of another account."""
    assert found.pop(".") == 0o755
    return {name: oct(mode) for name, mode in found.items() if mode & 0o077}


def formatted(tmp_path: Path) -> Path:
    log_dir = tmp_path / "made" / "data"
    properties = properties_file(tmp_path, controller_properties(log_dir))
    assert main(["format", "-c", str(properties), *FORMAT]) == 0
    return log_dir


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077])
def test_what_is_formatted_is_closed_to_others(tmp_path: Path, mask: int) -> None:
    with umask(mask):
        log_dir = formatted(tmp_path)
        found = modes(log_dir.parent)
        assert os.umask(mask) == mask, "commands of tests leave it as it was"
    assert any(name.endswith(".checkpoint") for name in found)
    assert open_to_others(found) == {}


def test_storage_closes_files_itself(tmp_path: Path) -> None:
    """Where no command has set the umask."""
    with umask(0):
        directory = tmp_path / "a" / "b"
        create_directory(directory)
        replace_file(directory / "replaced", b"x")
        DirectoryLock.acquire(directory).release()
        Segment(directory, 0).close()
    found = modes(tmp_path / "a")
    assert len(found) >= 6
    assert open_to_others(found) == {}


@pytest.mark.parametrize(
    ("opened", "mode", "file"),
    [
        pytest.param(".", 0o755, None, id="the-directory"),
        pytest.param(".", 0o750, None, id="a-group"),
        pytest.param(BOOTSTRAP_CHECKPOINT, 0o644, BOOTSTRAP_CHECKPOINT, id="bootstrap-checkpoint"),
        pytest.param(f"{PARTITION_DIRECTORY}/00000000000000000000.log", 0o640, "log", id="a-segment"),
        pytest.param(f"{PARTITION_DIRECTORY}/00000000000000000000.log", 0o606, "log", id="written-by-others"),
    ],
)
def test_a_directory_that_others_may_enter_is_named(
    tmp_path: Path, opened: str, mode: int, file: str | None
) -> None:
    log_dir = formatted(tmp_path)
    segment = log_dir / PARTITION_DIRECTORY / "00000000000000000000.log"
    segment.touch(0o600)
    assert why_readable(log_dir) is None
    (log_dir / opened).chmod(mode)
    if file is not None:
        assert why_readable(log_dir) is None, "they cannot get there"
        log_dir.chmod(0o755)
    text = why_readable(log_dir)
    assert text is not None
    assert f"Other accounts may enter {log_dir}, which has mode {0o755 if file else mode:04o}" in text
    assert text.endswith(f"Next step: chmod 700 {log_dir}")
    assert ("1 files in it are open, too, such as" in text) == (file is not None)
    assert file is None or f"{log_dir / opened}, which has mode {mode:04o}" in text
    log_dir.chmod(0o700)
    assert why_readable(log_dir) is None, "the command helps"


def test_a_directory_that_is_not_there_has_no_warning(tmp_path: Path) -> None:
    assert why_readable(tmp_path / "none") is None
