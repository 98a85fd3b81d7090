"""How much of a slice of long work is left."""

from __future__ import annotations

from kraftctl.controller.results.sliced_request import LOOKS_PER_UNIT


class SliceBudget:
    """`units` as in Moment."""

    def __init__(self, units: int) -> None:
        self._units = units
        self._looks = 0
        self._close_looks = 0

    @property
    def is_left(self) -> bool:
        """Whether the slice may do more."""
        return self.spent < self._units

    @property
    def spent(self) -> int:
        """In units, rounded down."""
        return self._close_looks + self._looks // LOOKS_PER_UNIT

    def look(self) -> None:
        """A partition, or a topic, was passed over."""
        self._looks += 1

    def look_closely(self) -> None:
        """A partition was looked at in full, and perhaps a record made."""
        self._close_looks += 1
