"""A directory of tables: who may change it, what its commits say is in it, and what to delete.

One process appends, and one may compact at the same time, each with its own lock. Only the first writes
beyond the end of the tables, only the second deletes below it: neither deletes unfinished files of the other.
"""

from __future__ import annotations

import fcntl
import logging
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import pyarrow as pa

from kraftctl_protocol.counted_text import counted
from kraftctl_spark.rows.tables import table_schemas
from kraftctl_spark.stores.durable import TEMPORARY_SUFFIX, Hook, fsync, make_directory, no_hook
from kraftctl_spark.stores.local_store import LocalStore
from kraftctl_spark.tables.checked_file import CheckedFile, Sources
from kraftctl_spark.tables.commit import BATCH, Commit
from kraftctl_spark.tables.commit_log import COMMITS, OLD_MANIFESTS, STATES, CommitLog
from kraftctl_spark.tables.kept_removed import KEPT_WHEN_PUBLISHED_MS, NOTES, PUBLICATIONS, published_commits
from kraftctl_spark.tables.manifest import HOUR_MS, RESTORE, ExportRefusedError, Manifest, Position
from kraftctl_spark.tables.output_state import Removed
from kraftctl_spark.tables.table_files import StagedFile, TableFile, publish_files

HIDDEN_MANIFESTS = f".{OLD_MANIFESTS}"
"""The name of an earlier release's manifests while they are taken over: that release does not find them."""
LOCK = "_lock"
COMPACTION_LOCK = "_compaction_lock"
RANGE_NAME = re.compile(r"^(?:snapshot-)?\d{20}-(\d{20})(?:-\d+)?$")
_LAST_OFFSET = re.compile(r"\d{20}-(\d{20})(?:-\d+)?\.")
"""Matches the names of temporary files too."""

log = logging.getLogger(__name__)

Found = TypeVar("Found")


def check_writable(directory: Path, purpose: str) -> None:
    """Raises ExportRefusedError when this is not, and cannot become, a directory to write to."""
    existing = next(path for path in (directory, *directory.parents) if path.exists())
    if not existing.is_dir():
        raise ExportRefusedError(f"{directory} cannot be {purpose}: {existing} is not a directory")
    if not os.access(existing, os.W_OK | os.X_OK):
        raise ExportRefusedError(f"{directory} cannot be {purpose}: {existing} is not writable")


