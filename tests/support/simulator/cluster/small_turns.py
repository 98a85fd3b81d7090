"""How much long work a simulated node does in one turn: little, so that slices are cut everywhere."""

from __future__ import annotations

import random
from collections.abc import Sequence

from kraftctl.node.events import TakeTurn

FEW = (1, 1, 2, 3, 5, 8, 13, 40)


class SmallTurns:
    """Draws the units of each turn from `units`."""

    def __init__(self, seed: int | str, units: Sequence[int] = FEW) -> None:
        self._rng = random.Random(f"turns {seed}")
        self._units = units
        self.spent = 0
        """What turns have reported so far."""

    def begin(self, work: str) -> int:
        return self._rng.choice(self._units)

    def asked(self, effect: TakeTurn) -> None:
        """Nothing is measured: time is virtual."""
        self.spent += effect.spent
