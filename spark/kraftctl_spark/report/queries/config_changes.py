"""Lists changes of configurations, and those that a gap hides."""

from __future__ import annotations

from kraftctl_protocol.config_resource import NAMES as CONFIG_RESOURCES
from kraftctl_protocol.secrets import REDACTED
from kraftctl_spark.report.contents import ConfigChange, KindCount, Listed
from kraftctl_spark.report.queries.answers import answer
from kraftctl_spark.report.queries.names import named
from kraftctl_spark.report.queries.query import Query

CONFIG_CHANGES_MAX = 1_000


def prepare(query: Query) -> None:
    """Makes `config_changes`, those of the period."""
    query.db.do(f"""
        CREATE TEMP TABLE config_changes AS
        SELECT epoch_ms(time) AS time_ms, "offset",
               lower(resource_type) || CASE resource_name WHEN '' THEN ' (default)'
                                       ELSE ' ' || resource_name END AS resource,
               name, old_value, new_value, cause, exact
        FROM (SELECT "offset", time, resource_type, resource_name, name, old_value, new_value, cause, exact
              FROM {answer("config_audit")} UNION ALL {_set_again()})
        WHERE {query.within.during("time")}""")


def latest(query: Query) -> Listed[ConfigChange]:
    return query.db.listed(
        ConfigChange, "FROM config_changes", '"offset" DESC, resource, name', CONFIG_CHANGES_MAX
    )


def causes(query: Query) -> tuple[KindCount, ...]:
    return query.db.all(
        KindCount, "SELECT cause AS kind, count(*) AS count FROM config_changes GROUP BY 1 ORDER BY 1"
    )


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
