"""Each file in the directory of a controller that Kafka does not have says which version it is of.

`docs/operations/releases.md` lists them, with what a release does that does not know the version.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kraftctl.server.security import unknown_users
from kraftctl.storage import data_directory_note, halt, recovery_point, witness
from kraftctl.storage.data_directory_note import read_data_directory_note, write_data_directory_note
from kraftctl.storage.errors import StorageError
from kraftctl.storage.halt import HaltedError, HaltFile
from kraftctl.storage.recovery_point import create_recovery_point
from tests.support.partitions import DIRECTORY_ID

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/operations/releases.md").read_text()

OURS = {
    "kraftctl/server/security/unknown_users.py": unknown_users.FILE_NAME,
    "kraftctl/storage/data_directory_note.py": data_directory_note.FILE_NAME,
    "kraftctl/storage/former_recovery_point.py": recovery_point.FILE_NAME,
    "kraftctl/storage/halt.py": halt.FILE_NAME,
    "kraftctl/storage/recovery_point.py": recovery_point.FILE_NAME,
    "kraftctl/storage/witness.py": witness.FILE_NAME,
}

KAFKAS = {
    f"kraftctl/storage/{name}.py"
    for name in (
        "bootstrap_checkpoint",
        "leader_epoch_checkpoint",
        "meta_properties",
        "partition_metadata",
        "quorum_state_store",
    )
}


def test_the_page_lists_every_file_of_ours() -> None:
    """A module that begins to write one has to be named here, and its file on the page."""
    writing = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "kraftctl").rglob("*.py")
        if re.search(r"^(?!def ).*\breplace_file\(", path.read_text(), re.MULTILINE)
    }
    assert writing == OURS.keys() | KAFKAS
    rows = set(re.findall(r"^\| `(?:__cluster_metadata-0/)?([\w.-]+?)(?:\.\.\.)?`", PAGE, re.MULTILINE))
    assert set(OURS.values()) | {halt.GIVEN_UP} <= rows


def test_they_begin_with_a_version(tmp_path: Path) -> None:
    create_recovery_point(tmp_path, DIRECTORY_ID)
    HaltFile(tmp_path, DIRECTORY_ID).write("why", 0)
    write_data_directory_note(tmp_path, tmp_path, DIRECTORY_ID)
    for name in (recovery_point.FILE_NAME, halt.FILE_NAME, data_directory_note.FILE_NAME):
        lines = [line for line in (tmp_path / name).read_bytes().split(b"\n") if not line.startswith(b"#")]
        assert re.match(rb"version=1\b", lines[0]), name


def test_a_note_of_another_version_is_refused_and_one_without_is_read(tmp_path: Path) -> None:
    write_data_directory_note(tmp_path, tmp_path, DIRECTORY_ID)
    file = tmp_path / data_directory_note.FILE_NAME
    noted = read_data_directory_note(tmp_path)
    written = file.read_text()
    file.write_text(written.replace("version=1\n", ""))
    assert read_data_directory_note(tmp_path) == noted
    file.write_text(written.replace("version=1\n", "version=2\n"))
    with pytest.raises(StorageError, match="it is of version 2, 1 is supported"):
        read_data_directory_note(tmp_path)


def test_a_halt_of_any_version_halts(tmp_path: Path) -> None:
    file = HaltFile(tmp_path, DIRECTORY_ID)
    file.path.write_text("version=9\nbecause=of something new\n")
    with pytest.raises(HaltedError):
        file.refuse()
