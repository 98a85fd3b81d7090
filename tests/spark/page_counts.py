"""What the page counts, with the question that counts the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kraftctl_spark.report.contents import Contents
from tests.spark.history.asked import DuckDbHistory, Row

Count = Callable[[list[Row]], int]
OfPage = Callable[[Contents], int]


def marks(contents: Contents, row: str) -> int:
    return sum(mark.events for mark in contents.timeline if mark.row == row)


def of_kind(kind: str) -> Count:
    return lambda rows: sum(row["kind"] == kind for row in rows)


def summed(column: str) -> Count:
    return lambda rows: sum(row[column] for row in rows)


ON_THE_PAGE: list[tuple[str, Count, OfPage]] = [
    ("elections", len, lambda page: sum(one.elections for one in page.elections)),
    ("elections", of_kind("unclean"), lambda page: page.unclean_elections.total),
    ("elections", of_kind("unclean"), lambda page: marks(page, "unclean elections")),
    ("election_causes", len, lambda page: marks(page, "elections") + marks(page, "unclean elections")),
    ("elections_per_broker", summed("elected"), lambda page: sum(one.elections for one in page.elections)),
    ("isr_churn_per_hour", summed("shrinks"), lambda page: sum(one.shrinks for one in page.churn)),
    ("isr_churn_per_hour", summed("expansions"), lambda page: sum(one.expansions for one in page.churn)),
    ("isr_changes", lambda rows: sum(row["kind"] != "ISR grew" for row in rows),
     lambda page: marks(page, "ISR shrinks")),
    ("config_audit", len, lambda page: page.config_changes.total),
    ("config_audit", summed("exact"), lambda page: marks(page, "configurations")),
    ("security_audit", len, lambda page: sum(
        one.changes.total for one in (page.acls, page.quotas, page.scram))),
    ("security_audit", len, lambda page: sum(
        marks(page, row) for row in ("ACLs", "quotas", "SCRAM and tokens"))),
    ("feature_history", lambda rows: sum(row["ended_by"] is None for row in rows),
     lambda page: page.features.at_end.total if page.features.at_end is not None else -1),
    ("fencing_timeline", len, lambda page: page.fencing.total),
    ("reassignments", len, lambda page: page.reassignments.total),
    ("reassignments", len, lambda page: sum(one.count for one in page.reassignment_outcomes)),
    ("partition_availability", summed("leaderless_ms"), lambda page: sum(
        one.leaderless_ms for one in page.availability_over_time)),
    ("partition_availability", summed("under_replicated_ms"), lambda page: sum(
        one.under_replicated_ms for one in page.availability_over_time)),
    ("availability_per_hour", summed("leaderless_ms"), lambda page: sum(
        one.leaderless_ms for one in page.availability_over_time)),
    ("outages", lambda rows: sum(row["duration_ms"] for row in rows if row["kind"] == "under-replicated"),
     lambda page: sum(one.under_replicated_ms for one in page.availability_over_time)),
    ("quorum_changes", lambda rows: sum(row["change"] == "leader" for row in rows),
     lambda page: page.quorum_leaders.total),
    ("quorum_changes", lambda rows: sum(row["change"] != "leader" for row in rows),
     lambda page: page.voter_changes.total),
    ("growth_per_hour", lambda rows: rows[-1]["topics"], lambda page: page.header.topics or 0),
    ("growth_per_hour", lambda rows: rows[-1]["partitions"], lambda page: page.header.partitions or 0),
    ("growth_per_hour", lambda rows: rows[-1]["brokers"], lambda page: page.header.brokers or 0),
]  # fmt: skip
"""A question, what is counted of its rows, and the same on the page."""


def differences(asked: DuckDbHistory, page: Contents) -> Iterator[str]:
    """Yields what the page counts in another way than its question."""
    for question, count, of_page in ON_THE_PAGE:
        expected, found = count(asked.rows(question)), of_page(page)
        if expected != found:
            yield f"{question}: {expected} in its answer, {found} on the page"
