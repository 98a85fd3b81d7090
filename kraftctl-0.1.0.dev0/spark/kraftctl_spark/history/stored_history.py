"""The history beside tables in an object store: its files are uploaded, and the next commit is the lock."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kraftctl_spark.history import DIRECTORY
from kraftctl_spark.history.history_manifest import HistoryLog, HistoryManifest
from kraftctl_spark.history.version_files import VersionFiles
from kraftctl_spark.tables.checked_file import Sources
from kraftctl_spark.tables.output import Output
from kraftctl_spark.tables.table_files import StagedFile, TableFile


def history_log(output: Path, tables: Output) -> HistoryLog:
    """Returns the commits of a history in a directory, or of the one beside tables in an object store."""
    return StoredHistoryLog(tables) if tables.is_stored else HistoryLog(output, tables.hook, tables)


@dataclass(frozen=True)
class _Below:
    """The files below a prefix."""

    sources: Sources
    prefix: str

    def __truediv__(self, path: str) -> Any:
        return self.sources / f"{self.prefix}{path}"


class StoredHistoryLog(HistoryLog):
    """The commits that have the history beside tables in an object store. `directory` is a local one."""

    def __init__(self, tables: Output) -> None:
        self._see(tables, is_apart=False)
        self.directory = tables.directory / DIRECTORY
        self.files = _Below(tables.sources, self._prefix)
        self._complete: HistoryManifest | None = None

    @property
    def where(self) -> str:
        return f"{self.root.where}/{DIRECTORY}"

    def _is_old(self) -> bool:
        return False

    def commit(self, manifest: HistoryManifest) -> None:
        super().commit(manifest)
        self._complete = manifest

    def publish(self, files: VersionFiles) -> dict[str, TableFile]:
        """Uploads them under names that no other attempt has."""
        staged = files.finished()
        placed = [
            StagedFile(self._prefix + one.temporary, replace(one.file, path=self._prefix + one.file.path))
            for one in staged
        ]
        cut = len(self._prefix)
        uploaded = (replace(file, path=file.path[cut:]) for file in self.root.publish(placed))
        return {one.file.path: file for one, file in zip(staged, uploaded, strict=True)}

    def lacks_files(self, manifest: HistoryManifest) -> bool:
        """Looks once: later, only commits of kraftctl-export replace files."""
        if self._complete is None:
            there = set(self.root.log.store.names(DIRECTORY))
            if any(self._prefix + file.path not in there for file in manifest.files):
                return True
            self._complete = manifest
        return False

    @contextmanager
    def locked(self, wait_s: float) -> Iterator[None]:
        yield

    def remove_unnamed(self, manifest: HistoryManifest) -> None:
        """Deletes nothing: `remove_leftovers` of the tables does, when an attempt is old enough."""
