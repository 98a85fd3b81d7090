"""Joins the explanations of several partitions: those with the same causes are named together."""

from __future__ import annotations

from kraftctl.explain.explanation import ExplainedCause, Explanation
from kraftctl.explain.mark import Mark
from kraftctl_protocol.counted_text import counted, one_or_many

NAMES_MAX = 5
GROUPS_MAX = 5
"""An explanation names this many partitions of a group, and this many groups; the rest is counted."""


def grouped_causes(explained: list[tuple[str, Explanation]]) -> tuple[list[ExplainedCause], str]:
    """Returns the causes of all, each group of partitions with its causes, the largest group first; and the
    next step of that group.
    """
    groups: dict[tuple[str, ...], list[tuple[str, Explanation]]] = {}
    for name, explanation in explained:
        groups.setdefault(tuple(cause.text for cause in explanation.causes), []).append((name, explanation))
    ordered = sorted(groups.values(), key=lambda members: -len(members))
    causes: list[ExplainedCause] = []
    for members in ordered[:GROUPS_MAX]:
        first, *deeper = members[0][1].causes or [members[0][1].statement]
        causes.append(
            ExplainedCause(f"{names_text([name for name, _ in members])}: {first.text}", first.since)
        )
        causes += deeper
    if len(ordered) > GROUPS_MAX:
        left = sum(len(members) for members in ordered[GROUPS_MAX:])
        have = one_or_many(left, "has", "have")
        causes.append(ExplainedCause(f"{counted(left, 'more partition')} {have} other causes"))
    return causes, ordered[0][0][1].next_step


def since_of_all(explained: list[tuple[str, Explanation]]) -> Mark | None:
    """Returns since when the statements of all hold; None if they began at different times."""
    marks = [explanation.statement.since for _, explanation in explained]
    first = marks[0]
    is_one = first is not None and all(
        mark is not None
        and (mark.timestamp_ms, mark.is_latest_possible) == (first.timestamp_ms, first.is_latest_possible)
        for mark in marks
    )
    return first if is_one else None


def names_text(names: list[str]) -> str:
    """Returns the first names, and how many more there are."""
    shown = ", ".join(names[:NAMES_MAX])
    return shown if len(names) <= NAMES_MAX else f"{shown} and {len(names) - NAMES_MAX} more"
