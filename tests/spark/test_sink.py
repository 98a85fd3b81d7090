"""`kraftctl-export`: what it refuses before it starts Spark, and a query that is killed and continued."""

from __future__ import annotations

import json
import logging
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pyspark.sql.streaming.datasource import ReadMaxRows

from kraftctl_observer.observer import QuorumObserver
from kraftctl_protocol.record_batch import encode_batch
from kraftctl_spark.cli import main
from kraftctl_spark.datasource.checkpoint import check_checkpoint, last_committed
from kraftctl_spark.datasource.ranges_source import KraftRangesDataSource
from kraftctl_spark.datasource.source import KraftOffset
from kraftctl_spark.datasource.spark_home import PREFIX
from kraftctl_spark.log import log_range
from kraftctl_spark.tables.manifest import ExportRefusedError, Position
from kraftctl_spark.tables.output import Output
from kraftctl_spark.tables.reader import read_table
from tests.spark.fake_controller import CLUSTER_ID, FakeController, FakeQuorum
from tests.spark.killed_export import STEP_VARIABLE
from tests.spark.typed_export import (
    BEGIN,
    END,
    NO_OP,
    batches_of,
    exporting,
    mixed_batches,
    mixed_value,
    offsets_in_directory,
)
from tests.support.processes.kafka import await_result
from tests.support.processes.spark_export import SOURCE_ROOTS, SPARK_ARGUMENTS

TABLES = ("records", "partition_change_record", "topic_record")


def flags(controller: FakeController, output: Path, *more: str) -> list[str]:
    host, port = controller.endpoint
    return [
        "run",
        "--bootstrap-controllers",
        f"{host}:{port}",
        "--output",
        str(output),
        "--request-timeout-ms",
        "3000",
        "--available-now",
        *more,
    ]


def spark_noted(output: Path, offset: int, cluster: str = CLUSTER_ID) -> None:
    """A checkpoint as Spark leaves it after a batch."""
    checkpoint = output / "_checkpoint"
    for name in ("offsets", "commits"):
        (checkpoint / name).mkdir(parents=True)
    planned = json.dumps(KraftOffset(offset, 1, cluster).to_dict())
    (checkpoint / "offsets" / "0").write_text(f'v1\n{{"batchWatermarkMs":0}}\n{planned}')
    (checkpoint / "commits" / "0").write_text('v1\n{"nextBatchWatermarkMs":0}')


@pytest.fixture
def exported(controller: FakeController, quorum: FakeQuorum, tmp_path: Path) -> Path:
    """Tables up to offset 20 of a log of 40."""
    quorum.append(*mixed_batches(0, 40))
    with exporting(tmp_path / "tables", controller.endpoint) as exporter:
        exporter.export_to(20, 1)
    return tmp_path / "tables"


def refusal(caplog: pytest.LogCaptureFixture, arguments: list[str]) -> str:
    caplog.clear()
    with caplog.at_level(logging.ERROR):
        assert main(arguments) == 2
    return caplog.text


def test_a_checkpoint_that_is_ahead_of_the_tables(
    exported: Path, controller: FakeController, caplog: pytest.LogCaptureFixture
) -> None:
    spark_noted(exported, 30)
    text = refusal(caplog, flags(controller, exported))
    assert "everything before offset 30 was written, but the tables end at 20" in text
    assert "remove the checkpoint" in text


def test_a_checkpoint_that_is_ahead_because_a_transaction_is_open(
    controller: FakeController, quorum: FakeQuorum, tmp_path: Path
) -> None:
    quorum.append(*batches_of({offset: mixed_value(offset) for offset in range(40)} | {20: BEGIN}))
    with exporting(tmp_path, controller.endpoint) as exporter:
        position = exporter.export_to(40, 1)
    assert position.offset == 20
    spark_noted(tmp_path, 40)
    observer = QuorumObserver([controller.endpoint], timeout_s=5)
    check_checkpoint(tmp_path / "_checkpoint", position, observer)
    with pytest.raises(ExportRefusedError, match="tables end at 13"):
        check_checkpoint(tmp_path / "_checkpoint", Position(13, 1, CLUSTER_ID), observer)
    observer.close()


