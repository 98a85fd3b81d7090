"""The leader epoch that a reader sends, and what it takes to forget it.

No node can prove an epoch, and a leader refuses a request with any other than its own. A node that names one
that does not exist would end the reading for good:

1. An epoch that leaves no room for elections after it is never believed.
2. Any other is believed as soon as a node names it: the newest leader is found through it.
3. It is forgotten when a majority of the other bootstrap controllers answer that they do not know it, and no
   leader has answered in it meanwhile, or when the node that named it says so itself. Then the largest epoch
   that these know is believed. If it did exist after all, nothing is lost: what a leader of an earlier epoch
   calls committed is committed, and the later epoch is named again.
"""

from __future__ import annotations

import logging

from kraftctl_protocol.peer_limits import uses_epochs_up
from kraftctl_protocol.primitives import DecodeError
from kraftctl_security.blocking_connection import Endpoint, endpoint_text

log = logging.getLogger(__name__)


class BelievedEpoch:
    """`value` is the epoch to send; it grows, unless it is forgotten."""

    def __init__(self, nodes_count: int) -> None:
        self.value = 0
        self._named_by: Endpoint | None = None
        self._refused_by: dict[Endpoint, int] = {}
        """The nodes that do not know `value`, and the epoch that each is in."""
        self._refusals_needed = max(1, (nodes_count - 1) // 2 + 1)

    def named(self, epoch: int, node: Endpoint) -> None:
        """Takes the epoch that a node says it is in. Raises DecodeError for one that is not credible."""
        if uses_epochs_up(self.value, epoch):
            raise DecodeError(f"it names epoch {epoch}, which leaves no room for elections after it")
        if epoch <= self.value:
            return
        if node != self._named_by:
            self._refused_by.clear()
        self._refused_by.pop(node, None)
        self.value, self._named_by = epoch, node

    def refused(self, epoch: int, node: Endpoint) -> None:
        """Notes that a node, which is in `epoch`, does not know `value`."""
        if epoch >= self.value:
            raise DecodeError(f"it does not know epoch {self.value}, and names {epoch}")
        self._refused_by[node] = max(0, epoch)
        if node != self._named_by and len(self._refused_by) < self._refusals_needed:
            return
        known = max(self._refused_by.values())
        log.info(
            "%s does not know epoch %d, which %s has named: epoch %d is asked for again",
            endpoint_text(node),
            self.value,
            "none of the controllers" if self._named_by is None else endpoint_text(self._named_by),
            known,
        )
        self.value, self._named_by = known, None
        self._refused_by.clear()

    def served(self, epoch: int) -> None:
        """Notes that a leader has answered in `epoch`."""
        self.value = max(self.value, epoch)
        self._refused_by.clear()
