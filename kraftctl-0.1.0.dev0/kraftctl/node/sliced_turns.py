"""SlicedTurns: decides when the controller takes the next slice of long work, and how large it is."""

from __future__ import annotations

from typing import Final

from kraftctl.controller.quorum_controller import QuorumController
from kraftctl.controller.results.moment import UNITS, Moment
from kraftctl.node.events import TakeTurn
from kraftctl.node.long_work import SLICES
from kraftctl.node.outbox import Outbox
from kraftctl.raft.raft_node import RaftNode

UNCOMMITTED_RECORDS_MAX: Final = 4096
"""No slice begins behind this many records: half a megabyte, which disks and followers take in milliseconds.

More would not make the work faster, and every response that waits for a commit would wait for all of them."""

UNITS_BESIDE_WORK: Final = 50
"""A fraction of a millisecond: when 100 brokers return together, each begins elections of its own."""


class SlicedTurns:
    """Asks for one turn at a time. `spent` is the number of units that the last slice took."""

    def __init__(self, raft: RaftNode, controller: QuorumController, outbox: Outbox) -> None:
        self._raft = raft
        self._controller = controller
        self._outbox = outbox
        self._is_asked = False
        self.units = UNITS
        self.spent = 0

    def moment(self, now_ms: int, wall_ms: int) -> Moment:
        """Returns the moment of a request or a timer. The last work may have had cheaper units; beside long
        work there are fewer: a hundred may come together.
        """
        units = UNITS_BESIDE_WORK if self._controller.has_work else UNITS
        return Moment(now_ms, wall_ms, self._raft.end_offset, min(self.units, units))

    def whole_moment(self, now_ms: int, wall_ms: int) -> Moment:
        """Returns the moment of a slice, which has the whole turn."""
        return Moment(now_ms, wall_ms, self._raft.end_offset, self.units)

    def begin(self, units: int) -> bool:
        """Begins a turn of `units` units. Returns whether a slice is to be taken in it."""
        self._is_asked = False
        self.units = units
        return self._controller.has_work and not self._is_behind

    def ask(self) -> None:
        """Asks for the next turn if there is work, once commits have caught up."""
        if self._is_asked or not self._controller.has_work:
            return
        if self.spent == 0 and self._is_behind:
            return  # a commit comes first; what a slice has spent is reported even so, because it is measured
        self._is_asked = True
        self._outbox.add(TakeTurn(SLICES, self.spent))
        self.spent = 0

    @property
    def _is_behind(self) -> bool:
        return self._raft.end_offset - self._raft.high_watermark > UNCOMMITTED_RECORDS_MAX
