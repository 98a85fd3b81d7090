"""The names that the page shows of topics."""

from __future__ import annotations

from kraftctl_spark.report.queries.query import Query


def prepare(query: Query) -> None:
    """Makes `names`: the name of each topic id; with the id's beginning where topics share a name."""
    query.db.do("""
        CREATE TEMP TABLE names AS
        SELECT topic_id, CASE WHEN count(*) OVER (PARTITION BY topic) > 1
                              THEN topic || ' (' || substr(topic_id, 1, 6) || '…)' ELSE topic END AS topic
        FROM (SELECT DISTINCT topic_id, topic FROM topics)""")
