"""Configurations: what is set, and every change with the previous value.

A value that the export redacted can change without a new version, so the records say when it was set.
"""

from __future__ import annotations

from itertools import pairwise

from kraftctl_protocol.config_resource import NAMES as CONFIG_RESOURCES
from kraftctl_protocol.config_resource import TOPIC
from kraftctl_spark.history.versions.kinds import CONFIGS, TOPICS
from kraftctl_spark.views.kafka_names import named
from kraftctl_spark.views.log import KnownRange, LogHistory

_KEY = "resource_type, resource_name, name"


def _records(log: LogHistory) -> str:
    return f"""
        SELECT range_start, at, time, log_epoch, {named("resource_type", CONFIG_RESOURCES)} AS resource_type,
               resource_name, name, value,
               CASE WHEN in_snapshot THEN 'snapshot' WHEN value IS NULL THEN 'removed' ELSE 'set' END AS cause
        FROM {log.rows("config_record")}"""


def configs(log: LogHistory) -> str:
    return f"""
        SELECT resource_type, resource_name, topic_id, name, value, at AS changed_offset, time AS changed_time
        FROM {log.versions(CONFIGS)}
        JOIN (SELECT {_KEY}, max(at) AS at, max_by(time, at) AS time
              FROM ({_records(log)}) GROUP BY {_KEY}) USING ({_KEY})"""


def config_audit(log: LogHistory) -> str:
    columns = "resource_type, resource_name, topic_id, name, old_value, value AS new_value, cause"
    text = f"""
        SELECT at AS offset, time, log_epoch, true AS exact, {columns}
        FROM ({_changes(log)}) WHERE cause <> 'snapshot'"""
    for before, after in pairwise(log.known_ranges):
        text += f"""
        UNION ALL
        SELECT {after.first_known}L, timestamp_millis({after.start_ms}), NULL, false, {columns}
        FROM ({_changed_in_gap(log, before, after)})"""
    return text


def _changes(log: LogHistory) -> str:
    """Returns every record with the value before it. Deleting a topic deletes its configurations."""
    topic = CONFIG_RESOURCES[TOPIC]
    return f"""
        SELECT c.*, t.topic_id
        FROM (
            SELECT *, lag(value) OVER (PARTITION BY range_start, {_KEY} ORDER BY at) AS old_value
            FROM (
                {_records(log)}
                UNION ALL
                SELECT r.range_start, r.at, r.time, r.log_epoch, {_KEY}, NULL, 'topic deleted'
                FROM {log.intervals(CONFIGS)} v JOIN {log.rows("remove_topic_record")} r ON r.at = v.end_at
            )
        ) c
        LEFT JOIN (SELECT *, {log.range_start("at")} AS range_start FROM {log.intervals(TOPICS)}) t
             ON c.resource_type = '{topic}' AND t.topic = c.resource_name AND t.range_start = c.range_start
             AND c.at >= t.at AND (t.end_at IS NULL OR c.at <= t.end_at)"""


def _changed_in_gap(log: LogHistory, before: KnownRange, after: KnownRange) -> str:
    """Returns differences between a snapshot and the state where the log ended before the gap."""
    key = "resource_type, resource_name, topic_id, name"
    ended = f"ended_by = 'gap' AND valid_to_offset = {before.end}"
    began = f"from_snapshot AND valid_from_offset = {after.first_known}"
    return f"""
        SELECT {key}, max(CASE WHEN {ended} THEN value END) AS old_value,
               max(CASE WHEN {began} THEN value END) AS value, 'gap' AS cause
        FROM {log.versions(CONFIGS)} WHERE {ended} OR {began}
        GROUP BY {key} HAVING NOT (old_value <=> value)"""