def test_a_checkpoint_that_cannot_be_understood(
    exported: Path, controller: FakeController, caplog: pytest.LogCaptureFixture
) -> None:
    spark_noted(exported, 20)
    (exported / "_checkpoint" / "offsets" / "0").write_text("v1\n{}\n{}")
    assert "remove it" in refusal(caplog, flags(controller, exported))


def test_a_checkpoint_of_another_cluster(
    exported: Path, controller: FakeController, caplog: pytest.LogCaptureFixture
) -> None:
    spark_noted(exported, 20, "elsewhere")
    assert "belongs to cluster elsewhere" in refusal(caplog, flags(controller, exported))


def test_tables_of_another_cluster(
    exported: Path, controller: FakeController, quorum: FakeQuorum, caplog: pytest.LogCaptureFixture
) -> None:
    quorum.cluster_id = "another"
    text = refusal(caplog, flags(controller, exported))
    assert f"holds the metadata of cluster {CLUSTER_ID}, but the log belongs to another" in text


def test_tables_that_lost_a_file(
    exported: Path, controller: FakeController, caplog: pytest.LogCaptureFixture
) -> None:
    next((exported / "topic_record").iterdir()).unlink()
    assert "restore it from a backup" in refusal(caplog, flags(controller, exported))


def test_tables_that_somebody_else_writes(
    exported: Path, controller: FakeController, caplog: pytest.LogCaptureFixture
) -> None:
    with Output(exported).locked():
        assert "another process writes" in refusal(caplog, flags(controller, exported))


def test_a_directory_of_sparks_own_sink(
    controller: FakeController, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "_spark_metadata").mkdir()
    assert "choose another" in refusal(caplog, flags(controller, tmp_path))


