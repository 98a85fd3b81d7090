"""ACLs, quotas, SCRAM credentials and features at the end of the period, with their changes in it."""

from __future__ import annotations

from typing import TypeVar

from kraftctl_spark.report.clauses import moment
from kraftctl_spark.report.contents import (
    Acl,
    Feature,
    Happened,
    KindCount,
    Quota,
    ScramCredential,
    Standing,
)
from kraftctl_spark.report.queries.answers import answer
from kraftctl_spark.report.queries.query import Query, end_ms

AT_END_MAX = 200
CHANGES_MAX = 100
TABLES = ("acls", "quotas", "scram_credentials", "delegation_tokens", "features")

Row = TypeVar("Row")


class InEffect:
    """Asks about the state at the end of the period."""

    def __init__(self, query: Query) -> None:
        self._query = query
        self._offset = _last_offset(query)
        query.db.do(f"CREATE TEMP TABLE standing_changes AS {_changes(query)}")

    def acls(self) -> Standing[Acl]:
        columns = """principal, permission, operation,
            resource_type || ' ' || CASE pattern_type WHEN 'LITERAL' THEN resource_name
                                    ELSE resource_name || ' (' || lower(pattern_type) || ')' END AS resource,
            host"""
        return self._standing(Acl, "acls", columns, "principal, resource, operation, permission, host")

    def quotas(self) -> Standing[Quota]:
        entity = """array_to_string(list_transform(entity, lambda one:
            one.entity_type || ' ' || coalesce(one.entity_name, '(default)')), ', ') AS entity"""
        return self._standing(Quota, "quotas", f'{entity}, "key", "value"', 'entity, "key"')

    def scram(self) -> Standing[ScramCredential]:
        columns = f'"user", mechanism, iterations, {_SINCE_MS}'
        return self._standing(
            ScramCredential, "scram_credentials", columns, '"user", mechanism', "delegation_tokens"
        )

    def features(self) -> Standing[Feature]:
        columns = f'name, "level", {_SINCE_MS}'
        return self._standing(Feature, "features", columns, "name")

    def _standing(
        self, kind: type[Row], table: str, columns: str, order: str, beside: str | None = None
    ) -> Standing[Row]:
        """Returns the state; `beside` is a table whose changes are shown, too."""
        db, at = self._query.db, self._offset
        at_end = None
        if at is not None and self._query.is_known(table, at):
            db.do(f"SET VARIABLE as_of = {at}")
            at_end = db.listed(kind, f"SELECT {columns} FROM {answer(f'{table}_at')}", order, AT_END_MAX)
        changes = f"FROM standing_changes WHERE history_table IN ('{table}', '{beside}')"
        columns = 'time_ms, "offset", kind, subject, before, after, who'
        return Standing(
            at_end,
            db.listed(Happened, f"SELECT {columns} {changes}", '"offset" DESC, kind, subject', CHANGES_MAX),
            db.all(KindCount, f"SELECT kind, count(*) AS count {changes} GROUP BY 1 ORDER BY 1"),
        )


_SINCE_MS = "CASE WHEN NOT from_snapshot THEN epoch_ms(valid_from_time) END AS since_ms"
"""The start is null for what is older than the snapshot in which it was found."""


def _last_offset(query: Query) -> int | None:
    """Returns the last offset before the end of the period; None in a gap, where nothing is known.

    Where records have expired, it is that of the last event, or of the end of a known range.
    """
    at: int | None = query.db.value(
        f"""SELECT max(place) FROM (
                SELECT max("offset") AS place FROM raw_records WHERE timestamp < {moment(query.period.end_ms)}
                UNION ALL
                SELECT start_offset FROM known_ranges WHERE start_time < {moment(query.period.end_ms)}
                UNION ALL
                SELECT end_offset - 1 FROM known_ranges WHERE end_time < {moment(query.period.end_ms)}
                UNION ALL
                SELECT "offset" FROM events
                WHERE time < {moment(query.period.end_ms)} AND kind <> 'gap begins')"""
    )
    known = [one for one in query.ranges if at is not None and one.start_offset <= at < one.end_offset]
    if not known or (known[0] != query.ranges[-1] and end_ms(known[0]) < query.period.end_ms - 1):
        in_gap = any(gap.start_ms < query.period.end_ms <= gap.end_ms for gap in query.all_gaps)
        return None if in_gap or not known else at
    return at


def _changes(query: Query) -> str:
    """Returns events of these tables."""
    tables = ", ".join(f"'{table}'" for table in TABLES)
    return f"""
        SELECT epoch_ms(time) AS time_ms, "offset", kind, subject, before, after, who, history_table
        FROM events LEFT JOIN asked USING ("offset")
        WHERE history_table IN ({tables}) AND {query.within.during("time")}"""
