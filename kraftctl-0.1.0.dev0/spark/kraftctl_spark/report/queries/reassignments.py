"""Reassignments of replicas: from the record that begins one to the one that completes or cancels it."""

from __future__ import annotations

from kraftctl_spark.report.clauses import partition_name, text_of
from kraftctl_spark.report.contents import KindCount, Listed, Reassignment
from kraftctl_spark.report.queries.answers import answer
from kraftctl_spark.report.queries.query import Query

REASSIGNMENTS_MAX = 500


def prepare(query: Query) -> None:
    """Makes `reassignments`, those that overlap the period; with null for an unknown start."""
    start_ms, end_ms = query.period.start_ms, query.period.end_ms
    query.db.do(f"""
        CREATE TEMP TABLE reassignments AS
        SELECT {partition_name("names.topic")} AS partition, coalesce(start_ms, {start_ms}) AS start_ms,
               CASE WHEN outcome = 'running' THEN {end_ms} - coalesce(start_ms, {start_ms})
                    ELSE duration_ms END AS duration_ms,
               outcome, {text_of("old_replicas")} AS old_replicas, {text_of("new_replicas")} AS new_replicas
        FROM (SELECT *, epoch_ms(start_time) AS start_ms, epoch_ms(end_time) AS end_ms
              FROM {answer("reassignments")}) JOIN names USING (topic_id)
        WHERE coalesce(start_ms, {start_ms}) < {end_ms} AND coalesce(end_ms, {end_ms}) >= {start_ms}""")


def longest(query: Query) -> Listed[Reassignment]:
    order = "duration_ms DESC NULLS LAST, start_ms, partition, outcome, old_replicas"
    return query.db.listed(Reassignment, "FROM reassignments", order, REASSIGNMENTS_MAX)


def outcomes(query: Query) -> tuple[KindCount, ...]:
    return query.db.all(
        KindCount, "SELECT outcome AS kind, count(*) AS count FROM reassignments GROUP BY 1 ORDER BY 1"
    )
