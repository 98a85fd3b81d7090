"""The engine without Spark: its workers, its batches, its end; and what it writes, compared with Spark's."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from kraftctl_protocol.record_batch import encode_batch
from kraftctl_spark.cli import main
from kraftctl_spark.engines import worker_pool
from kraftctl_spark.engines.worker_pool import StoppedInBatchError, WorkerPool
from kraftctl_spark.history import DIRECTORY
from kraftctl_spark.history.history_manifest import read_manifest
from kraftctl_spark.log import log_range
from kraftctl_spark.log.log_location import QuorumLocation
from kraftctl_spark.log.log_range import cut_into_ranges
from kraftctl_spark.stores.durable import Hook, no_hook
from kraftctl_spark.tables.export_tasks import ExportTask, TaskSettings, run_task
from kraftctl_spark.tables.output import Output
from kraftctl_spark.tables.reader import read_table
from tests.spark import local_job
from tests.spark.fake_controller import CLUSTER_ID, FakeController, FakeQuorum
from tests.spark.local_job import PER_TASK
from tests.spark.soak import hook, processes
from tests.spark.typed_export import (
    BEGIN,
    END,
    NO_OP,
    content,
    exporting,
    mixed_batches,
    mixed_value,
    offsets_in_directory,
)
from tests.support.processes.kafka import await_result
from tests.support.processes.spark_export import export_now

TABLES = ("records", "partition_change_record", "topic_record")


@pytest.fixture(autouse=True)
def signals(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Ranges are small, and the handlers of an export end with it."""
    monkeypatch.setattr(log_range, "OFFSETS_PER_RANGE", PER_TASK)
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def flags(controller: FakeController, output: Path, *more: str) -> list[str]:
    host, port = controller.endpoint
    where = ["--bootstrap-controllers", f"{host}:{port}", "--output", str(output)]
    return [*where, "--request-timeout-ms", "5000", "--workers", "2", *more]


def assert_exact(output: Path, end: int) -> None:
    """Every offset once, for readers with and without the list of files."""
    for remainder, table in ((None, "records"), (0, "partition_change_record"), (1, "topic_record")):
        expected = [offset for offset in range(end) if remainder is None or offset % 3 == remainder]
        assert read_table(output, table).column("offset").to_pylist() == expected
        assert offsets_in_directory(output, table) == expected
    assert not list(output.rglob("*.tmp"))


def assert_no_process_is_left(control: Path) -> None:
    await_result(lambda: not processes.marked(str(control)), "the end of all processes", 20)


