"""Lists what the history does not know although the log has it."""

from __future__ import annotations

from kraftctl_spark.report.clauses import moment
from kraftctl_spark.report.contents import Listed, Unknown
from kraftctl_spark.report.queries.query import Query

ROWS_MAX = 20


def rows(query: Query) -> Listed[Unknown]:
    """Returns what was not known at some time of the period, the first ones first."""
    period = query.period
    return query.db.listed(
        Unknown,
        f"""SELECT start_offset, epoch_ms(start_time) AS start_ms, end_offset, reason, subject, records
            FROM not_known
            WHERE (start_time IS NULL OR start_time < {moment(period.end_ms)})
              AND (end_time IS NULL OR end_time >= {moment(period.start_ms)})""",
        "start_offset, subject",
        ROWS_MAX,
    )
