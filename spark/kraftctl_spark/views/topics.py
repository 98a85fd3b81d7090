"""Topics by their id: a name can be reused after a deletion."""

from __future__ import annotations

from kraftctl_spark.history.versions.kinds import PARTITIONS, TOPICS
from kraftctl_spark.views.log import LogHistory


def topics(log: LogHistory) -> str:
    return f"""
        SELECT t.topic_id, t.topic, CAST(coalesce(p.partitions, 0) AS INT) AS partitions,
               CASE WHEN NOT t.from_snapshot THEN t.valid_from_offset END AS created_offset,
               CASE WHEN NOT t.from_snapshot THEN t.valid_from_time END AS created_time
        FROM {log.versions(TOPICS)} t
        LEFT JOIN (SELECT topic_id, count(*) AS partitions FROM {log.versions(PARTITIONS)}
                   GROUP BY topic_id) p ON p.topic_id = t.topic_id"""


def topic_history(log: LogHistory) -> str:
    """Returns versions, one per known range; one that ended at a gap without a later one was deleted in
    it.
    """
    return f"""
        SELECT topic_id, max_by(topic, at) AS topic,
               min(CASE WHEN NOT from_snapshot THEN at END) AS created_offset,
               min(CASE WHEN NOT from_snapshot THEN time END) AS created_time,
               max(end_at) AS deleted_offset,
               max(CASE WHEN ending = 'deleted' THEN end_time END) AS deleted_time,
               nullif(max_by(ending, at), 'end') AS ended_by
        FROM {log.intervals(TOPICS)} GROUP BY topic_id"""
