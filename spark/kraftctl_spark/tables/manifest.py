"""The list of files that make up the tables: one JSON manifest per batch, which exists completely or not at
all.

The rename of a manifest is the commit. Manifests cover the log from offset 0 without a gap, and the export
continues where the last one ends: no other record of progress is trusted. A manifest that covers the range of
others replaces them; compaction uses this.

One process appends, and one may compact at the same time, each with its own lock. Only the first writes
beyond the end of the tables, only the second deletes below it: neither deletes unfinished files of the other.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from kraftctl_spark.rows.tables import table_schemas
from kraftctl_spark.tables.durable import TEMPORARY_SUFFIX, Hook, fsync, make_directory, no_hook, write_whole
from kraftctl_spark.tables.new_fields import NewFields
from kraftctl_spark.tables.table_files import TableFile, range_name

MANIFESTS = "_manifests"
LOCK = "_lock"
COMPACTION_LOCK = "_compaction_lock"
RESTORE = "restore it from a backup, or export to a new directory"
"""The advice for a file that is damaged or missing."""
FORMAT = 1
HOUR_MS = 3_600_000
_RANGE = re.compile(r"^(?:snapshot-)?\d{20}-(\d{20})(?:-\d+)?$")
_LAST_OFFSET = re.compile(r"\d{20}-(\d{20})(?:-\d+)?\.")
"""Matches the names of temporary files too."""


Found = TypeVar("Found")


class ExportRefusedError(Exception):
    """Continuing would lose or duplicate rows; the message says what to do."""


@dataclass(frozen=True)
class Manifest:
    """One committed batch: offsets [start, end) are in these files.

    It has 16 fields, because readers get everything about a batch from one file.
    """

    cluster_id: str
    start: int
    end: int
    epoch: int
    """The epoch of the last record of the range."""
    files: tuple[TableFile, ...]
    counts: dict[str, int]
    """The counts of `RowCounts`; `records` is the number of rows of the `records` table."""
    high_watermark: int
    """The high watermark when the batch began."""
    snapshot: bool = False
    """Whether the rows are those of the snapshot that ends at `end`, because the log had been deleted."""
    missing: tuple[int, ...] = ()
    """Offsets that no leader returns; only offset 0 is possible."""
    secrets: bool = False
    """Whether secrets were not redacted."""
    batches: int = 1
    """The number of batches that were merged into it."""
    revision: int = 0
    """The number of times that exactly this range was written again, with columns of later releases. The
    last is live."""
    decoder: str = field(default="", compare=False)
    """The release's `decoder_name`, of the one that understood the fewest; empty for old releases."""
    committed_at_ms: int = field(default=0, compare=False)
    new_fields: tuple[NewFields, ...] = ()
    """The records that `counts` has as `newer_fields`; empty, too, where only their bytes say which."""
    batch_times_ms: tuple[int, ...] = field(default=(), compare=False)
    """The commit times, after a merge, of its last batch and of the batches in the hour before it."""

    @property
    def name(self) -> str:
        return range_name(self.start, self.end - 1, self.revision)

    @property
    def commit_times_ms(self) -> tuple[int, ...]:
        """Returns the commit times of its batches, as far as they are still known."""
        return self.batch_times_ms or (self.committed_at_ms,)

    @property
    def lag(self) -> int:
        """Returns the number of committed offsets that were not exported yet."""
        return max(0, self.high_watermark - self.end)

    def to_json(self) -> str:
        fields = {**vars(self), "format": FORMAT, "lag": self.lag}
        fields["files"] = [file.to_dict() for file in self.files]
        if new_fields := fields.pop("new_fields"):  # Releases without it read the others.
            fields["new_fields"] = [asdict(one) for one in new_fields]
        return json.dumps(fields, indent=1) + "\n"

    @staticmethod
    def from_json(text: str) -> Manifest:
        """Reads the result of `to_json`; ValueError, KeyError or TypeError for anything else."""
        fields = json.loads(text)
        if fields.pop("format") != FORMAT:
            raise ValueError("written by another release")
        fields.pop("lag")
        files = tuple(TableFile(**file) for file in fields.pop("files"))
        fields["new_fields"] = tuple(NewFields(**one) for one in fields.get("new_fields", ()))
        for name in ("missing", "batch_times_ms"):
            fields[name] = tuple(fields.get(name, ()))
        return Manifest(files=files, **fields)