def test_it_writes_the_files_that_one_process_writes(
    controller: FakeController, quorum: FakeQuorum, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    quorum.append(*mixed_batches(0, 430))
    caplog.set_level("INFO")
    arguments = flags(controller, tmp_path / "local", "--max-offsets-per-trigger", "200", "--available-now")
    assert main(["run", "--engine", "local", *arguments]) == 0
    assert [text.partition(":")[0] for text in caplog.messages if text.startswith("committed")] == [
        "committed offsets 0 to 199",
        "committed offsets 200 to 399",
        "committed offsets 400 to 429",
    ]
    assert multiprocessing.active_children() == []
    with exporting(tmp_path / "here", controller.endpoint) as exporter:
        for end in (200, 400, 430):
            exporter.export_to(end, 1)
    assert content(tmp_path / "local") == content(tmp_path / "here")
    assert Output(tmp_path / "local").manifests() == Output(tmp_path / "here").manifests()
    assert_exact(tmp_path / "local", 430)


def test_a_transaction_that_is_longer_than_a_batch(
    controller: FakeController, quorum: FakeQuorum, tmp_path: Path
) -> None:
    """The next batch ends later, though the tables are where they were."""
    values = [mixed_value(offset) for offset in range(200)]
    values[10], values[190] = BEGIN, END
    quorum.append(encode_batch(0, 1, 1000, values))
    arguments = flags(controller, tmp_path, "--max-offsets-per-trigger", "50", "--available-now")
    assert main(["run", "--engine", "local", *arguments]) == 0
    assert offsets_in_directory(tmp_path, "records") == list(range(200))


def test_a_snapshot_instead_of_a_deleted_start(
    controller: FakeController, quorum: FakeQuorum, tmp_path: Path
) -> None:
    quorum.log_start_offset = 100
    quorum.snapshot = (120, 1)
    quorum.snapshot_bytes = encode_batch(0, 1, 5, [mixed_value(offset) for offset in range(3)])
    quorum.append(*mixed_batches(100, 150))
    assert main(["run", "--engine", "local", *flags(controller, tmp_path, "--available-now")]) == 0
    offsets = read_table(tmp_path, "records").column("offset").to_pylist()
    assert offsets == [None, None, None, *range(120, 150)]


class Once:
    """Kills its process at the first step of a task, as often as there are files to remove."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def __call__(self, step: str) -> None:
        for path in self._directory.iterdir():
            path.unlink(missing_ok=True)
            os.kill(os.getpid(), signal.SIGKILL)


class Interrupts:
    """Ctrl-C, as a worker gets it from a terminal in the middle of a task."""

    def __call__(self, step: str) -> None:
        os.kill(os.getpid(), signal.SIGINT)


class Stops:
    """Stops its process, which then does nothing, not even end with its parent."""

    def __call__(self, step: str) -> None:
        os.kill(os.getpid(), signal.SIGSTOP)


class Fails:
    """Raises in every task."""

    def __call__(self, step: str) -> None:
        raise OSError("this disk is broken")


def tasks_of(end: int) -> list[ExportTask]:
    ranges = cut_into_ranges(start=0, end=end, epoch=1, end_epoch=1)
    return [ExportTask(one) for one in ranges]


def settings_of(controller: FakeController, output: Path, at_step: Hook = no_hook) -> TaskSettings:
    return TaskSettings(output, QuorumLocation((controller.endpoint,)), CLUSTER_ID, hook=at_step)


def test_the_work_of_a_killed_worker_is_done_again(
    controller: FakeController, quorum: FakeQuorum, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    quorum.append(*mixed_batches(0, 200))
    kills = tmp_path / "kills"
    kills.mkdir()
    for number in range(2):
        (kills / str(number)).touch()
    tasks = tasks_of(200)
    with WorkerPool(settings_of(controller, tmp_path, Once(kills)), 2, threading.Event()) as pool:
        reports = pool.run(tasks)
        again = pool.run(tasks[:1])
    assert [report.task for report in again] == tasks[:1]
    found = sorted(reports, key=lambda report: report.task.range.start)
    assert [report.task for report in found] == tasks
    here = [run_task(settings_of(controller, tmp_path), task) for task in tasks]
    assert [report.counts for report in found] == [report.counts for report in here]
    assert "a worker process has ended unexpectedly: what it did is done again" in caplog.messages
    assert multiprocessing.active_children() == []


def test_a_worker_that_is_killed_every_time_ends_the_export(
    controller: FakeController, quorum: FakeQuorum, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Everything that was committed stays; the exit status is that of a failure."""
    quorum.append(*mixed_batches(0, 60))
    kills = tmp_path / "kills"
    kills.mkdir()
    for number in range(100):
        (kills / str(number)).touch()
    arguments = flags(controller, tmp_path / "tables", "--available-now")
    assert main(["run", "--engine", "local", *arguments], Once(kills)) == 1
    assert f"a worker process ended {worker_pool.ATTEMPTS} times without having finished" in caplog.text
    assert not list((tmp_path / "tables").rglob("*.parquet*"))
    assert multiprocessing.active_children() == []


def test_what_a_task_raises_ends_the_export(
    controller: FakeController, quorum: FakeQuorum, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    quorum.append(*mixed_batches(0, 200))
    arguments = flags(controller, tmp_path, "--available-now")
    assert main(["run", "--engine", "local", *arguments], Fails()) == 1
    assert "this disk is broken" in caplog.text
    assert multiprocessing.active_children() == []
    assert not list(tmp_path.rglob("*.parquet*"))


def test_no_task_runs_behind_a_failure(
    controller: FakeController, quorum: FakeQuorum, tmp_path: Path
) -> None:
    """Leftovers are removed then, and must not be written any more."""
    quorum.append(*mixed_batches(0, 200))
    with WorkerPool(settings_of(controller, tmp_path, Fails()), 2, threading.Event()) as pool:
        with pytest.raises(OSError, match="this disk is broken"):
            pool.run(tasks_of(200))
        assert multiprocessing.active_children() == []


def test_a_worker_ignores_ctrl_c(controller: FakeController, quorum: FakeQuorum, tmp_path: Path) -> None:
    """Its parent gets it, too, and lets the batch end."""
    quorum.append(*mixed_batches(0, 50))
    with WorkerPool(settings_of(controller, tmp_path, Interrupts()), 2, threading.Event()) as pool:
        try:
            reports = pool.run(tasks_of(50))
        except KeyboardInterrupt:  # Pytest itself would end.
            reports = []
    assert len(reports) == 2


def test_a_stop_does_not_wait_for_ever(
    controller: FakeController, quorum: FakeQuorum, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_pool, "IDLE_WAIT_S", 0.2)
    monkeypatch.setattr(worker_pool, "POLL_S", 0.05)
    stop = threading.Event()
    stop.set()
    nowhere = TaskSettings(tmp_path, QuorumLocation((("127.0.0.1", 1),)), CLUSTER_ID)
    with WorkerPool(nowhere, 1, stop) as pool, pytest.raises(StoppedInBatchError, match=r"0\.2 s later"):
        pool.run(tasks_of(25))
    assert multiprocessing.active_children() == []


def test_a_stop_does_not_wait_for_a_worker_that_is_stuck(
    controller: FakeController,
    quorum: FakeQuorum,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in {"IDLE_WAIT_S": 3.0, "PROGRESS_S": 0.2, "POLL_S": 0.1, "END_S": 0.5}.items():
        monkeypatch.setattr(worker_pool, name, value, raising=False)
    quorum.append(*mixed_batches(0, 20))
    stop = threading.Event()
    stop.set()
    raised = []

    def export() -> None:
        with WorkerPool(settings_of(controller, tmp_path, Stops()), 1, stop) as pool:
            try:
                pool.run(tasks_of(20))
            except StoppedInBatchError as error:
                raised.append(error)

    exporting = threading.Thread(target=export, daemon=True)
    exporting.start()
    exporting.join(20)
    assert not exporting.is_alive()
    assert raised
    assert multiprocessing.active_children() == []
    assert sum("a worker may be stuck" in message for message in caplog.messages) == 1


def test_a_quorum_that_cannot_be_reached(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    where = ["--bootstrap-controllers", "127.0.0.1:1", "--output", str(tmp_path / "tables")]
    assert main(["run", "--engine", "local", *where, "--request-timeout-ms", "300"]) == 1
    assert "no response about DescribeCluster within 0.3 s" in caplog.text


@pytest.mark.parametrize(
    ("engine", "flag", "value"),
    [("local", "master", "local[2]"), ("local", "checkpoint", "x"), ("spark", "workers", "2")],
)
def test_flags_of_the_other_engine_are_refused(
    engine: str, flag: str, value: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    where = ["--directory", str(tmp_path), "--output", str(tmp_path / "tables")]
    assert main(["run", "--engine", engine, *where, f"--{flag}", value]) == 2
    other = {"local": "spark", "spark": "local"}[engine]
    assert f"--{flag} is for --engine {other}: leave it out, or choose that engine" in caplog.text
    assert not (tmp_path / "tables").exists()


def test_it_runs_where_neither_spark_nor_java_is_installed(
    controller: FakeController, quorum: FakeQuorum, tmp_path: Path
) -> None:
    """An import of them would fail, in the workers as well."""
    for name in ("pyspark", "py4j"):
        (tmp_path / "absent" / name).mkdir(parents=True)
        (tmp_path / "absent" / name / "__init__.py").write_text("raise ImportError('not installed')\n")
    quorum.append(*mixed_batches(0, 60))
    roots = [str(tmp_path / "absent"), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    output = tmp_path / "tables"
    command = ["run", "--engine", "local", *flags(controller, output, "--available-now", "--history")]
    ran = subprocess.run(
        [sys.executable, "-m", "kraftctl_spark.cli", *command],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(roots), "PATH": "", "JAVA_HOME": "/nowhere"},
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert ran.returncode == 0, ran.stderr
    assert "committed offsets 0 to 59: 60 records" in ran.stderr
    assert_exact(output, 60)


def test_a_history_that_is_behind_is_continued_without_a_new_batch(
    controller: FakeController, quorum: FakeQuorum, tmp_path: Path
) -> None:
    """In an object store, there is no other way to it."""
    quorum.append(*mixed_batches(0, 60))
    output = tmp_path / "tables"
    command = ["run", "--engine", "local", *flags(controller, output, "--available-now")]
    assert main(command) == 0
    assert main([*command, "--history"]) == 0
    manifest = read_manifest(output / DIRECTORY)
    assert manifest is not None
    assert manifest.end == 60


@pytest.mark.parametrize(
    ("sent", "to_group"),
    [(signal.SIGTERM, False), (signal.SIGINT, True), (signal.SIGTERM, True)],
    ids=["SIGTERM", "Ctrl-C", "SIGTERM-of-all"],
)
def test_an_orderly_stop(
    controller: FakeController, quorum: FakeQuorum, tmp_path: Path, sent: signal.Signals, to_group: bool
) -> None:
    """A terminal sends Ctrl-C to the workers, too, and so do some supervisors with SIGTERM."""
    quorum.append(*mixed_batches(0, 60))
    output, printed = tmp_path / "tables", tmp_path / "job.log"
    job = local_job.start(tmp_path, printed, *flags(controller, output, "--interval", "1 second"))
    try:
        await_result(lambda: Output(output).position().offset == 60, "the end of the log", 60)
        quorum.append(*mixed_batches(60, 100))
        await_result(lambda: Output(output).position().offset == 100, "what came later", 60)
        (os.killpg if to_group else os.kill)(job.pid, sent)
        assert job.wait(30) == 0, printed.read_text()
    finally:
        job.kill()
        job.wait(10)
    assert "stopped; 2 batches" in printed.read_text()
    assert "Traceback" not in printed.read_text()
    assert_exact(output, 100)
    assert_no_process_is_left(tmp_path)


def goes_up_to(output: Path, end: int) -> bool:
    return Output(output).position().offset == end


KILLS = (
    ("worker", "files-written", "self"),
    ("worker", "files-durable", "driver"),
    ("run", "file-renamed", "self"),
    ("worker", "files-durable", "self"),
    ("run", "json-written", "self"),
    ("worker", "files-written", "driver"),
    ("run", "committed", "self"),
    ("run", "files-written", "self"),  # of the compaction
)
"""Process of the step, step, process to kill."""

AT_ANY_MOMENT = 4


@pytest.mark.slow
def test_it_is_killed_a_dozen_times(controller: FakeController, quorum: FakeQuorum, tmp_path: Path) -> None:
    """Its driver or a worker, at a step or at any moment, while the log grows: every offset is there once."""
    output, printed = tmp_path / "tables", tmp_path / "job.log"
    arguments = flags(controller, output, "--max-offsets-per-trigger", "110", "--compact-after", "2")
    arguments += ["--interval", "100 milliseconds", "--history"]
    chance, end = random.Random(7), 0
    for number in range(len(KILLS) + AT_ANY_MOMENT):
        quorum.append(*mixed_batches(end, end + 420))
        end += 420
        step = KILLS[number] if number < len(KILLS) else None
        if step is not None:
            hook.arm(tmp_path, hook.Arm(str(number), step[0], step[1], 1 + number % 2, step[2]))
        job = local_job.start(tmp_path, printed, *arguments)
        try:
            if step is None:
                threading.Event().wait(chance.uniform(0.5, 3))
                found = processes.marked(str(tmp_path))
                os.kill(chance.choice(found).pid, signal.SIGKILL)
            else:
                await_result(lambda: hook.fired(tmp_path), f"kill {number}", 60)
            if step is not None and step[0] == "worker" and step[2] == "self":
                await_result(partial(goes_up_to, output, end), "the rest", 60)
                assert job.poll() is None, "a worker's end is not that of the export"
        finally:
            job.kill()
            job.wait(10)
        assert_no_process_is_left(tmp_path)
    last = local_job.start(tmp_path, printed, *arguments, "--available-now", "--compact-after", "0")
    assert last.wait(100) == 0, printed.read_text()
    assert_no_process_is_left(tmp_path)
    assert_exact(output, end)


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.timeout(400)
def test_both_engines_write_the_same_bytes(
    controller: FakeController, quorum: FakeQuorum, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Names and bytes of all files, those of the history included, and the list of files."""
    monkeypatch.undo()
    per_task = log_range.OFFSETS_PER_RANGE
    quorum.append(*mixed_batches(0, 2 * per_task + 500, size=1000))
    quorum.append(encode_batch(2 * per_task + 500, 1, 1000, [BEGIN, NO_OP, END, NO_OP]))
    host, port = controller.endpoint
    common = ["--max-offsets-per-trigger", str(per_task + 100), "--history"]
    export_now(f"{host}:{port}", tmp_path / "spark", *common)
    local = [*flags(controller, tmp_path / "local"), "--available-now", "--include-secrets", *common]
    assert main(["run", "--engine", "local", *local]) == 0
    found = {name: content(tmp_path / name) for name in ("spark", "local")}
    listed = {name for name in found["local"] if not name.endswith(".parquet")}
    assert len(found["local"]) - len(listed) > 12
    for name in {*found["spark"], *found["local"]} - listed:
        assert found["spark"][name] == found["local"][name], name
    assert Output(tmp_path / "spark").manifests() == Output(tmp_path / "local").manifests()
