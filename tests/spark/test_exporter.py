"""The typed export against a fake controller: transactions, snapshots, retries, and a kill at every step."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import shutil
import sys
from multiprocessing import forkserver
from multiprocessing.context import ForkServerContext
from pathlib import Path

import pytest

from kraftctl_observer import attempts
from kraftctl_observer.log_reader import LogChangedError
from kraftctl_protocol.record_batch import encode_batch
from kraftctl_spark.log import log_range
from kraftctl_spark.tables.manifest import ExportRefusedError, Position
from kraftctl_spark.tables.output import Output
from kraftctl_spark.tables.reader import read_table
from kraftctl_spark.tables.verification import verify
from tests.spark.fake_controller import CLUSTER_ID, FakeController, FakeQuorum
from tests.spark.typed_export import (
    ABORT,
    BEGIN,
    END,
    NO_OP,
    batches_of,
    compact_and_die,
    content,
    export_and_die,
    exporting,
    mixed_batches,
    mixed_value,
    offsets_in_directory,
)

PER_TASK = 25
TABLES = ("records", "partition_change_record", "topic_record")


@pytest.fixture(autouse=True)
def small_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_range, "OFFSETS_PER_RANGE", PER_TASK)
    monkeypatch.setattr(attempts, "PAUSE_S", 0.001)


def expected_offsets(table: str, end: int) -> list[int]:
    """Offsets in a log of `mixed_value`."""
    remainder = {"partition_change_record": 0, "topic_record": 1}.get(table)
    return [offset for offset in range(end) if remainder is None or offset % 3 == remainder]


def assert_exact(directory: Path, end: int) -> None:
    """Every offset below `end` exactly once, for readers with and without the manifests."""
    for table in TABLES:
        expected = expected_offsets(table, end)
        assert read_table(directory, table).column("offset").to_pylist() == expected
        assert offsets_in_directory(directory, table) == expected
    payloads = read_table(directory, "records").column("payload").to_pylist()
    assert payloads == [mixed_value(offset) for offset in range(end)]
    assert not list(directory.rglob("*.tmp"))
    assert verify(directory).problems == []


def test_every_offset_is_in_the_tables_once(
    controller: FakeController, quorum: FakeQuorum, tmp_path: Path
) -> None:
    quorum.append(*mixed_batches(0, 100))
    quorum.append(*mixed_batches(100, 110), commit=False)
    with exporting(tmp_path, controller.endpoint) as exporter:
        assert exporter.export_to(60, 1) == Position(60, 1, CLUSTER_ID)
        assert_exact(tmp_path, 60)
        assert exporter.export_to(100, 1).offset == 100
    assert_exact(tmp_path, 100)
    first, second = Output(tmp_path).manifests()
    assert (first.start, first.end, first.lag, first.high_watermark) == (0, 60, 40, 100)
    assert (second.start, second.end, second.lag, second.counts["records"]) == (60, 100, 0, 40)
    assert len(first.files) == 3 * 3, "three tasks, three tables"


def test_every_row_has_its_cluster_and_the_first_offset_of_its_batch(
    controller: FakeController, quorum: FakeQuorum, tmp_path: Path
) -> None:
    """Also where a task begins within a batch."""
    quorum.append(*mixed_batches(0, 28), *batches_of({at: mixed_value(at) for at in range(28, 60)}, size=32))
    with exporting(tmp_path, controller.endpoint) as exporter:
        exporter.export_to(60, 1)
    for table in TABLES:
        for row in read_table(tmp_path, table).to_pylist():
            expected = row["offset"] // 7 * 7 if row["offset"] < 28 else 28
            assert (row["batch_offset"], row["cluster_id"]) == (expected, CLUSTER_ID)


def test_what_was_done_is_not_done_again(
    controller: FakeController, quorum: FakeQuorum, tmp_path: Path
) -> None:
    """Spark repeats a batch that it has not committed, or all batches when its checkpoint is lost."""
    quorum.append(*mixed_batches(0, 100))
    with exporting(tmp_path, controller.endpoint) as exporter:
        exporter.export_to(60, 1)
    before = content(tmp_path)
    with exporting(tmp_path, controller.endpoint) as exporter:
        for end in (20, 40, 60):
            assert exporter.export_to(end, 1).offset == 60
        assert content(tmp_path) == before
        exporter.export_to(70, 1)
    assert_exact(tmp_path, 70)
    assert content(tmp_path).items() > before.items()


def test_records_of_an_aborted_transaction_are_marked(
    controller: FakeController, quorum: FakeQuorum, tmp_path: Path
) -> None:
    """Here it spans three tasks; records before and after it do not change."""
    values = [mixed_value(offset) for offset in range(100)]
    values[10], values[70] = BEGIN, ABORT
    values[80], values[90] = BEGIN, END
    quorum.append(encode_batch(0, 1, 1000, values))
    with exporting(tmp_path, controller.endpoint) as exporter:
        exporter.export_to(100, 1)
    for table in TABLES:
        marked = {row["offset"]: row["aborted"] for row in read_table(tmp_path, table).to_pylist()}
        assert marked == {offset: 10 < offset < 70 for offset in marked}
        assert offsets_in_directory(tmp_path, table) == list(marked)
    (manifest,) = Output(tmp_path).manifests()
    assert manifest.counts["aborted"] == 59


@pytest.mark.parametrize(("end_marker", "aborted"), [(END, 0), (ABORT, 38)], ids=["ended", "aborted"])
def test_records_of_an_open_transaction_wait_for_its_end(
    controller: FakeController, quorum: FakeQuorum, tmp_path: Path, end_marker: bytes, aborted: int
) -> None:
    values = [mixed_value(offset) for offset in range(100)]
    values[61], values[0] = BEGIN, NO_OP
    quorum.append(encode_batch(0, 1, 1000, values))
    with exporting(tmp_path, controller.endpoint) as exporter:
        assert exporter.export_to(100, 1).offset == 61
        assert offsets_in_directory(tmp_path, "records") == list(range(61))
        assert exporter.export_to(100, 1).offset == 61, "nothing more to export, and nothing left behind"
        assert offsets_in_directory(tmp_path, "records") == list(range(61))
        quorum.append(encode_batch(100, 1, 1000, [end_marker, NO_OP]))
        assert exporter.export_to(102, 1).offset == 102
    assert offsets_in_directory(tmp_path, "records") == list(range(102))
    marks = read_table(tmp_path, "records").column("aborted").to_pylist()
    assert [offset for offset, mark in enumerate(marks) if mark] == list(range(62, 62 + aborted))


def test_a_deleted_start_is_bridged_by_the_snapshot(
    controller: FakeController, quorum: FakeQuorum, tmp_path: Path
) -> None:
    quorum.log_start_offset = 100
    quorum.snapshot = (120, 1)
    quorum.snapshot_bytes = encode_batch(0, 1, 5, [mixed_value(offset) for offset in range(3)])
    quorum.append(*mixed_batches(100, 150))
    with exporting(tmp_path, controller.endpoint) as exporter:
        assert exporter.export_to(140, 1).offset == 140
    rows = read_table(tmp_path, "records").to_pylist()
    places = [(row["offset"], row["snapshot_end_offset"], row["snapshot_index"]) for row in rows]
    assert {row["batch_offset"] for row in rows[:3]} == {None}
    assert {row["cluster_id"] for row in rows} == {CLUSTER_ID}
    assert places[:3] == [(None, 120, 0), (None, 120, 1), (None, 120, 2)]
    assert places[3:] == [(offset, None, None) for offset in range(120, 140)]
    bridge, log = Output(tmp_path).manifests()
    assert (bridge.start, bridge.end, bridge.snapshot, bridge.epoch) == (0, 120, True, 1)
    assert (log.start, log.end, log.snapshot) == (120, 140, False)


def test_a_first_offset_that_no_leader_gives_away_is_in_the_manifest(
    controller: FakeController, quorum: FakeQuorum, tmp_path: Path
) -> None:
    quorum.append(encode_batch(0, 1, 1000, [NO_OP]), *mixed_batches(1, 40))
    quorum.snapshot = (5, 1)
    with exporting(tmp_path, controller.endpoint) as exporter:
        exporter.export_to(40, 1)
    assert offsets_in_directory(tmp_path, "records") == list(range(1, 40))
    (manifest,) = Output(tmp_path).manifests()
    assert (manifest.missing, manifest.counts["records"]) == ((0,), 39)


def test_another_cluster_is_refused(controller: FakeController, quorum: FakeQuorum, tmp_path: Path) -> None:
    quorum.append(*mixed_batches(0, 20))
    with exporting(tmp_path, controller.endpoint) as exporter:
        exporter.export_to(20, 1)
    quorum.cluster_id = "another"
    with exporting(tmp_path, controller.endpoint, cluster_id="another") as exporter:
        with pytest.raises(ExportRefusedError, match="belongs to another: choose another output"):
            exporter.export_to(20, 1)


def test_a_log_that_was_replaced_is_refused(
    controller: FakeController, quorum: FakeQuorum, tmp_path: Path
) -> None:
    quorum.append(*mixed_batches(0, 20))
    with exporting(tmp_path, controller.endpoint) as exporter:
        exporter.export_to(20, 1)
        with pytest.raises(LogChangedError, match="ends at 20"):
            exporter.export_to(30, 1)
        quorum.diverging = (1, 10)
        with pytest.raises(LogChangedError, match="ends at 10 in epoch 1"):
            exporter.export_to(30, 1)
    assert_exact(tmp_path, 20)


@pytest.fixture(scope="module")
def processes() -> ForkServerContext:
    """Forks children from a process that has imported everything, so that each step is fast."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.spark.typed_export"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(path for path in sys.path if path))
        forkserver.ensure_running()
    return context


