"""Compares a history that was killed again and again with one that is computed at the end."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pyarrow as pa

from kraftctl_spark.commands.history import DIRECTORY
from kraftctl_spark.history.history_tables import HistoryTables
from kraftctl_spark.history.reader import read_versions
from kraftctl_spark.history.schema import SCHEMAS
from tests.spark.typed_export import content


def check_history(output: Path, anew: Path) -> dict[str, int]:
    """Rows by table. The same rows, with the manifest and without it; once merged, the same bytes."""
    history = output / DIRECTORY
    end = HistoryTables(output, history).catch_up().end
    assert HistoryTables(output, anew).rebuild().end == end
    rows = {}
    for table in SCHEMAS:
        expected = _texts(read_versions(anew, table))
        assert _texts(read_versions(history, table)) == expected, table
        with duckdb.connect() as connection:
            connection.execute("SET TimeZone = 'UTC'")
            bare = connection.sql(f"SELECT * FROM '{history}/{table}/*.parquet'").to_arrow_table()
        assert _texts(bare) == expected, table
        rows[table] = len(expected)
    assert not list(history.rglob("*.tmp"))
    HistoryTables(output, history).merge()
    assert content(history) == content(anew)
    return rows


def _texts(rows: pa.Table) -> list[str]:
    return sorted(map(str, rows.to_pylist()))
