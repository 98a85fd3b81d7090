"""Other engines read every published table: the same rows as pyarrow reads in our files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from pyiceberg.catalog import Catalog

from kraftctl_spark.publish.live_tables import live_tables
from kraftctl_spark.publish.publication import publish
from kraftctl_spark.tables.output import Output
from tests.spark.fake_controller import FakeController, FakeQuorum
from tests.spark.metadata_histories import generate
from tests.spark.publish.published_tables import FORMATS, add_batch, catalog_in, target_in
from tests.spark.typed_export import exporting

DUCKDB = ["duckdb==1.5.5", *(f"duckdb-{name}==1.5.5" for name in (
    "extensions", "extension-avro", "extension-delta", "extension-httpfs", "extension-iceberg",
)), "pytz"]  # fmt: skip
POLARS = ["polars==2.1.0", "polars-runtime-32==2.1.0"]

IN_DUCKDB = """
import os
import duckdb, duckdb_extensions

connection = duckdb.connect()
connection.execute("SET TimeZone = 'UTC'")
for name in ("avro", "delta", "httpfs", "iceberg"):
    duckdb_extensions.import_extension(name, con=connection)
if endpoint := os.environ.get("AWS_ENDPOINT_URL"):
    key, secret = os.environ["AWS_ACCESS_KEY_ID"], os.environ["AWS_SECRET_ACCESS_KEY"]
    place = f"ENDPOINT '{endpoint.removeprefix('http://')}', URL_STYLE 'path', USE_SSL false"
    account = f"KEY_ID '{key}', SECRET '{secret}', REGION 'us-east-1'"
    connection.execute(f"CREATE SECRET (TYPE s3, {account}, {place})")

def unequal(place, files, function):
    names = connection.execute(f"DESCRIBE SELECT * FROM read_parquet({files})").fetchall()
    columns = ", ".join(f'"{name}"' for name, *_ in names)
    places = (f"{function}('{place}')", f"read_parquet({files})")
    found, wanted = (f"SELECT {columns} FROM {one}" for one in places)
    differ = f"({found} EXCEPT ALL {wanted}) UNION ALL ({wanted} EXCEPT ALL {found})"
    return connection.execute(f"SELECT count(*) FROM ({differ})").fetchone()[0]

delta = lambda place, files: unequal(place, files, "delta_scan")
iceberg = lambda place, files: unequal(place, files, "iceberg_scan")
"""

IN_POLARS = """
import os
import polars

endpoint = os.environ.get("AWS_ENDPOINT_URL")
known = {"s3.endpoint": endpoint, "s3.region": "us-east-1"} if endpoint else None

def unequal(found, files):
    wanted = polars.concat([polars.read_parquet(file) for file in files])
    return sorted(map(repr, found.select(wanted.columns).rows())) != sorted(map(repr, wanted.rows()))

delta = lambda place, files: unequal(polars.read_delta(place), files)
iceberg = lambda place, files: unequal(polars.scan_iceberg(place, storage_options=known).collect(), files)
"""

COMPARE = """
import json, sys

tables = json.loads(sys.argv[1])
print(len(tables), [
    name
    for name, (delta_place, iceberg_place, files) in tables.items()
    if delta(delta_place, files) or iceberg(iceberg_place, files)
])
"""


ENGINES = pytest.mark.parametrize(
    ("packages", "script"),
    [pytest.param(DUCKDB, IN_DUCKDB, id="duckdb"), pytest.param(POLARS, IN_POLARS, id="polars")],
)


@pytest.mark.long
@ENGINES
def test_an_engine_reads_every_table(
    controller: FakeController, quorum: FakeQuorum, tmp_path: Path, packages: list[str], script: str
) -> None:
    installed, output = tmp_path / "installed", tmp_path / "tables"
    install(packages, installed)
    quorum.append(*generate(5, 200, snapshots=()).batches)
    with exporting(output, controller.endpoint) as exporter:
        for end in (60, 120, 200):
            add_batch(exporter, output, end)
            for kind in FORMATS:
                publish(Output(output), target_in(tmp_path, kind))
    assert_read(script, installed, catalog_in(tmp_path), Output(output))


def install(packages: list[str], place: Path) -> None:
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(place)]
    subprocess.run([*command, *packages], check=True, capture_output=True, timeout=280)


def assert_read(script: str, installed: Path, catalog: Catalog, output: Output) -> None:
    """In another process, which compares every table with its files."""
    tables = {
        table.name: (
            table.location,
            catalog.load_table(f"kraft.{table.name}").metadata_location.removeprefix("file://"),
            [f"{table.location}/{name}" for name in table.files],
        )
        for table in live_tables(output)
        if table.files
    }
    assert len(tables) > 20
    done = subprocess.run(
        [sys.executable, "-c", script + COMPARE, json.dumps(tables)],
        env={**os.environ, "PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split(maxsplit=1) == [str(len(tables)), "[]\n"]
