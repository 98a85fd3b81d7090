"""Topics by their id: a name may be used again after a deletion."""

from __future__ import annotations

from kraftctl_spark.views.log import Log


def topic_lives(log: Log) -> str:
    """Each topic in each stretch in which it is: `start_at`, and `end_at` if it was deleted there."""
    return f"""
        SELECT t.stretch, t.topic_id, t.name AS topic, t.in_snapshot,
               t.at AS start_at, t.time AS start_time, r.at AS end_at, r.time AS end_time,
               r.log_epoch AS end_epoch
        FROM {log.rows("topic_record")} t
        LEFT JOIN {log.rows("remove_topic_record")} r ON r.stretch = t.stretch AND r.topic_id = t.topic_id"""


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
    """A topic may be in several stretches; if it is not in the last one it went in a gap."""
    return f"""
        SELECT topic_id, max_by(topic, stretch) AS topic,
               min(CASE WHEN NOT in_snapshot THEN start_at END) AS created_offset,
               min(CASE WHEN NOT in_snapshot THEN start_time END) AS created_time,
               max(end_at) AS deleted_offset, max(end_time) AS deleted_time,
               CASE WHEN max(end_at) IS NOT NULL THEN 'deleted'
                    WHEN max(stretch) < {log.last.start} THEN 'gap' END AS ended_by
        FROM ({topic_lives(log)}) GROUP BY topic_id"""
