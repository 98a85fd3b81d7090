"""Lists changes of configurations, and those that a gap hides."""

from __future__ import annotations

from kraftctl_spark.report.contents import ConfigChange, ConfigChangeCount, KindCount, Listed
from kraftctl_spark.report.queries.answers import answer
from kraftctl_spark.report.queries.query import Query

CONFIG_CHANGES_MAX = 1_000


def prepare(query: Query) -> None:
    """Makes `config_changes`, those of the period. A resource of no kind is a topic: most are."""
    query.db.do(f"""
        CREATE TEMP TABLE config_changes AS
        SELECT epoch_ms(time) AS time_ms, "offset",
               CASE WHEN resource_name = '' THEN lower(resource_type) || ' (default)'
                    WHEN resource_type = 'TOPIC' THEN resource_name
                    ELSE lower(resource_type) || ' ' || resource_name END AS resource,
               name, old_value, new_value, cause, exact, CASE WHEN exact THEN who END AS who
        FROM {answer("config_audit")} LEFT JOIN asked USING ("offset")
        WHERE {query.within.during("time")}""")


def latest(query: Query) -> Listed[ConfigChange]:
    return query.db.listed(
        ConfigChange, "FROM config_changes", '"offset" DESC, resource, name', CONFIG_CHANGES_MAX
    )


def over_time(query: Query) -> tuple[ConfigChangeCount, ...]:
    """Counts all of them, also those that are not listed."""
    return query.db.all(
        ConfigChangeCount,
        f"""SELECT {query.within.bucket("time_ms")} AS bucket_ms, cause, count(*) AS changes
            FROM config_changes GROUP BY 1, 2 ORDER BY 1, 2""",
    )


def causes(query: Query) -> tuple[KindCount, ...]:
    return query.db.all(
        KindCount, "SELECT cause AS kind, count(*) AS count FROM config_changes GROUP BY 1 ORDER BY 1"
    )
