"""A section about the state at the end of the period, and its changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from kraftctl_protocol.counted_text import counted
from kraftctl_spark.report.contents import Standing
from kraftctl_spark.report.section import Section, Table, by_kind, changes_table, cut

Row = TypeVar("Row")

NOT_KNOWN = "Not known for this period: the exported log does not have it"


def in_effect(
    section: Section,
    standing: Standing[Row],
    one: str,
    columns: tuple[str, ...],
    cells: Callable[[Row], tuple[str, ...]],
    rest: str,
) -> Section:
    """Returns the section; `section` has the title and the explanation; `one` names a row."""
    at_end, changes = standing.at_end, standing.changes
    number = f"{counted(at_end.total, one)} at the end" if at_end is not None else NOT_KNOWN
    if at_end is not None and not at_end.total and not changes.total:
        return section
    rows = at_end.rows if at_end is not None else ()
    return Section(
        section.name,
        section.title,
        section.explanation,
        f"{number}. Changes in this period: {by_kind(standing.kinds) or 'none'}.",
        tables=(
            Table(
                "When the period ends",
                columns,
                tuple(cells(row) for row in rows),
                cut(at_end, "first", "in effect at the end", rest) if at_end is not None else "",
            ),
            changes_table(changes, "incident(from, until)"),
        ),
    )
