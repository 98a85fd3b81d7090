"""The Parquet files of one history: one per table, also of those without rows, so that every query runs."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from kraftctl_spark.history.schema import SCHEMAS
from kraftctl_spark.tables.durable import Hook, fsync, make_directory, temporary_path, writing
from kraftctl_spark.tables.parquet_options import parquet_options
from kraftctl_spark.tables.table_files import ROWS_PER_GROUP, TableFile


class VersionFiles:
    """Row groups have the same rows however the rows arrive."""

    def __init__(self, output: Path, name: str, hook: Hook) -> None:
        self._output = output
        self._name = name
        self._hook = hook
        self._held: dict[str, list[pa.Table]] = {table: [] for table in SCHEMAS}
        self._rows = dict.fromkeys(SCHEMAS, 0)
        self._writers: dict[str, tuple[Path, pq.ParquetWriter]] = {}

    def __enter__(self) -> VersionFiles:
        for table, schema in SCHEMAS.items():
            make_directory(self._output / table)
            temporary = temporary_path(self._path(table))
            self._writers[table] = temporary, pq.ParquetWriter(temporary, schema, **parquet_options(schema))
        return self

    def __exit__(self, *error: object) -> None:
        """Removes unfinished files."""
        for temporary, writer in self._writers.values():
            with suppress(OSError):
                writer.close()
            temporary.unlink(missing_ok=True)

    def add(self, table: str, rows: pa.Table) -> None:
        held = self._held[table]
        if rows.num_rows:
            held.append(rows)
        while sum(one.num_rows for one in held) >= ROWS_PER_GROUP:
            together = pa.concat_tables(held)
            self._write(table, together.slice(0, ROWS_PER_GROUP))
            held[:] = [together.slice(ROWS_PER_GROUP)]

    def _write(self, table: str, rows: pa.Table) -> None:
        with writing(self._path(table)):
            self._writers[table][1].write_table(rows.combine_chunks(), row_group_size=ROWS_PER_GROUP)
        self._rows[table] += rows.num_rows

    def publish(self) -> list[TableFile]:
        """Durable files under their names."""
        for table, held in self._held.items():
            if any(one.num_rows for one in held):
                self._write(table, pa.concat_tables(held))
        for table, (temporary, writer) in self._writers.items():
            with writing(self._path(table)):
                writer.close()
            fsync(temporary)
        self._hook("files-durable")
        return [self._published(table, temporary) for table, (temporary, _) in self._writers.items()]

    def _published(self, table: str, temporary: Path) -> TableFile:
        path = self._path(table)
        temporary.replace(path)
        fsync(path.parent)
        self._hook("file-renamed")
        return TableFile(table, str(path.relative_to(self._output)), self._rows[table], path.stat().st_size)

    def _path(self, table: str) -> Path:
        return self._output / table / f"{self._name}.parquet"
