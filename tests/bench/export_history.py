"""The history at size: how fast the stage is, alone and with a small batch, each question, and the report."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kraftctl_protocol.record_batch import RecordBatch, read_batches
from kraftctl_spark.history.history_tables import HistoryTables
from kraftctl_spark.history.questions.questions import sources
from kraftctl_spark.log.log_location import DirectoryLocation
from kraftctl_spark.log.log_range import LogRange
from kraftctl_spark.report.period import shown_time
from kraftctl_spark.report.queries.fetch import fetch
from kraftctl_spark.rows.log_rows import rows_of_log
from kraftctl_spark.tables.export_tasks import ExportTask, TaskSettings, write_range
from kraftctl_spark.tables.manifest import Manifest
from kraftctl_spark.tables.output import Output
from kraftctl_spark.tables.table_files import publish_files
from tests.bench import export_log, export_ready
from tests.bench.table import Row
from tests.spark.history.asked import SparkHistory, compute, in_duckdb
from tests.spark.history.asked_macros import QUESTIONS, about, with_macros
from tests.spark.page_counts import differences

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

RECORDS = 2_000_000
PARTITIONS = 100_000
SMALL_BATCH = 100
RECORDS_PER_RANGE = 40_000
CLUSTER_ID = "c0ffeec0ffeec0ffeec0ff"
TIMES = 3
"""Each question is asked as often, and the best time counts: the first time, files are not in memory yet."""

SHUFFLE_PARTITIONS = 8
"""For two cores. Spark's 200 are for clusters: starting them takes up to 1.5 s of these responses."""

VIEW = "Spark view"
DUCKDB_MAX_MS = 1_000
SPARK_MAX_MS = 3_000
ALL_IN_SPARK_MAX_MS = 6_000
ALL_STATES_OR_EVENTS = ("election_causes", "isr_changes", "minutes_under_min_isr", "typed_events")
"""The questions with nearly all states or events, which a warm Spark on two cores reads in a second."""

REPORT_MAX_S = 20.0
REPORT_OF_AN_HOUR_MAX_S = 10.0

HOUR_MS = 3_600_000


@dataclass(frozen=True)
class Size:
    """Of the log."""

    records: int
    partitions: int

    @property
    def topics(self) -> int:
        return self.partitions // export_log.PARTITIONS_PER_TOPIC


@dataclass
class HistoryTimes:
    """What was measured."""

    stage_us: float = 0.0
    """Per record."""
    alone_us: float = 0.0
    """Per record, of pyarrow alone: one process that writes the rows of the history."""
    small_batch_ms: float = 0.0
    load_ms: float = 0.0
    """What a new process needs before its first batch."""
    questions_ms: dict[tuple[str, str], float] = field(default_factory=dict)
    """By engine and question, or `VIEW` and the name of the view."""
    report_s: float = 0.0
    """The whole command, with the start of Python."""
    report_of_an_hour_s: float = 0.0

    def rows(self) -> list[Row]:
        return [
            Row("history stage", self.stage_us, "us/record", "pyarrow alone, its rows", self.alone_us),
            Row(f"history: {SMALL_BATCH} more records", self.small_batch_ms, "ms"),
            Row("history: the same, in a new process", self.load_ms, "ms"),
            Row("report", self.report_s, "s", at_most=REPORT_MAX_S),
            Row("report of one hour", self.report_of_an_hour_s, "s", at_most=REPORT_OF_AN_HOUR_MAX_S),
            *(
                Row(f"{engine}: {question}", took_ms, "ms", at_most=_most_ms(engine, question))
                for (engine, question), took_ms in self.questions_ms.items()
            ),
        ]


def _most_ms(engine: str, question: str) -> float:
    if engine == "DuckDB":
        return DUCKDB_MAX_MS
    return ALL_IN_SPARK_MAX_MS if question in ALL_STATES_OR_EVENTS else SPARK_MAX_MS


def measure(
    spark: SparkSession | None, scratch: Path, size: Size, say: Callable[[str], None]
) -> HistoryTimes:
    """Without Spark, only DuckDB is asked."""
    raw, output = scratch / "history-tables", scratch / "history"
    log = SyntheticTables(raw, size)
    log.write(size.records)
    times, history = HistoryTimes(), HistoryTables(raw, output)
    say("computing versions")
    times.stage_us = _took_ms(history.catch_up) * 1e3 / size.records
    export_ready.make_ready(output, scratch / "history-ready")
    took = export_ready.alone("tables", scratch / "history-ready", scratch / "history-alone")
    times.alone_us = took["wall_s"] * 1e6 / size.records
    log.write(SMALL_BATCH)
    times.small_batch_ms = _took_ms(history.catch_up)
    log.write(SMALL_BATCH)
    times.load_ms = _took_ms(HistoryTables(raw, output).catch_up)
    say("making the report")
    times.report_s = _best_ms(partial(_report, raw, output)) / 1e3
    hour = _middle_hour(size.records)
    times.report_of_an_hour_s = _best_ms(partial(_report, raw, output, *hour)) / 1e3
    values = parameters(size.records)
    say("asking DuckDB")
    with in_duckdb(output) as asked:
        for question in sources():
            times.questions_ms["DuckDB", question] = _best_ms(partial(asked.ask, question, **values))
        assert not [*differences(asked, fetch(raw, output, None, None))]
    with with_macros(raw, output, scratch, "--audit-log", str(_audit_log(scratch, size))) as named:
        for question in QUESTIONS:
            asked_here = about(question, _names(size.records))
            times.questions_ms["DuckDB", question] = _best_ms(partial(named.rows, asked_here))
    if spark is not None:
        say("asking Spark")
        spark.conf.set("spark.sql.shuffle.partitions", SHUFFLE_PARTITIONS)
        in_spark = SparkHistory(spark, output)
        for question in sources():
            times.questions_ms["Spark", question] = _best_ms(partial(in_spark.compute, question, **values))
        say("reading views")
        for name, view in _views(spark, raw, output, size.records):
            times.questions_ms[VIEW, name] = _best_ms(partial(compute, view))
    return times


