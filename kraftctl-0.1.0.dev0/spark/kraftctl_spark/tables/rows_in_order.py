"""Reads a table of a batch beside its records: the rows up to a place, each of them once."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

import pyarrow as pa


class RowsInOrder:
    """The row groups of a table, in the order of their places, of which one is held at a time."""

    def __init__(self, groups: Iterator[pa.Table], place: str) -> None:
        self._groups = groups
        self._place = place
        self._held: pa.Table | None = None

    def up_to(self, last: int) -> list[pa.Table]:
        """Returns the rows up to a place that were not returned before, in parts."""
        found = []
        while (group := next(self._groups, None) if self._held is None else self._held) is not None:
            places = group.column(self._place)
            rows = bisect_right(range(len(places)), last, key=lambda row: int(places[row].as_py()))
            if rows:
                found.append(group.slice(0, rows))
            if rows < group.num_rows:
                self._held = group.slice(rows)
                return found
            self._held = None
        return found
