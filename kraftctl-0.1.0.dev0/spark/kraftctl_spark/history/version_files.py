"""Writes Parquet files of a history: complete, durable, then under their names."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from kraftctl_spark.history.schema import SCHEMAS
from kraftctl_spark.stores.durable import Hook, fsync, make_directory, temporary_path, writing
from kraftctl_spark.tables.parquet_options import parquet_options
from kraftctl_spark.tables.table_files import FSYNCS_AT_ONCE, ROWS_PER_GROUP, StagedFile, TableFile, sha256_of

AHEAD = 3
"""This many steps, or tables, may wait in memory to be written."""

NUMBERS = 100_000
"""More than one commit has files of the same table and offsets."""

_NUMBERED = re.compile(r"(.*\d{20}-\d{20})(?:-(\d+))?\.parquet")

MakeRows = Callable[[], Mapping[str, pa.Table]]
"""Makes rows by table, on another thread."""


class _File:
    """A file that is being written. Row groups have the same rows however the rows arrive."""

    def __init__(self, table: str, path: Path, has_secrets: bool) -> None:
        make_directory(path.parent)
        self.table = table
        self.path = path
        self.temporary = temporary_path(path)
        self.rows = 0
        self.sha256 = ""
        self._held: list[pa.Table] = []
        schema = SCHEMAS[table]
        if has_secrets:
            self.temporary.touch(0o600)
        self.writer = pq.ParquetWriter(self.temporary, schema, **parquet_options(schema))

    def add(self, rows: pa.Table) -> None:
        if rows.num_rows:
            self._held.append(rows)
        while sum(one.num_rows for one in self._held) >= ROWS_PER_GROUP:
            together = pa.concat_tables(self._held)
            self._write(together.slice(0, ROWS_PER_GROUP))
            self._held = [together.slice(ROWS_PER_GROUP)]

    def finish(self) -> None:
        """Makes it complete and durable, under its temporary name."""
        if any(one.num_rows for one in self._held):
            self._write(pa.concat_tables(self._held))
        with writing(self.path):
            self.writer.close()
            fsync(self.temporary)
            self.sha256 = sha256_of(self.temporary)

    def _write(self, rows: pa.Table) -> None:
        with writing(self.path):
            self.writer.write_table(rows.combine_chunks(), row_group_size=ROWS_PER_GROUP)
        self.rows += rows.num_rows


class VersionFiles:
    """The files of one commit. A thread makes rows, and one writes them, while the next step is computed."""

    def __init__(self, output: Path, hook: Hook, has_secrets: bool = False) -> None:
        self._output = output
        self._has_secrets = has_secrets
        self._hook = hook
        self._files: dict[Path, _File] = {}
        self._maker, self._writer = ThreadPoolExecutor(1), ThreadPoolExecutor(1)
        self._unwritten: deque[Future[None]] = deque()

    def __enter__(self) -> VersionFiles:
        return self

    def __exit__(self, *error: object) -> None:
        """Removes files that are not finished."""
        for pool in (self._maker, self._writer):
            pool.shutdown(cancel_futures=True)
        for file in self._files.values():
            with suppress(OSError):
                file.writer.close()
            file.temporary.unlink(missing_ok=True)

    def add(self, table: str, name: str, rows: pa.Table) -> None:
        """Adds rows to a file of a table, which exists without rows, too."""
        self._submit(partial(self._add, table, name, rows))

    def add_made(self, name: str, make: MakeRows) -> None:
        """Adds rows to the tables that have some; a thread makes them."""
        made = self._maker.submit(make)

        def add() -> None:
            for table, rows in made.result().items():
                if rows.num_rows:
                    self._add(table, name, rows)

        self._submit(add)

    def _submit(self, work: Callable[[], None]) -> None:
        self._unwritten.append(self._writer.submit(work))
        self._wait(AHEAD)

    def _add(self, table: str, name: str, rows: pa.Table) -> None:
        path = self._output / table / f"{name}.parquet"
        if path not in self._files:
            with writing(path):
                self._files[path] = _File(table, path, self._has_secrets)
        self._files[path].add(rows)

    def finished(self) -> list[StagedFile]:
        """Returns the files, durable, with the paths that were asked for."""
        self._wait(0)
        with ThreadPoolExecutor(FSYNCS_AT_ONCE) as pool:
            list(pool.map(_File.finish, self._files.values()))
        self._hook("files-durable")
        return [self._staged(file) for file in self._files.values()]

    def _staged(self, file: _File) -> StagedFile:
        path, temporary = (str(one.relative_to(self._output)) for one in (file.path, file.temporary))
        size = file.temporary.stat().st_size
        return StagedFile(temporary, TableFile(file.table, path, file.rows, size, file.sha256))

    def publish(self, taken: Mapping[str, str]) -> dict[str, TableFile]:
        """Gives durable files their names; returns them by the paths that were asked for.

        `taken` has the hashes of files by path: a file of another content keeps its name.
        """
        published = {one.file.path: self._published(one, taken) for one in self.finished()}
        for directory in sorted({file.path.parent for file in self._files.values()}):
            fsync(directory)
        return published

    def _wait(self, most: int) -> None:
        """Waits until few are unwritten; raises an exception of their writes."""
        while len(self._unwritten) > most:
            self._unwritten.popleft().result()

    def _published(self, staged: StagedFile, taken: Mapping[str, str]) -> TableFile:
        path = _free(staged.file.path, staged.file.sha256, taken)
        (self._output / staged.temporary).replace(self._output / path)
        self._hook("file-renamed")
        return replace(staged.file, path=path)


def _free(path: str, sha256: str, taken: Mapping[str, str]) -> str:
    """Returns the path, or one that no other content has."""
    free = path
    for again in count(1):
        if taken.get(free, sha256) == sha256:
            break
        found = _NUMBERED.fullmatch(path)
        assert found is not None
        free = f"{found[1]}-{int(found[2] or 0) + again * NUMBERS:06}.parquet"
    return free
