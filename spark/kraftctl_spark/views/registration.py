"""Registers the views with a Spark session: history, state at a point, differences between two points."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from kraftctl_spark.log.local_path import local_path
from kraftctl_spark.views import configs, keyed, partitions, topics
from kraftctl_spark.views.brokers import brokers, fencing_timeline
from kraftctl_spark.views.difference import difference
from kraftctl_spark.views.elections import elections, elections_per_broker
from kraftctl_spark.views.growth import growth_per_hour
from kraftctl_spark.views.isr import isr_changes, isr_churn_per_hour
from kraftctl_spark.views.log import Log, UnknownPointError
from kraftctl_spark.views.outages import availability_per_hour, outages, partition_availability
from kraftctl_spark.views.quorum import quorum_changes
from kraftctl_spark.views.reassignments import reassignments
from kraftctl_spark.views.tables import open_tables

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

View = Callable[[Log], str]

STATE_VIEWS: dict[str, View] = {
    "topics": topics.topics,
    "partitions": partitions.partitions,
    "brokers": brokers,
    "controllers": keyed.controllers,
    "configs": configs.configs,
    "acls": keyed.acls,
    "quotas": keyed.quotas,
    "features": keyed.features,
    "scram_credentials": keyed.scram_credentials,
    "delegation_tokens": keyed.delegation_tokens,
    "producer_ids": keyed.producer_ids,
}

HISTORY_VIEWS: dict[str, View] = {
    "topic_history": topics.topic_history,
    "partition_history": partitions.partition_history,
    "isr_changes": isr_changes,
    "isr_churn_per_hour": isr_churn_per_hour,
    "fencing_timeline": fencing_timeline,
    "elections": elections,
    "elections_per_broker": elections_per_broker,
    "outages": outages,
    "partition_availability": partition_availability,
    "availability_per_hour": availability_per_hour,
    "config_audit": configs.config_audit,
    "growth_per_hour": growth_per_hour,
    "reassignments": reassignments,
    "quorum_changes": quorum_changes,
}

Point = int | str | datetime
"""An offset, or a time: an ISO string with a zone, or an aware datetime."""


def register_views(spark: SparkSession, directory: Path | str) -> list[str]:
    """Registers the tables, all history views, and the state views at the end; returns their names."""
    log = _log(spark, directory)
    _register(spark, "log_stretches", _log_stretches(log))
    for name, view in HISTORY_VIEWS.items():
        _register(spark, name, view(log))
    _register_state(spark, log, log.last.end - 1, "")
    return ["log_stretches", *HISTORY_VIEWS, *STATE_VIEWS]


def state_at(
    spark: SparkSession,
    directory: Path | str,
    *,
    offset: int | None = None,
    time: str | datetime | None = None,
    prefix: str = "",
) -> dict[str, DataFrame]:
    """The state views at an offset or a time, by name; registered as `prefix` + name.

    UnknownPointError when the tables do not contain the state at that point.
    """
    if (offset is None) == (time is None):
        raise ValueError("state_at: give either offset=... or time=...")
    log = _log(spark, directory)
    point = offset if offset is not None else time
    assert point is not None
    return _register_state(spark, log, _offset(spark, log, point), prefix)


def diff(spark: SparkSession, directory: Path | str, before: Point, after: Point) -> DataFrame:
    """One row for every field that differs between two points; columns as in VIEWS.md."""
    log = _log(spark, directory)
    first, second = (log.cut(_offset(spark, log, point)) for point in (before, after))
    return spark.sql(difference(STATE_VIEWS, first, second))


def _log(spark: SparkSession, directory: Path | str) -> Log:
    _, log = open_tables(spark, local_path(directory))
    if not log.known_ranges:
        raise UnknownPointError(f"{directory} holds no committed batch yet: run kraftctl-export first")
    return log


def _register_state(spark: SparkSession, log: Log, offset: int, prefix: str) -> dict[str, DataFrame]:
    cut = log.cut(offset)
    return {name: _register(spark, prefix + name, view(cut)) for name, view in STATE_VIEWS.items()}


def _register(spark: SparkSession, name: str, text: str) -> DataFrame:
    frame = spark.sql(text)
    frame.createOrReplaceTempView(name)
    return frame


def _log_stretches(log: Log) -> str:
    rows = ", ".join(
        f"({one.start}L, timestamp_millis({one.start_ms}), {one.end}L, timestamp_millis({one.end_ms}), "
        f"{str(one.from_snapshot).lower()})"
        for one in log.known_ranges
    )
    return f"SELECT * FROM VALUES {rows} AS (start_offset, start_time, end_offset, end_time, from_snapshot)"


def _offset(spark: SparkSession, log: Log, point: Point) -> int:
    """The offset of a point; for a time, that of the last record whose timestamp is not later."""
    if isinstance(point, int):
        return point
    when = datetime.fromisoformat(point) if isinstance(point, str) else point
    if when.tzinfo is None:
        raise ValueError(f"{point} has no time zone: write it like 2026-11-21T12:00:00Z")
    micros = round(when.timestamp() * 1_000_000)
    found = spark.sql(
        f"SELECT max(CASE WHEN time <= timestamp_micros({micros}) THEN at END), unix_micros(max(time)) "
        f"FROM {log.rows('records', aborted=True)}"
    ).first()
    assert found is not None
    offset, known_until_us = found
    if known_until_us is not None and micros > known_until_us:
        until = datetime.fromtimestamp(known_until_us / 1_000_000, UTC).isoformat(timespec="milliseconds")
        raise UnknownPointError(
            f"{point} is not known yet: the tables end at {until}, with offset {log.last.end - 1}. Choose an "
            "earlier time, or offset=..., or export more"
        )
    known = [one for one in log.known_ranges if offset is not None and one.first_known <= offset < one.end]
    if not known:
        raise UnknownPointError(f"{point} is before the first state in the tables")
    if known[0] != log.last and micros > known[0].end_ms * 1000:
        raise UnknownPointError(
            f"{point} is in a gap of the log, after offset {offset}: the state at that time is not known"
        )
    return int(offset)
