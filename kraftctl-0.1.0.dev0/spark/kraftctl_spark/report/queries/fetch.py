"""All contents of a report, as of one commit of the history."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

import duckdb

from kraftctl_spark.history.history_manifest import HistoryManifest, read_manifest
from kraftctl_spark.history.known_ranges import KnownRange, decode_ranges
from kraftctl_spark.history.schema import KNOWN_RANGES
from kraftctl_spark.report.contents import Contents, Header, Size
from kraftctl_spark.report.database import Database, opened
from kraftctl_spark.report.period import Period, shown_time
from kraftctl_spark.report.queries import (
    availability,
    churn,
    config_changes,
    elections,
    fencing,
    growth,
    names,
    not_known,
    present,
    quorum,
    reassignments,
    records,
    standing,
    timeline,
    topics,
    who,
)
from kraftctl_spark.report.queries.query import Query, end_ms, start_ms
from kraftctl_spark.tables.manifest import ExportRefusedError, Manifest
from kraftctl_spark.tables.output import Output
from kraftctl_spark.tables.output_state import raw_start

_PREPARED = (*(who, names, fencing, elections, churn, availability, topics, config_changes, reassignments),)
"""What makes a table that others read, in this order."""

log = logging.getLogger(__name__)


def fetch(
    tables: Path, history: Path, from_ms: int | None, until_ms: int | None, audit_log: Path | None = None
) -> Contents:
    """Returns the contents of a report on typed tables and their history; `audit_log` is a pattern.

    ExportRefusedError when there is nothing to show, or a file is damaged; OSError when one is missing.
    """
    while True:
        manifest = read_manifest(history)
        if manifest is None:
            raise ExportRefusedError(f"{history} holds no history of this release")
        batches = [one for one in Output(tables).manifests() if one.start < manifest.end]
        try:
            with opened(history, manifest, tables, batches) as db:
                if audit_log is not None:
                    db.add_audit_log(audit_log, manifest.cluster_id)
                return _contents(db, manifest, batches, (from_ms, until_ms), audit_log is not None)
        except (duckdb.Error, FileNotFoundError) as error:
            if read_manifest(history) == manifest:
                raise OSError(str(error)) from error
            log.info("the history was continued meanwhile: reading it again")


def _contents(
    db: Database,
    manifest: HistoryManifest,
    batches: Sequence[Manifest],
    asked_ms: tuple[int | None, int | None],
    has_audit_log: bool,
) -> Contents:
    ranges = tuple(decode_ranges(db.arrow(f"FROM {KNOWN_RANGES} ORDER BY start_offset")))
    covered = _covered(db, ranges)
    query = Query(db, _period(covered, *asked_ms), ranges, covered, manifest.end, has_audit_log)
    log.info("reading from %s to %s UTC", shown_time(query.period.start_ms), shown_time(query.period.end_ms))
    for prepared in _PREPARED:
        prepared.prepare(query)
    sizes = growth.growth(query)
    churned, churned_in_all = churn.churn(query)
    fenced = fencing.totals(query)
    in_effect = standing.InEffect(query)
    return Contents(
        header=_header(query, manifest, batches, sizes),
        present=present.present(query),
        period=query.period,
        audited=who.audited(query),
        gaps=query.gaps(),
        not_known=not_known.rows(query),
        lost=query.lost_in_period(),
        timeline=timeline.marks(query),
        fencing=fencing.states(query),
        fenced_brokers=fencing.brokers(query),
        fenced_times=fenced.times,
        fenced_in_all=fenced.brokers,
        shutdowns=fenced.shutdowns,
        elections=elections.over_time(query),
        broker_elections=elections.by_broker(query),
        unclean_elections=elections.unclean(query),
        churn=churned,
        churned=churned_in_all,
        growth=sizes,
        config_changes=config_changes.latest(query),
        config_over_time=config_changes.over_time(query),
        config_causes=config_changes.causes(query),
        availability=availability.by_partition(query),
        availability_deleted=availability.deleted(query),
        availability_over_time=availability.over_time(query),
        quorum_leaders=quorum.leaders(query),
        voter_changes=quorum.voters(query),
        record_types=records.types(query),
        reassignments=reassignments.longest(query),
        reassignment_outcomes=reassignments.outcomes(query),
        topic_changes=topics.latest(query),
        topic_kinds=topics.kinds(query),
        acls=in_effect.acls(),
        quotas=in_effect.quotas(),
        scram=in_effect.scram(),
        features=in_effect.features(),
    )


def _covered(db: Database, ranges: Sequence[KnownRange]) -> Period:
    """Returns the smallest and the greatest time: where a former leader's clock was ahead, it is not the
    last.

    A range has times of its own where it begins with a snapshot.
    """
    times_ms = db.value(
        """SELECT [epoch_ms(min(timestamp)), epoch_ms(max(timestamp))] FROM raw_records
           WHERE "offset" IS NOT NULL"""
    )
    known_ms = [time_ms for time_ms in times_ms if time_ms is not None]
    known_ms += [time_ms for one in ranges for time_ms in (start_ms(one), end_ms(one)) if time_ms]
    return Period(min(known_ms, default=0), max(known_ms, default=0) + 1)


def _period(covered: Period, from_ms: int | None, until_ms: int | None) -> Period:
    """Returns the period that the tables cover, cut to the requested one."""
    start_ms = covered.start_ms if from_ms is None else max(from_ms, covered.start_ms)
    until_ms = covered.end_ms if until_ms is None else min(until_ms, covered.end_ms)
    if start_ms >= until_ms:
        raise ExportRefusedError(
            f"nothing is between --from and --until: the tables cover {shown_time(covered.start_ms)} to "
            f"{shown_time(covered.end_ms)} UTC"
        )
    return Period(start_ms, until_ms)


def _header(
    query: Query, manifest: HistoryManifest, batches: Sequence[Manifest], sizes: Sequence[Size]
) -> Header:
    counts = {
        name: sum(one.counts.get(name, 0) for one in batches)
        for name in ("records", "unknown", "undecodable", "redacted", "aborted")
    }
    first, last = query.ranges[0], query.ranges[-1]
    return Header(
        cluster_id=manifest.cluster_id,
        start_offset=first.start_offset + first.from_snapshot,
        end_offset=max(last.end_offset, manifest.end),
        start_ms=query.covered.start_ms,
        end_ms=query.covered.end_ms - 1,
        **counts,
        brokers=sizes[-1].brokers,
        topics=sizes[-1].topics,
        partitions=sizes[-1].partitions,
        raw_start=raw_start(batches),
    )
