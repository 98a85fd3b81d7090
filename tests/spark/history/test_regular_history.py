"""The history that an export continues after each batch."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import pytest

from kraftctl_spark.commands import run
from kraftctl_spark.commands.history import DIRECTORY, RegularHistory
from kraftctl_spark.datasource.table_stream import batch_writer
from kraftctl_spark.history.history_manifest import locked, read_manifest
from kraftctl_spark.history.history_tables import HistoryTables
from kraftctl_spark.history.reader import read_versions
from kraftctl_spark.tables.output import Output
from tests.spark.fake_controller import FakeController, FakeQuorum
from tests.spark.metadata_histories import EPOCH, generate
from tests.spark.typed_export import exporting, mixed_batches


class Batch:
    """What Spark gives to `foreachBatch`: how far the log is committed."""

    def __init__(self, end: int) -> None:
        self._end = end

    def collect(self) -> list[dict[str, int]]:
        return [{"end": self._end, "epoch": EPOCH}]


def options_of(*flags: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    run.add_arguments(parser)
    return parser.parse_args(["--directory", "x", "--output", "y", *flags])


def goes_up_to(output: Path) -> int:
    manifest = read_manifest(output)
    assert manifest is not None
    return manifest.end


def test_each_batch_of_an_export_continues_it(
    controller: FakeController, quorum: FakeQuorum, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    history = generate(5, 120, snapshots=())
    quorum.append(*history.batches)
    assert run._history(options_of(), Output(tmp_path)) == []
    with exporting(tmp_path, controller.endpoint) as exporter:
        later: list[Any] = run._history(options_of("--history"), Output(tmp_path))
        write = batch_writer(exporter, [*later, lambda: caplog.messages.append("later")])
        write(Batch(60), 0)  # type: ignore[arg-type]
        assert goes_up_to(tmp_path / DIRECTORY) == Output(tmp_path).position().offset
        with locked(tmp_path / DIRECTORY):
            write(Batch(90), 1)  # type: ignore[arg-type]
        assert "is not continued for now: another process" in caplog.text
        assert Output(tmp_path).position().offset > goes_up_to(tmp_path / DIRECTORY)
        write(Batch(history.end), 2)  # type: ignore[arg-type]
    assert goes_up_to(tmp_path / DIRECTORY) == history.end
    with exporting(tmp_path, controller.endpoint) as exporter:  # It does not look like a leftover.
        exporter.export_to(history.end, EPOCH)
    assert goes_up_to(tmp_path / DIRECTORY) == history.end


def test_what_the_log_never_set_stops_no_history(
    controller: FakeController, quorum: FakeQuorum, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Here, a change of a partition that no record has created."""
    quorum.append(*mixed_batches(0, 20))
    with exporting(tmp_path / "tables", controller.endpoint) as exporter:
        exporter.export_to(20, 1)
    tables = HistoryTables(tmp_path / "tables", tmp_path / "history")
    RegularHistory(tables).after_batch()
    assert not [one for one in caplog.records if one.levelname == "WARNING"]
    assert goes_up_to(tmp_path / "history") == 20
    listed = read_versions(tmp_path / "history", "not_known").to_pylist()
    assert [row["partition_id"] for row in listed] == [0, 3, 6, 9, 12, 15, 18]
    assert read_versions(tmp_path / "history", "topics").num_rows
