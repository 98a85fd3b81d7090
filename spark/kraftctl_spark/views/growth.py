"""Growth: topics, partitions and brokers that came and went, hour by hour, and how many there were."""

from __future__ import annotations

from kraftctl_spark.views.brokers import broker_states
from kraftctl_spark.views.isr import hour
from kraftctl_spark.views.log import Log
from kraftctl_spark.views.topics import topic_lives

_KINDS = ("topic", "partition", "broker")


def _comings_and_goings(log: Log) -> str:
    """One row per thing that came (+1) or went (-1); what a snapshot has was there before."""
    partitions = f"""
        SELECT p.*, t.end_at, t.end_time
        FROM (SELECT stretch, topic_id, partition_id, min_by(in_snapshot, at) AS in_snapshot,
                     min_by(time, at) AS start_time
              FROM {log.rows("partition_record")} GROUP BY stretch, topic_id, partition_id) p
        JOIN ({topic_lives(log)}) t ON t.stretch = p.stretch AND t.topic_id = p.topic_id"""
    return f"""
        SELECT stretch, start_time AS time, 'topic' AS kind, 1 AS step, NOT in_snapshot AS counts
        FROM ({topic_lives(log)})
        UNION ALL
        SELECT stretch, end_time, 'topic', -1, true FROM ({topic_lives(log)}) WHERE end_at IS NOT NULL
        UNION ALL
        SELECT stretch, start_time, 'partition', 1, NOT in_snapshot FROM ({partitions})
        UNION ALL
        SELECT stretch, end_time, 'partition', -1, true FROM ({partitions}) WHERE end_at IS NOT NULL
        UNION ALL
        SELECT stretch, time, 'broker', 1, event = 'registered' FROM ({broker_states(log)})
        WHERE event IN ('registered', 'snapshot') AND coalesce(old_event, 'unregistered') = 'unregistered'
        UNION ALL
        SELECT stretch, next_time, 'broker', -1, true FROM ({broker_states(log)})
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
        f"sum({kind}_steps) OVER (PARTITION BY stretch ORDER BY hour) AS {kind}s" for kind in _KINDS
    )
    summed = ", ".join(
        f"sum({kind}s_{word[kind]}) AS {kind}s_{word[kind]}" for kind in _KINDS for word in (came, went)
    )
    latest = ", ".join(f"max_by({kind}s, stretch) AS {kind}s" for kind in _KINDS)
    return f"""
        SELECT hour, {summed}, {latest} FROM (
            SELECT *, {totals} FROM (
                SELECT stretch, {hour("time")} AS hour, {counted}
                FROM ({_comings_and_goings(log)}) GROUP BY stretch, 2
            )
        ) GROUP BY hour"""
