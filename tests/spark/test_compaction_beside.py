"""A compaction beside an export: each runs between two steps of the other, which continues or is killed."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import shutil
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing import forkserver
from multiprocessing.context import ForkServerContext
from pathlib import Path

import pytest

from kraftctl_observer import attempts
from kraftctl_security.blocking_connection import Endpoint
from kraftctl_spark.log import log_range
from kraftctl_spark.stores.durable import Hook
from kraftctl_spark.tables.commit_log import CommitLog
from kraftctl_spark.tables.compaction import RegularCompaction, compact
from kraftctl_spark.tables.manifest import Manifest
from kraftctl_spark.tables.output import Output
from kraftctl_spark.tables.output_state import OutputState
from kraftctl_spark.tables.reader import read_table
from kraftctl_spark.tables.verification import verify
from tests.spark.fake_controller import FakeController, FakeQuorum
from tests.spark.typed_export import exporting, mixed_batches, offsets_in_directory

TABLES = ("records", "partition_change_record", "topic_record")
PER_TASK = 15
END = 90


def append(directory: Path, endpoint: Endpoint, hook: Hook, end: int = END) -> None:
    log_range.OFFSETS_PER_RANGE = PER_TASK
    attempts.PAUSE_S = 0.001
    with exporting(directory, endpoint, hook) as exporter:
        exporter.export_to(end, 1)


def merge(directory: Path, endpoint: Endpoint, hook: Hook, end: int = END) -> None:
    output = Output(directory, hook)
    with output.compacting(wait=True):
        compact(output, grace_ms=0)


Job = Callable[[Path, Endpoint, Hook, int], None]


@dataclass
class OtherJobAtStep:
    """After this many steps, the other job runs completely; then this process dies, or continues."""

    left: int
    other: Callable[[], None]
    dies: bool

    def __call__(self, step: str) -> None:
        self.left -= 1
        if self.left == 0:
            self.other()
            if self.dies:
                os.kill(os.getpid(), signal.SIGKILL)


def nothing(step: str) -> None:
    """The hook of a job that is not interrupted."""


def interleaved(directory: Path, endpoint: Endpoint, job: Job, other: Job, step: int, dies: bool) -> None:
    """The work of a child process. The other job appends less, so that there is something left to do."""
    hook = OtherJobAtStep(step, lambda: other(directory, endpoint, nothing, 75), dies)
    job(directory, endpoint, hook, END)
    if hook.left > 0:
        sys.exit(3)


@pytest.fixture(autouse=True)
def small_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Undoes what `append` changes in this process, for other tests."""
    monkeypatch.setattr(log_range, "OFFSETS_PER_RANGE", PER_TASK)
    monkeypatch.setattr(attempts, "PAUSE_S", 0.001)


@pytest.fixture(scope="module")
def processes() -> ForkServerContext:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.spark.test_compaction_beside"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(path for path in sys.path if path))
        forkserver.ensure_running()
    return context


def expected_offsets(table: str, end: int) -> list[int]:
    remainder = {"partition_change_record": 0, "topic_record": 1}.get(table)
    return [offset for offset in range(end) if remainder is None or offset % 3 == remainder]


def assert_exact(directory: Path, end: int) -> None:
    for table in TABLES:
        assert read_table(directory, table).column("offset").to_pylist() == expected_offsets(table, end)
        assert offsets_in_directory(directory, table) == expected_offsets(table, end)
    assert not list(directory.rglob("*.tmp"))
    assert verify(directory).problems == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "stride", [pytest.param(3, id="some-steps"), pytest.param(1, id="all-steps", marks=pytest.mark.long)]
)
@pytest.mark.parametrize("dies", [False, True], ids=["goes-on", "dies"])
@pytest.mark.parametrize(("job", "other"), [(merge, append), (append, merge)], ids=["merge", "append"])
def test_each_at_every_step_of_the_other(
    controller: FakeController,
    quorum: FakeQuorum,
    processes: ForkServerContext,
    tmp_path: Path,
    job: Job,
    other: Job,
    dies: bool,
    stride: int,
) -> None:
    quorum.append(*mixed_batches(0, END))
    whole = tmp_path / "whole"
    for end in (20, 40, 60):
        append(whole, controller.endpoint, nothing, end)
    for step in itertools.count(1, stride):
        directory = tmp_path / f"step-{step}"
        shutil.copytree(whole, directory)
        child = processes.Process(
            target=interleaved, args=(directory, controller.endpoint, job, other, step, dies)
        )
        child.start()
        child.join(60)
        position = Output(directory).position().offset
        assert read_table(directory, "records").column("offset").to_pylist() == list(range(position))
        if child.exitcode == 3:
            break
        assert child.exitcode == (-signal.SIGKILL if dies else 0)
        if not dies and job is append:
            assert_exact(directory, END)
        append(directory, controller.endpoint, nothing)
        merge(directory, controller.endpoint, nothing)
        assert_exact(directory, END)
        assert len(Output(directory).manifests()) == 1
    assert step > 10


def test_a_file_that_a_compaction_removes_is_not_missed(
    controller: FakeController, quorum: FakeQuorum, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    quorum.append(*mixed_batches(0, 60))
    for end in (20, 40, 60):
        append(tmp_path, controller.endpoint, nothing, end)
    output = Output(tmp_path)
    listed: list[list[Manifest]] = [output.manifests()]
    merge(tmp_path, controller.endpoint, nothing)
    manifests = output.manifests
    monkeypatch.setattr(output, "manifests", lambda: listed.pop() if listed else manifests())
    output.check_files()
    assert not listed


def test_an_export_commits_while_a_compaction_lists(
    controller: FakeController, quorum: FakeQuorum, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between any two looks at the commits."""
    quorum.append(*mixed_batches(0, 75))
    whole = tmp_path / "whole"
    for end in (20, 40, 60):
        append(whole, controller.endpoint, nothing, end)
    state, left, look = CommitLog.state, 0, 0

    def commits_at_a_look(log: CommitLog) -> OutputState:
        nonlocal left
        left -= 1
        if left == 0:
            with monkeypatch.context() as patch:
                patch.setattr(CommitLog, "state", state)
                append(directory, controller.endpoint, nothing, 75)
        return state(log)

    while left <= 0:
        look += 1
        left = look
        directory = tmp_path / f"look-{look}"
        shutil.copytree(whole, directory)
        with monkeypatch.context() as patch:
            patch.setattr(CommitLog, "state", commits_at_a_look)
            merge(directory, controller.endpoint, nothing)
        append(directory, controller.endpoint, nothing, 75)
        assert_exact(directory, 75)
    assert look > 5


def test_two_compactions_at_the_same_time(
    controller: FakeController, quorum: FakeQuorum, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """One compaction waits for the other, but an export never waits."""
    quorum.append(*mixed_batches(0, 60))
    for end in (20, 40, 60):
        append(tmp_path, controller.endpoint, nothing, end)
    regular = RegularCompaction(Output(tmp_path), batches=1, keep_ms=0)
    with Output(tmp_path).compacting(wait=True):
        with caplog.at_level("INFO"):
            regular.after_batch()
    assert "another process compacts" in caplog.text
    assert len(Output(tmp_path).manifests()) == 3
    regular.after_batch()
    assert len(Output(tmp_path).manifests()) == 1