STRIDES = [pytest.param(3, id="some-steps"), pytest.param(1, id="all-steps", marks=pytest.mark.long)]
"""From each step at which the process is killed to the next one."""


@pytest.mark.parametrize("stride", STRIDES)
def test_compaction_killed_after_any_step(
    controller: FakeController, quorum: FakeQuorum, processes: ForkServerContext, tmp_path: Path, stride: int
) -> None:
    quorum.append(*mixed_batches(0, 60))
    whole = tmp_path / "whole"
    with exporting(whole, controller.endpoint) as exporter:
        for end in (20, 40, 60):
            exporter.export_to(end, 1)
    for step in itertools.count(1, stride):
        directory = tmp_path / f"step-{step}"
        shutil.copytree(whole, directory)
        child = processes.Process(target=compact_and_die, args=(directory, step))
        child.start()
        child.join(60)
        for table in TABLES:
            assert read_table(directory, table).column("offset").to_pylist() == expected_offsets(table, 60)
        Output(directory).check_files()
        if child.exitcode == 0:
            break
        assert child.exitcode == -9
        assert Output(directory).position().offset == 60
        compact_and_die(directory, 0)
        assert len(Output(directory).manifests()) == 1
        assert_exact(directory, 60)
        assert len(list(directory.glob("[!_]*/*"))) == len(TABLES)
    steps = 3 * len(TABLES) + 2 + 3 * len(TABLES)
    assert steps < step <= steps + stride


