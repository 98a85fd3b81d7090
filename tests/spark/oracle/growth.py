"""Growth: topics, partitions and brokers that were added and removed per hour, and how many there were."""

from __future__ import annotations

from tests.spark.oracle.brokers import broker_states
from tests.spark.oracle.isr import hour
from tests.spark.oracle.log import Log
from tests.spark.oracle.topics import topic_lives

_KINDS = ("topic", "partition", "broker")


def _comings_and_goings(log: Log) -> str:
    """One row per addition (+1) or removal (-1); the contents of a snapshot existed before it."""
    partitions = f"""
        SELECT p.*, t.end_at, t.end_time
        FROM (SELECT range_start, topic_id, partition_id, min_by(in_snapshot, at) AS in_snapshot,
                     min_by(time, at) AS start_time
              FROM {log.rows("partition_record")} GROUP BY range_start, topic_id, partition_id) p
        JOIN ({topic_lives(log)}) t ON t.range_start = p.range_start AND t.topic_id = p.topic_id"""
    return f"""
        SELECT range_start, start_time AS time, 'topic' AS kind, 1 AS step, NOT in_snapshot AS counts
        FROM ({topic_lives(log)})
        UNION ALL
        SELECT range_start, end_time, 'topic', -1, true FROM ({topic_lives(log)}) WHERE end_at IS NOT NULL
        UNION ALL
        SELECT range_start, start_time, 'partition', 1, NOT in_snapshot FROM ({partitions})
        UNION ALL
        SELECT range_start, end_time, 'partition', -1, true FROM ({partitions}) WHERE end_at IS NOT NULL
        UNION ALL
        SELECT range_start, time, 'broker', 1, event = 'registered' FROM ({broker_states(log)})
        WHERE event IN ('registered', 'snapshot') AND coalesce(old_event, 'unregistered') = 'unregistered'
        UNION ALL
        SELECT range_start, next_time, 'broker', -1, true FROM ({broker_states(log)})
        WHERE next_event = 'unregistered'"""


def growth_per_hour(log: Log) -> str:
    came = {"topic": "created", "partition": "created", "broker": "registered"}
    went = {"topic": "deleted", "partition": "deleted", "broker": "unregistered"}
    counted = ", ".join(
        f"count_if(counts AND kind = '{kind}' AND step = 1) AS {kind}s_{came[kind]}, "
        f"count_if(counts AND kind = '{kind}' AND step = -1) AS {kind}s_{went[kind]}, "
        f"sum(CASE WHEN kind = '{kind}' THEN step ELSE 0 END) AS {kind}_steps"
        for kind in _KINDS
    )
    totals = ", ".join(
        f"sum({kind}_steps) OVER (PARTITION BY range_start ORDER BY hour) AS {kind}s" for kind in _KINDS
    )
    summed = ", ".join(
        f"sum({kind}s_{word[kind]}) AS {kind}s_{word[kind]}" for kind in _KINDS for word in (came, went)
    )
    latest = ", ".join(f"max_by({kind}s, range_start) AS {kind}s" for kind in _KINDS)
    return f"""
        SELECT hour, {summed}, {latest} FROM (
            SELECT *, {totals} FROM (
                SELECT range_start, {hour("time")} AS hour, {counted}
                FROM ({_comings_and_goings(log)}) GROUP BY range_start, 2
            )
        ) GROUP BY hour"""
