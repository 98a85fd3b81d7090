"""An output whose records have times of their own, and the removal of its first batches."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pyarrow.compute as pc

from kraftctl_spark.cli import main
from kraftctl_spark.history import DIRECTORY
from kraftctl_spark.history.history_tables import HistoryTables
from kraftctl_spark.history.reader import read_versions
from kraftctl_spark.history.schema import SCHEMAS
from kraftctl_spark.rows.tables import RECORDS
from kraftctl_spark.stores.durable import Hook, no_hook
from kraftctl_spark.tables.output import Output
from kraftctl_spark.tables.reader import read_table
from tests.spark.fake_controller import FakeController, FakeQuorum
from tests.spark.metadata_histories import EPOCH, History
from tests.spark.typed_export import exporting


def exported(history: History, directory: Path, ends: tuple[int, ...]) -> Path:
    """Tables with a batch up to each end, and the history beside them."""
    export_up_to(history, directory, *ends)
    HistoryTables(directory, directory / DIRECTORY).catch_up()
    return directory


def export_up_to(history: History, directory: Path, *ends: int) -> None:
    """Adds a batch up to each end to the tables alone."""
    quorum = FakeQuorum()
    controller = FakeController(quorum, 1)
    quorum.append(*history.batches)
    try:
        with exporting(directory, controller.endpoint) as exporter:
            for end in ends:
                exporter.export_to(end, EPOCH)
    finally:
        controller.close()


def time_behind(tables: Path, batches: int) -> str:
    """A millisecond after the newest record of so many batches, as a flag."""
    end = Output(tables).manifests()[batches - 1].end
    rows = read_table(tables, RECORDS)
    newest = pc.max(rows.filter(pc.less(rows["offset"], end))["timestamp"]).as_py()
    return str((newest + timedelta(milliseconds=1)).isoformat())


def expire(tables: Path, before: str, *flags: str, hook: Hook = no_hook) -> int:
    return main(["expire", "--output", str(tables), "--raw-before", before, *flags], hook)


def versions(history: Path) -> dict[str, list[str]]:
    """All rows of a history."""
    return {table: sorted(map(str, read_versions(history, table).to_pylist())) for table in SCHEMAS}
