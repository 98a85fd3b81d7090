"""Published tables lose the files of expired records in one commit each, also after kills."""

from __future__ import annotations

import multiprocessing
import shutil
from pathlib import Path

import pytest

from kraftctl_spark.publish.live_tables import live_tables
from kraftctl_spark.publish.publication import publish
from kraftctl_spark.publish.publisher import Publisher
from kraftctl_spark.tables.output import Output
from kraftctl_spark.tables.verification import verify
from tests.spark.expired_tables import expire, time_behind
from tests.spark.fake_controller import FakeController, FakeQuorum
from tests.spark.metadata_histories import generate
from tests.spark.publish.published_tables import (
    FORMATS,
    add_batch,
    assert_published,
    catalog_of,
    published,
    target_in,
)
from tests.spark.publish.test_killed_publications import killed, processes
from tests.spark.typed_export import exporting, mixed_batches

__all__ = ["processes"]


def assert_emptied(place: Path, kind: str, output: Path, before: set[str]) -> None:
    """The tables that have no file any more have no rows."""
    emptied = [
        table for table in live_tables(Output(output.absolute())) if table.name in before and not table.exists
    ]
    assert emptied
    for table in emptied:
        assert published(catalog_of(place, kind), table).num_rows == 0


@pytest.mark.parametrize("kind", FORMATS)
def test_expired_files_are_removed_from_published_tables(
    controller: FakeController, quorum: FakeQuorum, tmp_path: Path, kind: str
) -> None:
    """An older version can be read for as long as files are kept, which is a day."""
    quorum.append(*generate(5, 200, snapshots=()).batches)
    output = tmp_path / "tables"
    with exporting(output, controller.endpoint) as exporter:
        for end in (60, 120, 200):
            add_batch(exporter, output, end)
    Publisher(Output(output), target_in(tmp_path, kind)).publish()
    before = {table.name for table in live_tables(Output(output.absolute())) if table.exists}
    (records,) = (table for table in live_tables(Output(output.absolute())) if table.name == "records")
    rows = published(catalog_of(tmp_path, kind), records).num_rows
    assert expire(output, time_behind(output, 2), "--execute") == 0
    assert published(catalog_of(tmp_path, kind), records).num_rows == rows, "the files are kept"
    assert publish(Output(output), target_in(tmp_path, kind)) > 0
    assert published(catalog_of(tmp_path, kind), records).num_rows < rows
    assert_published(tmp_path, kind, output)
    assert_emptied(tmp_path, kind, output, before)
    assert publish(Output(output), target_in(tmp_path, kind)) == 0
    assert verify(output).problems == []


@pytest.mark.parametrize("kind", FORMATS)
def test_killed_after_each_step_of_removing_them(
    controller: FakeController,
    quorum: FakeQuorum,
    processes: multiprocessing.context.ForkServerContext,
    tmp_path: Path,
    kind: str,
) -> None:
    quorum.append(*mixed_batches(0, 60))
    place, saved = tmp_path / "here", tmp_path / "saved"
    output = place / "tables"
    with exporting(output, controller.endpoint) as exporter:
        for end in (20, 40, 60):
            exporter.export_to(end, 1)
    Publisher(Output(output), target_in(place, kind)).publish()
    assert expire(output, time_behind(output, 2), "--execute", "--without-history") == 0
    place.rename(saved)
    for step in range(1, 9):
        shutil.copytree(saved, place)
        died = killed(processes, place, kind, step)
        assert died or step > 3
        publish(Output(output), target_in(place, kind))
        assert_published(place, kind, output, 3)
        assert publish(Output(output), target_in(place, kind)) == 0
        shutil.rmtree(place)
        if not died:
            break
