"""A process that decodes records again is killed after any step: nothing is lost or there twice."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import shutil
import sys
from multiprocessing import forkserver
from multiprocessing.context import ForkServerContext
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from kraftctl_protocol.generated.topic_record import TopicRecord
from kraftctl_spark.commands.run import clean_up
from kraftctl_spark.rows.tables import table_schemas
from kraftctl_spark.tables import table_files
from kraftctl_spark.tables.decoding_again import decode_again
from kraftctl_spark.tables.output import Output
from kraftctl_spark.tables.reader import read_table
from tests.spark.earlier_release import forget
from tests.spark.fake_controller import FakeController, FakeQuorum
from tests.spark.typed_export import compact_and_die, exporting, mixed_batches


@pytest.fixture(scope="module")
def processes() -> ForkServerContext:
    """Forks children from a process that has imported everything, so that each step is fast."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.spark.typed_export"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(path for path in sys.path if path))
        forkserver.ensure_running()
    return context


def rows(directory: Path) -> dict[str, list[dict[str, object]]]:
    return {table: read_table(directory, table).to_pylist() for table in table_schemas()}


def understood(directory: Path) -> int:
    return sum(one.counts["unknown"] for one in Output(directory).manifests())


@pytest.mark.parametrize(
    "stride", [pytest.param(5, id="some-steps"), pytest.param(1, id="all-steps", marks=pytest.mark.long)]
)
def test_killed_after_any_step_of_decoding_again(
    controller: FakeController, quorum: FakeQuorum, processes: ForkServerContext, tmp_path: Path, stride: int
) -> None:
    quorum.append(*mixed_batches(0, 40))
    whole = tmp_path / "whole"
    with exporting(whole, controller.endpoint) as exporter:
        for end in (20, 40):
            exporter.export_to(end, 1)
    earlier = tmp_path / "earlier"
    shutil.copytree(whole, earlier)
    forget(earlier, TopicRecord, "unknown version")
    topics = len(read_table(whole, "topic_record"))
    assert understood(earlier) == topics > 0
    for step in itertools.count(1, stride):
        directory = tmp_path / f"step-{step}"
        shutil.copytree(earlier, directory)
        child = processes.Process(target=compact_and_die, args=(directory, step))
        child.start()
        child.join(60)
        Output(directory).check_files()
        offsets = read_table(directory, "topic_record").column("offset").to_pylist()
        assert len(offsets) == len(set(offsets)) == topics - understood(directory)
        if child.exitcode == 0:
            break
        assert child.exitcode == -9
        compact_and_die(directory, 0)
        assert rows(directory) == rows(whole)
        assert len(Output(directory).manifests()) == 1
    assert step > 20
    assert rows(directory) == rows(whole)


def test_an_export_decodes_again_when_it_starts(
    controller: FakeController, quorum: FakeQuorum, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A damaged file is a warning there, and the export continues."""
    quorum.append(*mixed_batches(0, 20))
    whole, earlier, damaged = (tmp_path / name for name in ("whole", "earlier", "damaged"))
    with exporting(whole, controller.endpoint) as exporter:
        exporter.export_to(20, 1)
    shutil.copytree(whole, earlier)
    forget(earlier, TopicRecord, "unknown type")
    shutil.copytree(earlier, damaged)
    (file,) = (damaged / "records").glob("*.parquet")
    file.write_bytes(b"X" * file.stat().st_size)
    clean_up(Output(earlier), grace_ms=0)
    assert rows(earlier) == rows(whole)
    assert not [one for one in caplog.records if one.levelname == "WARNING"]
    clean_up(Output(damaged), grace_ms=0)
    assert f"records are not decoded again for now: {file} is damaged" in caplog.text


def test_the_work_grows_with_the_records(
    controller: FakeController, quorum: FakeQuorum, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The places of a row group are compared with those beside it, and not with those of the whole batch."""
    monkeypatch.setattr(table_files, "ROWS_PER_GROUP", 20)
    compared = 0

    def is_in(rows: pa.ChunkedArray, value_set: pa.Array) -> pa.ChunkedArray:
        nonlocal compared
        compared += len(rows) + len(value_set)
        return pc.call_function("is_in", [rows], pc.SetLookupOptions(value_set))

    monkeypatch.setattr(pc, "is_in", is_in)
    looked_at = []
    for end in (400, 800):
        quorum.append(*mixed_batches(quorum.end_offset, end))
        whole, earlier = tmp_path / f"whole-{end}", tmp_path / f"earlier-{end}"
        with exporting(whole, controller.endpoint) as exporter:
            exporter.export_to(end, 1)
        shutil.copytree(whole, earlier)
        forget(earlier, TopicRecord, "unknown type")
        compared = 0
        assert decode_again(Output(earlier)) == 1
        Output(earlier).remove_replaced(0)
        looked_at.append(compared)
        assert rows(earlier) == rows(whole)
    once, twice = looked_at
    assert 0 < twice < 2.5 * once
