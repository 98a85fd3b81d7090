"""ISR churn: which brokers left and joined the in-sync replicas, and how often."""

from __future__ import annotations

from tests.spark.oracle.log import Log
from tests.spark.oracle.partitions import partition_states


def isr_changes(log: Log) -> str:
    return f"""
        SELECT * FROM (
            SELECT at AS offset, time, topic_id, topic, partition_id,
                   array_except(old_isr, isr) AS removed, array_except(isr, old_isr) AS added,
                   old_isr, isr AS new_isr
            FROM ({partition_states(log)}) WHERE old_isr IS NOT NULL
        ) WHERE size(removed) > 0 OR size(added) > 0"""


def hour(time: str) -> str:
    """SQL for the start of the UTC hour; `date_trunc` would use the session's time zone."""
    return f"timestamp_seconds(unix_seconds({time}) - pmod(unix_seconds({time}), 3600))"


def isr_churn_per_hour(log: Log) -> str:
    return f"""
        SELECT {hour("time")} AS hour, topic_id, max(topic) AS topic, partition_id,
               count_if(size(removed) > 0) AS shrinks, count_if(size(added) > 0) AS expansions
        FROM ({isr_changes(log)}) GROUP BY 1, topic_id, partition_id"""
