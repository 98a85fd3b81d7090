"""What is wrong at the end of the log: since when, and what the history has about its beginning."""

from __future__ import annotations

from dataclasses import replace

from kraftctl_spark.report.clauses import partition_name, text_of
from kraftctl_spark.report.contents import (
    BrokerAtEnd,
    ImpairedPartition,
    KindCount,
    Listed,
    LostAtEnd,
    Present,
)
from kraftctl_spark.report.queries.answers import answer
from kraftctl_spark.report.queries.query import Query
from kraftctl_spark.tables.not_understood import BEHIND_WHICH_TABLES_ARE_LOST

PARTITIONS_MAX = 50
BROKERS_MAX = 50

CAUSES = ("broker fenced", "broker shuts down", "broker unregistered")
"""The events of a broker that take it out of ISRs."""

TABLES = ("brokers", "partitions", "configs")
"""The tables that the answer is made of."""


def present(query: Query) -> Present:
    """Returns all of it; the query needs `broker_states` and `names`."""
    last = query.ranges[-1]
    known = last.end_offset >= query.end_offset
    found = Present(query.log_end_ms, query.end_offset - 1, known, _lost(query))
    if not known:
        return found
    _prepare(query, brokers_known="brokers" not in {one.table for one in found.lost})
    return replace(
        found,
        brokers=query.db.value("SELECT count(*) FROM brokers WHERE valid_to_offset IS NULL"),
        partitions=query.db.value("SELECT count(*) FROM partitions WHERE valid_to_offset IS NULL"),
        whole=query.db.value(
            """SELECT count(*) FROM lacking
               ANTI JOIN impaired USING (topic_id, partition_id)"""
        ),
        states=query.db.all(
            KindCount, "SELECT state AS kind, count(*) AS count FROM broken_brokers GROUP BY 1 ORDER BY 1"
        ),
        broken_brokers=query.db.listed(
            BrokerAtEnd,
            "FROM broken_brokers",
            "state <> 'fenced', state = 'unfenced', missing_in DESC, broker_id",
            BROKERS_MAX,
        ),
        leaderless=_impaired(query, "leaderless"),
        under_minimum=_impaired(query, "under minimum"),
        under_replicated=_impaired(query, "under-replicated"),
    )


def _lost(query: Query) -> tuple[LostAtEnd, ...]:
    """Returns what is not known at the end, each with the first record behind which it is not."""
    last, end = query.ranges[-1], query.end_offset - 1
    if last.end_offset <= end:
        cause = f"history_table IS NULL AND start_offset = {last.end_offset}"
    else:
        lost = ", ".join(f"'{table}'" for table in TABLES if not query.is_known(table, end))
        cause = f"list_contains([{lost}], history_table)"
    reasons = ", ".join(f"'{reason}'" for reason in BEHIND_WHICH_TABLES_ARE_LOST)
    return query.db.all(
        LostAtEnd,
        f"""SELECT coalesce(history_table, 'everything') AS table, arg_min(subject, start_offset) AS subject,
                   min(start_offset) AS "offset"
            FROM not_known WHERE end_offset IS NULL AND reason IN ({reasons}) AND {cause}
            GROUP BY 1 ORDER BY 1""",
    )