@dataclass(frozen=True)
class Position:
    """The position of the export: everything before `offset` is in the tables."""

    offset: int = 0
    epoch: int = 0
    cluster_id: str | None = None


def _last_offset_in(name: str) -> str:
    """Returns the last offset in a manifest, by its name."""
    found = _RANGE.match(name)
    assert found is not None
    return found[1]


def check_writable(directory: Path, purpose: str) -> None:
    """Raises ExportRefusedError when this is not, and cannot become, a directory to write to."""
    existing = next(path for path in (directory, *directory.parents) if path.exists())
    if not existing.is_dir():
        raise ExportRefusedError(f"{directory} cannot be {purpose}: {existing} is not a directory")
    if not os.access(existing, os.W_OK | os.X_OK):
        raise ExportRefusedError(f"{directory} cannot be {purpose}: {existing} is not writable")


class Output:
    """A directory of tables. One process at a time may append to it, and one compact it: see the locks."""

    def __init__(self, directory: Path, hook: Hook = no_hook) -> None:
        self.directory = directory
        self.hook = hook

    @property
    def _manifests(self) -> Path:
        return self.directory / MANIFESTS

    def check_exists(self) -> None:
        """Raises ExportRefusedError for a directory without tables."""
        if not self._manifests.is_dir():
            raise ExportRefusedError(f"{self.directory} holds no tables of kraftctl-export")

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Locks the tables; ExportRefusedError when another process appends here. The lock ends with its
        process.
        """
        check_writable(self.directory, "the output")
        self._check_manifests_are_there()
        with self._holding(LOCK, wait=False) as held:
            if not held:
                raise ExportRefusedError(
                    f"another process writes to {self.directory}: stop it, or choose another directory"
                )
            yield

    def _check_manifests_are_there(self) -> None:
        """Refuses files without any manifest: they would look like leftovers and be deleted."""
        if self._manifests.is_dir():
            return
        for table in table_schemas():
            if any(_RANGE.match(path.stem) for path in (self.directory / table).glob("*.parquet")):
                raise ExportRefusedError(
                    f"{self.directory / table} holds files of an export, but {self._manifests} is gone: "
                    "restore it from a backup, or choose another directory"
                )

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
        make_directory(self._manifests)
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
        """The live manifests in order; ExportRefusedError if they do not cover the log from its start."""
        return self._live(self.all_manifests())

    def _live(self, manifests: list[Manifest]) -> list[Manifest]:
        live: list[Manifest] = []
        for manifest in sorted(manifests, key=lambda one: (one.start, -one.end, -one.revision)):
            position = live[-1].end if live else 0
            if manifest.end <= position:
                continue
            if manifest.start != position or manifest.cluster_id != (live or [manifest])[0].cluster_id:
                raise ExportRefusedError(
                    f"{self._manifests} is damaged: {manifest.name} of cluster {manifest.cluster_id} does "
                    f"not follow on offset {position}. Restore the directory from a backup or start a new one"
                )
            live.append(manifest)
        return live

    def all_manifests(self) -> list[Manifest]:
        """Returns all manifests, including replaced ones, as of one moment even during a compaction."""
        read: dict[str, Manifest | None] = {}
        return self._while_unchanged(lambda names: self._read_all(names, read))

    def position(self) -> Position:
        """Returns where the last manifest ends. Reads only that one; `manifests` checks all of them."""

        def read_last(names: list[str]) -> tuple[bool, Position]:
            if not names:
                return True, Position()
            last = self._read(max(names, key=_last_offset_in))
            return last is not None, Position(last.end, last.epoch, last.cluster_id) if last else Position()

        return self._while_unchanged(read_last)

    def _while_unchanged(self, read: Callable[[list[str]], tuple[bool, Found]]) -> Found:
        """Returns the result of `read` when the directory is the same before and after.

        A listing that is taken while a merged manifest appears and the old ones are deleted may contain none
        of them. Without the end of the tables, an export would write it a second time.
        """
        names = self._names()
        while True:
            complete, found = read(names)
            again = self._names()
            if complete and again == names:
                return found
            names = again

    def _names(self) -> list[str]:
        stems = (path.stem for path in self._manifests.glob("*.json"))
        return sorted(stem for stem in stems if _RANGE.match(stem))

    def _read_all(self, names: list[str], read: dict[str, Manifest | None]) -> tuple[bool, list[Manifest]]:
        """Reads manifests; one never changes under its name, so those in `read` are not read again."""
        for name in names:
            if name not in read:
                read[name] = self._read(name)
        found = [manifest for name in names if (manifest := read[name]) is not None]
        return len(found) == len(names), found

    def _read(self, name: str) -> Manifest | None:
        """Returns None when it has been deleted meanwhile."""
        path = self._manifests / f"{name}.json"
        try:
            return Manifest.from_json(path.read_text())
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError) as error:
            raise ExportRefusedError(
                f"{path} is not a manifest of this release ({error}): use the release that wrote it, or "
                "restore the file from a backup"
            ) from error

    def read(self, read: Callable[[list[Manifest]], Found]) -> Found:
        """The result of `read` on the live manifests; repeated when a compaction deleted one of its files."""
        while True:
            live = self.manifests()
            try:
                return read(live)
            except FileNotFoundError:
                if self.manifests() == live:
                    raise

    def commit(self, manifest: Manifest) -> None:
        """Adds a batch to the tables, or replaces others with it. The caller holds the lock for that."""
        at = self.position().offset
        replaces = manifest.end <= at
        if manifest.end <= manifest.start or not (replaces or manifest.start == at):
            raise ExportRefusedError(f"{manifest.name} does not follow on offset {at}")
        for directory in {self.directory, *((self.directory / file.path).parent for file in manifest.files)}:
            fsync(directory)  # Once for all of their new names.
        stamped = replace(manifest, committed_at_ms=time.time_ns() // 1_000_000)
        write_whole(self._manifests / f"{manifest.name}.json", stamped.to_json().encode(), self.hook)
        self.hook("manifest-committed")

    def changed_redaction(self, include_secrets: bool) -> str | None:
        """Returns the warning when secrets will be treated differently from before; None otherwise."""
        live = self.manifests()
        if not live or live[-1].secrets == include_secrets:
            return None
        before, after = ("redacted", "left in") if include_secrets else ("left in", "redacted")
        return (
            f"secrets were {before} up to offset {live[-1].end - 1} and will be {after} from there on; what "
            f"{self.directory} already contains does not change"
        )

    def check_files(self) -> None:
        """Raises ExportRefusedError when a committed file is missing or has another size."""
        damaged = self._damaged_file()
        while damaged is not None:
            manifest, file = damaged
            if manifest in self.manifests():
                raise ExportRefusedError(
                    f"{self.directory / file.path} was committed with {file.bytes} bytes and is missing "
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

    def remove_merge_leftovers(self) -> int:
        """Deletes leftovers of compactions, which only write below the end of the tables."""
        end = self.position().offset
        return self._remove_unnamed(lambda last: last is not None and last < end)

    def _remove_unnamed(self, ours: Callable[[int | None], bool]) -> int:
        """Deletes temporary files, and files in no manifest, whose last offset (None: has none) is `ours`."""
        named = {file.path for one in self.all_manifests() for file in one.files}
        removed = 0
        for directory in [self._manifests, *(self.directory / table for table in table_schemas())]:
            for path in list(directory.iterdir()) if directory.is_dir() else []:
                table_file = path.suffix == ".parquet" and _RANGE.match(path.stem) is not None
                unnamed = table_file and f"{directory.name}/{path.name}" not in named
                found = _LAST_OFFSET.search(path.name)
                if (unnamed or path.suffix == TEMPORARY_SUFFIX) and ours(int(found[1]) if found else None):
                    path.unlink(missing_ok=True)
                    removed += 1
        return removed

    def remove_replaced(self, grace_ms: int) -> int:
        """Deletes manifests, and their files, that were replaced longer ago than the grace period.

        The caller holds `compacting`.
        """
        now_ms = time.time_ns() // 1_000_000
        everything = self.all_manifests()  # Read once: an export may commit at any moment.
        live = self._live(everything)
        needed = {file.path for one in live for file in one.files}
        names = {one.name for one in live}
        removed = 0
        for old in everything:
            if old.name in names:
                continue
            cover = next(one for one in live if one.start <= old.start and old.end <= one.end)
            if grace_ms and now_ms - cover.committed_at_ms < grace_ms:
                continue
            for path in {file.path for file in old.files} - needed:
                (self.directory / path).unlink(missing_ok=True)
                removed += 1
                self.hook("file-removed")
            (self._manifests / f"{old.name}.json").unlink()
            self.hook("manifest-removed")
        fsync(self._manifests)
        return removed
