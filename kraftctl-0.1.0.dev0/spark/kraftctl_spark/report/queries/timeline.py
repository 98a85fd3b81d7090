"""The marks of the timeline: each event of a kind that is rare, and sums of those that are frequent."""

from __future__ import annotations

from dataclasses import replace

from kraftctl_spark.report.contents import TimelineMark
from kraftctl_spark.report.queries.query import Query

SINGLE_MAX = 300
"""The single events of a row; with more events, its marks are sums."""
TEXTS_MAX = 6
"""The texts of one mark."""
TEXT_MAX = 140

ROWS = {
    "unclean elections": "kind = 'unclean election'",
    "leader lost": "kind = 'leader lost'",
    "elections": "kind = 'leader elected'",
    "ISR shrinks": "kind IN ('ISR shrank', 'ISR shrank and grew')",
    "reassignments": "kind IN ('reassignment begun', 'reassignment ended')",
    "topics": "history_table = 'topics'",
    "registrations": "kind IN ('broker registered', 'broker registered again', 'broker unregistered') "
    "OR history_table = 'controllers'",
    "configurations": "history_table = 'configs'",
    "ACLs": "history_table = 'acls'",
    "quotas": "history_table = 'quotas'",
    "SCRAM and tokens": "history_table IN ('scram_credentials', 'delegation_tokens')",
    "features": "history_table = 'features'",
}
"""The rows with their events, from the most to the least urgent."""


def marks(query: Query) -> tuple[TimelineMark, ...]:
    """Returns marks in the order of the rows, then of time."""
    width_ms = query.period.fine_bucket_ms
    of_bucket = query.within.bucket("time_ms", width_ms)
    query.db.do(f"""
        CREATE TEMP TABLE placed AS
        SELECT {_ROW} AS row, "offset", epoch_ms(time) AS time_ms FROM events
        WHERE {_ROW} IS NOT NULL AND {query.within.during("time")}""")
    query.db.do(f"""
        CREATE TEMP TABLE marked AS
        SELECT row, single, CASE WHEN single THEN time_ms ELSE {of_bucket} END AS start_ms,
               count(*) AS events, arg_min("offset", "offset", {TEXTS_MAX}) AS offsets
        FROM placed
        JOIN (SELECT row, count(*) <= {SINGLE_MAX} AS single FROM placed GROUP BY row) USING (row)
        GROUP BY row, single, start_ms""")
    found = query.db.all(
        TimelineMark,
        f"""WITH texts AS (
                SELECT row, start_ms, list(text ORDER BY "offset", text)[1:{TEXTS_MAX}] AS texts
                FROM (SELECT row, start_ms, unnest(list_distinct(offsets)) AS "offset" FROM marked)
                JOIN ({_texts()}) USING (row, "offset") GROUP BY row, start_ms
            )
            SELECT row, start_ms, CASE WHEN single THEN start_ms ELSE start_ms + {width_ms} END AS end_ms,
                   events, texts
            FROM marked JOIN texts USING (row, start_ms) ORDER BY start_ms""",
    )
    order = list(ROWS)
    named = (replace(mark, row=order[int(mark.row)]) for mark in found)
    return tuple(sorted(named, key=lambda mark: order.index(mark.row)))


def _texts() -> str:
    """Returns the texts of the few events at the offsets of a mark."""
    columns = 'kind, subject, before, after, "offset"'
    return f"""
        SELECT row, "offset", left(kind || ' ' || {_SUBJECT} || CASE
                   WHEN before IS NULL AND after IS NULL OR kind LIKE 'topic%' THEN ''
                   ELSE ': ' || coalesce(before, 'none') || ' → ' || coalesce(after, 'none')
               END, {TEXT_MAX}) || coalesce(', asked by ' || who, '') AS text
        FROM (SELECT {_ROW} AS row, {columns} FROM events
              WHERE "offset" IN (SELECT unnest(offsets) FROM marked)) LEFT JOIN asked USING ("offset")"""


_SUBJECT = "regexp_replace(subject, '^TOPIC ', '')"
"""The subject of an event, in which a configuration of no kind of resource is that of a topic."""

_CASES = " ".join(f"WHEN {condition} THEN {number}" for number, condition in enumerate(ROWS.values()))
_ROW = f"CASE {_CASES} END"
"""The number of a row, not its name: there can be millions."""
