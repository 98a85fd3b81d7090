"""Work that is too long for one turn of the loop: its kinds, and how much of it is done in a turn.

A unit is about one record: made, checked, appended and replayed, or one partition looked at. The node has no
clock, so that how many units fit into a turn is measured outside of it. The next turn has up to twice the
units of the one before: what costs much less than a record counts as a part of a unit, or the turn after many
of that kind takes many times as long.
"""

from __future__ import annotations

from typing import Final

SNAPSHOT: Final = "SNAPSHOT"
"""Writing a snapshot of the image (KIP-630)."""

SLICES: Final = "SLICES"
"""What requests and timers of the active controller began, and could not finish in their own turn."""

LOADING: Final = "LOADING"
"""Replaying what is committed, from a snapshot or from the log behind it, and freeing what it replaces."""

FREED_PER_UNIT: Final = 16
"""To free a partition or its old value takes a twentieth of writing it into a snapshot."""