@pytest.mark.slow
@pytest.mark.parametrize("stride", STRIDES)
@pytest.mark.parametrize(
    ("markers", "first_end"),
    [
        pytest.param({}, 60, id="plain"),
        pytest.param({10: BEGIN, 30: ABORT, 55: BEGIN, 80: END}, 55, id="transactions"),
    ],
)
def test_killed_after_any_step_and_continued(
    controller: FakeController,
    quorum: FakeQuorum,
    processes: ForkServerContext,
    tmp_path: Path,
    markers: dict[int, bytes],
    first_end: int,
    stride: int,
) -> None:
    """kill -9 after every single step. The next process can get other batches than the one before: this
    happens when Spark's checkpoint is lost as well."""
    quorum.append(*batches_of({offset: mixed_value(offset) for offset in range(100)} | markers))

    def run(directory: Path, ends: list[int], step: int) -> int | None:
        child = processes.Process(
            target=export_and_die, args=(directory, controller.endpoint, ends, PER_TASK, step)
        )
        child.start()
        child.join(60)
        return child.exitcode

    def run_on(directory: Path, ends: list[int]) -> None:
        export_and_die(directory, controller.endpoint, ends, PER_TASK, 0)

    undisturbed = tmp_path / "undisturbed"
    run_on(undisturbed, [60, 100])
    expected = {table: read_table(undisturbed, table) for table in TABLES}
    assert expected["records"].column("offset").to_pylist() == list(range(100))
    for number, step in enumerate(itertools.count(1, stride)):
        directory = tmp_path / f"step-{step}"
        status = run(directory, [60, 100], step)
        if status == 0:
            break
        assert status == -9
        end = Output(directory).position().offset
        assert end in (0, first_end, 100)
        assert read_table(directory, "records").column("offset").to_pylist() == list(range(end))
        same_batches = number % 2 == 1
        run_on(directory, [60, 100] if same_batches else [33, 77, 100])
        for table in TABLES:
            assert read_table(directory, table) == expected[table]
            assert offsets_in_directory(directory, table) == expected[table].column("offset").to_pylist()
        assert not list(directory.rglob("*.tmp"))
        assert verify(directory).problems == []
        if same_batches:
            assert content(directory) == content(undisturbed)
    steps_of_five_tasks, steps_of_two_manifests = 5 * 4, 2 * 2
    assert step > steps_of_five_tasks + steps_of_two_manifests
