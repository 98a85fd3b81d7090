"""Topics by their id: a name can be reused after a deletion."""

from __future__ import annotations

from tests.spark.oracle.log import Log


def topic_lives(log: Log) -> str:
    """Each topic in each known range in which it exists: `start_at`, and `end_at` if it was deleted there."""
    return f"""
        SELECT t.range_start, t.topic_id, t.name AS topic, t.in_snapshot,
               t.at AS start_at, t.time AS start_time, r.at AS end_at, r.time AS end_time,
               r.log_epoch AS end_epoch
        FROM {log.rows("topic_record")} t
        LEFT JOIN {log.rows("remove_topic_record")} r
             ON r.range_start = t.range_start AND r.topic_id = t.topic_id"""


def topics(log: Log) -> str:
    return f"""
        SELECT t.topic_id, t.topic, CAST(coalesce(p.partitions, 0) AS INT) AS partitions,
               CASE WHEN NOT t.in_snapshot THEN t.start_at END AS created_offset,
               CASE WHEN NOT t.in_snapshot THEN t.start_time END AS created_time
        FROM ({topic_lives(log)}) t
        LEFT JOIN (SELECT topic_id, count(DISTINCT partition_id) AS partitions
                   FROM {log.rows("partition_record")} GROUP BY topic_id) p ON p.topic_id = t.topic_id
        WHERE t.end_at IS NULL"""


def topic_history(log: Log) -> str:
    """A topic can be in several known ranges; one that is not in the last range was deleted in a gap."""
    return f"""
        SELECT topic_id, max_by(topic, range_start) AS topic,
               min(CASE WHEN NOT in_snapshot THEN start_at END) AS created_offset,
               min(CASE WHEN NOT in_snapshot THEN start_time END) AS created_time,
               max(end_at) AS deleted_offset, max(end_time) AS deleted_time,
               CASE WHEN max(end_at) IS NOT NULL THEN 'deleted'
                    WHEN max(range_start) < {log.last.start} THEN 'gap' END AS ended_by
        FROM ({topic_lives(log)}) GROUP BY topic_id"""