def test_controllers_that_cannot_be_found(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    arguments = ["run", "--output", str(tmp_path), "--bootstrap-controllers"]
    assert "expected host:port" in refusal(caplog, [*arguments, "nonsense"])
    assert main([*arguments, "127.0.0.1:1", "--request-timeout-ms", "200"]) == 1


def test_a_client_that_was_to_be_encrypted(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    config = tmp_path / "client.properties"
    config.write_text("security.protocol=TLS\n")
    arguments = ["run", "--output", str(tmp_path), "--bootstrap-controllers", "127.0.0.1:1"]
    text = refusal(caplog, [*arguments, "--command-config", str(config)])
    assert f"--command-config {config}: Invalid value TLS for configuration security.protocol" in text


@pytest.mark.parametrize("interval", ["often", "5", "1 fortnight", "-1 second", ""])
def test_an_interval_that_cannot_be(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], interval: str
) -> None:
    where = ["--output", str(tmp_path), "--directory", str(tmp_path)]
    with pytest.raises(SystemExit) as ended:
        main(["run", *where, f"--interval={interval}"])
    assert ended.value.code == 2
    assert f"argument --interval: {interval!r}: write it like '30 seconds'" in capsys.readouterr().err


def test_a_directory_without_a_log(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert main(["run", "--output", str(tmp_path / "tables"), "--directory", str(tmp_path)]) == 1
    assert f"{tmp_path} holds no __cluster_metadata-0: name the metadata.log.dir" in caplog.text


def test_compact_from_the_command_line(
    exported: Path, controller: FakeController, caplog: pytest.LogCaptureFixture
) -> None:
    elsewhere = exported.parent / "elsewhere"
    assert "holds no tables" in refusal(caplog, ["compact", "--output", str(elsewhere)])
    assert not elsewhere.exists()
    with exporting(exported, controller.endpoint) as exporter:
        exporter.export_to(40, 1)
    assert main(["compact", "--output", str(exported), "--keep-removed", "1 hour"]) == 0
    doubled = sorted([*range(40)] * 2)
    assert offsets_in_directory(exported, "records") == doubled, "the price of a grace period"
    assert main(["compact", "--output", str(exported)]) == 0
    assert len(Output(exported).manifests()) == 1
    assert offsets_in_directory(exported, "records") == list(range(40))


def test_the_source_gives_only_how_far_to_go(controller: FakeController, quorum: FakeQuorum) -> None:
    quorum.append(*mixed_batches(0, 40))
    host, port = controller.endpoint
    source = KraftRangesDataSource({"bootstrapControllers": f"{host}:{port}"})
    reader = source.streamReader(schema=source.schema())
    start = reader.initialOffset()
    end = reader.latestOffset(start, ReadMaxRows(30))
    (planned,) = reader.partitions(start, end)
    (ranges,) = reader.read(planned)
    assert ranges.to_pylist() == [{"end": 30, "epoch": 1}]
    assert reader.partitions(end, end) == []
    reader.stop()


@contextmanager
def job(arguments: list[str], log: Path, step: str = "") -> Iterator[subprocess.Popen[bytes]]:
    """`kraftctl-export` as a process; it is killed after `step`, or at the end of the block."""
    environment = {
        **os.environ,
        STEP_VARIABLE: step,
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_SUBMIT_ARGS": SPARK_ARGUMENTS,
        "PYTHONPATH": os.pathsep.join(str(path) for path in SOURCE_ROOTS),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "TMPDIR": str(log.parent),
    }
    command = [sys.executable, "-m", "tests.spark.killed_export", *arguments]
    with log.open("ab") as printed:
        process = subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=printed, stderr=printed
        )
    try:
        yield process
    finally:
        process.kill()
        process.wait(30)


def run_to_end(arguments: list[str], log: Path, step: str = "") -> int:
    """Exit status of the job; negative when a signal ended it."""
    with job(arguments, log, step) as process:
        return process.wait(200)


def assert_exact(output: Path, end: int, markers: set[int]) -> None:
    """Every offset once, by manifest and in the directory; `markers` are only in `records`."""
    for remainder, table in ((None, "records"), (0, "partition_change_record"), (1, "topic_record")):
        typed = [offset for offset in range(end) if offset % 3 == remainder and offset not in markers]
        expected = list(range(end)) if remainder is None else typed
        assert read_table(output, table).column("offset").to_pylist() == expected
        assert offsets_in_directory(output, table) == expected
    assert not list(output.rglob("*.tmp"))


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.long
@pytest.mark.timeout(600)
def test_spark_that_is_killed_and_loses_its_checkpoint(
    controller: FakeController, quorum: FakeQuorum, tmp_path: Path
) -> None:
    """Killed between a manifest and Spark's own commit; then the checkpoint is lost. At its end the log has a
    transaction that is open; a service takes over when it has ended. What a killed compaction had replaced is
    gone then. More kills: test_soak_export.py."""
    output, log = tmp_path / "tables", tmp_path / "job.log"
    per_task = log_range.OFFSETS_PER_RANGE
    total = 2 * per_task + 500
    values = {offset: mixed_value(offset) for offset in range(total + 10)} | {total: BEGIN}
    quorum.append(*batches_of(values, size=1000))
    arguments = flags(
        controller, output, "--master", "local[2]", "--max-offsets-per-trigger", str(per_task + 100)
    )

    assert run_to_end(arguments, log, "committed") == -signal.SIGKILL, log.read_text()
    assert Output(output).position().offset == per_task + 100
    assert last_committed(output / "_checkpoint") is None
    (home,) = tmp_path.glob(f"{PREFIX}*")
    assert list(home.glob("tmp/spark-*")), "the next start removes what the JVM has left, too"

    shutil.rmtree(output / "_checkpoint")
    assert run_to_end([*arguments, "--max-offsets-per-trigger", "70000"], log) == 0, log.read_text()
    assert Output(output).position().offset == total
    assert_exact(output, total, set())
    ends = [manifest.end for manifest in Output(output).manifests()]
    assert ends == [per_task + 100, 70_000, total]
    noted = last_committed(output / "_checkpoint")
    assert noted is not None
    assert noted.offset == total + 10, "Spark is ahead of the tables, since a transaction is open"

    quorum.append(encode_batch(total + 10, 1, 1000, [END, NO_OP]))
    arguments.remove("--available-now")
    assert run_to_end(["compact", "--output", str(output)], log, "committed") == -signal.SIGKILL
    assert len(offsets_in_directory(output, "records")) == 2 * total, "what was replaced is still there"
    with job([*arguments, "--interval", "1 second"], log) as process:
        await_result(lambda: Output(output).position().offset == total + 12, "the end of the log", 120)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0, log.read_text()
    assert [manifest.end for manifest in Output(output).manifests()] == [total, total + 12]
    assert_exact(output, total + 12, {total, total + 10, total + 11})
    assert " WARN " not in log.read_text()
    assert "Setting default log level" not in log.read_text()
