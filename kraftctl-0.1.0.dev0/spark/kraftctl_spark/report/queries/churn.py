"""Counts how often ISRs shrank and grew, of the busiest partitions, or of the busiest topics."""

from __future__ import annotations

from kraftctl_spark.report.clauses import partition_name
from kraftctl_spark.report.contents import Churn
from kraftctl_spark.report.queries.answers import answer
from kraftctl_spark.report.queries.query import Query

CHURN_ROWS_MAX = 30


def prepare(query: Query) -> None:
    """Makes `churned`, the changes of each partition in the period."""
    query.db.do(f"""
        CREATE TEMP TABLE churned AS
        SELECT topic_id, partition_id, count(*) FILTER (kind <> 'ISR grew') AS shrinks,
               count(*) FILTER (kind <> 'ISR shrank') AS expansions
        FROM ({_changes(query)}) GROUP BY topic_id, partition_id""")


def churn(query: Query) -> tuple[tuple[Churn, ...], tuple[int, str]]:
    """Counts per bucket; partitions or topics with the fewest changes are one row.

    It counts by topic where too many partitions have changes.
    """
    partitions = query.db.value("SELECT count(*) FROM churned")
    by_topic = partitions > CHURN_ROWS_MAX
    number = "-1" if by_topic else "partition_id"
    query.db.do(f"""
        CREATE TEMP TABLE churn_ranks AS
        SELECT topic_id, {number} AS number, {partition_name("max(topic)", number)} AS name,
               row_number() OVER (
                   ORDER BY sum(shrinks + expansions) DESC, max(topic), topic_id, number) AS rank
        FROM churned JOIN names USING (topic_id) GROUP BY topic_id, number""")
    found = query.db.all(
        Churn,
        f"""SELECT coalesce(name, 'others') AS name, bucket_ms, sum(shrinks) AS shrinks,
                   sum(expansions) AS expansions
            FROM (
                SELECT topic_id, {number} AS number, {query.within.bucket("epoch_ms(time)")} AS bucket_ms,
                       count(*) FILTER (kind <> 'ISR grew') AS shrinks,
                       count(*) FILTER (kind <> 'ISR shrank') AS expansions
                FROM ({_changes(query)}) GROUP BY ALL
            ) LEFT JOIN (FROM churn_ranks WHERE rank <= {CHURN_ROWS_MAX}) USING (topic_id, number)
            GROUP BY 1, 2 ORDER BY 1, 2""",
    )
    return found, (query.db.value("SELECT count(*) FROM churn_ranks"), "topics" if by_topic else "partitions")


def _changes(query: Query) -> str:
    """Counts a record in which an ISR shrank and grew as both."""
    during = query.within.during("time")
    return f"SELECT time, kind, topic_id, partition_id FROM {answer('isr_changes')} WHERE {during}"
