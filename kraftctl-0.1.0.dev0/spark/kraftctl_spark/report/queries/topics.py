"""Lists the topics that were created and deleted in the period."""

from __future__ import annotations

from kraftctl_spark.report.contents import Happened, KindCount, Listed
from kraftctl_spark.report.queries.query import Query

CHANGES_MAX = 100


def prepare(query: Query) -> None:
    """Makes `topic_changes`, those of the period; the query needs `asked`."""
    query.db.do(f"""
        CREATE TEMP TABLE topic_changes AS
        SELECT epoch_ms(time) AS time_ms, "offset", kind, subject, before, after, who
        FROM events LEFT JOIN asked USING ("offset")
        WHERE history_table = 'topics' AND {query.within.during("time")}""")


def latest(query: Query) -> Listed[Happened]:
    return query.db.listed(Happened, "FROM topic_changes", '"offset" DESC, subject', CHANGES_MAX)


def kinds(query: Query) -> tuple[KindCount, ...]:
    return query.db.all(KindCount, "SELECT kind, count(*) AS count FROM topic_changes GROUP BY 1 ORDER BY 1")
