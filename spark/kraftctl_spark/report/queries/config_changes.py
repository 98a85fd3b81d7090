"""Lists changes of configurations, and those that a gap hides."""

from __future__ import annotations

from kraftctl_protocol.config_resource import NAMES as CONFIG_RESOURCES
from kraftctl_protocol.secrets import REDACTED
from kraftctl_spark.report.contents import ConfigChange, KindCount, Listed
from kraftctl_spark.report.queries.names import named
from kraftctl_spark.report.queries.query import Query

CONFIG_CHANGES_MAX = 1_000


def prepare(query: Query) -> None:
    """Makes `config_changes`, those of the period."""
    parts = (_SET, _REMOVED, _set_again(), _CHANGED_IN_GAP)
    query.db.do(f"""
        CREATE TEMP TABLE config_changes AS
        WITH versions AS ({_VERSIONS}), gaps AS ({_GAPS})
        SELECT epoch_ms(time) AS time_ms, place AS "offset",
               lower(resource_type) || CASE resource_name WHEN '' THEN ' (default)'
                                       ELSE ' ' || resource_name END AS resource,
               name, old_value, new_value, cause, exact
        FROM ({" UNION ALL ".join(parts)}) WHERE {query.within.during("time")}""")


def latest(query: Query) -> Listed[ConfigChange]:
    return query.db.listed(
        ConfigChange, "FROM config_changes", '"offset" DESC, resource, name', CONFIG_CHANGES_MAX
    )


def causes(query: Query) -> tuple[KindCount, ...]:
    return query.db.all(
        KindCount, "SELECT cause AS kind, count(*) AS count FROM config_changes GROUP BY 1 ORDER BY 1"
    )


_KEY = "resource_type, resource_name, name"

_VERSIONS = f"""
    SELECT *, CASE WHEN lag(valid_to_offset) OVER of_config = valid_from_offset
                    AND lag(ended_by) OVER of_config = 'changed'
                   THEN lag(value) OVER of_config END AS old_value
    FROM configs WINDOW of_config AS (PARTITION BY {_KEY} ORDER BY valid_from_offset)"""

_GAPS = """
    SELECT end_offset AS gap_offset, lead(start_offset) OVER in_order AS snapshot_offset,
           lead(start_time) OVER in_order AS time
    FROM known_ranges WINDOW in_order AS (ORDER BY start_offset)"""

_SET = f"""
    SELECT valid_from_offset AS place, valid_from_time AS time, {_KEY}, old_value, value AS new_value,
           'set' AS cause, true AS exact
    FROM versions WHERE NOT from_snapshot"""

_REMOVED = """
    SELECT versions.valid_to_offset, versions.valid_to_time, resource_type, resource_name, name, value, NULL,
           CASE WHEN topics.topic_id IS NULL THEN 'removed' ELSE 'topic deleted' END, true
    FROM versions LEFT JOIN topics ON topics.topic_id = versions.topic_id
         AND topics.valid_to_offset = versions.valid_to_offset AND topics.ended_by = 'removed'
    WHERE versions.ended_by = 'removed'"""

_CHANGED_IN_GAP = f"""
    SELECT snapshot_offset, any_value(time), {_KEY}, max(old_value), max(new_value), 'gap', false
    FROM (
        SELECT snapshot_offset, time, {_KEY}, topic_id, value AS old_value, NULL AS new_value
        FROM versions JOIN gaps ON ended_by = 'gap' AND valid_to_offset = gap_offset
        WHERE snapshot_offset IS NOT NULL
        UNION ALL
        SELECT snapshot_offset, time, {_KEY}, topic_id, NULL, value
        FROM versions JOIN gaps ON from_snapshot AND valid_from_offset = snapshot_offset
    ) GROUP BY snapshot_offset, {_KEY}, topic_id HAVING max(old_value) IS DISTINCT FROM max(new_value)"""


def _set_again() -> str:
    """Finds redacted values that were set again: no version begins, because the new one cannot be told
    from the old.
    """
    return f"""
        SELECT raw."offset", raw.timestamp, {named("raw.resource_type", CONFIG_RESOURCES)} AS type,
               raw.resource_name, raw.name, raw.value, raw.value, 'set', true
        FROM raw_config_record raw
        LEFT JOIN configs ON configs.valid_from_offset = raw."offset"
        WHERE raw.value = '{REDACTED}' AND raw."offset" IS NOT NULL AND raw.aborted IS NOT TRUE
          AND configs.name IS NULL"""
