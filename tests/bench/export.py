"""How fast metadata becomes Parquet, compared with pyarrow. `make bench-export` fails on a missed target.

A kraftctl controller in another process loads a log of `--records` records. Then, `--runs` times in turn:

* pyarrow alone: one process writes the rows to the files of an export, with the same row groups, zstd, each
  file forced to the disk, then the directories; and once more to one file per table. Its time begins after
  its imports, and when all rows are in memory: they are Arrow files, read once, then mapped;
* end to end: `kraftctl-export run --available-now` in a Spark session (local[2]) that has run one before. Its
  time is from the start of the command to its end: planning, starting the query, fetching (with the
  controller's work), decoding, redacting, writing, fsync, manifests; without the JVM's start and the driver's
  imports; then the same with `--history`, compared with pyarrow alone writing the rows of both;
* local: the same command with `--engine local --workers 2`, whose time contains the start of its workers;
* write step: Spark's tasks, run like those of an export, map the same Arrow files and write the same files
  and manifests. Its time is all of that: starting tasks, mapping, writing, fsync, commits. The JVM and its
  Python workers run by then, since they did the export just before;
* history: the stage computes the versions of a log of its own, of `--history-records` records with as many
  partitions as `--history-partitions`, then continues them with a small batch, and answers every question in
  plain SQL, in DuckDB and in a warm Spark, which also reads every view. Its time is that of the stage alone,
  in this process, with threads for two cores. It is compared with one more process of pyarrow alone, which
  writes the rows of the history;
* report: the command `kraftctl-export report`, with the start of its process, of that history: of the whole
  log, and of one hour;
* source: rows of `format("kraft")` into Spark's noop sink, as Arrow batches and as tuples, ready ones (one
  batch again and again, hence no reading) and decoded ones. Their time is that of the whole query.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

# At the end of the path, so that what is installed (and compiled) comes before the sources.
sys.path.append(str(Path(__file__).resolve().parents[2]))

from pyspark import cloudpickle
from pyspark.sql import SparkSession

from kraftctl.dev.nodes import KraftctlController
from kraftctl.dev.settings import random_id
from kraftctl_spark import cli
from kraftctl_spark.commands.history import DIRECTORY as HISTORY_DIRECTORY
from kraftctl_spark.commands.run import OFFSETS_PER_BATCH
from kraftctl_spark.datasource.spark_home import light_spark_home
from kraftctl_spark.datasource.spark_session import build_session
from kraftctl_spark.datasource.table_stream import map_in_tasks
from kraftctl_spark.tables.manifest import Manifest
from kraftctl_spark.tables.output import Output
from kraftctl_spark.tables.table_files import RangeWriter, StagedFile, publish_files
from tests.bench import codec, export_history, export_log, export_ready, export_sources
from tests.bench.export_measured import (
    ALONE,
    ALONE_BY_TABLE,
    DECODED_ARROW,
    DECODED_TUPLES,
    END_TO_END,
    HISTORY_ALONE,
    LOCAL,
    READY_ARROW,
    READY_TUPLES,
    WITH_HISTORY,
    WRITE,
    Measured,
    Sample,
)
from tests.bench.processes import DRIVER, ProcessWatch
from tests.bench.table import Row, render
from tests.support import metadata_row

RECORDS = 5_000_000
RUNS = 5
READY_RECORDS = 2_000_000
"""Every query takes a third of a second: these are enough rows for that not to matter."""
DECODED_RECORDS = 500_000
READY_BATCH_ROWS = 10_000
START_TIMEOUT_S = 600.0
NEVER = str(2**60)
SPARK_ARGUMENTS = (
    "--driver-memory 600m --conf spark.ui.enabled=false --conf spark.ui.showConsoleProgress=false "
    "--conf spark.driver.bindAddress=127.0.0.1 --conf spark.driver.host=127.0.0.1 pyspark-shell"
)


def say(text: str) -> None:
    print(f"[{time.strftime('%H:%M:%S')}] {text}", file=sys.stderr, flush=True)


@contextmanager
def controller(directory: Path, records: int) -> Iterator[KraftctlController]:
    """The only voter; it has loaded the log, and writes no snapshot."""
    node = KraftctlController(
        1,
        directory,
        random_id(),
        properties={
            "metadata.log.max.record.bytes.between.snapshots": NEVER,
            "metadata.log.max.snapshot.interval.ms": "0",
        },
    )
    node.format()
    say(f"writing a log of {records:,} records")
    size_bytes = export_log.write_log(node.metadata_directory, records)
    say(f"{size_bytes / 1e6:.0f} MB; the controller loads it")
    node.start(timeout_s=START_TIMEOUT_S)
    try:
        yield node
    finally:
        node.stop()


class Bench:
    """The state that all measurements share."""

    def __init__(
        self, spark: SparkSession, node: KraftctlController, scratch: Path, records: int, measured: Measured
    ) -> None:
        self._spark = spark
        self._node = node
        self._scratch = scratch
        self._records = records
        self._measured = measured
        self._ready = scratch / "ready"
        self._ready_history = scratch / "ready-history"
        self._batch_file = scratch / "batch.arrow"

    def prepare(self) -> None:
        """One export that is not counted; its tables and its history are the ready rows."""
        say("exporting once to warm up")
        exported = self._export("--history")
        say("making ready rows of it")
        count = export_ready.make_ready(exported, self._ready)
        assert count >= self._records, f"{count} of {self._records} records are in the tables"
        export_ready.make_ready(exported / HISTORY_DIRECTORY, self._ready_history)
        shutil.rmtree(exported)
        first = min(self._records // 2, self._records - READY_BATCH_ROWS)
        batch = export_sources.ready_batch(
            self._node.address, self._node.cluster_id, max(first, 0), READY_BATCH_ROWS
        )
        export_sources.write_batch(batch, self._batch_file)
        for source in (export_sources.ReadyRowsDataSource, export_sources.DecodedRowsDataSource):
            self._spark.dataSource.register(source)
        say("reading once to warm up")
        for kind in ("arrow", "tuples"):
            self._read_ready(kind)
            self._read_decoded(kind)

    def run(self, number: int, runs: int) -> None:
        self._alone(ALONE, "files", self._ready)
        self._alone(ALONE_BY_TABLE, "tables", self._ready)
        self._alone(HISTORY_ALONE, "tables", self._ready_history)
        self._measure(END_TO_END, self._export)
        shutil.rmtree(self._scratch / "export")
        self._measure(WITH_HISTORY, partial(self._export, "--history"))
        shutil.rmtree(self._scratch / "export")
        self._measure(LOCAL, partial(self._export, "--engine", "local", "--workers", "2"))
        shutil.rmtree(self._scratch / "export")
        self._measure(WRITE, self._write)
        self._measure(READY_ARROW, lambda: self._read_ready("arrow"))
        self._measure(READY_TUPLES, lambda: self._read_ready("tuples"))
        self._measure(DECODED_ARROW, lambda: self._read_decoded("arrow"))
        self._measure(DECODED_TUPLES, lambda: self._read_decoded("tuples"))
        say(f"run {number} of {runs} done")

    def _measure(self, what: str, run: Callable[[], object]) -> None:
        with ProcessWatch() as watch:
            started = time.perf_counter()
            run()
            wall_s = time.perf_counter() - started
        self._took(what, Sample(wall_s, watch.cpu_s(), watch.peak_bytes))

    def _took(self, what: str, sample: Sample) -> None:
        self._measured.add(what, sample)
        say(f"{what}: {sample.wall_s:.2f} s, {sum(sample.cpu_s.values()):.2f} CPU s, load {sample.load:.1f}")

    def _alone(self, what: str, way: str, ready: Path) -> None:
        took = export_ready.alone(way, ready, self._scratch / "alone")
        self._took(what, Sample(took["wall_s"], {DRIVER: took["cpu_s"]}))

    def _export(self, *flags: str) -> Path:
        """`kraftctl-export run` in this process and session."""
        output = self._scratch / "export"
        arguments = ["run", "--bootstrap-controllers", self._node.address, "--output", str(output), *flags]
        with mock.patch.object(SparkSession, "stop"):
            spark = () if "--engine" in flags else ("--master", "local[2]")
            status = cli.main([*arguments, "--available-now", *spark])
        assert status == 0, f"the export ended with {status}"
        return output

    def _write(self) -> None:
        directory = self._scratch / "written"
        directory.mkdir()
        output = Output(directory)
        names = export_ready.ranges(self._ready)
        per_manifest = max(1, OFFSETS_PER_BATCH * len(names) // self._records)
        with output.locked():
            for first in range(0, len(names), per_manifest):
                self._write_some(output, names[first : first + per_manifest])
        shutil.rmtree(directory)

    def _write_some(self, output: Output, names: list[str]) -> None:
        ready, directory = self._ready, output.directory

        def write(name: str) -> list[StagedFile]:
            with RangeWriter(directory, name) as writer:
                writer.add(dict(export_ready.tables_of(ready, name)))
                return writer.finish()

        staged = [file for some in map_in_tasks(self._spark, write, names) for file in some]
        start, end = int(names[0][:20]), int(names[-1][-20:]) + 1
        output.commit(
            Manifest(
                cluster_id=self._node.cluster_id,
                start=start,
                end=end,
                epoch=export_log.EPOCH,
                files=publish_files(directory, staged),
                counts={"records": end - start},
                high_watermark=end,
            )
        )

    def _read_ready(self, kind: str) -> None:
        times = self._measured.counts[READY_ARROW] // READY_BATCH_ROWS // 2
        options = {"batch": str(self._batch_file), "times": str(times), "as": kind}
        self._read(export_sources.ReadyRowsDataSource.name(), options)

    def _read_decoded(self, kind: str) -> None:
        options = {
            "bootstrapControllers": self._node.address,
            "clusterId": self._node.cluster_id,
            "count": str(self._measured.counts[DECODED_ARROW]),
            "as": kind,
        }
        self._read(export_sources.DecodedRowsDataSource.name(), options)

    def _read(self, source: str, options: dict[str, str]) -> None:
        rows = self._spark.read.format(source).options(**options).load()
        rows.write.format("noop").mode("overwrite").save()


def session() -> Any:
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_SUBMIT_ARGS", SPARK_ARGUMENTS)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    for module in (export_log, export_ready, export_sources, metadata_row, sys.modules[__name__]):
        cloudpickle.register_pickle_by_value(module)
    spark = build_session("local[2]")
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="make bench-export", description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, default=RECORDS, help=f"in the log [{RECORDS}]")
    parser.add_argument("--runs", type=int, default=RUNS, help=f"of which the medians are taken [{RUNS}]")
    parser.add_argument(
        "--history-records", type=int, default=export_history.RECORDS, help=f"[{export_history.RECORDS}]"
    )
    parser.add_argument(
        "--history-partitions",
        type=int,
        default=export_history.PARTITIONS,
        help=f"[{export_history.PARTITIONS}]",
    )
    parser.add_argument("--only", choices=["history"], help="measure only this")
    options = parser.parse_args(arguments)
    if not codec.compiled():
        print("These are the sources, uncompiled: the numbers say little. `make` compiles first.")
    rows = _only_history(options) if options.only else _everything(options)
    print(render(rows))
    missed = [row for row in rows if row.met is False]
    print(f"\n{len(missed)} of {sum(row.met is not None for row in rows)} targets missed")
    return 1 if missed else 0


def _history(options: argparse.Namespace, spark: SparkSession, scratch: Path) -> export_history.HistoryTimes:
    say(f"history of {options.history_records:,} records, {options.history_partitions:,} partitions")
    size = export_history.Size(options.history_records, options.history_partitions)
    return export_history.measure(spark, scratch, size, say)


def _only_history(options: argparse.Namespace) -> list[Row]:
    with TemporaryDirectory(prefix="bench-export-") as scratch, light_spark_home():
        spark = session()
        times = _history(options, spark, Path(scratch))
        spark.stop()
    return times.rows()


def _everything(options: argparse.Namespace) -> list[Row]:
    measured = Measured(
        {
            **dict.fromkeys(
                (ALONE, ALONE_BY_TABLE, HISTORY_ALONE, END_TO_END, WITH_HISTORY, LOCAL, WRITE),
                options.records,
            ),
            **dict.fromkeys((READY_ARROW, READY_TUPLES), READY_RECORDS),
            **dict.fromkeys((DECODED_ARROW, DECODED_TUPLES), min(DECODED_RECORDS, options.records)),
        }
    )
    with TemporaryDirectory(prefix="bench-export-") as scratch, light_spark_home():
        with controller(Path(scratch) / "controller", options.records) as node:
            say("starting Spark")
            spark = session()
            bench = Bench(spark, node, Path(scratch), options.records, measured)
            bench.prepare()
            for number in range(1, options.runs + 1):
                bench.run(number, options.runs)
        times = _history(options, spark, Path(scratch))
        spark.stop()
    print("\n".join(measured.lines()))
    return [*measured.rows(), *times.rows()]


if __name__ == "__main__":
    sys.exit(main())
