"""Reassignments of replicas: from the record that begins one to the one that completes or cancels it."""

from __future__ import annotations

from kraftctl_spark.report.clauses import partition_name, text_of, without
from kraftctl_spark.report.contents import KindCount, Listed, Reassignment
from kraftctl_spark.report.queries.query import Query

REASSIGNMENTS_MAX = 500


def prepare(query: Query) -> None:
    """Makes `reassignments`, those that overlap the period; with null for an unknown start."""
    start_ms, end_ms = query.period.start_ms, query.period.end_ms
    query.db.do(f"CREATE TEMP TABLE moving AS {_MOVING}")
    query.db.do(f"""
        CREATE TEMP TABLE reassignments AS
        SELECT {partition_name()} AS partition, coalesce(start_ms, {start_ms}) AS start_ms,
               CASE WHEN outcome = 'running' THEN {end_ms} - coalesce(start_ms, {start_ms})
                    WHEN end_ms < start_ms THEN 0 ELSE end_ms - start_ms END AS duration_ms,
               outcome, old_replicas, new_replicas
        FROM ({_IN_SEVERAL_RECORDS} UNION ALL {_IN_ONE_RECORD}) JOIN names USING (topic_id)
        WHERE coalesce(start_ms, {start_ms}) < {end_ms} AND coalesce(end_ms, {end_ms}) >= {start_ms}""")


def longest(query: Query) -> Listed[Reassignment]:
    order = "duration_ms DESC NULLS LAST, start_ms, partition"
    return query.db.listed(Reassignment, "FROM reassignments", order, REASSIGNMENTS_MAX)


def outcomes(query: Query) -> tuple[KindCount, ...]:
    return query.db.all(
        KindCount, "SELECT outcome AS kind, count(*) AS count FROM reassignments GROUP BY 1 ORDER BY 1"
    )


_MOVING = """
    SELECT topic_id, partition_id, replicas, adding_replicas, removing_replicas, valid_from_offset,
           valid_from_time, from_snapshot, valid_to_offset, valid_to_time, ended_by
    FROM partitions WHERE len(adding_replicas) + len(removing_replicas) > 0"""

_IN_SEVERAL_RECORDS = f"""
    SELECT moves.topic_id, moves.partition_id,
           CASE WHEN NOT first.from_snapshot THEN epoch_ms(first.valid_from_time) END AS start_ms,
           CASE WHEN last.ended_by <> 'gap' THEN epoch_ms(last.valid_to_time) END AS end_ms,
           CASE WHEN last.ended_by IS NULL THEN 'running' WHEN last.ended_by = 'gap' THEN 'unknown'
                WHEN last.ended_by = 'removed' THEN 'deleted'
                WHEN list_sort(after.replicas)
                     = list_sort({without("last.replicas", "last.removing_replicas")}) THEN 'completed'
                ELSE 'cancelled' END AS outcome,
           {text_of(f"coalesce(before.replicas, {without('first.replicas', 'first.adding_replicas')})")}
               AS old_replicas,
           {text_of(without("last.replicas", "last.removing_replicas"))} AS new_replicas
    FROM (
        SELECT topic_id, partition_id, arg_min(one, one.valid_from_offset) AS first,
               arg_max(one, one.valid_from_offset) AS last
        FROM (
            SELECT *, sum(begins) OVER (
                PARTITION BY topic_id, partition_id ORDER BY valid_from_offset) AS number
            FROM (
                SELECT *, CASE WHEN lag(valid_to_offset) OVER of_partition = valid_from_offset
                                AND lag(ended_by) OVER of_partition <> 'gap' THEN 0 ELSE 1 END AS begins
                FROM moving WINDOW of_partition AS (PARTITION BY topic_id, partition_id
                                                    ORDER BY valid_from_offset)
            )
        ) one GROUP BY topic_id, partition_id, number
    ) moves
    LEFT JOIN partitions before ON before.topic_id = moves.topic_id
         AND before.partition_id = moves.partition_id AND before.ended_by = 'changed'
         AND before.valid_to_offset = moves.first.valid_from_offset
    LEFT JOIN partitions after ON after.topic_id = moves.topic_id
         AND after.partition_id = moves.partition_id AND moves.last.ended_by = 'changed'
         AND after.valid_from_offset = moves.last.valid_to_offset"""
"""Consecutive states that add or remove replicas are one."""

_IN_ONE_RECORD = """
    SELECT topic_id, partition_id, epoch_ms(time), epoch_ms(time), 'completed', trim(before, '[]'),
           trim(after, '[]')
    FROM events
    WHERE kind = 'replicas changed'
      AND NOT EXISTS (FROM moving WHERE moving.topic_id = events.topic_id
                      AND moving.partition_id = events.partition_id
                      AND moving.valid_from_offset = events."offset")
      AND NOT EXISTS (FROM moving WHERE moving.topic_id = events.topic_id
                      AND moving.partition_id = events.partition_id
                      AND moving.valid_to_offset = events."offset")"""
"""Selects partitions that are not being reassigned before it or after it."""