def _audit_log(scratch: Path, size: Size) -> Path:
    """A request for each topic, and one for every thousandth record."""
    path = scratch / "audit.log"
    offsets = [*range(size.topics), *range(0, size.records, 1000)]
    line = '{{"outcome": "committed", "principal": "User:alice", "first_offset": {0}, "last_offset": {0}}}\n'
    path.write_text("".join(map(line.format, offsets)))
    return path


def _names(records: int) -> dict[str, str]:
    """What the documented questions are about, in this log."""
    values = parameters(records)
    in_hours = {f"2026-11-21T{hour}:00:00Z": values["from_time"] for hour in ("00", "12")}
    until = {f"2026-11-2{end}:00:00Z": values["until_time"] for end in ("1T13", "2T00")}
    return in_hours | until | {"4000": str(values["as_of"]), "'orders'": f"'{values['topic']}'"}


def _report(raw: Path, history: Path, *period: str) -> None:
    """As a user makes it: a command in a process of its own."""
    page = raw.with_name("report.html")
    command = [sys.executable, "-m", "kraftctl_spark.cli", "report"]
    flags = [f"--output={raw}", f"--history={history}", f"--to={page}", *period]
    done = subprocess.run([*command, *flags], stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0, done.stderr


def _middle_hour(records: int) -> list[str]:
    """Or the first one, if there is no more."""
    span_ms = records // (export_log.BATCH_RECORDS_MAX // 2) * export_log.BATCH_INTERVAL_MS
    start_ms = export_log.FIRST_TIMESTAMP_MS + max(0, span_ms - HOUR_MS) // 2
    return [f"--from={shown_time(start_ms)}Z", f"--until={shown_time(start_ms + HOUR_MS)}Z"]


def _views(spark: SparkSession, raw: Path, history: Path, records: int) -> Iterator[tuple[str, DataFrame]]:
    """All views, the state at a point in the past, and a difference: each is made once, then only read."""
    from kraftctl_spark.views import diff, register_views, state_at

    for name in register_views(spark, raw, prefix="view_", history=history):
        yield name.removeprefix("view_"), spark.table(name)
    values = parameters(records)
    past = state_at(spark, raw, offset=values["as_of"], prefix="past_", history=history)
    yield "partitions as of an offset", past["partitions"]
    before, after = values["from_offset"], values["to_offset"]
    yield "difference of two offsets", diff(spark, raw, before, after, history=history)


def parameters(records: int) -> dict[str, Any]:
    """A point at three quarters of the log, and a twentieth of it for differences."""
    at = records * 3 // 4
    return {
        "as_of": at,
        "from_offset": at,
        "to_offset": at + records // 20,
        "batch_offset": at,
        "topic": "topic-1",
        "from_time": "2023-11-14 22:14:00+00:00",
        "until_time": "2023-11-14 22:20:00+00:00",
        "of_topic": "topic-1",
        "of_principal": "User:alice",
        "of_operation": "READ",
        "of_resource_type": "TOPIC",
        "of_resource": "topic-1",
    }


class SyntheticTables:
    """Typed tables of a log that is drawn, written in this process."""

    def __init__(self, directory: Path, size: Size) -> None:
        directory.mkdir()
        self._output = Output(directory)
        self._settings = TaskSettings(directory, DirectoryLocation(directory), CLUSTER_ID)
        self._batches = self._drawn(size)
        self._end = 0

    def _drawn(self, size: Size) -> Iterator[RecordBatch]:
        for batch in export_log.batches(2 * size.records, topics=size.topics):
            yield from read_batches(batch)

    def write(self, records: int) -> None:
        """At least so many more, in one manifest."""
        start, files = self._end, []
        with self._output.locked():
            while self._end < start + records:
                files += self._range(min(RECORDS_PER_RANGE, start + records - self._end))
            published = publish_files(self._output.directory, files)
            counts = {"records": self._end - start}
            self._output.commit(
                Manifest(CLUSTER_ID, start, self._end, export_log.EPOCH, published, counts, self._end)
            )

    def _range(self, records: int) -> list:
        first, batches = self._end, []
        while self._end < first + records:
            batches.append(next(self._batches))
            self._end = batches[-1].header.last_offset + 1
        task = ExportTask(LogRange(first, self._end, export_log.EPOCH))
        return list(write_range(self._settings, task, rows_of_log(batches, first, self._end)).files)


def _best_ms(ask: Callable[[], object]) -> float:
    return min(_took_ms(ask) for _ in range(TIMES))


def _took_ms(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1e3
