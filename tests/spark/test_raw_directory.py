"""Readers of the bare directory, without manifests, find every row once, whatever happened."""

from __future__ import annotations

import multiprocessing
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest

from kraftctl_observer.observer import QuorumObserver
from kraftctl_protocol.record_batch import encode_batch
from kraftctl_spark.cli import main
from kraftctl_spark.commands.run import clean_up
from kraftctl_spark.log import log_range
from kraftctl_spark.log.log_location import QuorumLocation
from kraftctl_spark.tables import compaction
from kraftctl_spark.tables.commit_log import COMMITS
from kraftctl_spark.tables.compaction import RegularCompaction, compact
from kraftctl_spark.tables.export_tasks import ExportTask, TaskReport, TaskSettings, run_task
from kraftctl_spark.tables.exporter import Exporter
from kraftctl_spark.tables.manifest import ExportRefusedError
from kraftctl_spark.tables.output import COMPACTION_LOCK, Output
from kraftctl_spark.tables.reader import read_table
from tests.spark.fake_controller import CLUSTER_ID, FakeController, FakeQuorum
from tests.spark.typed_export import (
    ABORT,
    BEGIN,
    compact_and_die,
    content,
    exporting,
    mixed_batches,
    mixed_value,
    offsets_in_directory,
)

TABLES = ("records", "partition_change_record", "topic_record")


@pytest.fixture(autouse=True)
def small_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_range, "OFFSETS_PER_RANGE", 25)


@pytest.fixture
def exported(controller: FakeController, quorum: FakeQuorum, tmp_path: Path) -> Path:
    """Three batches, 60 offsets of a log of 80."""
    quorum.append(*mixed_batches(0, 80))
    directory = tmp_path / "tables"
    with exporting(directory, controller.endpoint) as exporter:
        for end in (20, 40, 60):
            exporter.export_to(end, 1)
    return directory


def is_exact(directory: Path, end: int) -> bool:
    remainders = {"records": None, "partition_change_record": 0, "topic_record": 1}
    return all(
        offsets_in_directory(directory, table)
        == [offset for offset in range(end) if remainder is None or offset % 3 == remainder]
        for table, remainder in remainders.items()
    )


def test_a_compaction_with_its_defaults_doubles_nothing(exported: Path) -> None:
    assert main(["compact", "--output", str(exported)]) == 0
    assert len(Output(exported).manifests()) == 1
    assert is_exact(exported, 60)
    rows = duckdb.connect().execute(f"SELECT count(*) FROM '{exported}/topic_record/*.parquet'")
    assert rows.fetchone() == (20,)


