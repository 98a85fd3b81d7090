"""Measures how long partitions were leaderless, or under-replicated as Kafka's tools count it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kraftctl_spark.report.clauses import partition_name
from kraftctl_spark.report.contents import Availability, AvailabilityInBucket, Listed
from kraftctl_spark.report.period import Period
from kraftctl_spark.report.queries.answers import intervals
from kraftctl_spark.report.queries.query import Query

PARTITIONS_MAX = 20


@dataclass(frozen=True)
class Edge:
    """The outages that begin or end in a bucket, and the sum of their times after its start."""

    kind: str
    bucket_ms: int
    begun: int
    begun_after_ms: int
    ended: int
    ended_after_ms: int


def prepare(query: Query) -> None:
    """Makes `outages`: every state of a partition that is one. Each ends where the next begins."""
    within = query.within
    query.db.do(f"""
        CREATE TEMP TABLE outages AS
        SELECT topic_id, partition_id, leaderless, under_replicated,
               {within.start_ms} AS start_ms, {within.end_ms} AS end_ms
        FROM {intervals("partition_history")} WHERE (leaderless OR under_replicated) AND {within.overlap}""")


def by_partition(query: Query) -> Listed[Availability]:
    """Returns the partitions with the longest leaderless, then under-replicated, time."""
    return query.db.listed(
        Availability,
        f"""SELECT {partition_name()} AS partition, leaderless_ms, under_replicated_ms FROM (
                SELECT topic_id, partition_id,
                       coalesce(sum(took_ms) FILTER (leaderless), 0) AS leaderless_ms,
                       coalesce(sum(took_ms) FILTER (under_replicated), 0) AS under_replicated_ms
                FROM (SELECT *, end_ms - start_ms AS took_ms FROM outages) GROUP BY topic_id, partition_id
            ) JOIN names USING (topic_id) WHERE leaderless_ms + under_replicated_ms > 0""",
        "leaderless_ms DESC, under_replicated_ms DESC, partition",
        PARTITIONS_MAX,
    )


def deleted(query: Query) -> int:
    """Counts the partitions with an outage that the cluster no longer has: they are in no size of it."""
    found: int = query.db.value(
        """SELECT count(*) FROM (SELECT DISTINCT topic_id, partition_id FROM outages WHERE end_ms > start_ms)
           SEMI JOIN (FROM partitions WHERE ended_by = 'removed') USING (topic_id, partition_id)"""
    )
    return found


def over_time(query: Query) -> tuple[AvailabilityInBucket, ...]:
    """Returns the times of each bucket that has any."""
    edges = query.db.all(Edge, f"{_edges(query, 'leaderless')} UNION ALL {_edges(query, 'under_replicated')}")
    leaderless, under_replicated = (
        summed(query.period, [edge for edge in edges if edge.kind == kind])
        for kind in ("leaderless", "under_replicated")
    )
    return tuple(
        AvailabilityInBucket(bucket_ms, leaderless[bucket_ms], under_replicated[bucket_ms])
        for bucket_ms in query.period.buckets()
        if leaderless[bucket_ms] or under_replicated[bucket_ms]
    )


def summed(period: Period, edges: Sequence[Edge]) -> dict[int, int]:
    """Sums the time in each bucket over all outages.

    It uses their beginnings and ends: a row for each outage and bucket would be a hundred times as many.
    """
    width_ms = period.bucket_ms
    by_bucket = {edge.bucket_ms: edge for edge in edges}
    found, under_way = {}, 0
    for bucket_ms in period.buckets():
        found[bucket_ms] = under_way * (min(bucket_ms + width_ms, period.end_ms) - bucket_ms)
        if edge := by_bucket.get(bucket_ms):
            end_after_ms = min(width_ms, period.end_ms - bucket_ms)
            found[bucket_ms] += edge.begun * end_after_ms - edge.begun_after_ms
            found[bucket_ms] -= edge.ended * end_after_ms - edge.ended_after_ms
            under_way += edge.begun - edge.ended
    return found


def _edges(query: Query, kind: str) -> str:
    def of(time_ms: str) -> str:
        return (
            f"{query.within.bucket(time_ms)} AS bucket_ms, {time_ms} % {query.period.bucket_ms} AS after_ms"
        )

    return f"""
        SELECT '{kind}' AS kind, bucket_ms, sum(begun) AS begun, sum(begun * after_ms) AS begun_after_ms,
               sum(ended) AS ended, sum(ended * after_ms) AS ended_after_ms
        FROM (SELECT {of("start_ms")}, 1 AS begun, 0 AS ended FROM outages WHERE {kind}
              UNION ALL SELECT {of("end_ms")}, 0, 1 FROM outages WHERE {kind})
        GROUP BY bucket_ms"""
