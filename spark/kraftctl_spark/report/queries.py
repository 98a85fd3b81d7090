"""Fetches the contents of the page with SQL on the views; each result is small enough for a page.

Spark computes the aggregates, over millions of records where necessary, and cuts the lists; each list keeps
its full length. Durations count only within the period.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from kraftctl_spark.report.contents import (
    Availability,
    AvailabilityInBucket,
    BrokerElections,
    BrokerState,
    Churn,
    ConfigChange,
    Contents,
    ElectionCount,
    FencedBroker,
    Header,
    Listed,
    QuorumLeader,
    Reassignment,
    RecordCount,
    Size,
    UncleanElection,
    VoterChange,
)
from kraftctl_spark.report.period import Period, shown_time
from kraftctl_spark.report.sql import Clauses, partition_name
from kraftctl_spark.tables.manifest import ExportRefusedError, Manifest, Output
from kraftctl_spark.views import HISTORY_VIEWS
from kraftctl_spark.views.log import Log
from kraftctl_spark.views.partitions import partition_states
from kraftctl_spark.views.tables import open_tables

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BROKERS_MAX = 40
BROKER_STATES_MAX = 2_000
CHURN_ROWS_MAX = 30
UNCLEAN_MAX = 50
CONFIG_CHANGES_MAX = 1_000
PARTITIONS_MAX = 20
REASSIGNMENTS_MAX = 500
EPOCHS_MAX = 1_000
VOTER_CHANGES_MAX = 50

VIEWS = ("topic_history", "partition_history", "fencing_timeline", "config_audit", "quorum_changes")
WITH_TOPICS = ("isr_changes", "elections", "outages", "reassignments")
"""Registered as `report_` + name, with distinguishable topic names."""

Found = TypeVar("Found")
log = logging.getLogger(__name__)


def fetch(spark: SparkSession, directory: Path, from_ms: int | None, until_ms: int | None) -> Contents:
    """The contents of a report on tables; ExportRefusedError when there is nothing to show."""
    if not Output(directory).manifests():
        raise ExportRefusedError(f"{directory} holds no tables of kraftctl-export: run that first")
    manifests, known = open_tables(spark, directory)
    _register(spark, known)
    query = Query(spark, _period(known, from_ms, until_ms), known)
    log.info("reading from %s to %s UTC", shown_time(query.period.start_ms), shown_time(query.period.end_ms))
    return query.contents(manifests)


def _register(spark: SparkSession, known: Log) -> None:
    """Registers the views to query. The states of partitions, used by most of them, are computed once."""
    spark.sql(partition_states(known)).persist()
    for name in VIEWS:
        spark.sql(HISTORY_VIEWS[name](known)).createOrReplaceTempView(name)
    reused = """
        SELECT topic_id, concat(topic, ' (', substr(topic_id, 1, 6), '…)') AS distinct_name FROM (
            SELECT topic_id, topic, count(*) OVER (PARTITION BY topic) AS topics
            FROM (SELECT DISTINCT topic_id, topic FROM topic_history)
        ) WHERE topics > 1"""
    spark.sql(reused).persist().createOrReplaceTempView("report_reused")
    for name in WITH_TOPICS:
        frame = spark.sql(
            "SELECT * EXCEPT (topic, distinct_name), coalesce(distinct_name, topic) AS topic "
            f"FROM ({HISTORY_VIEWS[name](known)}) LEFT JOIN report_reused USING (topic_id)"
        )
        frame.persist().createOrReplaceTempView(f"report_{name}")


def _period(known: Log, from_ms: int | None, until_ms: int | None) -> Period:
    """The period that the tables cover, cut to the requested one."""
    first_ms, end_ms = known.known_ranges[0].start_ms, max(one.end_ms for one in known.known_ranges) + 1
    start_ms = first_ms if from_ms is None else max(from_ms, first_ms)
    until_ms = end_ms if until_ms is None else min(until_ms, end_ms)
    if start_ms >= until_ms:
        raise ExportRefusedError(
            f"nothing is between --from and --until: the tables cover {shown_time(first_ms)} to "
            f"{shown_time(end_ms)} UTC"
        )
    return Period(start_ms, until_ms)


class Query:
    """All queries for one period, on the views of one session."""

    def __init__(self, spark: SparkSession, period: Period, known: Log) -> None:
        self.period = period
        self._known = known
        self._spark = spark
        self._in = Clauses(period)

    def contents(self, manifests: list[Manifest]) -> Contents:
        growth = self.growth()
        churn_by = "partition_id" if self._churning() <= CHURN_ROWS_MAX else "-1"
        return Contents(
            header=self.header(manifests, growth),
            period=self.period,
            fencing=self.fencing(),
            fenced_brokers=self.fenced_brokers(),
            elections=self.elections(),
            broker_elections=self.broker_elections(),
            unclean_elections=self.unclean_elections(),
            churn=self.churn(churn_by),
            growth=growth,
            config_changes=self.config_changes(),
            availability=self.availability(),
            availability_over_time=self.availability_over_time(),
            quorum_leaders=self.quorum_leaders(),
            voter_changes=self.voter_changes(),
            record_types=self.record_types(),
            reassignments=self.reassignments(),
        )

    def header(self, manifests: list[Manifest], growth: tuple[Size, ...]) -> Header:
        counts = {
            name: sum(manifest.counts.get(name, 0) for manifest in manifests)
            for name in ("records", "unknown", "undecodable", "redacted", "aborted")
        }
        last = next((size for size in reversed(growth) if size.topics is not None), Size(0, 0, 0, 0))
        return Header(
            cluster_id=manifests[-1].cluster_id,
            start_offset=self._known.known_ranges[0].start,
            end_offset=self._known.last.end,
            start_ms=self._known.known_ranges[0].start_ms,
            end_ms=self._known.last.end_ms,
            **counts,
            brokers=last.brokers or 0,
            topics=last.topics or 0,
            partitions=last.partitions or 0,
        )

    def fencing(self) -> Listed[BrokerState]:
        """The longest states of the brokers that were fenced most often."""
        return self._listed(
            BrokerState,
            f"""SELECT broker_id, state, {self._in.start_ms} AS start_ms, {self._in.end_ms} AS end_ms,
                       started_by, CASE WHEN unix_millis(end_time) >= {self.period.end_ms} THEN 'end'
                                        ELSE ended_by END AS ended_by
                FROM fencing_timeline
                WHERE {self._in.overlap} AND broker_id IN (
                    SELECT broker_id FROM ({self._fenced_brokers()})
                    ORDER BY fenced_ms DESC, broker_id LIMIT {BROKERS_MAX}
                )""",
            "end_ms - start_ms DESC, start_ms, broker_id",
            BROKER_STATES_MAX,
        )

    def fenced_brokers(self) -> Listed[FencedBroker]:
        return self._listed(FencedBroker, self._fenced_brokers(), "fenced_ms DESC, broker_id", BROKERS_MAX)

    def _fenced_brokers(self) -> str:
        return f"""
            SELECT broker_id,
                   count_if(state = 'fenced' AND started_by = 'changed' AND {self._in.moment("start_time")}
                            AND NOT previous_state <=> 'controlled shutdown') AS fenced,
                   sum(CASE WHEN state = 'fenced' THEN {self._in.duration_ms} ELSE 0 END) AS fenced_ms,
                   count_if(state = 'controlled shutdown' AND {self._in.moment("start_time")}) AS shutdowns
            FROM (SELECT *, lag(state) OVER (PARTITION BY broker_id, broker_epoch ORDER BY start_offset)
                            AS previous_state FROM fencing_timeline)
            WHERE {self._in.overlap} GROUP BY broker_id"""

    def elections(self) -> tuple[ElectionCount, ...]:
        return self._all(
            ElectionCount,
            f"""SELECT {self._in.bucket("time")} AS bucket_ms, kind, cause, count(*) AS elections
                FROM report_elections WHERE {self._in.moment("time")} GROUP BY 1, 2, 3 ORDER BY 1, 2, 3""",
        )

    def broker_elections(self) -> tuple[BrokerElections, ...]:
        """Of the brokers that were elected most often; all others are one row."""
        return self._all(
            BrokerElections,
            f"""WITH counted AS (
                    SELECT new_leader, kind, count(*) AS elections FROM report_elections
                    WHERE {self._in.moment("time")} GROUP BY 1, 2
                ), ranked AS (
                    SELECT new_leader, row_number() OVER (ORDER BY sum(elections) DESC, new_leader) AS rank
                    FROM counted GROUP BY 1
                )
                SELECT broker, kind, elections FROM (
                    SELECT CASE WHEN rank <= {BROKERS_MAX} THEN concat('broker ', new_leader)
                                ELSE 'others' END AS broker,
                           kind, sum(elections) AS elections,
                           min(CASE WHEN rank <= {BROKERS_MAX} THEN new_leader END) AS place
                    FROM counted JOIN ranked USING (new_leader) GROUP BY 1, 2
                ) ORDER BY place NULLS LAST, kind""",
        )

    def unclean_elections(self) -> Listed[UncleanElection]:
        return self._listed(
            UncleanElection,
            f"""SELECT unix_millis(time) AS time_ms, offset, {partition_name()} AS partition,
                       old_leader, new_leader
                FROM report_elections WHERE kind = 'unclean' AND {self._in.moment("time")}""",
            "offset DESC",
            UNCLEAN_MAX,
        )

    def _churning(self) -> int:
        found = self._spark.sql(
            f"""SELECT count(DISTINCT topic_id, partition_id) AS partitions
                FROM report_isr_changes WHERE {self._in.moment("time")}"""
        ).collect()
        return int(found[0].partitions)

    def churn(self, partition_id: str) -> tuple[Churn, ...]:
        """By partition, or by topic when `partition_id` is -1; those with the fewest changes are one row."""
        return self._all(
            Churn,
            f"""WITH counted AS (
                    SELECT topic_id, topic, {partition_id} AS partition_id,
                           {self._in.bucket("time")} AS bucket_ms,
                           count_if(size(removed) > 0) AS shrinks, count_if(size(added) > 0) AS expansions
                    FROM report_isr_changes WHERE {self._in.moment("time")} GROUP BY 1, 2, 3, 4
                ), ranked AS (
                    SELECT topic_id, partition_id,
                           row_number() OVER (ORDER BY sum(shrinks + expansions) DESC, max(topic), topic_id,
                                              partition_id) AS rank
                    FROM counted GROUP BY 1, 2
                )
                SELECT CASE WHEN rank <= {CHURN_ROWS_MAX} THEN {partition_name()} ELSE 'others' END AS name,
                       bucket_ms, sum(shrinks) AS shrinks, sum(expansions) AS expansions
                FROM counted JOIN ranked USING (topic_id, partition_id)
                GROUP BY 1, 2 ORDER BY 1, 2""",
        )

    def growth(self) -> tuple[Size, ...]:
        """States of each kind at the end of a bucket: those started minus those ended by then."""
        steps = self._all(
            Step,
            f"""SELECT what, bucket_ms, sum(step) AS step FROM (
                    {self._in.steps("topics", "partition_history WHERE partition_id = 0")}
                    UNION ALL {self._in.steps("partitions", "partition_history")}
                    UNION ALL {self._in.steps("brokers", "fencing_timeline")}
                ) WHERE bucket_ms < {self.period.end_ms} GROUP BY 1, 2 ORDER BY 1, 2""",
        )
        known_ranges = self._known.known_ranges
        gaps = [(before.end_ms, after.start_ms) for before, after in pairwise(known_ranges)]
        return sizes(self.period, steps, gaps)

    def config_changes(self) -> Listed[ConfigChange]:
        return self._listed(
            ConfigChange,
            f"""SELECT unix_millis(time) AS time_ms, offset,
                       CASE WHEN resource_name = '' THEN concat(lower(resource_type), ' (default)')
                            ELSE concat(lower(resource_type), ' ', resource_name) END AS resource,
                       name, old_value, new_value, cause, exact
                FROM config_audit WHERE {self._in.moment("time")}""",
            "offset DESC, resource, name",
            CONFIG_CHANGES_MAX,
        )

    def availability(self) -> tuple[Availability, ...]:
        """Partitions with the longest leaderless, then under-replicated, time; all others are one row."""
        return self._all(
            Availability,
            f"""WITH summed AS (
                    SELECT topic_id, max(topic) AS topic, partition_id,
                           sum(CASE WHEN kind = 'leaderless' THEN {self._in.duration_ms} ELSE 0 END)
                               AS leaderless_ms,
                           sum(CASE WHEN kind <> 'leaderless' THEN {self._in.duration_ms} ELSE 0 END)
                               AS under_replicated_ms
                    FROM report_outages WHERE {self._in.overlap} GROUP BY topic_id, partition_id
                ), ranked AS (
                    SELECT *, row_number() OVER (ORDER BY leaderless_ms DESC, under_replicated_ms DESC, topic,
                                                 topic_id, partition_id) AS rank
                    FROM summed WHERE leaderless_ms + under_replicated_ms > 0
                )
                SELECT CASE WHEN rank <= {PARTITIONS_MAX} THEN {partition_name()} ELSE 'others' END
                           AS partition,
                       sum(leaderless_ms) AS leaderless_ms, sum(under_replicated_ms) AS under_replicated_ms
                FROM ranked GROUP BY least(rank, {PARTITIONS_MAX + 1}), 1
                ORDER BY least(rank, {PARTITIONS_MAX + 1})""",
        )

    def availability_over_time(self) -> tuple[AvailabilityInBucket, ...]:
        width_ms = self.period.bucket_ms
        within = f"greatest(0L, least(end_ms, bucket_ms + {width_ms}) - greatest(start_ms, bucket_ms))"
        return self._all(
            AvailabilityInBucket,
            f"""SELECT bucket_ms,
                       sum(CASE WHEN kind = 'leaderless' THEN {within} ELSE 0 END) AS leaderless_ms,
                       sum(CASE WHEN kind <> 'leaderless' THEN {within} ELSE 0 END) AS under_replicated_ms
                FROM (
                    SELECT *, explode(sequence(start_ms - start_ms % {width_ms}, end_ms, {width_ms}L))
                               AS bucket_ms
                    FROM (SELECT kind, {self._in.start_ms} AS start_ms, {self._in.end_ms} AS end_ms
                          FROM report_outages WHERE {self._in.overlap} AND start_time < end_time)
                ) WHERE bucket_ms < {self.period.end_ms} GROUP BY 1 ORDER BY 1""",
        )

    def quorum_leaders(self) -> Listed[QuorumLeader]:
        return self._listed(
            QuorumLeader,
            f"""SELECT leader_id, log_epoch, start_ms, greatest(start_ms, end_ms) AS end_ms FROM (
                    SELECT leader_id, log_epoch, {self._in.start_of("time")} AS start_ms,
                           {self._in.end_ms} AS end_ms
                    FROM quorum_changes
                    WHERE change = 'leader' AND {self._in.overlapping("time", "end_time")}
                )""",
            "log_epoch DESC",
            EPOCHS_MAX,
        )

    def voter_changes(self) -> Listed[VoterChange]:
        return self._listed(
            VoterChange,
            f"""SELECT unix_millis(time) AS time_ms, offset, change,
                       coalesce(cast(kraft_version AS STRING), concat_ws(', ', voters)) AS value
                FROM quorum_changes WHERE change <> 'leader' AND {self._in.moment("time")}""",
            "offset DESC, change",
            VOTER_CHANGES_MAX,
        )

    def record_types(self) -> tuple[RecordCount, ...]:
        """Only from the log: records in a snapshot were first written at another time."""
        return self._all(
            RecordCount,
            f"""SELECT {self._in.bucket("timestamp")} AS bucket_ms, type, count(*) AS records FROM records
                WHERE offset IS NOT NULL AND {self._in.moment("timestamp")} GROUP BY 1, 2 ORDER BY 1, 2""",
        )

    def reassignments(self) -> Listed[Reassignment]:
        start_ms = f"coalesce(unix_millis(start_time), {self.period.start_ms})"
        return self._listed(
            Reassignment,
            f"""SELECT {partition_name()} AS partition, {start_ms} AS start_ms,
                       CASE WHEN outcome = 'running' THEN {self.period.end_ms} - {start_ms}
                            ELSE duration_ms END AS duration_ms,
                       outcome, concat_ws(', ', old_replicas) AS old_replicas,
                       concat_ws(', ', new_replicas) AS new_replicas
                FROM report_reassignments
                WHERE {start_ms} < {self.period.end_ms}
                  AND coalesce(unix_millis(end_time), {self.period.end_ms}) >= {self.period.start_ms}""",
            "duration_ms DESC NULLS LAST, start_ms, partition",
            REASSIGNMENTS_MAX,
        )

    def _all(self, kind: type[Found], sql: str) -> tuple[Found, ...]:
        log.info("reading %s", kind.__name__)
        return tuple(kind(**row.asDict()) for row in self._spark.sql(sql).collect())

    def _listed(self, kind: type[Found], sql: str, order: str, rows_max: int) -> Listed[Found]:
        found = self._all(
            _counted(kind),
            f"SELECT *, count(*) OVER () AS total FROM ({sql}) ORDER BY {order} LIMIT {rows_max}",
        )
        return Listed(tuple(row for row, _ in found), found[0][1] if found else 0)


@dataclass(frozen=True)
class Step:
    """Change of a number in a bucket, or before the first bucket."""

    what: str
    bucket_ms: int
    step: int


def _counted(kind: type[Found]) -> Any:
    def counted(total: int, **fields: Any) -> tuple[Found, int]:
        return kind(**fields), total

    counted.__name__ = kind.__name__
    return counted


def sizes(period: Period, steps: tuple[Step, ...], gaps: list[tuple[int, int]]) -> tuple[Size, ...]:
    """`gaps` are the times for which the log is not known."""
    before = period.buckets()[0]
    totals = {"topics": 0, "partitions": 0, "brokers": 0}
    by_bucket: dict[int, list[Step]] = {}
    for step in steps:
        by_bucket.setdefault(max(step.bucket_ms, before), []).append(step)
    sizes = []
    for bucket_ms in period.buckets():
        for step in by_bucket.get(bucket_ms, ()):
            totals[step.what] += step.step
        end_ms = min(bucket_ms + period.bucket_ms, period.end_ms)
        if any(start_ms < end_ms <= known_ms for start_ms, known_ms in gaps):
            sizes.append(Size(bucket_ms, None, None, None))
        else:
            sizes.append(Size(bucket_ms, **totals))
    return tuple(sizes)
