"""Intervals in which partitions had no leader, or fewer replicas in sync than they should have."""

from __future__ import annotations

from kraftctl_spark.history.versions.kinds import PARTITIONS, TOPICS
from kraftctl_spark.views.isr import hour
from kraftctl_spark.views.log import LogHistory
from kraftctl_spark.views.partitions import duration_ms

LEADERLESS = "leader = -1"
UNDER_REPLICATED = """(size(isr) < size(replicas) AND (size(adding_replicas) = 0
                       OR size(isr) < size(array_except(replicas, adding_replicas))))"""
"""The condition of Kafka's tools: replicas that a reassignment is adding do not count as missing."""

_LAST_HOUR = f"least({hour('end_time')}, {hour('time')} + INTERVAL 100000 HOURS)"
"""The limit is eleven years: a record with a time far in the future must not make a row for every hour
until then."""


def outages(log: LogHistory) -> str:
    """Returns outages, runs of consecutive states that are all out: the first and last state are the edges.

    Comparing a hash before the topic ids takes half as long, and so do rows without texts.
    """
    one = "(PARTITION BY hash, topic_id, partition_id, leaderless ORDER BY at)"
    return f"""
        WITH outages AS (
            SELECT xxhash64(topic_id, partition_id) AS hash, topic_id, partition_id, at, time, end_at,
                   end_time, ending = 'deleted' AS deleted, ending = 'gap' AS at_gap,
                   explode(CASE WHEN NOT {UNDER_REPLICATED} THEN array(true)
                                WHEN {LEADERLESS} THEN array(true, false) ELSE array(false) END) AS leaderless
            FROM {log.intervals(PARTITIONS)} WHERE {LEADERLESS} OR {UNDER_REPLICATED}
        ), edges AS (
            SELECT * FROM (
                SELECT *, coalesce(lag(end_at) OVER {one} <> at, true) AS begins,
                       coalesce(lead(at) OVER {one} <> end_at, true) AS ends
                FROM outages
            ) WHERE begins OR ends
        )
        SELECT if(leaderless, 'leaderless', 'under-replicated') AS kind, topic_id, topic, partition_id,
               at AS start_offset, time AS start_time, end_at AS end_offset, end_time,
               {duration_ms()} AS duration_ms,
               CASE WHEN deleted THEN 'deleted' WHEN end_at IS NOT NULL THEN 'change'
                    WHEN at_gap THEN 'gap' ELSE 'end' END AS ended_by
        FROM (
            SELECT leaderless, topic_id, partition_id, at, time, begins,
                   if(ends, end_at, lead(end_at) OVER {one}) AS end_at,
                   if(ends, end_time, lead(end_time) OVER {one}) AS end_time,
                   if(ends, deleted, lead(deleted) OVER {one}) AS deleted,
                   if(ends, at_gap, lead(at_gap) OVER {one}) AS at_gap
            FROM edges
        ) JOIN (SELECT topic_id, max(topic) AS topic FROM {log.versions(TOPICS)} GROUP BY topic_id)
               USING (topic_id)
        WHERE begins"""


def partition_availability(log: LogHistory) -> str:
    return f"""
        SELECT *, leaderless_ms / 60000 AS leaderless_minutes,
               under_replicated_ms / 60000 AS under_replicated_minutes
        FROM (
            SELECT topic_id, topic, partition_id, sum(duration_ms) AS observed_ms,
                   sum(CASE WHEN {LEADERLESS} THEN duration_ms ELSE 0 END) AS leaderless_ms,
                   sum(CASE WHEN {UNDER_REPLICATED} THEN duration_ms ELSE 0 END) AS under_replicated_ms
            FROM (SELECT *, {duration_ms()} AS duration_ms FROM {log.intervals(PARTITIONS)})
            GROUP BY topic_id, topic, partition_id
        )"""


def availability_per_hour(log: LogHistory) -> str:
    within = """greatest(0L, least(unix_millis(end_time), unix_millis(hour) + 3600000)
                       - greatest(unix_millis(time), unix_millis(hour)))"""
    return f"""
        SELECT * FROM (
            SELECT hour, topic_id, topic, partition_id,
                   sum(CASE WHEN leaderless THEN {within} ELSE 0 END) AS leaderless_ms,
                   sum(CASE WHEN under_replicated THEN {within} ELSE 0 END) AS under_replicated_ms
            FROM (
                SELECT *, {LEADERLESS} AS leaderless, {UNDER_REPLICATED} AS under_replicated,
                       explode(sequence({hour("time")}, {_LAST_HOUR}, INTERVAL 1 HOUR)) AS hour
                FROM {log.intervals(PARTITIONS)}
                WHERE time < end_time AND ({LEADERLESS} OR {UNDER_REPLICATED})
            ) GROUP BY hour, topic_id, topic, partition_id
        ) WHERE leaderless_ms > 0 OR under_replicated_ms > 0"""
