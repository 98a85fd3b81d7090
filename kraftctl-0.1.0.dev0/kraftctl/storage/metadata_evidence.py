"""Finds evidence in a directory of a metadata log that was in it: the log itself, or promises of this
replica.

`format` writes the first checkpoint of a dynamic quorum and a recovery point that says "never took part":
such a directory was chosen for a log, and none has run in it.
"""

from __future__ import annotations

import os
from enum import IntEnum
from pathlib import Path
from typing import NamedTuple

from kraftctl.storage.directory_entries import names_in
from kraftctl.storage.errors import StorageError
from kraftctl.storage.quorum_state_store import QuorumStateStore
from kraftctl.storage.recovery_point import FILE_NAME as RECOVERY_POINT
from kraftctl.storage.recovery_point import read_recovery_point
from kraftctl_protocol.log_file_names import (
    BOOTSTRAP_CHECKPOINT,
    PARTITION_DIRECTORY,
    checkpoint_file_name,
)
from kraftctl_protocol.offset_and_epoch import BOOTSTRAP_SNAPSHOT_ID

OF_FORMAT = (checkpoint_file_name(BOOTSTRAP_SNAPSHOT_ID, ""), BOOTSTRAP_CHECKPOINT)
"""The beginnings of names that `format` writes to the directory of the log, and that a crash leaves of
them."""


class Shows(IntEnum):
    """The strength of the evidence; more is greater."""

    NOTHING = 0
    RENAMED = 1
    """A copy under another name, which a start ignores."""
    CHOSEN = 2
    """The directory was formatted to hold the log, or is empty and meant for it."""
    LOG = 3
    """A log has been here, or this replica has taken part in its quorum."""


class Evidence(NamedTuple):
    """What the directory `log_dir` shows: `found` is the file that shows most, `detail` what it says."""

    log_dir: Path
    shows: Shows
    found: Path
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.log_dir} (it has {self.found.relative_to(self.log_dir)}{self.detail})"


def find_evidence(log_dir: Path) -> Evidence:
    """Finds the strongest evidence, changing nothing. An unreadable file counts as a log: it may be one.

    Raises StorageError when the directory cannot be listed.
    """
    names = names_in(log_dir)
    of_partition = _of_partition(log_dir) if PARTITION_DIRECTORY in names else None
    of_promises = _of_promises(log_dir) if RECOVERY_POINT in names else None
    found = [each for each in (of_partition, of_promises) if each is not None]
    found += [_of_copy(log_dir, name) for name in names if _is_copy(name)]
    return max(found, key=_shows, default=Evidence(log_dir, Shows.NOTHING, log_dir))


def shows_partition(log_dir: Path) -> bool:
    """Returns whether a log has been in `__cluster_metadata-0`, whatever the recovery point says.
    Changes nothing.
    """
    return os.path.lexists(log_dir / PARTITION_DIRECTORY) and _of_partition(log_dir).shows is Shows.LOG


def _shows(evidence: Evidence) -> Shows:
    return evidence.shows


def _of_partition(log_dir: Path) -> Evidence:
    directory = log_dir / PARTITION_DIRECTORY
    name = _sign_of_a_log(directory)
    if name is None:
        return Evidence(log_dir, Shows.CHOSEN, directory)
    return Evidence(log_dir, Shows.LOG, directory / name, _epoch_text(directory))


def _sign_of_a_log(directory: Path) -> str | None:
    """Returns a file that `format` does not write; the empty name when that is not known."""
    if not os.path.isdir(directory):
        return ""
    try:
        names = names_in(directory)
    except StorageError:
        return ""
    signs = [name for name in names if not name.startswith(OF_FORMAT)]
    return max(signs, key=_is_segment, default=None)


def _is_segment(name: str) -> bool:
    return name.endswith((".log", ".checkpoint"))


def _epoch_text(directory: Path) -> str:
    """Returns a text for the operator, who may have to compare two of them."""
    try:
        state = QuorumStateStore(directory).read()
    except StorageError:
        return ""
    return "" if state is None else f", epoch {state.epoch}"


def _of_promises(log_dir: Path) -> Evidence:
    path = log_dir / RECOVERY_POINT
    try:
        point = read_recovery_point(log_dir)
    except StorageError:
        return Evidence(log_dir, Shows.LOG, path, ", which cannot be read")
    if point is None:
        return Evidence(log_dir, Shows.NOTHING, path)
    if point.has_taken_part:
        detail = f", of epoch {point.quorum_epoch} and offset {point.end_offset}"
        return Evidence(log_dir, Shows.LOG, path, detail)
    return Evidence(log_dir, Shows.NOTHING, path)


def _is_copy(name: str) -> bool:
    return PARTITION_DIRECTORY in name and name != PARTITION_DIRECTORY


def _of_copy(log_dir: Path, name: str) -> Evidence:
    directory = log_dir / name
    holds_log = os.path.isdir(directory) and _sign_of_a_log(directory) is not None
    return Evidence(log_dir, Shows.RENAMED if holds_log else Shows.NOTHING, directory)
