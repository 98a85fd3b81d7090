"""ISR churn: which brokers left and joined the in-sync replicas, and how often."""

from __future__ import annotations

from kraftctl_spark.views.log import LogHistory

SHRANK, GREW, BOTH = "ISR shrank", "ISR grew", "ISR shrank and grew"

TOPIC = "substr(subject, 1, length(subject) - length(CAST(partition_id AS STRING)) - 1)"
"""The SQL for the topic in the subject of an event: `orders` of `orders-3`."""


def ids(text: str) -> str:
    """Returns SQL for the broker ids in the text of an event: `[1, 2]`. A cast ignores the spaces."""
    parts = f"split(substring({text}, 2, length({text}) - 2), ',')"
    return f"CASE WHEN {text} = '[]' THEN CAST(array() AS ARRAY<INT>) ELSE CAST({parts} AS ARRAY<INT>) END"


def isr_changes(log: LogHistory) -> str:
    return f"""
        SELECT offset, time, topic_id, topic, partition_id, array_except(old_isr, new_isr) AS removed,
               array_except(new_isr, old_isr) AS added, old_isr, new_isr
        FROM (
            SELECT offset, time, topic_id, {TOPIC} AS topic, partition_id,
                   {ids("before")} AS old_isr, {ids("after")} AS new_isr
            FROM {log.events(SHRANK, GREW, BOTH)}
        )"""


def hour(time: str) -> str:
    """Returns SQL for the start of the UTC hour; `date_trunc` would use the session's time zone."""
    return f"timestamp_seconds(unix_seconds({time}) - pmod(unix_seconds({time}), 3600))"


def isr_churn_per_hour(log: LogHistory) -> str:
    """Counts changes per hour. Spark hashes what it groups by; for a `max` of names it would sort."""
    return f"""
        SELECT hour, topic_id, {TOPIC} AS topic, partition_id, shrinks, expansions
        FROM (
            SELECT {hour("time")} AS hour, topic_id, subject, partition_id,
                   count_if(kind <> '{GREW}') AS shrinks, count_if(kind <> '{SHRANK}') AS expansions
            FROM {log.events(SHRANK, GREW, BOTH)} GROUP BY 1, topic_id, partition_id, subject
        )"""
