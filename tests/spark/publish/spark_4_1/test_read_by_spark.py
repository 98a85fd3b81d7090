"""Spark 4.1 reads every published table: the same rows as pyarrow reads in our files.

Neither Delta nor Iceberg has a release for the Spark that runs our exports. pip fetches the other one, and
Maven what both formats need.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from kraftctl_spark.publish.live_tables import live_tables
from tests.spark.fake_controller import FakeController, FakeQuorum
from tests.spark.metadata_histories import generate
from tests.spark.publish.published_tables import FORMATS, add_batches_and_merge, committed, rows
from tests.spark.publish.rest_catalog.served_catalog import ServedCatalog
from tests.spark.publish.rest_catalog.test_rest_catalog import TABLES_MIN, served
from tests.spark.publish.test_published_readers import install
from tests.support.maven_classpath import maven_classpath

__all__ = ["served"]

HERE = Path(__file__).parent
SPARK = ["pyspark==4.1.4", "py4j==0.10.9.9"]

pytestmark = [pytest.mark.spark, pytest.mark.java, pytest.mark.long, pytest.mark.timeout(1500)]


def test_spark_reads_each_table(
    controller: FakeController, quorum: FakeQuorum, served: ServedCatalog, tmp_path: Path
) -> None:
    """Of four batches; those before the last were merged."""
    installed, found = tmp_path / "installed", tmp_path / "found"
    install(SPARK, installed)
    found.mkdir()
    quorum.append(*generate(5, 200, snapshots=()).batches)
    output = add_batches_and_merge(controller, tmp_path, "delta", served.uri)
    tables = [table for table in live_tables(output) if table.exists]
    assert len(tables) >= TABLES_MIN
    jars = maven_classpath(HERE / "pom.xml").replace(os.pathsep, ",")
    places = json.dumps({table.name: table.location for table in tables})
    done = subprocess.run(
        [sys.executable, str(HERE / "read_tables.py"), jars, served.uri, places, str(found)],
        env={**without_spark(), "PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
        timeout=1200,
    )
    assert done.returncode == 0, done.stderr[-8000:]
    for table in tables:
        for kind in FORMATS:
            read = pq.read_table(found / f"{table.name}.{kind}")
            assert set(read.column_names) == set(table.schema.names)
            assert rows(read.select(table.schema.names)) == rows(committed(output, table)), (table.name, kind)


def without_spark() -> dict[str, str]:
    """The environment without the Spark of our exports."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("SPARK_", "PYSPARK_"))}
