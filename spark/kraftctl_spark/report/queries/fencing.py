"""The states of brokers from when to when, and how often each was fenced."""

from __future__ import annotations

from dataclasses import dataclass

from kraftctl_spark.report.contents import BrokerState, FencedBroker, Listed
from kraftctl_spark.report.queries.query import Query

BROKERS_MAX = 40
BROKER_STATES_MAX = 2_000


@dataclass(frozen=True)
class FencedTotals:
    """The totals over all brokers."""

    times: int
    brokers: int
    shutdowns: int


def prepare(query: Query) -> None:
    """Makes `broker_states`. Consecutive versions with the same fencing of one registration are one state."""
    query.db.do("""
        CREATE TEMP TABLE broker_states AS
        WITH marked AS (
            SELECT *, CASE WHEN lag(valid_to_offset) OVER of_broker = valid_from_offset
                            AND lag(ended_by) OVER of_broker <> 'gap'
                            AND lag(state) OVER of_broker = state
                            AND lag(broker_epoch) OVER of_broker = broker_epoch THEN 0 ELSE 1 END AS begins
            FROM brokers WINDOW of_broker AS (PARTITION BY broker_id ORDER BY valid_from_offset)
        ), numbered AS (
            SELECT *, sum(begins) OVER (PARTITION BY broker_id ORDER BY valid_from_offset) AS number
            FROM marked
        ), states AS (
            SELECT broker_id, arg_min(one, one.valid_from_offset) AS first,
                   arg_max(one, one.valid_from_offset) AS last
            FROM numbered one GROUP BY broker_id, number
        ), beside AS (
            SELECT *, lag(last) OVER of_broker AS before, lead(first) OVER of_broker AS after
            FROM states WINDOW of_broker AS (PARTITION BY broker_id ORDER BY first.valid_from_offset)
        )
        SELECT broker_id, first.broker_epoch AS broker_epoch, first.state AS state,
               first.valid_from_offset AS valid_from_offset, first.valid_from_time AS valid_from_time,
               last.valid_to_offset AS valid_to_offset, last.valid_to_time AS valid_to_time,
               CASE WHEN before.broker_epoch = first.broker_epoch THEN before.state END AS previous_state,
               CASE WHEN first.from_snapshot THEN 'snapshot'
                    WHEN before.valid_to_offset = first.valid_from_offset AND before.ended_by <> 'gap'
                         AND before.broker_epoch = first.broker_epoch THEN 'changed'
                    ELSE 'registered' END AS started_by,
               CASE WHEN last.valid_to_offset IS NULL THEN 'end' WHEN last.ended_by = 'gap' THEN 'gap'
                    WHEN last.ended_by = 'removed' THEN 'unregistered'
                    WHEN after.broker_epoch = last.broker_epoch THEN 'changed'
                    ELSE 'registered' END AS ended_by
        FROM beside""")


def states(query: Query) -> Listed[BrokerState]:
    """Returns the longest states of the brokers that were fenced longest."""
    within = query.within
    return query.db.listed(
        BrokerState,
        f"""SELECT broker_id, state, {within.start_ms} AS start_ms, {within.drawn_end_ms} AS end_ms,
                   started_by, CASE WHEN {within.ended_ms} >= {query.period.end_ms} THEN 'end'
                                    ELSE ended_by END AS ended_by
            FROM broker_states
            WHERE {within.overlap} AND broker_id IN (
                SELECT broker_id FROM ({_fenced(query)})
                ORDER BY fenced_ms DESC, broker_id LIMIT {BROKERS_MAX}
            )""",
        "end_ms - start_ms DESC, start_ms, broker_id",
        BROKER_STATES_MAX,
    )


def brokers(query: Query) -> Listed[FencedBroker]:
    return query.db.listed(FencedBroker, _fenced(query), "fenced_ms DESC, broker_id", BROKERS_MAX)


def totals(query: Query) -> FencedTotals:
    (found,) = query.db.all(
        FencedTotals,
        f"""SELECT coalesce(sum(fenced), 0) AS times, count(*) FILTER (fenced > 0) AS brokers,
                   coalesce(sum(shutdowns), 0) AS shutdowns FROM ({_fenced(query)})""",
    )
    return found


def _fenced(query: Query) -> str:
    """Counts in `fenced`, without brokers that are fenced from registration on, or stop in order."""
    within = query.within
    began = within.during("valid_from_time")
    return f"""
        SELECT broker_id,
               count(*) FILTER (state = 'fenced' AND started_by = 'changed' AND {began}
                                AND previous_state IS DISTINCT FROM 'controlled shutdown') AS fenced,
               coalesce(sum({within.end_ms} - {within.start_ms}) FILTER (state = 'fenced'), 0) AS fenced_ms,
               count(*) FILTER (state = 'controlled shutdown' AND {began}) AS shutdowns
        FROM broker_states WHERE {within.overlap} GROUP BY broker_id"""
