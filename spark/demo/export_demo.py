"""`make export-demo`: a page of plots about a real cluster, in two minutes.

One kraftctl controller and three Apache Kafka brokers live through `history`, then `kraftctl-export run`
writes their metadata log as tables, `kraftctl-export report` makes the page, and DuckDB answers three
questions. The cluster is gone afterwards; tables and page stay. The exporter is used as anybody would: as a
command.
"""

from __future__ import annotations

import argparse
import importlib.util
import shutil
import signal
import sys
import time
from pathlib import Path
from types import FrameType

from confluent_kafka import KafkaException

from kraftctl.dev.cluster import Cluster
from kraftctl.dev.kafka_distribution import KafkaUnavailableError, print_progress, resolve_kafka
from kraftctl.dev.processes import ManagedProcess, ProcessFailedError

sys.path.insert(0, str(Path(__file__).parent))
from history import History  # type: ignore[import-not-found]

MARKER = "export-demo.txt"
"""Marks a directory of an earlier run, which may be emptied."""

SESSION_TIMEOUT_MS = 4_000
"""The timeout is shorter than Kafka's 9 seconds, so that brokers are fenced sooner."""

AUTHORIZER = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
}
"""The demo needs one, because access control entries are refused without an authorizer."""

EXPORTER_ENVIRONMENT = {
    "PYSPARK_PYTHON": sys.executable,
    "PYSPARK_SUBMIT_ARGS": "--master local[2] --driver-memory 600m --conf spark.ui.enabled=false"
    " pyspark-shell",
    "SPARK_LOCAL_IP": "127.0.0.1",
}
EXPORT_TIMEOUT_S = 300.0
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stopped(BaseException):
    """The demo was stopped by Ctrl-C, SIGTERM or SIGHUP."""


def main(arguments: list[str] | None = None) -> int:
    """Returns 0 when the page is written, 1 after a failure, 130 after a signal."""
    parser = argparse.ArgumentParser(prog="export_demo.py", description=__doc__.splitlines()[0])
    parser.add_argument("--directory", type=Path, default=Path("export-demo"), help="[./export-demo]")
    options = parser.parse_args(arguments)
    for number in STOP_SIGNALS:
        signal.signal(number, _stop)
    try:
        page = Demo(options.directory.absolute()).run()
    except Stopped:
        print("Stopped; everything that was started has ended.", flush=True)
        return 130
    except (DemoError, KafkaException, KafkaUnavailableError, ProcessFailedError, TimeoutError) as error:
        print(f"export-demo: {error}", file=sys.stderr)
        return 1
    print(_what_to_look_at(page), flush=True)
    return 0


def _stop(number: int, frame: FrameType | None) -> None:
    for ignored in STOP_SIGNALS:
        signal.signal(ignored, signal.SIG_IGN)
    raise Stopped


class DemoError(Exception):
    """The demo cannot run like this; the message says what to do."""


class Demo:
    """One run of the demo, in one directory."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._began = time.monotonic()

    def run(self) -> Path:
        """Runs the demo and returns the page."""
        missing = [
            name
            for name in ("pyspark", "pyarrow", "duckdb", "plotly")
            if importlib.util.find_spec(name) is None
        ]
        if missing:
            raise DemoError(f"{', '.join(missing)} not installed: pip install '.[spark,report]'")
        kafka = resolve_kafka(progress=print_progress)
        self._empty_directory()
        cluster = Cluster(
            kafka,
            self._directory / "cluster",
            controller_settings={"broker.session.timeout.ms": str(SESSION_TIMEOUT_MS), **AUTHORIZER},
            broker_settings=AUTHORIZER,
        )
        tables, page = self._directory / "tables", self._directory / "report.html"
        self._announce("start a kraftctl controller and three Apache Kafka brokers")
        with cluster:
            History(cluster, self._announce).play()
            self._announce("kraftctl-export run: the metadata log as typed Parquet tables")
            self._export(
                "run",
                "--bootstrap-controllers",
                cluster.bootstrap_controllers,
                "--available-now",
                "--history",
                "--output",
                str(tables),
            )
            self._announce("stop the cluster")
        self._announce("kraftctl-export report: tables to a page of plots")
        self._export("report", "--output", str(tables), "--to", str(page))
        self._ask(tables / "history")
        shutil.rmtree(self._directory / "cluster")
        return page

    def _ask(self, history: Path) -> None:
        from questions import answers  # type: ignore[import-not-found]

        self._announce("DuckDB: three questions to the history, in plain SQL")
        for answer in answers(history):
            print(answer, flush=True)

    def _announce(self, text: str) -> None:
        print(f"[{time.monotonic() - self._began:5.1f} s] {text}", flush=True)

    def _empty_directory(self) -> None:
        if (
            self._directory.exists()
            and not (self._directory / MARKER).exists()
            and any(self._directory.iterdir())
        ):
            raise DemoError(f"{self._directory} is not of an earlier demo: choose another --directory")
        shutil.rmtree(self._directory, ignore_errors=True)
        self._directory.mkdir(parents=True)
        (self._directory / MARKER).write_text(
            "Made by `make export-demo`, which empties this directory each time.\n"
        )

    def _export(self, command: str, *flags: str) -> None:
        process = ManagedProcess(
            f"kraftctl-export {command}",
            [sys.executable, "-m", "kraftctl_spark.cli", command, *flags],
            self._directory / f"{command}.log",
            EXPORTER_ENVIRONMENT,
        )
        try:
            status = process.wait(EXPORT_TIMEOUT_S)
            if status != 0:
                raise ProcessFailedError(f"{process.name} ended with {status}\n{process.tail()}")
        finally:
            process.kill_group()


def _what_to_look_at(page: Path) -> str:
    return f"""
The report is ready; open it in a browser:

  {page.as_uri()}

Timeline    one axis of time: drag to zoom in, all plots follow; the brokers' bars are its last rows
Fencing     broker 3 was killed twice and broker 1 once; broker 2 stopped in order, once
Elections   one is unclean, of topic "fragile": its newer replica was dead, so it was leaderless before
Configs     point at a mark: value before and after; cleanup.policy of "orders" was removed again
Growth      four partitions came to "orders"; "audit" was deleted and created again, as another topic
Rights      the ACL, the quota and the SCRAM credential of alice; its salt and keys are not in the tables

The tables are in {page.with_name("tables")}: ask them with
  DuckDB (spark/HISTORY.md has the questions), kraftctl_spark.views (spark/VIEWS.md), or anything that
  reads Parquet."""


if __name__ == "__main__":
    sys.exit(main())
