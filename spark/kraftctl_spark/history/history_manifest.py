"""The one list of the files of a history, `_history.json`: its rename commits a batch, or a merge."""

from __future__ import annotations

import fcntl
import json
import logging
import os
import re
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from kraftctl_spark.history.schema import SCHEMAS
from kraftctl_spark.tables.durable import TEMPORARY_SUFFIX, Hook, make_directory, write_whole
from kraftctl_spark.tables.manifest import ExportRefusedError
from kraftctl_spark.tables.table_files import TableFile

MANIFEST = "_history.json"
LOCK = "_history_lock"
PAUSE_S = 0.2
"""The pause between two attempts to take the lock: flock has no time limit."""
HOLDER_BYTES_MAX = 300
FORMAT = 3
OPEN_PREFIX = "open-"
_FILE = rf"(?:{OPEN_PREFIX})?\d{{20}}-\d{{20}}(?:-\d{{5,}})?\.parquet"
OUR_NAMES = re.compile(rf"{_FILE}|\.{_FILE}\.[0-9a-f]+{re.escape(TEMPORARY_SUFFIX)}")
"""The names of files of versions, finished or not. Tables of others can have the same names."""

log = logging.getLogger(__name__)


class HistoryBusyError(ExportRefusedError):
    """Another process writes this history."""


@dataclass(frozen=True)
class HistoryManifest:
    """The files that have everything before `end`."""

    cluster_id: str
    end: int
    files: tuple[TableFile, ...]
    decoders: frozenset[str] = frozenset()
    """The decoders of batches with something that they did not understand: once such a batch is decoded
    again, the history is computed again."""

    def of(self, table: str, still_open: bool) -> list[TableFile]:
        """Returns the files of a table with ended, or with open versions, in their order."""
        return [file for file in self.files if file.table == table and is_open(file) == still_open]

    def to_json(self) -> str:
        fields = {"format": FORMAT, "cluster_id": self.cluster_id, "end": self.end}
        fields |= {"decoders": sorted(self.decoders)}
        return json.dumps({**fields, "files": [file.to_dict() for file in self.files]}, indent=1) + "\n"

    @staticmethod
    def of_files(
        cluster_id: str, end: int, files: list[TableFile], decoders: frozenset[str] = frozenset()
    ) -> HistoryManifest:
        """Returns a manifest whose order does not depend on how the files were made."""
        order = list(SCHEMAS)
        files = sorted(files, key=lambda file: (order.index(file.table), file.path))
        return HistoryManifest(cluster_id, end, tuple(files), decoders)


def is_open(file: TableFile) -> bool:
    return Path(file.path).name.startswith(OPEN_PREFIX)


def read_manifest(output: Path) -> HistoryManifest | None:
    """Returns None without a history, or with a warning for one of another release, which cannot be
    continued.
    """
    try:
        fields = json.loads((output / MANIFEST).read_text())
        if fields["format"] != FORMAT:
            log.warning("another release wrote %s: it has to be computed again", output / MANIFEST)
            return None
        files = tuple(TableFile(**file) for file in fields["files"])
        return HistoryManifest(fields["cluster_id"], fields["end"], files, frozenset(fields["decoders"]))
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError) as error:
        raise ExportRefusedError(
            f"{output / MANIFEST} is damaged ({error}): kraftctl-export history --rebuild computes it again"
        ) from error


def commit(output: Path, manifest: HistoryManifest, hook: Hook) -> None:
    write_whole(output / MANIFEST, manifest.to_json().encode(), hook)
    hook("manifest-committed")


def remove_unnamed(output: Path, manifest: HistoryManifest | None, hook: Hook) -> None:
    """Deletes our files that were replaced, or that a killed process left behind; never those of others."""
    named = {file.path for file in manifest.files} if manifest is not None else set()
    for path in sorted(path for table in SCHEMAS for path in (output / table).glob("*")):
        if OUR_NAMES.fullmatch(path.name) and str(path.relative_to(output)) not in named:
            path.unlink()
            hook("file-removed")
    for path in output.glob(f".{MANIFEST}.*{TEMPORARY_SUFFIX}"):
        path.unlink()


@contextmanager
def locked(output: Path, wait_s: float = 0) -> Iterator[None]:
    """Locks the history; HistoryBusyError after waiting that long for another process.

    The lock ends with its process; while it is held, its file says which process that is.
    """
    make_directory(output)
    descriptor = os.open(output / LOCK, os.O_RDWR | os.O_CREAT, 0o666)  # Less what the umask takes.
    try:
        if not _taken(descriptor):
            _wait(descriptor, output, wait_s)
        _name_holder(descriptor, f"process {os.getpid()} on {socket.gethostname()}")
        try:
            yield
        finally:
            _name_holder(descriptor, "")
    finally:
        os.close(descriptor)


def _taken(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _name_holder(descriptor: int, holder: str) -> None:
    """Names the process; the lock works without it, so a full disk is no reason to end."""
    with suppress(OSError):
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, holder.encode(), 0)


def _wait(descriptor: int, output: Path, wait_s: float) -> None:
    """Waits until the lock is taken."""
    deadline = time.monotonic() + wait_s
    if wait_s:
        log.info("%s: waiting for it, %.0f s at most", _busy(descriptor, output), wait_s)
    while not _taken(descriptor):
        if time.monotonic() >= deadline:
            raise HistoryBusyError(f"{_busy(descriptor, output)}: it has to end first")
        time.sleep(PAUSE_S)  # No lock of the operating system has a time limit.


def _busy(descriptor: int, output: Path) -> str:
    holder = os.pread(descriptor, HOLDER_BYTES_MAX, 0).decode(errors="replace")
    return f"another process writes the history in {output}" + (f" ({holder})" if holder else "")
