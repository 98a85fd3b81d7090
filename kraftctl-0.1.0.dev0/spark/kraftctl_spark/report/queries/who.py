"""Who asked for a change: the view `who` of spark/QUESTIONS.md, where an audit log is given."""

from __future__ import annotations

from kraftctl_spark.report.contents import AuditCoverage
from kraftctl_spark.report.queries.query import Query

TABLES = (
    *("topics", "configs", "acls", "quotas", "scram_credentials", "delegation_tokens", "features"),
    *("brokers", "controllers"),
)
KINDS_OF_REQUESTS = "kind NOT IN ('broker fenced', 'broker unfenced', 'broker shuts down')"
"""A controller decides the others by itself: they have no line in an audit log."""


def prepare(query: Query) -> None:
    """Makes `asked`, with a row for each offset whose request is known; empty without an audit log."""
    rows = 'SELECT NULL::BIGINT AS "offset", NULL::VARCHAR AS who WHERE false'
    if query.has_audit_log:
        rows = """SELECT DISTINCT "offset", principal || coalesce(' from ' || address, '') AS who
                  FROM who WHERE principal IS NOT NULL"""
    query.db.do(f"CREATE TEMP TABLE asked AS {rows}")


def audited(query: Query) -> AuditCoverage | None:
    if not query.has_audit_log:
        return None
    tables = ", ".join(f"'{table}'" for table in TABLES)
    (found,) = query.db.all(
        AuditCoverage,
        f"""SELECT (SELECT count(*) FROM own_lines) AS lines,
                   (SELECT count(*) FROM own_lines WHERE outcome IS NULL) AS unreadable,
                   count(*) AS changes, count(who) AS named
            FROM events LEFT JOIN asked USING ("offset")
            WHERE history_table IN ({tables}) AND {KINDS_OF_REQUESTS} AND {query.within.during("time")}""",
    )
    return found