class Output:
    """A directory of tables. One process at a time may append to it, and one compact it: see the locks."""

    def __init__(
        self,
        directory: Path,
        hook: Hook = no_hook,
        *,
        log: CommitLog | None = None,
        sources: Sources | None = None,
    ) -> None:
        self.directory = directory
        self.hook = hook
        self.log = log or CommitLog(LocalStore(directory, hook), directory, hook)
        self.sources: Sources = sources or directory
        self._schemas: dict[str, pa.Schema] = {}
        self._warned_at_ms = 0

    @property
    def where(self) -> str:
        """Returns the name of its place, for messages."""
        return str(self.directory)

    @property
    def is_stored(self) -> bool:
        """Returns whether the tables are in an object store."""
        return False

    @property
    def history_command(self) -> str:
        """Returns what computes the history beside it, or continues that."""
        if self.is_stored:
            return "one batch of kraftctl-export run --history"
        return f"kraftctl-export history --tables {self.where}"

    def fetch_all(self) -> None:
        """Makes `directory` a whole output: this one is."""

    def schema(self, path: str) -> pa.Schema:
        """Returns the schema of a file, which is read once."""
        if path not in self._schemas:
            self._schemas[path] = CheckedFile(self.sources / path).schema
        return self._schemas[path]

    def publish(self, staged: Iterable[StagedFile]) -> tuple[TableFile, ...]:
        """Gives files their names, which no commit has yet."""
        return publish_files(self.directory, staged, self.hook)

    def discard(self, staged: Iterable[StagedFile]) -> None:
        """Deletes files that will not be committed."""
        for one in staged:
            (self.directory / one.temporary).unlink(missing_ok=True)

    def check_exists(self) -> None:
        """Raises ExportRefusedError for a directory without tables, or for one of an earlier release."""
        state = self.log.state()
        if state.number < 0 and not (self.directory / COMMITS).is_dir():
            raise ExportRefusedError(f"{self.directory} holds no tables of kraftctl-export")
        self._check_taken_over()

    def _check_taken_over(self) -> None:
        """Refuses manifests of an earlier release, which it would find again after a return to it."""
        if any((self.directory / name).is_dir() for name in (OLD_MANIFESTS, HIDDEN_MANIFESTS)):
            raise ExportRefusedError(
                f"the take-over of {self.directory} has not ended: kraftctl-export take-over --output "
                f"{self.directory} finishes it"
            )

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Locks the tables; ExportRefusedError when another process appends here. The lock ends with its
        process.
        """
        check_writable(self.directory, "the output")
        self.log.state()
        self._check_taken_over()
        self._check_commits_are_there()
        with self._holding(LOCK, wait=False) as held:
            if not held:
                raise ExportRefusedError(
                    f"another process writes to {self.directory}: stop it, or choose another directory"
                )
            yield

    def _check_commits_are_there(self) -> None:
        """Refuses files without any commit: they would look like leftovers and be deleted."""
        if (self.directory / COMMITS).is_dir():
            return
        for table in table_schemas():
            if any(RANGE_NAME.match(path.stem) for path in (self.directory / table).glob("*.parquet")):
                raise ExportRefusedError(
                    f"{self.directory / table} holds files of an export, but {self.directory / COMMITS} is "
                    "gone: restore it from a backup, or choose another directory"
                )

    @contextmanager
    def all_locked(self) -> Iterator[None]:
        """Keeps everything else away; ExportRefusedError while another process uses the directory."""
        with self._holding(LOCK, wait=False) as alone, self.compacting(wait=False) as unread:
            if not (alone and unread):
                raise ExportRefusedError(
                    f"another process writes to {self.directory}, merges its files or makes a report: let it "
                    "end"
                )
            yield

    @contextmanager
    def undisturbed(self) -> Iterator[None]:
        """Keeps compactions away for a slow reader, so that no file is deleted. Other readers are allowed.

        Without permission to create the lock, it reads without it.
        """
        try:
            descriptor = os.open(self.directory / COMPACTION_LOCK, os.O_RDONLY | os.O_CREAT, 0o644)
        except OSError:
            descriptor = None
        try:
            if descriptor is not None:
                fcntl.flock(descriptor, fcntl.LOCK_SH)
            yield
        finally:
            if descriptor is not None:
                os.close(descriptor)

    @contextmanager
    def compacting(self, wait: bool) -> Iterator[bool]:
        """Gives whether it may compact now. False while another process does, unless it should `wait`."""
        with self._holding(COMPACTION_LOCK, wait) as held:
            yield held

    @contextmanager
    def _holding(self, lock: str, wait: bool) -> Iterator[bool]:
        make_directory(self.directory / COMMITS)
        descriptor = os.open(self.directory / lock, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            except BlockingIOError:
                yield False
            else:
                yield True
        finally:
            os.close(descriptor)

    def manifests(self) -> list[Manifest]:
        """Returns the live batches in order; ExportRefusedError if the commits are damaged."""
        return list(self.log.state().batches)

    def position(self) -> Position:
        """Returns where the last batch ends."""
        batches = self.log.state().batches
        return Position(batches[-1].end, batches[-1].epoch, batches[-1].cluster_id) if batches else Position()

    def read(self, read: Callable[[list[Manifest]], Found]) -> Found:
        """The result of `read` on the live batches; repeated when a compaction deleted one of its files."""
        while True:
            live = self.manifests()
            try:
                return read(live)
            except FileNotFoundError:
                if self.manifests() == live:
                    raise

    @property
    def commit_number(self) -> int:
        """Returns the number of the last commit; -1 without any."""
        return self.log.state().number

    @property
    def raw_start(self) -> int:
        """Returns the offset from which the tables have records; those before it have expired."""
        return self.log.state().raw_start

    def commit(self, batch: Manifest) -> None:
        """Adds a batch to the tables. The caller holds `locked`."""
        self.apply(Commit(BATCH, (batch,)))

    def replace(self, replaced: Sequence[Manifest], by: Manifest, kind: str) -> None:
        """Replaces consecutive batches with one of their range. The caller holds `compacting`.

        ExportRefusedError if they were replaced meanwhile.
        """
        kept = set(by.files)
        removed = tuple(file for one in replaced for file in one.files if file not in kept)
        self.apply(Commit(kind, (by,), removed))

    def apply(self, change: Commit) -> Commit:
        """Commits a change of batches, whose files have their names; returns it at its place."""
        files = [file for batch in change.batches for file in batch.files]
        self._make_durable(files)
        now_ms = time.time_ns() // 1_000_000
        stamped = tuple(replace(batch, committed_at_ms=now_ms) for batch in change.batches)
        with self.committing(file.path for file in files):
            return self.log.append(replace(change, batches=stamped))

    def _make_durable(self, files: Iterable[TableFile]) -> None:
        """Makes the names of files durable, once for all of them."""
        for directory in {self.directory, *((self.directory / file.path).parent for file in files)}:
            fsync(directory)

    @contextmanager
    def committing(self, paths: Iterable[str]) -> Iterator[None]:
        """Surrounds a commit of files that were published."""
        yield

    def changed_redaction(self, include_secrets: bool) -> str | None:
        """Returns the warning when secrets will be treated differently from before; None otherwise."""
        live = self.manifests()
        if not live or live[-1].secrets == include_secrets:
            return None
        before, after = ("redacted", "left in") if include_secrets else ("left in", "redacted")
        return (
            f"secrets were {before} up to offset {live[-1].end - 1} and will be {after} from there on; what "
            f"{self.where} already contains does not change"
        )

    def check_files(self) -> None:
        """Raises ExportRefusedError when a committed file is missing or has another size."""
        damaged = self._damaged_file()
        while damaged is not None:
            manifest, file = damaged
            if manifest in self.manifests():
                raise ExportRefusedError(
                    f"{self.where}/{file.path} was committed with {file.bytes} bytes and is missing "
                    f"or has another size: {RESTORE}"
                )
            damaged = self._damaged_file()  # A compaction had replaced that manifest.

    def _damaged_file(self) -> tuple[Manifest, TableFile] | None:
        for manifest in self.manifests():
            for file in manifest.files:
                path = self.directory / file.path
                try:
                    found = path.stat().st_size
                except FileNotFoundError:
                    found = -1
                if found != file.bytes:
                    return manifest, file
        return None

    def remove_leftovers(self) -> int:
        """Deletes leftovers of exports: files that no manifest names. The caller holds `locked`.

        Deletes leftovers of compactions too, unless one is running.
        """
        end = self.position().offset
        with self.compacting(wait=False) as alone:
            return self._remove_unnamed(lambda last: alone or last is None or last >= end)

    def remove_old_uploads(self) -> int:
        """Deletes what attempts left in a store that are too old to be committed. A directory has none."""
        return 0

    def young_uploads(self) -> int:
        """Returns how many files of a store no commit names that may be committed still."""
        return 0

    def remove_merge_leftovers(self) -> int:
        """Deletes leftovers of compactions, which only write below the end of the tables."""
        end = self.position().offset
        return self._remove_unnamed(lambda last: last is not None and last < end)

    def _remove_unnamed(self, ours: Callable[[int | None], bool]) -> int:
        """Deletes temporary files, and files in no commit, whose last offset (None: has none) is `ours`."""
        state = self.log.state()
        named = {file.path for one in state.batches for file in one.files}
        named.update(path for one in state.removed for path in one.paths)  # Readers may still need them.
        removed = self._remove_unfinished_commits()
        for directory in [self.directory / table for table in table_schemas()]:
            for path in list(directory.iterdir()) if directory.is_dir() else []:
                table_file = path.suffix == ".parquet" and RANGE_NAME.match(path.stem) is not None
                unnamed = table_file and f"{directory.name}/{path.name}" not in named
                found = _LAST_OFFSET.search(path.name)
                if (unnamed or path.suffix == TEMPORARY_SUFFIX) and ours(int(found[1]) if found else None):
                    path.unlink(missing_ok=True)
                    removed += 1
        return removed

    def _remove_unfinished_commits(self) -> int:
        """Deletes those of all processes: one that is not killed writes it again."""
        removed = 0
        for directory in (self.directory / COMMITS, self.directory / STATES):
            for path in directory.glob(f".*{TEMPORARY_SUFFIX}"):
                removed += _deleted(path)
        return removed

    def kept_paths(self) -> Iterator[str]:
        """Yields the replaced files that may be there still."""
        return (path for one in self.log.state().removed if one.number > self.log.swept for path in one.paths)

    def remove_replaced(self, grace_ms: int, below: str = "", *, even_published: bool = False) -> int:
        """Deletes files that were replaced longer ago than the grace period, of all or below a directory.

        With `even_published`, also those that the last publication has. The caller holds `compacting`.
        """
        now_ms = time.time_ns() // 1_000_000
        old = [one for one in self.log.state().removed if not grace_ms or now_ms - one.at_ms >= grace_ms]
        if not even_published and any(one.number > self.log.swept for one in old):
            old = self._without_published(old, now_ms - max(grace_ms, KEPT_WHEN_PUBLISHED_MS))
        removed, all_are_gone = 0, True
        for one in old:
            ours = [path for path in one.paths if path.startswith(below)]
            if ours and one.number > self.log.swept:
                removed += self._delete(ours)
            all_are_gone = all_are_gone and (one.number <= self.log.swept or len(ours) == len(one.paths))
            if all_are_gone:
                self.log.swept = max(self.log.swept, one.number)
        return removed

    def _without_published(self, replaced: list[Removed], late_ms: int) -> list[Removed]:
        """Returns those that every publication is behind; warns once an hour of others from before a time."""
        commits = published_commits(self.log.store)
        published = min(commits.values(), default=None)
        held = [one for one in replaced if published is not None and one.number > published]
        now_ms = time.time_ns() // 1_000_000
        if held and held[0].at_ms < late_ms and now_ms - self._warned_at_ms >= HOUR_MS:
            self._warned_at_ms = now_ms
            late = [name for name, commit in commits.items() if commit < held[0].number]
            log.warning(
                "%s keeps %s for readers of %s, the oldest for %d hours: what has replaced them is not "
                "published. Publish again; where no reader has these tables any more, delete %s",
                self.where,
                counted(sum(len(one.paths) for one in held), "replaced file"),
                " and ".join(sorted(late)),
                (now_ms - held[0].at_ms) // HOUR_MS,
                " and ".join(sorted({NOTES.get(name, PUBLICATIONS) for name in late})),
            )
        return replaced[: len(replaced) - len(held)]

    def _delete(self, paths: Iterable[str]) -> int:
        removed = 0
        for path in paths:
            removed += _deleted(self.directory / path)
            self.hook("file-removed")
        return removed


def _deleted(path: Path) -> bool:
    try:
        path.unlink()
    except FileNotFoundError:
        return False
    return True
