"""Lists elections of partition leaders: their kind, their reason, and the broker that won."""

from __future__ import annotations

from kraftctl_spark.report.clauses import partition_name
from kraftctl_spark.report.contents import BrokerElections, ElectionCount, Listed, UncleanElection
from kraftctl_spark.report.queries.query import Query

BROKERS_MAX = 40
UNCLEAN_MAX = 50


def prepare(query: Query) -> None:
    """Makes `elections`, from the events and the states of a partition before and after each."""
    during = query.within.during
    query.db.do(f"""
        CREATE TEMP TABLE elections AS
        WITH elected AS (
            SELECT "offset", time, topic_id, partition_id, kind = 'unclean election' AS unclean,
                   CAST(before AS INT) AS old_leader, CAST(after AS INT) AS new_leader
            FROM events WHERE kind IN ('leader elected', 'unclean election') AND {during("time")}
        )
        SELECT elected.*,
               CASE WHEN unclean THEN 'unclean' WHEN list_contains(old.isr, new_leader) THEN 'clean'
                    WHEN list_contains(old.elr, new_leader) THEN 'elr' ELSE 'clean' END AS kind,
               CASE WHEN old_leader = -1 THEN 'leaderless'
                    WHEN NOT list_contains(new.replicas, old_leader) THEN 'reassigned'
                    WHEN NOT list_contains(new.isr, old_leader) THEN 'failover'
                    WHEN new_leader = new.replicas[1] THEN 'preferred' ELSE 'moved' END AS cause
        FROM elected
        JOIN (SELECT topic_id, partition_id, valid_to_offset, isr, elr FROM partitions
              WHERE {during("valid_to_time")}) old
             ON old.valid_to_offset = elected."offset" AND old.topic_id = elected.topic_id
             AND old.partition_id = elected.partition_id
        JOIN (SELECT topic_id, partition_id, valid_from_offset, isr, replicas FROM partitions
              WHERE {during("valid_from_time")}) new
             ON new.valid_from_offset = elected."offset" AND new.topic_id = elected.topic_id
             AND new.partition_id = elected.partition_id""")


def over_time(query: Query) -> tuple[ElectionCount, ...]:
    return query.db.all(
        ElectionCount,
        f"""SELECT {query.within.bucket("epoch_ms(time)")} AS bucket_ms, kind, cause, count(*) AS elections
            FROM elections GROUP BY 1, 2, 3 ORDER BY 1, 2, 3""",
    )


def by_broker(query: Query) -> tuple[BrokerElections, ...]:
    """Returns the brokers that were elected most often; all others are one row."""
    return query.db.all(
        BrokerElections,
        f"""WITH counted AS (
                SELECT new_leader, kind, count(*) AS elections FROM elections GROUP BY 1, 2
            ), ranked AS (
                SELECT new_leader, row_number() OVER (ORDER BY sum(elections) DESC, new_leader) AS rank
                FROM counted GROUP BY 1
            )
            SELECT broker, kind, elections FROM (
                SELECT CASE WHEN rank <= {BROKERS_MAX} THEN 'broker ' || new_leader
                            ELSE 'others' END AS broker,
                       kind, sum(elections) AS elections,
                       min(CASE WHEN rank <= {BROKERS_MAX} THEN new_leader END) AS place
                FROM counted JOIN ranked USING (new_leader) GROUP BY 1, 2
            ) ORDER BY place NULLS LAST, kind""",
    )


def unclean(query: Query) -> Listed[UncleanElection]:
    return query.db.listed(
        UncleanElection,
        f"""SELECT epoch_ms(time) AS time_ms, "offset", {partition_name()} AS partition, old_leader,
                   new_leader
            FROM elections JOIN names USING (topic_id) WHERE kind = 'unclean'""",
        '"offset" DESC',
        UNCLEAN_MAX,
    )
