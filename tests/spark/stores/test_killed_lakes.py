"""Exports are killed again and again in each store and format: the same rows as of one that never was."""

from __future__ import annotations

import os
import random
from itertools import islice
from pathlib import Path

import pytest
from pyiceberg.catalog import Catalog, load_catalog

from kraftctl_spark.history.history_tables import HistoryTables
from kraftctl_spark.publish.live_tables import live_tables
from kraftctl_spark.stores.open_store import StoreLocation, is_object_store
from kraftctl_spark.tables.output import Output
from kraftctl_spark.tables.stored_output import StoredOutput
from kraftctl_spark.tables.verification import verify
from tests.spark.log_directory import LogDirectory
from tests.spark.metadata_histories import generate
from tests.spark.publish.published_tables import assert_in_catalog, committed, rows
from tests.spark.stores.conftest import KINDS, Servers, client_of
from tests.spark.stores.killed_lake import killed, processes
from tests.spark.stores.servers import BUCKET, REGION
from tests.spark.typed_export import export_directory

RECORDS_PER_KILL = 60
BATCHES_PER_RUN = 8
STEPS = 60
SECONDS = 4.0
"""About as many steps, and seconds, a run takes."""

OFFSETS, LAST_OFFSETS = "20", "500"
"""Of a batch: the last run, which is not killed, has the most to do, and publishes each batch."""

LOCAL = "local"


@pytest.fixture(params=[LOCAL, *KINDS])
def place(
    request: pytest.FixtureRequest,
    servers: Servers,
    url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> str:
    if request.param == LOCAL:
        return str(tmp_path / "tables")
    client_of(monkeypatch, servers(request.param).endpoint)
    return url


def opened(place: str, scratch: Path) -> Output:
    if is_object_store(place):
        return StoredOutput(StoreLocation.here(place, {}).open_objects(), scratch)
    return Output(Path(place))


def catalog_of(place: str, tmp_path: Path) -> dict[str, str]:
    warehouse = f"s3://{BUCKET}/{place.rpartition('/')[2]}-warehouse"
    where = warehouse if is_object_store(place) else f"file://{tmp_path}/warehouse"
    return {"type": "sql", "uri": f"sqlite:///{tmp_path}/catalog.db", "warehouse": where}


def read_catalog(properties: dict[str, str]) -> Catalog:
    """A catalog whose reader knows the store, too."""
    endpoint = os.environ.get("AWS_ENDPOINT_URL", "")
    return load_catalog("test", **properties, **{"s3.endpoint": endpoint, "s3.region": REGION})


def contents(output: Output) -> dict[str, list[str]]:
    """The rows of every table that has some."""
    return {table.name: rows(committed(output, table)) for table in live_tables(output) if table.files}


@pytest.mark.parametrize(
    "kills", [pytest.param(3, id="a-few"), pytest.param(100, id="hundred", marks=pytest.mark.long)]
)
@pytest.mark.parametrize("kind", ["none", "delta", "iceberg"])
@pytest.mark.timeout(7200)
def test_nothing_is_lost_and_nothing_is_there_twice(
    place: str, kind: str, kills: int, tmp_path: Path
) -> None:
    """Every second kill is after a time, in the middle of anything; the others are after a step."""
    rng, context, properties = random.Random(kills), processes(), catalog_of(place, tmp_path)
    log = LogDirectory(tmp_path / "log")
    arguments = [
        *("run", "--engine", "local", "--workers", "1"),
        *("--available-now", "--max-offsets-per-trigger", OFFSETS),
        *("--directory", str(log.path), "--assume-committed", "--output", place),
        *("--history", "--compact-after", "3"),
        *([] if kind == "none" else ["--publish", kind]),
    ]
    if kind == "iceberg":
        arguments += ["--catalog", "test"]
        arguments += [part for pair in properties.items() for part in ("--catalog-property", "=".join(pair))]
    batches, done = iter(generate(5, RECORDS_PER_KILL * kills, snapshots=()).batches), 0
    while done < kills:
        for batch in islice(batches, BATCHES_PER_RUN):
            log.log.append(batch)
        log.log.flush()
        at = (rng.randrange(1, STEPS), None) if done % 2 else (0, rng.random() * SECONDS)
        done += killed(context, arguments, *at)
    in_large_batches = [LAST_OFFSETS if part == OFFSETS else part for part in arguments]
    assert not killed(context, in_large_batches, 0, None)
    log.close()
    output = opened(place, tmp_path / "scratch")
    assert verify(output.log.store).problems == []
    export_directory(log.path, undisturbed := tmp_path / "undisturbed")
    HistoryTables(undisturbed, undisturbed / "history").catch_up()
    assert contents(output) == contents(Output(undisturbed))
    if kind != "none":
        assert_in_catalog(read_catalog(properties) if kind == "iceberg" else None, output, 3)
