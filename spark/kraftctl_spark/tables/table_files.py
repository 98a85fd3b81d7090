"""The Parquet files of one range: one per table that has rows, named by offsets.

The process that writes them does not name them. A task may run twice at the same time, or continue after its
batch was repeated. It therefore leaves durable files under hidden names, and only the committing process
renames them.
"""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from hashlib import file_digest
from pathlib import Path
from types import TracebackType
from typing import Annotated, Any

import pyarrow as pa
import pyarrow.parquet as pq

from kraftctl_spark.rows.tables import table_schemas
from kraftctl_spark.stores.durable import Hook, fsync, no_hook, temporary_path, writing
from kraftctl_spark.tables.parquet_options import parquet_options

ROWS_PER_GROUP = 50_000
"""The rows of a table that are held in memory before they are written; a log range never has more."""

BUFFER_BYTES = 65_536
FSYNCS_AT_ONCE = 16
"""A file system completes several in the time of one."""


def range_name(first: int, last: int, revision: int = 0) -> str:
    """Returns the name of everything for the offsets [first, last]; it sorts like the offsets.

    `revision` counts how often exactly these were written again: a file is never replaced under its name.
    """
    return f"{first:020}-{last:020}" + (f"-{revision}" if revision else "")


def _path_within(path: str) -> str:
    """Returns it; ValueError unless a file of a table or of a history can have it, below the output."""
    parts = path.split("/")
    is_ours = len(parts) in (2, 3) and not any(part in ("", ".", "..") for part in parts)
    if not is_ours or "\\" in path or "\0" in path or not path.endswith(".parquet"):
        raise ValueError(f"{path!r} is no path of a file of these tables")
    return path


FilePath = Annotated[str, _path_within]
"""A path relative to the output directory. One who can write commits must not name other files with it."""


@dataclass(frozen=True)
class TableFile:
    """A file as a commit lists it."""

    table: str
    path: FilePath
    """The path relative to the output directory."""
    rows: int
    bytes: int
    sha256: str = ""
    """Empty only in the manifests of earlier releases."""

    def to_dict(self) -> dict[str, Any]:
        return {**vars(self)}


def sha256_of(path: Path) -> str:
    """Returns the hash of a file's content, which was just written and is read from memory."""
    with path.open("rb", buffering=0) as file:
        return file_digest(file, "sha256").hexdigest()


@dataclass(frozen=True)
class StagedFile:
    """A durable file that still has a temporary name."""

    temporary: str
    """The path relative to the output directory."""
    file: TableFile


def publish_files(output: Path, staged: Iterable[StagedFile], hook: Hook = no_hook) -> tuple[TableFile, ...]:
    """Gives files their names, replacing existing ones; the commit makes the names durable."""
    files = []
    for one in staged:
        path = output / one.file.path
        with writing(path):
            # NFS may cache for a while that the directory did not exist; mkdir makes it ask again.
            path.parent.mkdir(exist_ok=True)
            (output / one.temporary).replace(path)
        files.append(one.file)
        hook("file-renamed")
    return tuple(files)


class _Unfinished:
    """A Parquet file that is written under its temporary name; with secrets, others may not read it."""

    def __init__(self, path: Path, schema: pa.Schema, has_secrets: bool) -> None:
        self.path = path
        if has_secrets:
            path.touch(0o600)
        # Parquet's writer makes several small writes per column.
        self._sink = pa.BufferedOutputStream(pa.OSFile(str(path), "wb"), BUFFER_BYTES)
        self._writer = pq.ParquetWriter(self._sink, schema, **parquet_options(schema))

    def add(self, table: pa.Table) -> None:
        self._writer.write_table(table, row_group_size=ROWS_PER_GROUP)

    def close(self) -> None:
        """Closes the file, which is complete unless an OSError is raised."""
        self._writer.close()
        self._sink.close()


class RangeWriter:
    """Writes one file per table. No file has its final name before `publish_files`."""

    def __init__(self, output: Path, name: str, hook: Hook = no_hook, *, has_secrets: bool = False) -> None:
        self._output = output
        self._has_secrets = has_secrets
        self._name = name
        self._hook = hook
        self._held: dict[str, list[pa.Table]] = {}
        self._writers: dict[str, _Unfinished] = {}
        self._rows: dict[str, int] = {}

    def __enter__(self) -> RangeWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Removes files that are not finished."""
        for writer in self._writers.values():
            with suppress(OSError):  # A file that cannot be completed is removed as well.
                writer.close()
            writer.path.unlink(missing_ok=True)
        self._writers = {}

    def add(self, tables: dict[str, pa.Table]) -> None:
        """Collects rows into row groups of `ROWS_PER_GROUP`."""
        for name, table in tables.items():
            held = self._held.setdefault(name, [])
            held.append(table)
            if sum(one.num_rows for one in held) >= ROWS_PER_GROUP:
                together = pa.concat_tables(held)
                self.write_tables({name: together.slice(0, ROWS_PER_GROUP)})
                self._held[name] = [together.slice(ROWS_PER_GROUP)]

    def write_tables(self, tables: dict[str, pa.Table]) -> None:
        """Writes one row group of each."""
        for name, table in tables.items():
            if name not in self._writers:
                self._writers[name] = self._open(name)
            with writing(self._path(name)):
                self._writers[name].add(table)
            self._rows[name] = self._rows.get(name, 0) + table.num_rows

    def _open(self, name: str) -> _Unfinished:
        path = self._path(name)
        temporary = temporary_path(path)
        try:
            with writing(path):
                path.parent.mkdir(parents=True, exist_ok=True)
                return _Unfinished(temporary, table_schemas()[name], self._has_secrets)
        except OSError:
            temporary.unlink(missing_ok=True)
            raise

    def finish(self) -> list[StagedFile]:
        """Returns the written files, durable. From here on they belong to the caller."""
        for name, held in self._held.items():
            if any(table.num_rows for table in held):
                self.write_tables({name: pa.concat_tables(held)})
        self._held = {}
        for name, writer in self._writers.items():
            with writing(self._path(name)):
                writer.close()
        self._hook("files-written")
        with writing(self._output), ThreadPoolExecutor(FSYNCS_AT_ONCE) as pool:
            paths = [writer.path for writer in self._writers.values()]
            list(pool.map(fsync, paths))
            hashes = dict(zip(self._writers, pool.map(sha256_of, paths), strict=True))
        staged = [self._staged(name, writer.path, hashes[name]) for name, writer in self._writers.items()]
        self._writers = {}
        self._hook("files-durable")
        return staged

    def _staged(self, table: str, temporary: Path, sha256: str) -> StagedFile:
        path = str(self._path(table).relative_to(self._output))
        file = TableFile(table, path, self._rows[table], temporary.stat().st_size, sha256)
        return StagedFile(str(temporary.relative_to(self._output)), file)

    def _path(self, table: str) -> Path:
        return self._output / table / f"{self._name}.parquet"
