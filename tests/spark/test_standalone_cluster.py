"""The export on a Spark cluster: a master, a worker, and executors in separate JVMs."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from kraftctl_spark.datasource.spark_home import LOG4J2, light_spark_home
from kraftctl_spark.log import log_range
from kraftctl_spark.tables.output import Output
from kraftctl_spark.tables.reader import read_table
from tests.spark.fake_controller import FakeController, FakeQuorum
from tests.spark.soak import hook
from tests.spark.typed_export import batches_of, mixed_value, offsets_in_directory
from tests.support.processes.kafka import await_result
from tests.support.processes.spark_export import ROOT, SOURCE_ROOTS

QUICK_JVM = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
PATHS = os.pathsep.join(str(path) for path in SOURCE_ROOTS)
CONFIGURATION = {
    "spark.ui.enabled": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "500m",
    "spark.driver.extraJavaOptions": QUICK_JVM,
    "spark.executor.cores": "1",
    "spark.executor.memory": "512m",
    "spark.executor.extraJavaOptions": QUICK_JVM,
    "spark.executorEnv.PYTHONPATH": PATHS,
    "spark.pyspark.python": sys.executable,
}
FLAGS = [flag for name, value in CONFIGURATION.items() for flag in ("--conf", f"{name}={value}")]


@dataclass
class StandaloneCluster:
    """One master and its workers."""

    url: str
    home: Path
    environment: dict[str, str]
    logs: list[Path]

    def said(self) -> str:
        return "\n".join(f"== {log.name}\n{log.read_text()[-3000:]}" for log in self.logs)


@contextmanager
def daemon(
    home: Path,
    environment: dict[str, str],
    log: Path,
    name: str,
    *arguments: str,
    prefix: tuple[str, ...] = (),
) -> Iterator[subprocess.Popen[bytes]]:
    command = [*prefix, str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{name}", *arguments]
    with log.open("wb") as printed:
        process = subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=printed, stderr=subprocess.STDOUT
        )
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[StandaloneCluster]:
    monkeypatch.delenv("SPARK_HOME", raising=False)
    monkeypatch.delenv("PYSPARK_GATEWAY_PORT", raising=False)
    with started(tmp_path, Worker()) as running:
        yield running


@dataclass(frozen=True)
class Worker:
    """What a worker is started by, and its resources."""

    cores: int = 2
    prefix: tuple[str, ...] = ()


@contextmanager
def started(tmp_path: Path, *workers: Worker) -> Iterator[StandaloneCluster]:
    with light_spark_home(), ExitStack() as running:
        home = Path(os.environ["SPARK_HOME"])
        configuration = tmp_path / "conf"
        configuration.mkdir()
        (configuration / "log4j2.properties").write_text(LOG4J2.replace(" error\n", " info\n"))
        environment = {
            **os.environ,
            "SPARK_CONF_DIR": str(configuration),
            "SPARK_DAEMON_MEMORY": "200m",
            "SPARK_DAEMON_JAVA_OPTS": QUICK_JVM,
            "SPARK_LOCAL_IP": "127.0.0.1",
            "PYTHONPATH": PATHS,
        }
        environment.pop("PYSPARK_PYTHON", None)
        master = tmp_path / "master.log"
        logs = [master, *(tmp_path / f"worker-{number}.log" for number in range(len(workers)))]
        loopback = ("--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
        running.enter_context(daemon(home, environment, master, "master.Master", *loopback))
        url = await_result(lambda: re.search(r"spark://127.0.0.1:\d+", master.read_text()), "a master", 60)
        for worker, log in zip(workers, logs[1:], strict=True):
            directory = str(tmp_path / f"work-of-{log.stem}")
            room = (
                "--cores",
                str(worker.cores),
                "--memory",
                f"{550 * worker.cores}m",
                "--work-dir",
                directory,
            )
            what = ("worker.Worker", *loopback, *room, url.group())
            running.enter_context(daemon(home, environment, log, *what, prefix=worker.prefix))
        registered = len(workers)
        await_result(lambda: master.read_text().count("Registering worker") == registered, "all workers", 60)
        yield StandaloneCluster(url.group(), home, environment, logs)


def arguments(cluster: StandaloneCluster, controller: FakeController, output: Path | str) -> list[str]:
    host, port = controller.endpoint
    where = ["--bootstrap-controllers", f"{host}:{port}", "--output", str(output)]
    return ["run", *where, "--available-now", "--request-timeout-ms", "5000"]


def assert_exact(output: Path, end: int) -> None:
    for table, remainder in (("records", None), ("partition_change_record", 0), ("topic_record", 1)):
        expected = [offset for offset in range(end) if remainder is None or offset % 3 == remainder]
        assert read_table(output, table).column("offset").to_pylist() == expected
        assert offsets_in_directory(output, table) == expected


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.long
@pytest.mark.timeout(300)
def test_the_export_continues_after_an_executor_is_killed(
    cluster: StandaloneCluster, controller: FakeController, quorum: FakeQuorum, tmp_path: Path
) -> None:
    """An executor is killed during a task, which Spark repeats on another. Then spark-submit continues."""
    end = log_range.OFFSETS_PER_RANGE + 2_000
    quorum.append(*batches_of({offset: mixed_value(offset) for offset in range(end)}, size=1000))
    output, control, log = tmp_path / "tables", tmp_path / "control", tmp_path / "export.log"
    control.mkdir()
    hook.arm(control, hook.Arm("executor", "worker", "files-durable", 1, "executor"))
    flags = ["--master", cluster.url]
    command = [sys.executable, "-m", "tests.spark.soak.job", str(control)]
    submit = " ".join(f"'{flag}'" for flag in FLAGS)
    with log.open("ab") as printed:
        status = subprocess.run(
            [*command, *arguments(cluster, controller, output), *flags],
            env={**cluster.environment, "PYSPARK_SUBMIT_ARGS": f"{submit} pyspark-shell"},
            stdin=subprocess.DEVNULL,
            stdout=printed,
            stderr=printed,
            timeout=200,
        ).returncode
    assert status == 0, log.read_text()[-5000:] + cluster.said()
    assert hook.fired(control)
    assert re.search(r"Executor .* EXITED|KILLED|Lost executor", log.read_text() + cluster.said())
    assert_exact(output, end)
    assert len(Output(output).manifests()) == 1, "one batch, whatever happened to its tasks"

    more = end + 1000
    quorum.append(*batches_of({offset: mixed_value(offset) for offset in range(end, more)}, size=1000))
    submitted = [
        str(cluster.home / "bin" / "spark-submit"),
        *flags,
        *FLAGS,
        str(ROOT / "spark/run_export.py"),
    ]
    with log.open("ab") as printed:
        status = subprocess.run(
            [*submitted, *arguments(cluster, controller, output)],
            env={**cluster.environment, "PYSPARK_DRIVER_PYTHON": sys.executable},
            stdin=subprocess.DEVNULL,
            stdout=printed,
            stderr=printed,
            timeout=200,
        ).returncode
    assert status == 0, log.read_text()[-5000:] + cluster.said()
    assert not list(output.rglob("*.tmp")), "what the lost executor had written is gone"
    assert_exact(output, more)
