"""The states of brokers from when to when, and how often each was fenced."""

from __future__ import annotations

from dataclasses import dataclass

from kraftctl_spark.report.contents import BrokerState, FencedBroker, Listed
from kraftctl_spark.report.queries.answers import intervals
from kraftctl_spark.report.queries.query import Query

BROKERS_MAX = 40
BROKER_STATES_MAX = 2_000
_LONGEST = "fenced_ms DESC, stopped_ms DESC, broker_id"


@dataclass(frozen=True)
class FencedTotals:
    """The totals over all brokers."""

    times: int
    brokers: int
    shutdowns: int


def prepare(query: Query) -> None:
    """Makes `broker_states`: one that is fenced after its controlled shutdown is `stopped`."""
    query.db.do(f"""
        CREATE TEMP TABLE broker_states AS
        SELECT states.* REPLACE (
                   coalesce(states.ended_by, 'end') AS ended_by,
                   CASE WHEN states.state = 'fenced' AND began.in_controlled_shutdown THEN 'stopped'
                        ELSE states.state END AS state)
        FROM {intervals("fencing_timeline")} AS states
        JOIN brokers AS began USING (broker_id, valid_from_offset)""")


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
                ORDER BY {_LONGEST} LIMIT {BROKERS_MAX}
            )""",
        "end_ms - start_ms DESC, start_ms, broker_id, started_by, ended_by",
        BROKER_STATES_MAX,
    )


def brokers(query: Query) -> Listed[FencedBroker]:
    return query.db.listed(FencedBroker, _fenced(query), _LONGEST, BROKERS_MAX)


def totals(query: Query) -> FencedTotals:
    (found,) = query.db.all(
        FencedTotals,
        f"""SELECT coalesce(sum(fenced), 0) AS times, count(*) FILTER (fenced > 0) AS brokers,
                   coalesce(sum(shutdowns), 0) AS shutdowns FROM ({_fenced(query)})""",
    )
    return found


def _fenced(query: Query) -> str:
    """Counts in `fenced`, without brokers that are fenced from registration on."""
    within = query.within
    began = within.during("valid_from_time")
    took_ms = f"{within.end_ms} - {within.start_ms}"
    return f"""
        SELECT broker_id,
               count(*) FILTER (state = 'fenced' AND started_by = 'changed' AND {began}) AS fenced,
               coalesce(sum({took_ms}) FILTER (state = 'fenced'), 0) AS fenced_ms,
               coalesce(sum({took_ms}) FILTER (state = 'stopped'), 0) AS stopped_ms,
               count(*) FILTER (state = 'controlled shutdown' AND {began}) AS shutdowns
        FROM broker_states WHERE {within.overlap} GROUP BY broker_id"""
