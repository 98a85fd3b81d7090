"""Registers the views with a Spark session: history, state at a point, differences between two points."""

from __future__ import annotations

import logging
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from kraftctl_spark.history.questions.questions import parameters_of, sources
from kraftctl_spark.history.schema import KNOWN_RANGES, OF_THE_LOG
from kraftctl_spark.history.versions.kinds import KINDS, QUORUM
from kraftctl_spark.log.local_path import local_path
from kraftctl_spark.rows.tables import RECORDS, table_schemas
from kraftctl_spark.views.difference import difference
from kraftctl_spark.views.log import LogHistory, UnknownPointError
from kraftctl_spark.views.registered_views import RegisteredViews
from kraftctl_spark.views.tables import open_tables

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

STATE_VIEWS = {kind.name: f"{kind.name}_at" for kind in KINDS if kind != QUORUM}
"""The views of the state, with their questions. Who leads the quorum is no metadata."""

HISTORY_VIEWS = tuple(name for name in sources() if not parameters_of(name))
"""The questions that have no parameter: each is a view."""

INTERNAL_PREFIX = "kraftctl_internal_"
"""The prefix of the tables that views are made of. A view stays with the files that they named when it
was made."""

logger = logging.getLogger(__name__)

Point = int | str | datetime
"""A point is an offset, or a time: an ISO string with a zone, or an aware datetime."""


def register_views(
    spark: SparkSession, directory: Path | str, prefix: str = "", history: Path | str | None = None
) -> list[str]:
    """Registers the tables, all history views, and the state views at the end, as `prefix` + name.

    They are made of the history, which is in `directory`/history unless it is given. ExportRefusedError
    without one; one that ends before the tables is where the views end, with a warning.
    Returns the names of the views. NameTakenError, with nothing registered, when a name is that of something
    else, such as a table of the user or the same view of another cluster.
    """
    log, cluster_id = _log(spark, directory, history)
    views = RegisteredViews(spark, cluster_id, at_point=False, prefix=prefix)
    names = [*OF_THE_LOG, *HISTORY_VIEWS, *STATE_VIEWS]
    views.check([*names, *table_schemas()])
    for table in table_schemas():
        views.register(table, spark.table(f"`{log.prefix}{table}`"))
    for name in OF_THE_LOG:
        views.register(name, spark.table(log.table(name)))
    for name in HISTORY_VIEWS:
        views.register(name, spark.sql(log.answer(name)))
    _register_state(views, log, log.end - 1)
    return [f"{prefix}{name}" for name in names]


def state_at(
    spark: SparkSession,
    directory: Path | str,
    *,
    offset: int | None = None,
    time: str | datetime | None = None,
    prefix: str | None = None,
    history: Path | str | None = None,
) -> dict[str, DataFrame]:
    """Returns the state views at an offset or a time, by name; registered as `prefix` + name.

    The default prefix is `at_OFFSET_`. UnknownPointError when the history does not contain the state at that
    point; all else as above.
    """
    if (offset is None) == (time is None):
        raise ValueError("state_at: give either offset=... or time=...")
    log, cluster_id = _log(spark, directory, history, (RECORDS,))
    given = offset if offset is not None else time
    assert given is not None
    point = _offset(spark, log, given)
    log.cut(point)
    views = RegisteredViews(
        spark, cluster_id, at_point=True, prefix=f"at_{point}_" if prefix is None else prefix
    )
    views.check(STATE_VIEWS)
    return _register_state(views, log, point)


def diff(
    spark: SparkSession,
    directory: Path | str,
    before: Point,
    after: Point,
    history: Path | str | None = None,
) -> DataFrame:
    """Returns one row for every field that differs between two points; columns as in VIEWS.md."""
    log, _ = _log(spark, directory, history, (RECORDS,))
    first, second = (log.cut(_offset(spark, log, point)) for point in (before, after))
    return spark.sql(difference(first, second))


def _log(
    spark: SparkSession,
    directory: Path | str,
    history: Path | str | None,
    tables: tuple[str, ...] | None = None,
) -> tuple[LogHistory, str]:
    """Returns the log, over tables with names of their own, and its cluster."""
    output = None if history is None else local_path(history)
    manifests, log = open_tables(spark, local_path(directory), INTERNAL_PREFIX, output, tables)
    return log, manifests[-1].cluster_id


def _register_state(views: RegisteredViews, log: LogHistory, offset: int) -> dict[str, DataFrame]:
    if lost := replace(log, as_of=offset).lost:
        logger.warning(
            "%s are not known at offset %d, because of records that were not understood: see not_known",
            *(", ".join(sorted(lost)), offset),
        )
    return {
        name: views.register(name, views.spark.sql(log.answer(question), args={"as_of": offset}))
        for name, question in STATE_VIEWS.items()
    }


def _offset(spark: SparkSession, log: LogHistory, point: Point) -> int:
    """Returns the offset of a point; for a time, that of the last record whose timestamp is not later.

    What is in a snapshot has the time of the last record in it.
    """
    if isinstance(point, int):
        return point
    when = datetime.fromisoformat(point) if isinstance(point, str) else point
    if when.tzinfo is None:
        raise ValueError(f"{point} has no time zone: write it like 2026-11-21T12:00:00Z")
    micros = round(when.timestamp() * 1_000_000)
    found = spark.sql(
        f"SELECT max(CASE WHEN time <= timestamp_micros({micros}) THEN at END), unix_micros(max(time)) "
        f"FROM (SELECT offset AS at, timestamp AS time FROM `{log.prefix}{RECORDS}` "
        f"WHERE offset < {log.last.end_offset} "
        f"UNION ALL SELECT start_offset, start_time FROM {log.table(KNOWN_RANGES)} WHERE from_snapshot)"
    ).first()
    assert found is not None
    offset, known_until_us = found
    if known_until_us is not None and micros > known_until_us:
        until = datetime.fromtimestamp(known_until_us / 1_000_000, UTC).isoformat(timespec="milliseconds")
        raise UnknownPointError(
            f"{point} is not known yet: the history ends at {until}, with offset "
            f"{log.last.end_offset - 1}. Choose an earlier time, or offset=..., or continue the history"
        )
    ranges = log.known_ranges
    known = [one for one in ranges if offset is not None and one.start_offset <= offset < one.end_offset]
    if not known:
        raise UnknownPointError(f"{point} is before the first state in the history")
    if known[0] != log.last and micros > (known[0].end_time_us or 0):
        raise UnknownPointError(
            f"{point} is in a gap of the log, after offset {offset}: the state at that time is not known"
        )
    return int(offset)
