"""Brokers: their registrations, and when each was fenced, unfenced or shutting down (KIP-631, KIP-841)."""

from __future__ import annotations

from tests.spark.oracle.log import Log
from tests.spark.oracle.partitions import duration_ms

_REGISTERED = (
    "incarnation_id",
    "rack",
    "end_points",
    "features",
)
"""Fields that only a registration sets; the next registration replaces all of them."""

_CHANGED = ("fenced", "in_controlled_shutdown", "log_dirs", "cordoned_log_dirs")


def _events(log: Log) -> str:
    return f"""
        SELECT range_start, at, time, broker_id,
               CASE WHEN in_snapshot THEN 'snapshot' ELSE 'registered' END AS event, broker_epoch,
               incarnation_id, rack, end_points, features, coalesce(fenced, true) AS fenced,
               coalesce(in_controlled_shutdown, false) AS in_controlled_shutdown, log_dirs, cordoned_log_dirs
        FROM {log.rows("register_broker_record")}
        UNION ALL
        SELECT range_start, at, time, broker_id, 'changed', NULL, NULL, NULL, NULL, NULL,
               CASE fenced WHEN 1 THEN true WHEN -1 THEN false END,
               CASE in_controlled_shutdown WHEN 1 THEN true END,
               CASE WHEN size(log_dirs) > 0 THEN log_dirs END, cordoned_log_dirs
        FROM {log.rows("broker_registration_change_record")}
        UNION ALL
        SELECT range_start, at, time, id, 'changed', NULL, NULL, NULL, NULL, NULL, true, NULL, NULL, NULL
        FROM {log.rows("fence_broker_record")}
        UNION ALL
        SELECT range_start, at, time, id, 'changed', NULL, NULL, NULL, NULL, NULL, false, NULL, NULL, NULL
        FROM {log.rows("unfence_broker_record")}
        UNION ALL
        SELECT range_start, at, time, broker_id, 'unregistered',
               NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
        FROM {log.rows("unregister_broker_record")}"""


def broker_states(log: Log) -> str:
    """Each state of a broker, with the event that started it and the one that ended it."""
    broker = "(PARTITION BY range_start, broker_id ORDER BY at)"
    one = "(PARTITION BY range_start, broker_id, registration ORDER BY at ROWS UNBOUNDED PRECEDING)"
    first = ", ".join(f"first_value({name}) OVER {one} AS {name}" for name in ("broker_epoch", *_REGISTERED))
    latest = ", ".join(f"last_value({name}, true) OVER {one} AS {name}" for name in _CHANGED)
    return f"""
        SELECT *, CASE WHEN fenced THEN 'fenced' WHEN in_controlled_shutdown THEN 'controlled shutdown'
                       ELSE 'unfenced' END AS state
        FROM (
            SELECT range_start, at, time, broker_id, event, old_event, registration, next_event,
                   next_at, next_time, {first}, {latest}
            FROM (
                SELECT *, count_if(event IN ('registered', 'snapshot')) OVER {broker} AS registration,
                       lag(event) OVER {broker} AS old_event, lead(event) OVER {broker} AS next_event,
                       lead(at) OVER {broker} AS next_at, lead(time) OVER {broker} AS next_time
                FROM ({_events(log)})
            )
        ) WHERE event <> 'unregistered'"""


def brokers(log: Log) -> str:
    return f"""
        SELECT broker_id, broker_epoch, state, fenced, in_controlled_shutdown, incarnation_id, rack,
               array_sort(log_dirs) AS log_dirs, array_sort(cordoned_log_dirs) AS cordoned_log_dirs,
               array_sort(end_points) AS end_points, array_sort(features) AS features,
               at AS changed_offset, time AS changed_time
        FROM ({broker_states(log)}) WHERE next_event IS NULL"""


def fencing_timeline(log: Log) -> str:
    """Consecutive states with the same fencing become one row."""
    one = "(PARTITION BY range_start, broker_id, registration ORDER BY at)"
    return f"""
        SELECT broker_id, max(broker_epoch) AS broker_epoch, max(state) AS state,
               min(at) AS start_offset, min_by(time, at) AS start_time,
               max_by(next_at, at) AS end_offset, max_by(end_time, at) AS end_time,
               {duration_ms("min_by(time, at)", "max_by(end_time, at)")} AS duration_ms,
               min_by(event, at) AS started_by, max_by(ended_by, at) AS ended_by
        FROM (
            SELECT *, count_if(differs) OVER {one} AS number,
                   coalesce(next_event, {log.end_reason()}) AS ended_by,
                   coalesce(next_time, {log.end_time()}) AS end_time
            FROM (SELECT *, NOT (lag(state) OVER {one} <=> state) AS differs FROM ({broker_states(log)}))
        ) GROUP BY range_start, broker_id, registration, number"""
