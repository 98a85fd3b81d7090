"""The names that the page shows: of topics, and Kafka's for numbers."""

from __future__ import annotations

from collections.abc import Mapping

from kraftctl_spark.report.queries.query import Query


def prepare(query: Query) -> None:
    """Makes `names`: the name of each topic id; with the id's beginning where topics share a name."""
    query.db.do("""
        CREATE TEMP TABLE names AS
        SELECT topic_id, CASE WHEN count(*) OVER (PARTITION BY topic) > 1
                              THEN topic || ' (' || substr(topic_id, 1, 6) || '…)' ELSE topic END AS topic
        FROM (SELECT DISTINCT topic_id, topic FROM topics)""")


def named(column: str, names: Mapping[int, str]) -> str:
    """Returns the number itself where only a newer Kafka has a name for it."""
    cases = " ".join(f"WHEN {number} THEN '{name}'" for number, name in names.items())
    return f"CASE {column} {cases} ELSE CAST({column} AS VARCHAR) END"
