"""Partitions: all their states, and the current ones (KIP-631, KIP-966)."""

from __future__ import annotations

from kraftctl_spark.history.versions.kinds import PARTITIONS
from kraftctl_spark.views.log import LogHistory

STATE = ", ".join(name for name in PARTITIONS.values if name != "topic")


def duration_ms(start: str = "time", end: str = "end_time") -> str:
    """Returns SQL for a duration, null without both ends; 0 where the clock of a new leader is behind."""
    return f"if({end} < {start}, 0L, unix_millis({end}) - unix_millis({start}))"


def partition_history(log: LogHistory) -> str:
    """Returns states with their record type, by offset: a record changes one partition, except for a
    ClearElrRecord.
    """
    return f"""
        SELECT topic_id, topic, partition_id, at AS start_offset, time AS start_time,
               end_at AS end_offset, end_time, {duration_ms()} AS duration_ms,
               CASE WHEN from_snapshot THEN 'snapshot' WHEN p.offset IS NOT NULL THEN 'PartitionRecord'
                    WHEN c.offset IS NOT NULL THEN 'ClearElrRecord' ELSE 'PartitionChangeRecord' END
                   AS started_by,
               ending AS ended_by, {STATE}
        FROM {log.intervals(PARTITIONS)}
        LEFT JOIN (SELECT offset FROM {log.rows("partition_record")}) p ON p.offset = at
        LEFT JOIN (SELECT offset FROM {log.rows("clear_elr_record")}) c ON c.offset = at"""


def partitions(log: LogHistory) -> str:
    return f"""
        SELECT topic_id, topic, partition_id, {STATE}, valid_from_offset AS changed_offset,
               valid_from_time AS changed_time
        FROM {log.versions(PARTITIONS)}"""
