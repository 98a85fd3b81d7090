"""Tables that tests publish, and what Delta and Iceberg have of them, read by the libraries of both."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import DeltaTable
from pyiceberg.catalog import Catalog, load_catalog

from kraftctl_spark.history.history_tables import HistoryTables
from kraftctl_spark.publish.delta import DeltaTarget
from kraftctl_spark.publish.iceberg import IcebergTarget, load
from kraftctl_spark.publish.live_tables import LiveTable, live_tables
from kraftctl_spark.publish.publication import Target, publish
from kraftctl_spark.rows.tables import in_schema
from kraftctl_spark.stores.durable import Hook, no_hook
from kraftctl_spark.tables.checked_file import CheckedFile
from kraftctl_spark.tables.compaction import compact
from kraftctl_spark.tables.exporter import Exporter
from kraftctl_spark.tables.output import Output
from tests.spark.fake_controller import FakeController
from tests.spark.rewritten import rewrite
from tests.spark.typed_export import exporting

NAMESPACE = "kraft"

FORMATS = ("delta", "iceberg")
"""In place of the second, tests may give the URI of a REST catalog."""


def catalog_properties(place: Path) -> dict[str, str]:
    return {"type": "sql", "uri": f"sqlite:///{place}/catalog.db", "warehouse": f"file://{place}/warehouse"}


def catalog_in(place: Path) -> Catalog:
    return load_catalog("test", **catalog_properties(place))


def catalog_of(place: Path, kind: str) -> Catalog | None:
    """The catalog of Iceberg's tables; None for Delta."""
    if kind == "delta":
        return None
    return catalog_in(place) if kind == "iceberg" else rest_catalog(kind)


def rest_catalog(uri: str) -> Catalog:
    return load("test", {"type": "rest", "uri": uri})


def target_in(place: Path, kind: str, hook: Hook = no_hook) -> Target:
    if kind == "delta":
        return DeltaTarget(hook)
    loaded = partial(catalog_in, place) if kind == "iceberg" else partial(rest_catalog, kind)
    return IcebergTarget(loaded, NAMESPACE, hook)


def add_batch(exporter: Exporter, output: Path, end: int) -> None:
    """One batch, and the history up to it."""
    exporter.export_to(end, 1)
    HistoryTables(output, output / "history").catch_up()


def add_batches_and_merge(controller: FakeController, place: Path, *kinds: str) -> Output:
    """Publishes an output with each of four batches; it is merged after three."""
    output = place / "tables"
    with exporting(output, controller.endpoint) as exporter:
        for end in (60, 120, 160, 200):
            add_batch(exporter, output, end)
            for kind in kinds:
                publish(Output(output), target_in(place, kind))
            if end == 160:
                with Output(output).compacting(wait=True):
                    compact(Output(output), grace_ms=0)
    return Output(output.absolute())


def write_again(output: Path, table: str, change: Callable[[pa.Table], pa.Table]) -> None:
    """Writes the file of a table, of the only batch, under its name."""
    (path,) = (output / table).glob("*.parquet")
    written = change(pq.read_table(path))
    pq.write_table(written, path)
    (manifest,) = Output(output).manifests()
    files = [
        replace(file, rows=written.num_rows, bytes=path.stat().st_size) if file.table == table else file
        for file in manifest.files
    ]
    rewrite(output, lambda one: replace(one, files=tuple(files)))


def committed(output: Output, table: LiveTable) -> pa.Table:
    """The rows of our files, read with pyarrow."""
    below = table.location.removeprefix(f"{output.where}/")
    files = (CheckedFile(output.sources / f"{below}/{name}") for name in table.files)
    read = (in_schema(file.read(), table.schema) for file in files)
    return pa.concat_tables([table.schema.empty_table(), *read])


def published(catalog: Catalog | None, table: LiveTable) -> pa.Table:
    """The rows of an Iceberg catalog, or of Delta without one."""
    if catalog is None:
        return DeltaTable(table.location).to_pyarrow_table()
    return catalog.load_table(f"{NAMESPACE}.{table.name}").scan().to_arrow()


def rows(table: pa.Table) -> list[str]:
    return sorted(map(repr, table.to_pylist()))


def assert_published(place: Path, kind: str, output: Path, count_min: int = 21) -> None:
    """Every table that is committed, row by row."""
    assert_in_catalog(catalog_of(place, kind), Output(output.absolute()), count_min)


def assert_in_catalog(catalog: Catalog | None, output: Output, count_min: int) -> None:
    tables = [table for table in live_tables(output) if table.exists]
    assert len(tables) >= count_min
    for table in tables:
        found = published(catalog, table)
        assert set(found.column_names) == set(table.schema.names), table.name
        assert rows(found.select(table.schema.names)) == rows(committed(output, table)), table.name
