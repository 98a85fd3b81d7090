"""The states of the log between a request and its response, of which one has to justify what it says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from tests.support.simulator.checks.leaving import NOTHING_LEAVES, Leaving
from tests.support.simulator.reference.rows import Key, Rows, State


class Window:
    """From one end (exclusive) to another one, both included; and what was leaving then."""

    def __init__(self, rows: Rows, first_end: int, last_end: int, leaving: Leaving = NOTHING_LEAVES) -> None:
        self.rows = rows
        self.leaving = leaving
        self.first_end = min(first_end, last_end)
        self.last_end = last_end

    def states(self, *keys: Key, tables: Iterable[Key] = ()) -> Iterator[State]:
        """The states of these keys, and of all whose keys begin as `tables`; the newest first."""
        wanted = set(keys)
        starts = [(start, len(start)) for start in tables]
        if starts:
            changed = (key for key, _ in self.rows.changes_since(self.first_end))
            for key in chain(self.rows.now, changed):
                if any(key[:length] == start for start, length in starts):
                    wanted.add(key)
        return self.rows.between(self.first_end, self.last_end, *wanted)
