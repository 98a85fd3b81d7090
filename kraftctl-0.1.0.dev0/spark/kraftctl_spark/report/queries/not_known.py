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
        f"""SELECT start_offset, epoch_ms(start_time) AS start_ms, end_offset, reason, subject,
                   max(records) AS records, string_agg(lost, ', ') FILTER (reason <> 'never set') AS tables
            FROM (SELECT not_known.*,
                         CASE WHEN history_table IS NOT NULL THEN history_table
                              WHEN known_ranges.end_offset IS NOT NULL THEN 'everything' END AS lost
                  FROM not_known
                  LEFT JOIN known_ranges ON known_ranges.end_offset = not_known.start_offset
                  ORDER BY lost)
            WHERE (start_time IS NULL OR start_time < {moment(period.end_ms)})
              AND (end_time IS NULL OR end_time >= {moment(period.start_ms)})
            GROUP BY ALL""",
        "start_offset, subject",
        ROWS_MAX,
    )
