"""Lists elections of partition leaders: their kind, their reason, and the broker that won."""

from __future__ import annotations

from kraftctl_spark.report.clauses import partition_name
from kraftctl_spark.report.contents import BrokerElections, ElectionCount, Listed, UncleanElection
from kraftctl_spark.report.queries.answers import answer
from kraftctl_spark.report.queries.query import Query

BROKERS_MAX = 40
UNCLEAN_MAX = 50


def prepare(query: Query) -> None:
    """Makes `elections`, those of the period."""
    query.db.do(f"""
        CREATE TEMP TABLE elections AS
        SELECT * EXCLUDE (topic) FROM {answer("elections")} WHERE {query.within.during("time")}""")


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