def test_merged_files_get_their_names_when_all_are_written(
    exported: Path, controller: FakeController, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The old files are deleted before the next merge: a large merge takes long, this moment is short."""
    with exporting(exported, controller.endpoint) as exporter:
        exporter.export_to(80, 1)
    monkeypatch.setattr(compaction, "RECORDS_PER_MERGE", 40)
    with_doubles: list[str] = []

    def look(step: str) -> None:
        if not is_exact(exported, 80):
            with_doubles.append(step)

    compact(Output(exported, look), grace_ms=0)
    assert [manifest.end for manifest in Output(exported).manifests()] == [40, 80]
    assert with_doubles
    assert not {"files-written", "files-durable"} & set(with_doubles)
    assert is_exact(exported, 80)


def killed_compaction(directory: Path, step: int) -> bool:
    """Whether the step was reached."""
    child = multiprocessing.get_context("spawn").Process(target=compact_and_die, args=(directory, step))
    child.start()
    child.join(60)
    return child.exitcode == -9


@pytest.mark.parametrize("step", [10, 14, 16], ids=["before-the-manifest", "after-it", "while-it-deletes"])
def test_the_next_export_ends_what_a_killed_compaction_began(exported: Path, step: int) -> None:
    assert killed_compaction(exported, step)
    assert not is_exact(exported, 60)
    output = Output(exported)
    with output.locked():
        with output.compacting(wait=False):
            clean_up(output, grace_ms=0)
        assert not is_exact(exported, 60), "as long as another one is at work"
        clean_up(output, grace_ms=0)
    assert is_exact(exported, 60)
    assert not list(exported.rglob("*.tmp"))


def test_files_in_their_grace_period_stay_when_an_export_starts(exported: Path) -> None:
    compact(Output(exported), grace_ms=3_600_000)
    clean_up(Output(exported), grace_ms=3_600_000)
    assert len(offsets_in_directory(exported, "records")) == 120
    clean_up(Output(exported), grace_ms=0)
    assert is_exact(exported, 60)


def test_a_late_attempt_of_a_task_after_its_batch_was_repeated(
    controller: FakeController, quorum: FakeQuorum, tmp_path: Path
) -> None:
    """A copy of the first attempt, which does not know of the abort, ends after the batch was committed."""
    values = [mixed_value(offset) for offset in range(60)]
    values[10], values[30] = BEGIN, ABORT
    quorum.append(encode_batch(0, 1, 1000, values))
    settings = TaskSettings(tmp_path, QuorumLocation((controller.endpoint,)), CLUSTER_ID)
    attempts: list[ExportTask] = []

    def run_tasks(tasks: list[ExportTask]) -> list[TaskReport]:
        attempts.extend(tasks)
        return [run_task(settings, task) for task in tasks]

    output, observer = Output(tmp_path), QuorumObserver([controller.endpoint], timeout_s=5)
    with output.locked():
        assert Exporter(output, settings, observer, run_tasks).export_to(60, 1).offset == 60
    observer.close()
    before = {name: read_table(tmp_path, name) for name in TABLES}
    assert len(attempts) == 3 + 2, "two of the three were done again, with their marks"
    for late in attempts[:3]:
        run_task(settings, late)
    shorter = replace(attempts[0], range=replace(attempts[0].range, end=17))
    run_task(replace(settings, include_secrets=True), shorter)
    output.check_files()
    for name in TABLES:
        assert read_table(tmp_path, name) == before[name]
        assert offsets_in_directory(tmp_path, name) == before[name].column("offset").to_pylist()
    clean_up(output, grace_ms=0)
    assert not list(tmp_path.rglob("*.tmp"))


def test_a_batch_that_fails_leaves_nothing(exported: Path, controller: FakeController) -> None:
    before = content(exported)

    class FailedError(Exception):
        pass

    def fail(step: str) -> None:
        if step == "file-renamed":
            raise FailedError

    with exporting(exported, controller.endpoint, fail) as exporter, pytest.raises(FailedError):
        exporter.export_to(80, 1)
    assert content(exported) == before


def test_files_without_manifests_are_not_taken_for_leftovers(exported: Path) -> None:
    """A backup can omit names that begin with an underscore."""
    shutil.rmtree(exported / COMMITS)
    before = content(exported)
    with pytest.raises(ExportRefusedError, match="_commits is gone: restore it from a backup"):
        with Output(exported).locked():
            pass
    assert not (exported / COMMITS).exists(), "the next start is refused as well"
    assert content(exported) == before


def test_slow_readers_are_not_disturbed(exported: Path) -> None:
    (exported / COMPACTION_LOCK).unlink(missing_ok=True)
    regular = RegularCompaction(Output(exported), batches=1, keep_ms=0)
    with Output(exported).undisturbed(), Output(exported).undisturbed():
        regular.after_batch()
        assert len(Output(exported).manifests()) == 3
    regular.after_batch()
    assert len(Output(exported).manifests()) == 1
    assert is_exact(exported, 60)


def test_a_reader_lists_again_when_a_compaction_was_faster(
    exported: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The listing is from before the compaction, the files are not."""
    stale = Output(exported).manifests()
    compact(Output(exported), grace_ms=0)
    manifests: Callable[[Output], object] = Output.manifests
    for read in (
        lambda: read_table(exported, "records").column("offset").to_pylist() == list(range(60)),
        lambda: main(["status", "--output", str(exported)]) == 0,
    ):
        listed = [stale]
        monkeypatch.setattr(
            Output, "manifests", lambda self, listed=listed: listed.pop() if listed else manifests(self)
        )
        assert read()
        assert not listed
    assert "offset 60, epoch 1" in capsys.readouterr().out
    next((exported / "records").iterdir()).unlink()
    with pytest.raises(FileNotFoundError):
        read_table(exported, "records")


@pytest.mark.parametrize(
    ("flag", "value", "least"),
    [
        ("--compact-after", "-1", 0),
        ("--max-offsets-per-trigger", "0", 1),
        ("--max-offsets-per-trigger", "many", 1),
    ],
)
def test_a_number_that_cannot_be(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], flag: str, value: str, least: int
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["run", "--output", str(tmp_path), "--directory", str(tmp_path), f"{flag}={value}"])
    assert ended.value.code == 2
    assert f"argument {flag}: {value}: give a whole number, {least} or more" in capsys.readouterr().err
