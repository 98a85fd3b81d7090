"""An output of an earlier release, taken over: killed at each step, and twice."""

from __future__ import annotations

import multiprocessing
import shutil
from pathlib import Path

import pytest

from kraftctl_spark.cli import main
from kraftctl_spark.history import DIRECTORY
from kraftctl_spark.history.history_manifest import OLD_MANIFEST, read_manifest
from kraftctl_spark.history.history_tables import HistoryTables
from kraftctl_spark.history.take_over import take_over
from kraftctl_spark.stores.durable import no_hook
from kraftctl_spark.tables.commit_log import OLD_MANIFESTS
from kraftctl_spark.tables.compaction import compact
from kraftctl_spark.tables.manifest import ExportRefusedError
from kraftctl_spark.tables.output import HIDDEN_MANIFESTS, Output
from kraftctl_spark.tables.reader import read_table
from kraftctl_spark.tables.verification import verify
from tests.spark.fake_controller import FakeController, FakeQuorum
from tests.spark.rewritten import as_earlier_releases_left_it
from tests.spark.typed_export import KillAtStep, content, exporting, mixed_batches


@pytest.fixture
def old(controller: FakeController, quorum: FakeQuorum, tmp_path: Path) -> Path:
    """Three batches, of which a release without commits had merged two."""
    directory = tmp_path / "tables"
    quorum.append(*mixed_batches(0, 80))
    with exporting(directory, controller.endpoint) as exporter:
        for end in (20, 40):
            exporter.export_to(end, 1)
        compact(Output(directory), grace_ms=0)
        exporter.export_to(60, 1)
    HistoryTables(directory, directory / DIRECTORY).catch_up()
    as_earlier_releases_left_it(directory)
    return directory


def test_it_has_what_it_had(old: Path, controller: FakeController) -> None:
    files = {path: digest for path, digest in content(old).items() if path.endswith(".parquet")}
    assert main(["take-over", "--output", str(old)]) == 0
    found = verify(old)
    assert (found.number, found.files, found.problems) == (0, len(files), [])
    assert not (old / OLD_MANIFESTS).exists()
    assert not (old / DIRECTORY / OLD_MANIFEST).exists()
    assert {path: digest for path, digest in content(old).items() if path.endswith(".parquet")} == files
    assert [(one.end, one.batches) for one in Output(old).manifests()] == [(40, 2), (60, 1)]
    history = read_manifest(old / DIRECTORY)
    assert history is not None
    assert history.end == 60
    assert main(["take-over", "--output", str(old)]) == 0, "once more changes nothing"
    assert verify(old) == found
    with exporting(old, controller.endpoint) as exporter:
        exporter.export_to(80, 1)
    HistoryTables(old, old / DIRECTORY).catch_up()
    assert read_table(old, "records").column("offset").to_pylist() == list(range(80))
    assert verify(old).problems == []


@pytest.mark.parametrize(
    "command",
    [
        ["status", "--output"],
        ["compact", "--output"],
        ["verify", "--output"],
        ["history", "--tables"],
        ["report", "--to", "report.html", "--output"],
        ["log", "--to", "log", "--output"],
    ],
    ids=lambda command: command[0],
)
def test_other_commands_name_it(old: Path, command: list[str], caplog: pytest.LogCaptureFixture) -> None:
    before = content(old)
    assert main([*command, str(old)]) == 2
    assert f"kraftctl-export take-over --output {old}" in caplog.text
    assert content(old) == before


def test_an_export_into_it_is_refused(old: Path, controller: FakeController) -> None:
    with pytest.raises(ExportRefusedError, match="take-over"), exporting(old, controller.endpoint):
        pass


WRITING = (["compact", "--output"], ["history", "--tables"], ["publish", "--as", "delta"])


def test_what_was_left_after_the_commit_is_named_and_finished(old: Path, tmp_path: Path) -> None:
    shutil.copytree(old / OLD_MANIFESTS, tmp_path / "left")
    take_over(old, no_hook)
    found = verify(old)
    shutil.copytree(tmp_path / "left", old / OLD_MANIFESTS)
    for command in WRITING:
        assert main([*command, str(old)]) == 2
    with pytest.raises(ExportRefusedError, match="has not ended"), Output(old).locked():
        pass
    shutil.copytree(tmp_path / "left", old / HIDDEN_MANIFESTS)
    take_over(old, no_hook)
    assert not (old / OLD_MANIFESTS).exists()
    assert not (old / HIDDEN_MANIFESTS).exists()
    assert verify(old) == found


def take_over_and_die(directory: Path, step: int) -> None:
    """The work of a child process."""
    take_over(directory, KillAtStep(step))


def test_killed_after_any_step_it_is_done_again(old: Path, tmp_path: Path) -> None:
    before = content(old)
    for step in range(1, 20):
        directory = tmp_path / f"step-{step}"
        shutil.copytree(old, directory)
        child = multiprocessing.get_context("spawn").Process(target=take_over_and_die, args=(directory, step))
        child.start()
        child.join(60)
        if child.exitcode == 0:
            break
        assert child.exitcode == -9
        left = content(directory)
        assert not (directory / OLD_MANIFESTS).exists(), "an earlier release refuses tables without them"
        for command in WRITING:
            assert main([*command, str(directory)]) == 2
        with pytest.raises(ExportRefusedError, match="take-over --output"), Output(directory).locked():
            pass
        assert content(directory) == left
        take_over(directory, no_hook)
        found = verify(directory)
        assert (found.number, found.problems) == (0, [])
        assert not (directory / OLD_MANIFESTS).exists()
        assert not (directory / HIDDEN_MANIFESTS).exists()
        same = {path: digest for path, digest in content(directory).items() if path.endswith(".parquet")}
        assert same == {path: digest for path, digest in before.items() if path.endswith(".parquet")}
    assert step == 1 + 2 + 2 + 1, "the new name, before and after the commit, and two manifests"


def test_a_damaged_output_stays_as_it_is(old: Path) -> None:
    (lost,) = old.glob("topic_record/*-*39.parquet")
    data = lost.read_bytes()
    lost.write_bytes(data[:-1])
    before = content(old)
    with pytest.raises(ExportRefusedError, match="is missing or has another size"):
        take_over(old, no_hook)
    lost.write_bytes(data)
    first = sorted((old / OLD_MANIFESTS).iterdir())[0]
    text = first.read_text()
    first.unlink()
    with pytest.raises(ExportRefusedError, match="does not follow on offset 0"):
        take_over(old, no_hook)
    first.write_text(text)
    lost.write_bytes(data[:-1])
    assert content(old) == before


def test_a_history_that_cannot_be_taken_over_is_computed_again(
    old: Path, caplog: pytest.LogCaptureFixture
) -> None:
    next((old / DIRECTORY / "topics").glob("*")).unlink()
    take_over(old, no_hook)
    assert "it has to be computed again" in caplog.text
    assert HistoryTables(old, old / DIRECTORY).catch_up().end == 60
    assert verify(old).problems == []


def test_another_process_keeps_it_away(old: Path) -> None:
    with Output(old).undisturbed(), pytest.raises(ExportRefusedError, match="makes a report: let it end"):
        take_over(old, no_hook)
