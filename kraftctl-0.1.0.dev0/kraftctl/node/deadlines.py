"""Deadlines of the parts of a node, any of which may be missing."""

from __future__ import annotations


def earlier(deadline_ms: int | None, other_ms: int | None) -> int | None:
    """The first of two deadlines, each of which may be missing."""
    if deadline_ms is None:
        return other_ms
    return deadline_ms if other_ms is None or deadline_ms < other_ms else other_ms
