"""Records expire at any step of an export, or of a process that is killed: all of them are gone, or none."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import shutil
import sys
from collections.abc import Callable
from multiprocessing import forkserver
from multiprocessing.context import ForkServerContext
from pathlib import Path

import pytest

from kraftctl_spark.cli import main
from kraftctl_spark.history import DIRECTORY
from kraftctl_spark.history.history_tables import HistoryTables
from kraftctl_spark.tables.commit import HISTORY, Commit, HistoryChange
from kraftctl_spark.tables.compaction import compact
from kraftctl_spark.tables.output import Output
from kraftctl_spark.tables.reader import read_table
from kraftctl_spark.tables.verification import verify
from tests.spark.expired_tables import expire, exported, time_behind, versions
from tests.spark.fake_controller import FakeController, FakeQuorum
from tests.spark.metadata_histories import EPOCH, History, generate
from tests.spark.typed_export import KillAtStep, exporting, offsets_in_directory

ENDS = (40, 80, 120)


@pytest.fixture(scope="module")
def history() -> History:
    return generate(7, 160, snapshots=())


@pytest.fixture(scope="module")
def kept(history: History, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return exported(history, tmp_path_factory.mktemp("kept") / "tables", ENDS)


@pytest.fixture(scope="module")
def processes() -> ForkServerContext:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.spark.test_expire_beside"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(path for path in sys.path if path))
        forkserver.ensure_running()
    return context


def expire_and_die(tables: Path, before: str, step: int) -> None:
    """The work of a child process."""
    assert expire(tables, before, "--execute", hook=KillAtStep(step)) == 0


def assert_exact(tables: Path, end: int) -> None:
    """Every offset from the first one that is there, once, also for a reader of the directory."""
    start = Output(tables).raw_start
    offsets = [one for one in read_table(tables, "records")["offset"].to_pylist() if one is not None]
    assert offsets == list(range(start, end))
    assert offsets_in_directory(tables, "records") == offsets
    assert verify(tables).problems == []


@pytest.mark.parametrize(
    "stride", [pytest.param(6, id="some-steps"), pytest.param(1, id="all-steps", marks=pytest.mark.long)]
)
def test_killed_after_any_step(kept: Path, processes: ForkServerContext, tmp_path: Path, stride: int) -> None:
    before, rows = time_behind(kept, 2), versions(kept / DIRECTORY)
    end = Output(kept).position().offset
    for step in itertools.count(1, stride):
        tables = shutil.copytree(kept, tmp_path / f"step-{step}")
        child = processes.Process(target=expire_and_die, args=(tables, before, step))
        child.start()
        child.join(60)
        assert child.exitcode in (0, -9)
        assert verify(tables).problems == []
        assert Output(tables).raw_start in (0, Output(kept).manifests()[1].end)
        assert expire(tables, before, "--execute") == 0
        compact(Output(tables), grace_ms=0)
        assert_exact(tables, end)
        assert versions(tables / DIRECTORY) == rows
        if child.exitcode == 0:
            break
    assert step > 10


class AtStep:
    """After so many steps, another command runs completely."""

    def __init__(self, left: int, other: Callable[[], None]) -> None:
        self.left = left
        self._other = other

    def __call__(self, step: str) -> None:
        self.left -= 1
        if self.left == 0:
            self._other()


def export(tables: Path, history: History, hook: Callable[[str], None]) -> None:
    quorum = FakeQuorum()
    controller = FakeController(quorum, 1)
    quorum.append(*history.batches)
    try:
        with exporting(tables, controller.endpoint, hook) as exporter:
            exporter.export_to(history.end, EPOCH)
    finally:
        controller.close()


@pytest.mark.parametrize("first", ["export", "expire"])
def test_beside_an_export(kept: Path, history: History, tmp_path: Path, first: str) -> None:
    """Both are done, whichever runs at a step of the other."""
    before, steps = time_behind(kept, 2), 0
    for step in itertools.count(2, 9):
        tables = shutil.copytree(kept, tmp_path / f"step-{step}")

        def expiring(tables: Path = tables, hook: Callable[[str], None] = lambda step: None) -> None:
            assert expire(tables, before, "--execute", hook=hook) == 0

        def appending(tables: Path = tables, hook: Callable[[str], None] = lambda step: None) -> None:
            export(tables, history, hook)

        one, other = (appending, expiring) if first == "export" else (expiring, appending)
        hook = AtStep(step, other)
        one(hook=hook)
        if hook.left > 0:
            break
        steps += 1
        HistoryTables(tables, tables / DIRECTORY).catch_up()
        compact(Output(tables), grace_ms=0)
        assert Output(tables).raw_start > 0
        assert_exact(tables, history.end)
    assert steps > 1


def test_a_history_that_is_cut_back_meanwhile_keeps_the_records(
    kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Without its lock, as on a file system without locks: the commit decides."""
    tables = shutil.copytree(kept, tmp_path / "tables")
    real = HistoryTables.check_has

    def cut_after_the_check(self: HistoryTables, end: int) -> bool:
        found = real(self, end)
        log = Output(tables).log
        history = log.state().history
        assert history is not None
        change = HistoryChange(history.format, history.cluster_id, history.end, end - 1, (), (), ())
        log.append(Commit(HISTORY, history=change))
        return found

    monkeypatch.setattr(HistoryTables, "check_has", cut_after_the_check)
    assert expire(tables, time_behind(tables, 2), "--execute") == 2
    assert "the history does not have everything before offset" in caplog.text
    assert Output(tables).raw_start == 0
    assert main(["verify", "--output", str(tables)]) == 0
