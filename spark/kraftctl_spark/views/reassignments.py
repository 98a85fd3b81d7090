"""Reassignments of replicas: from the record that starts one to the one that completes or cancels it."""

from __future__ import annotations

from kraftctl_spark.history.versions.kinds import PARTITIONS
from kraftctl_spark.views.log import LogHistory
from kraftctl_spark.views.partitions import duration_ms

_MOVING = "(size(adding_replicas) > 0 OR size(removing_replicas) > 0)"


def reassignments(log: LogHistory) -> str:
    """Returns reassignments; one in progress has adding or removing replicas, others complete in a
    single record.
    """
    return f"""
        WITH states AS ({_states(log)}), moves AS (
            SELECT topic_id, max(topic) AS topic, partition_id, min(at) AS first_at,
                   min_by(time, at) AS first_time, min_by(from_snapshot, at) AS under_way,
                   coalesce(min_by(old_replicas, at), min_by(array_except(replicas, adding_replicas), at))
                       AS old_replicas,
                   max_by(array_except(replicas, removing_replicas), at) AS new_replicas,
                   max_by(next_replicas, at) AS then_replicas, max_by(end_at, at) AS end_at,
                   max_by(end_time, at) AS end_time, max_by(ending, at) AS ending
            FROM (
                SELECT *, count_if(NOT moving) OVER (
                    PARTITION BY range_start, topic_id, partition_id ORDER BY at ROWS UNBOUNDED PRECEDING
                ) AS ends_before
                FROM states
            ) WHERE moving GROUP BY range_start, topic_id, partition_id, ends_before
        )
        SELECT topic_id, topic, partition_id, start_offset, start_time, end_offset, end_time,
               {duration_ms("start_time", "end_time")} AS duration_ms, outcome, old_replicas, new_replicas
        FROM (
            SELECT topic_id, topic, partition_id,
                   CASE WHEN NOT under_way THEN first_at END AS start_offset,
                   CASE WHEN NOT under_way THEN first_time END AS start_time,
                   CASE WHEN ending IN ('change', 'deleted') THEN end_at END AS end_offset,
                   CASE WHEN ending IN ('change', 'deleted') THEN end_time END AS end_time,
                   CASE WHEN ending = 'end' THEN 'running' WHEN ending = 'gap' THEN 'unknown'
                        WHEN ending = 'deleted' THEN 'deleted'
                        WHEN array_sort(then_replicas) = array_sort(new_replicas) THEN 'completed'
                        ELSE 'cancelled' END AS outcome,
                   old_replicas, new_replicas
            FROM moves
            UNION ALL
            SELECT topic_id, topic, partition_id, at, time, at, time, 'completed', old_replicas, replicas
            FROM states WHERE NOT moving AND NOT was_moving AND replicas <> old_replicas
        )"""


def _states(log: LogHistory) -> str:
    """Returns states only of the partitions that were ever reassigned."""
    window = "(PARTITION BY range_start, topic_id, partition_id ORDER BY at)"
    return f"""
        SELECT *, lag(replicas) OVER {window} AS old_replicas, lead(replicas) OVER {window} AS next_replicas,
               coalesce(lag(moving) OVER {window}, false) AS was_moving
        FROM (
            SELECT /*+ BROADCAST(reassigned) */
                   v.*, {_MOVING} AS moving, {log.range_start("at")} AS range_start
            FROM {log.intervals(PARTITIONS)} v
            LEFT SEMI JOIN (
                SELECT topic_id, partition_id FROM {log.events("replicas changed")}
                UNION
                SELECT topic_id, partition_id FROM {log.versions(PARTITIONS)} WHERE {_MOVING}
            ) reassigned USING (topic_id, partition_id)
        )"""
