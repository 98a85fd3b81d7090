"""The files of a history, and how far it goes: part of the commits of the tables beside it.

A history in a directory of its own has commits of its own.
"""

from __future__ import annotations

import fcntl
import logging
import os
import re
import socket
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from kraftctl_spark.history import DIRECTORY
from kraftctl_spark.history.schema import SCHEMAS
from kraftctl_spark.history.version_files import VersionFiles
from kraftctl_spark.stores.durable import TEMPORARY_SUFFIX, Hook, make_directory, no_hook
from kraftctl_spark.tables.checked_file import Sources
from kraftctl_spark.tables.commit import HISTORY, Commit, HistoryChange
from kraftctl_spark.tables.commit_log import COMMITS, STATES
from kraftctl_spark.tables.manifest import ExportRefusedError
from kraftctl_spark.tables.output import Output
from kraftctl_spark.tables.output_state import LiveHistory
from kraftctl_spark.tables.table_files import TableFile
from kraftctl_spark.tables.verification import hash_and_size

OLD_MANIFEST = "_history.json"
"""What earlier releases had instead of commits."""

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


class HistoryLog:
    """The commits that have the history in a directory, seen from that directory."""

    def __init__(self, output: Path, hook: Hook = no_hook, tables: Output | None = None) -> None:
        """Takes the tables that it may be beside, where they are open already."""
        whole = output.absolute()
        is_beside_tables = whole.name == DIRECTORY and (whole.parent / COMMITS).is_dir()
        is_apart = not is_beside_tables or (output / COMMITS).is_dir()
        if is_apart:
            tables = Output(output, hook)
        elif tables is None or tables.directory.absolute() != whole.parent:
            tables = Output(output.parent, hook)
        self._see(tables, is_apart=is_apart)
        self.directory = output
        self.files: Sources = output

    def _see(self, root: Output, *, is_apart: bool) -> None:
        self.root = root
        """The output with these commits; of a history apart, its own directory."""
        self.is_apart = is_apart
        """Whether it has commits of its own."""
        self._prefix = "" if is_apart else f"{DIRECTORY}/"
        self._seen: LiveHistory | None = None
        self.append: Callable[[Commit], object] = root.log.append
        """Commits a change; it may add others to it."""

    @property
    def where(self) -> str:
        """Returns the name of its place, for messages."""
        return str(self.directory)

    def read(self) -> HistoryManifest | None:
        """Returns None without a history, or with a warning for one of another release, which cannot be
        continued.
        """
        found = self._seen = self.root.log.state().history
        if found is None or found.format != FORMAT:
            if found is not None or self._is_old():
                log.warning("another release wrote %s: it has to be computed again", self.where)
            return None
        cut = len(self._prefix)
        files = [replace(file, path=file.path[cut:]) for file in found.files.values()]
        return HistoryManifest.of_files(found.cluster_id, found.end, files, frozenset(found.decoders))

    def is_of_any_release(self) -> bool:
        """Returns whether there is a history, even if this release cannot read it."""
        return self.root.log.state().history is not None or self._is_old()

    def _is_old(self) -> bool:
        return (self.directory / OLD_MANIFEST).exists()

    def commit(self, manifest: HistoryManifest) -> None:
        """Replaces what was `read`; ExportRefusedError if another process has replaced it meanwhile."""
        before = self._seen
        files = {} if before is None else before.files
        now = {file.path: file for file in self._placed(manifest.files)}
        change = HistoryChange(
            format=FORMAT,
            cluster_id=manifest.cluster_id,
            start=0 if before is None else before.end,
            end=manifest.end,
            decoders=tuple(sorted(manifest.decoders)),
            added=tuple(file for path, file in now.items() if files.get(path) != file),
            removed=tuple(file for path, file in files.items() if now.get(path) != file),
        )
        with self.root.committing(file.path for file in change.added):
            self.append(Commit(HISTORY, history=change))
        self._seen = self.root.log.state().history

    def publish(self, files: VersionFiles) -> dict[str, TableFile]:
        """Gives the files of a commit their names; returns them by the paths that were asked for.

        A name is free when no live file has it, and no replaced one that may be read still.
        """
        cut = len(self._prefix)
        live = {} if self._seen is None else self._seen.files
        taken = {path[cut:]: "" for path in self.root.kept_paths() if path.startswith(self._prefix)}
        return files.publish(taken | {path[cut:]: file.sha256 for path, file in live.items()})

    def lacks_files(self, manifest: HistoryManifest) -> bool:
        """Returns whether one of its files is missing, or has another size."""
        paths = [(self.directory / file.path, file.bytes) for file in manifest.files]
        return any(not path.is_file() or path.stat().st_size != size for path, size in paths)

    def damaged_file(self, manifest: HistoryManifest) -> str | None:
        """Returns the path of a file that is missing, or has another content than was committed."""
        for file in manifest.files:
            try:
                found, _ = hash_and_size(self.root.log.store, self._prefix + file.path)
            except FileNotFoundError:
                found = ""
            if found != file.sha256:
                return f"{self.where}/{file.path}"
        return None

    @contextmanager
    def locked(self, wait_s: float) -> Iterator[None]:
        """Locks the history against other writers."""
        with locked(self.directory, wait_s):
            yield

    def _placed(self, files: Iterable[TableFile]) -> Iterator[TableFile]:
        return (replace(file, path=self._prefix + file.path) for file in files)

    def remove_unnamed(self, manifest: HistoryManifest) -> None:
        """Deletes our files that a killed process left behind; never those of others."""
        named = {self._prefix + file.path for file in manifest.files}
        named.update(self.root.kept_paths())
        for path in (path for table in SCHEMAS for path in (self.directory / table).glob("*")):
            name = self._prefix + str(path.relative_to(self.directory))
            if OUR_NAMES.fullmatch(path.name) and name not in named:
                path.unlink()
                self.root.hook("file-removed")
        for path in (one for name in (COMMITS, STATES) for one in (self.directory / name).glob(".*")):
            if path.suffix == TEMPORARY_SUFFIX:
                path.unlink(missing_ok=True)
        (self.directory / OLD_MANIFEST).unlink(missing_ok=True)

    def remove_replaced(self, keep_ms: int) -> None:
        """Deletes files of the history that were replaced longer ago than that.

        Another account may be the one that merges the tables beside it, and then deletes ours, too.
        """
        with suppress(PermissionError), self.root.compacting(wait=False) as alone:
            if alone:
                self.root.remove_replaced(keep_ms, self._prefix)


def read_manifest(output: Path) -> HistoryManifest | None:
    """Returns what the history in a directory consists of, as `HistoryLog.read` does."""
    return HistoryLog(output).read()


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
