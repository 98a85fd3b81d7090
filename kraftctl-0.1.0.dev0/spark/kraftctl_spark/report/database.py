"""The tables of a history, and typed tables, in DuckDB: exactly the files that manifests name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import duckdb
import pyarrow as pa

from kraftctl_spark.history.damage import open_file
from kraftctl_spark.history.history_manifest import HistoryManifest
from kraftctl_spark.history.questions.files import text_of
from kraftctl_spark.history.questions.macros import AUDIT_LOG_PLACE, WITH_AUDIT_LOG, placed
from kraftctl_spark.history.schema import SCHEMAS
from kraftctl_spark.report.contents import Listed
from kraftctl_spark.rows.tables import RECORDS, table_schemas
from kraftctl_spark.tables.checked_file import CheckedFile
from kraftctl_spark.tables.manifest import ExportRefusedError, Manifest

RAW_TABLES = (RECORDS,)
"""The typed tables that are queried directly: which records were written, and when."""

RAW_PREFIX = "raw_"

Found = TypeVar("Found")


class Database:
    """Asks the tables in SQL."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection

    def do(self, statement: str) -> None:
        self._connection.execute(statement)

    def all(self, kind: type[Found], sql: str) -> tuple[Found, ...]:
        """Returns all rows; their columns have the names of the fields."""
        names, rows = self._fetched(sql)
        return tuple(kind(**dict(zip(names, row, strict=True))) for row in rows)

    def listed(self, kind: type[Found], sql: str, order: str, rows_max: int) -> Listed[Found]:
        """Returns the first rows, and how many there are."""
        ordered = f"SELECT *, count(*) OVER () AS total FROM ({sql}) ORDER BY {order} LIMIT {rows_max}"
        names, rows = self._fetched(ordered)
        found = tuple(kind(**dict(zip(names[:-1], row[:-1], strict=True))) for row in rows)
        return Listed(found, rows[0][-1] if rows else 0)

    def arrow(self, sql: str) -> pa.Table:
        return self._connection.sql(sql).to_arrow_table()

    def value(self, sql: str) -> Any:
        """Returns the value of the only row and column."""
        ((value,),) = self._fetched(sql)[1]
        return value

    def add_audit_log(self, pattern: Path, cluster_id: str) -> None:
        """Makes the views `audit_log` and `who`, and of the first one `own_lines`, those of this cluster. A
        line that is no JSON, such as one that is still being written, has no columns. ExportRefusedError for
        other files.
        """
        self.do(placed(text_of("duckdb", WITH_AUDIT_LOG), {AUDIT_LOG_PLACE: pattern.absolute()}))
        mine = _quoted(cluster_id)
        self.do(f"CREATE VIEW own_lines AS FROM audit_log WHERE coalesce(cluster_id, {mine}) = {mine}")
        ((count, whole, of),) = self._fetched(
            "SELECT count(*), count(outcome), (SELECT count(*) FROM own_lines) FROM audit_log"
        )[1]
        if count and not whole:
            raise ExportRefusedError(
                f"{pattern} is no audit log of kraftctl: no line has an outcome. "
                "kraftctl.audit.log.path of the controllers names it"
            )
        if count and not of:
            raise ExportRefusedError(f"{pattern} has no line of cluster {cluster_id}: it is of another one")

    def _fetched(self, sql: str) -> tuple[list[str], list[tuple[Any, ...]]]:
        cursor = self._connection.execute(sql)
        return [column[0] for column in cursor.description or ()], cursor.fetchall()


@contextmanager
def opened(
    history: Path, manifest: HistoryManifest, tables: Path, batches: Sequence[Manifest]
) -> Iterator[Database]:
    """Opens a table for each of a history, and `raw_...` for those of `RAW_TABLES`.

    ExportRefusedError for a damaged file, which DuckDB reads as other values or names in its own words;
    FileNotFoundError for one that was replaced meanwhile.
    """
    with TemporaryDirectory(prefix="kraftctl-report-") as spill, duckdb.connect() as connection:
        connection.execute("SET autoinstall_known_extensions = false")
        connection.execute(f"SET temp_directory = {_quoted(spill)}")
        connection.execute("SET TimeZone = 'UTC'")
        for table in SCHEMAS:
            files = [history / file.path for file in manifest.files if file.table == table]
            for file in files:
                open_file(file).check()
            connection.execute(f"CREATE VIEW {table} AS SELECT * FROM {_parquet(files)}")
        for table in RAW_TABLES:
            files = [tables / file.path for one in batches for file in one.files if file.table == table]
            name = f"{RAW_PREFIX}{table}"
            for file in files:
                CheckedFile(file).check()
            if files:
                found = f'SELECT * FROM {_parquet(files)} WHERE "offset" < {manifest.end}'
                connection.execute(f"CREATE VIEW {name} AS {found}")
            else:
                connection.register(name, table_schemas()[table].empty_table())
        yield Database(connection)


def _parquet(files: Sequence[Path]) -> str:
    """Returns SQL in which a column that an older file lacks is null for its rows, if another file has it."""
    paths = ", ".join(_quoted(_literally(str(file))) for file in files)
    return f"read_parquet([{paths}], union_by_name = true, hive_partitioning = false)"


def _literally(path: str) -> str:
    """Escapes a path, which is a pattern for DuckDB."""
    return re.sub(r"([*?\[])", r"[\1]", path)


def _quoted(text: str) -> str:
    escaped = text.replace("'", "''")
    return f"'{escaped}'"
