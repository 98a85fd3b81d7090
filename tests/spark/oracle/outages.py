"""Intervals in which partitions had no leader, or fewer replicas in sync than they should have."""

from __future__ import annotations

from tests.spark.oracle.isr import hour
from tests.spark.oracle.log import Log
from tests.spark.oracle.partitions import duration_ms, partition_states

LEADERLESS = "leader = -1"
UNDER_REPLICATED = "size(isr) < size(array_except(replicas, adding_replicas))"
"""As in Kafka's tools: replicas that a reassignment is adding do not count as missing."""

_DURATION = duration_ms("time", "end_time")

_LAST_HOUR = f"least({hour('end_time')}, {hour('time')} + INTERVAL 100000 HOURS)"
"""Eleven years: a record with a time far in the future must not make a row for every hour until then."""


def outages(log: Log) -> str:
    states = f"""
        SELECT *, explode(array(struct('leaderless' AS kind, {LEADERLESS} AS out),
                                struct('under-replicated' AS kind, {UNDER_REPLICATED} AS out))) AS flag
        FROM ({partition_states(log)})"""
    return f"""
        SELECT kind, topic_id, max(topic) AS topic, partition_id,
               min(at) AS start_offset, min_by(time, at) AS start_time,
               max_by(end_at, at) AS end_offset, max_by(end_time, at) AS end_time,
               {duration_ms("min_by(time, at)", "max_by(end_time, at)")} AS duration_ms,
               max_by(ended_by, at) AS ended_by
        FROM (
            SELECT *, flag.kind AS kind, flag.out AS out, count_if(NOT flag.out) OVER (
                PARTITION BY range_start, topic_id, partition_id, flag.kind
                ORDER BY at ROWS UNBOUNDED PRECEDING
            ) AS ends_before
            FROM ({states})
        ) WHERE out GROUP BY kind, range_start, topic_id, partition_id, ends_before"""


def partition_availability(log: Log) -> str:
    return f"""
        SELECT *, leaderless_ms / 60000 AS leaderless_minutes,
               under_replicated_ms / 60000 AS under_replicated_minutes
        FROM (
            SELECT topic_id, max(topic) AS topic, partition_id, sum({_DURATION}) AS observed_ms,
                   sum(CASE WHEN {LEADERLESS} THEN {_DURATION} ELSE 0 END) AS leaderless_ms,
                   sum(CASE WHEN {UNDER_REPLICATED} THEN {_DURATION} ELSE 0 END) AS under_replicated_ms
            FROM ({partition_states(log)}) GROUP BY topic_id, partition_id
        )"""


def availability_per_hour(log: Log) -> str:
    within = """greatest(0L, least(unix_millis(end_time), unix_millis(hour) + 3600000)
                       - greatest(unix_millis(time), unix_millis(hour)))"""
    return f"""
        SELECT * FROM (
            SELECT hour, topic_id, max(topic) AS topic, partition_id,
                   sum(CASE WHEN leaderless THEN {within} ELSE 0 END) AS leaderless_ms,
                   sum(CASE WHEN under_replicated THEN {within} ELSE 0 END) AS under_replicated_ms
            FROM (
                SELECT *, {LEADERLESS} AS leaderless, {UNDER_REPLICATED} AS under_replicated,
                       explode(sequence({hour("time")}, {_LAST_HOUR}, INTERVAL 1 HOUR)) AS hour
                FROM ({partition_states(log)})
                WHERE time < end_time AND ({LEADERLESS} OR {UNDER_REPLICATED})
            ) GROUP BY hour, topic_id, partition_id
        ) WHERE leaderless_ms > 0 OR under_replicated_ms > 0"""
