"""Configurations: what is set, and every change with the previous value."""

from __future__ import annotations

from kraftctl_protocol.config_resource import NAMES as CONFIG_RESOURCES
from kraftctl_protocol.config_resource import TOPIC
from kraftctl_spark.views.kafka_names import named
from tests.spark.oracle.log import Log
from tests.spark.oracle.topics import topic_lives

_KEY = "resource_type, resource_name, name"


def _changes(log: Log) -> str:
    """Every change with the previous value. Deleting a topic deletes its configurations."""
    window = f"(PARTITION BY range_start, {_KEY} ORDER BY at)"
    deletions = f"""
        SELECT t.range_start, t.end_at, t.end_time, t.end_epoch, {TOPIC}, t.topic, c.name, NULL,
               'topic deleted'
        FROM ({topic_lives(log)}) t
        JOIN (SELECT range_start, resource_name, name, min(at) AS since FROM {log.rows("config_record")}
              WHERE resource_type = {TOPIC} GROUP BY range_start, resource_name, name) c
             ON c.range_start = t.range_start AND c.resource_name = t.topic AND c.since < t.end_at"""
    return f"""
        SELECT c.range_start, c.at, c.time, c.log_epoch, c.resource_type, c.resource_name, t.topic_id, c.name,
               c.old_value, c.value, c.cause, c.is_last
        FROM (
            SELECT *, lag(value) OVER {window} AS old_value, lead(at) OVER {window} IS NULL AS is_last
            FROM (
                SELECT range_start, at, time, log_epoch, resource_type, resource_name, name, value,
                       CASE WHEN in_snapshot THEN 'snapshot' WHEN value IS NULL THEN 'removed'
                            ELSE 'set' END AS cause
                FROM {log.rows("config_record")}
                UNION ALL {deletions}
            )
        ) c LEFT JOIN ({topic_lives(log)}) t
             ON c.resource_type = {TOPIC} AND t.range_start = c.range_start AND t.topic = c.resource_name
             AND c.at >= t.start_at AND (t.end_at IS NULL OR c.at <= t.end_at)"""


def configs(log: Log) -> str:
    return f"""
        SELECT {named("resource_type", CONFIG_RESOURCES)} AS resource_type, resource_name, topic_id,
               name, value, at AS changed_offset, time AS changed_time
        FROM ({_changes(log)}) WHERE is_last AND value IS NOT NULL"""


def config_audit(log: Log) -> str:
    columns = f"""{named("resource_type", CONFIG_RESOURCES)} AS resource_type, resource_name, topic_id, name,
               old_value, value AS new_value, cause"""
    text = f"""
        SELECT at AS offset, time, log_epoch, true AS exact, {columns}
        FROM ({_changes(log)})
        WHERE cause IN ('set', 'removed') OR (cause = 'topic deleted' AND old_value IS NOT NULL)"""
    for before, after in zip(log.known_ranges, log.known_ranges[1:], strict=False):
        text += f"""
        UNION ALL
        SELECT {after.start - 1}L, timestamp_millis({after.start_ms}), NULL, false, {columns}
        FROM ({_changed_in_gap(log, before.start, after.start)})"""
    return text


def _changed_in_gap(log: Log, before: int, after: int) -> str:
    """Differences between a snapshot and the state where the log ended before the gap."""
    key = "resource_type, resource_name, topic_id, name"
    return f"""
        SELECT {key}, max(CASE WHEN range_start = {before} THEN value END) AS old_value,
               max(CASE WHEN range_start = {after} THEN value END) AS value, 'gap' AS cause
        FROM ({_changes(log)})
        WHERE value IS NOT NULL
              AND (range_start = {before} AND is_last OR range_start = {after} AND cause = 'snapshot')
        GROUP BY {key}
        HAVING NOT (old_value <=> value)"""
