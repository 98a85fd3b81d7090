"""Trino reads every published table through a REST catalog: the same rows as pyarrow reads in our files."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from kraftctl_spark.publish.live_tables import LiveTable, live_tables
from kraftctl_spark.publish.publication import OFFSET
from tests.spark.fake_controller import FakeController, FakeQuorum
from tests.spark.history.asked import Row
from tests.spark.metadata_histories import generate
from tests.spark.publish.published_tables import NAMESPACE, add_batches_and_merge, committed
from tests.spark.publish.rest_catalog.served_catalog import ServedCatalog
from tests.spark.publish.rest_catalog.test_rest_catalog import TABLES_MIN, served
from tests.spark.trino.asked_in_trino import ask, values_of

__all__ = ["served"]

pytestmark = [pytest.mark.java, pytest.mark.long, pytest.mark.timeout(1200)]


LAST_OFFSET = f"""
SELECT element_at(summary, '{OFFSET}') AS position FROM lake.{NAMESPACE}."records$snapshots"
ORDER BY committed_at DESC LIMIT 1
"""


def iceberg(uri: str) -> dict[str, str]:
    return {
        "plugin": "io.trino.plugin.iceberg.IcebergPlugin",
        "connector.name": "iceberg",
        "iceberg.catalog.type": "rest",
        "iceberg.rest-catalog.uri": uri,
        "fs.local.enabled": "true",
        "local.location": "/",
    }


def columns(table: LiveTable) -> str:
    return ", ".join(f'"{name}"' for name in table.schema.names)


def comparable(rows: list[Row]) -> list[str]:
    """Rows as texts; their times have the same zone under different names."""
    return sorted(repr({name: _in_utc(values_of(value)) for name, value in row.items()}) for row in rows)


def _in_utc(value: object) -> object:
    return value.astimezone(UTC) if isinstance(value, datetime) else value


def test_trino_reads_each_table(
    controller: FakeController, quorum: FakeQuorum, served: ServedCatalog, tmp_path: Path
) -> None:
    """Of four batches; those before the last were merged."""
    quorum.append(*generate(5, 200, snapshots=()).batches)
    output = add_batches_and_merge(controller, tmp_path, served.uri)
    tables = [table for table in live_tables(output) if table.exists]
    assert len(tables) >= TABLES_MIN
    queries = {table.name: f"SELECT {columns(table)} FROM lake.{NAMESPACE}.{table.name}" for table in tables}
    queries["offset"] = LAST_OFFSET
    found = ask(queries, {"lake": iceberg(served.uri)}, tmp_path)
    for table in tables:
        wanted = committed(output, table).to_pylist()
        assert comparable(found[table.name]) == comparable(wanted), table.name
    (records,) = (table for table in tables if table.name == "records")
    assert found["offset"] == [{"position": str(records.position)}]