def _prepare(query: Query, *, brokers_known: bool) -> None:
    """Makes `impaired`, each impairment that has not ended; `lacking`, all partitions; `broken_brokers`,
    none where it is not known which brokers there are.
    """
    query.db.do(f"""
        CREATE TEMP TABLE impaired AS
        SELECT kind, topic_id, partition_id, start_offset, start_time, NULL::INTEGER AS minimum
        FROM {answer("outages")} WHERE end_offset IS NULL
        UNION ALL
        SELECT 'under minimum', topic_id, partition_id, max(start_offset) FILTER (begins),
               arg_max(start_time, start_offset) FILTER (begins), arg_max(min_insync_replicas, start_offset)
        FROM (SELECT *, lag(end_offset) OVER parts IS DISTINCT FROM start_offset
                        OR lag(ended_by) OVER parts = 'gap' AS begins
              FROM {answer("minutes_under_min_isr")}
              WINDOW parts AS (PARTITION BY topic_id, partition_id ORDER BY start_offset))
        GROUP BY topic_id, partition_id HAVING count(*) > count(end_offset)""")
    query.db.do("""
        CREATE TEMP TABLE lacking AS
        SELECT topic_id, partition_id, leader, isr,
               list_filter(replicas, lambda one: NOT list_contains(isr, one)
                                                 AND NOT list_contains(adding_replicas, one)) AS missing
        FROM partitions WHERE valid_to_offset IS NULL""")
    query.db.do(f"""
        CREATE TEMP TABLE broken_brokers AS
        WITH missed AS (
            SELECT broker_id, count(*) AS missing_in
            FROM (SELECT unnest(missing) AS broker_id FROM lacking) GROUP BY broker_id
        )
        SELECT coalesce(states.broker_id, missed.broker_id) AS broker_id,
               coalesce(state, 'not registered') AS state, epoch_ms(valid_from_time) AS since_ms,
               coalesce(started_by, '') AS started_by, coalesce(missing_in, 0) AS missing_in
        FROM (FROM broker_states WHERE valid_to_offset IS NULL) AS states
        FULL JOIN missed USING (broker_id)
        WHERE (state IS DISTINCT FROM 'unfenced' OR missing_in > 0) AND {brokers_known}""")


def _impaired(query: Query, kind: str) -> Listed[ImpairedPartition]:
    """Returns those that are so for the longest time, first."""
    causes = ", ".join(f"'{cause}'" for cause in CAUSES)
    listed = query.db.listed(
        ImpairedPartition,
        f"""WITH one AS (
                SELECT impaired.*, lacking.leader, lacking.isr, missing, began.batch_offset AS decision,
                       CASE WHEN began.valid_from_offset IS NULL THEN 'minimum'
                            WHEN began.from_snapshot THEN 'snapshot' END AS reason
                FROM impaired JOIN lacking USING (topic_id, partition_id)
                LEFT JOIN partitions AS began
                  ON began.topic_id = impaired.topic_id AND began.partition_id = impaired.partition_id
                 AND began.valid_from_offset = start_offset
                WHERE kind = '{kind}'
            ), of_brokers AS (
                SELECT batch_offset AS decision, broker_id, arg_max(kind, "offset") AS what FROM events
                WHERE history_table = 'brokers' AND kind IN ({causes})
                  AND batch_offset IN (SELECT decision FROM one)
                GROUP BY ALL
            ), causes AS (
                SELECT topic_id, partition_id,
                       list('broker ' || broker_id || ': ' || what ORDER BY broker_id) AS decided
                FROM one JOIN of_brokers USING (decision)
                WHERE list_contains(missing, broker_id)
                   OR kind = 'leaderless' AND list_contains(isr, broker_id)
                GROUP BY ALL
            ), own AS (
                SELECT topic_id, partition_id, "offset" AS start_offset, arg_min(kind, kind) AS what
                FROM events WHERE history_table = 'partitions' AND "offset" IN (SELECT start_offset FROM one)
                  AND (kind LIKE 'ISR shrank%' OR kind IN ('partition created', 'replicas changed'))
                GROUP BY ALL
            )
            SELECT {partition_name("names.topic")} AS partition, epoch_ms(start_time) AS since_ms, leader,
                   {text_of("isr")} AS isr, missing, coalesce(minimum, 1) AS minimum,
                   coalesce(reason, CASE WHEN decided IS NOT NULL THEN 'broker' END, what, 'none') AS reason,
                   coalesce(decided, []) AS decided
            FROM one JOIN names USING (topic_id)
            LEFT JOIN causes USING (topic_id, partition_id)
            LEFT JOIN own USING (topic_id, partition_id, start_offset)""",
        "since_ms, partition",
        PARTITIONS_MAX,
    )
    rows = (replace(row, missing=tuple(row.missing), decided=tuple(row.decided)) for row in listed.rows)
    return Listed(tuple(rows), listed.total)
