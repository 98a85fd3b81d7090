"""Brokers: their registrations, and when each was fenced, unfenced or shutting down (KIP-631, KIP-841)."""

from __future__ import annotations

from kraftctl_spark.history.versions.kinds import BROKERS
from kraftctl_spark.views.log import LogHistory
from kraftctl_spark.views.partitions import duration_ms


def brokers(log: LogHistory) -> str:
    return f"""
        SELECT broker_id, {", ".join(BROKERS.values)},
               valid_from_offset AS changed_offset, valid_from_time AS changed_time
        FROM {log.versions(BROKERS)}"""


def fencing_timeline(log: LogHistory) -> str:
    """Returns a row for consecutive states with the same fencing; a registration begins another one."""
    order = "(PARTITION BY broker_id ORDER BY at)"
    return f"""
        SELECT broker_id, broker_epoch, state, at AS start_offset, time AS start_time,
               end_at AS end_offset, end_time, {duration_ms()} AS duration_ms, started_by, ended_by
        FROM (
            SELECT broker_id, max(broker_epoch) AS broker_epoch, max(state) AS state,
                   min(at) AS at, min_by(time, at) AS time, max_by(end_at, at) AS end_at,
                   max_by(end_time, at) AS end_time, min_by(started_by, at) AS started_by,
                   max_by(CASE ending WHEN 'deleted' THEN 'unregistered' WHEN 'change' THEN next_started_by
                                   ELSE ending END, at) AS ended_by
            FROM (
                SELECT *, lead(started_by) OVER {order} AS next_started_by,
                       count_if(started_by <> 'changed' OR state <> previous_state) OVER {order} AS number
                FROM (
                    SELECT *, lag(state) OVER {order} AS previous_state,
                           CASE WHEN from_snapshot THEN 'snapshot'
                                WHEN lag(ending) OVER {order} = 'change'
                                     AND lag(broker_epoch) OVER {order} = broker_epoch
                                     AND lag(incarnation_id) OVER {order} = incarnation_id
                                THEN 'changed' ELSE 'registered' END AS started_by
                    FROM {log.intervals(BROKERS)}
                )
            ) GROUP BY broker_id, number
        )"""
