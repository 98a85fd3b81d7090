"""The controllers' quorum: its leaders with their durations, and its voters (KIP-595, KIP-853)."""

from __future__ import annotations

from kraftctl_spark.views.log import LogHistory
from kraftctl_spark.views.partitions import duration_ms

_IDS = "array_sort(transform(voters, v -> v.voter_id))"


def quorum_changes(log: LogHistory) -> str:
    return f"""
        {_leaders(log)}
        UNION ALL
        {_set_values(log, "voters", "voters_record", _IDS, "ARRAY<INT>")}
        UNION ALL
        {_set_values(log, "kraft.version", "kraft_version_record", "kraft_version", "INT")}"""


def _leaders(log: LogHistory) -> str:
    window = "(PARTITION BY range_start ORDER BY at)"
    return f"""
        SELECT at AS offset, time, log_epoch, 'leader' AS change, leader_id, granting_voters, voters,
               CAST(NULL AS INT) AS kraft_version, next_at AS end_offset, end_time,
               {duration_ms("time", "end_time")} AS duration_ms
        FROM (
            SELECT at, time, log_epoch, leader_id, lead(at) OVER {window} AS next_at,
                   array_sort(transform(granting_voters, v -> v.voter_id)) AS granting_voters,
                   {_IDS} AS voters,
                   coalesce(lead(time) OVER {window}, {log.end_time("at")}) AS end_time
            FROM {log.rows("leader_change_message")}
        )"""


def _set_values(log: LogHistory, change: str, table: str, value: str, kind: str) -> str:
    """Returns changes; a repetition of the value in a snapshot is none."""
    voters = "value" if kind != "INT" else "CAST(NULL AS ARRAY<INT>)"
    version = "value" if kind == "INT" else "CAST(NULL AS INT)"
    return f"""
        SELECT at, time, log_epoch, '{change}', CAST(NULL AS INT), CAST(NULL AS ARRAY<INT>), {voters},
               {version}, CAST(NULL AS BIGINT), CAST(NULL AS TIMESTAMP), CAST(NULL AS BIGINT)
        FROM (
            SELECT at, time, log_epoch, in_snapshot, {value} AS value,
                   lag({value}) OVER (ORDER BY at) AS previous_value
            FROM {log.rows(table)}
        ) WHERE NOT (in_snapshot AND value <=> previous_value)"""
