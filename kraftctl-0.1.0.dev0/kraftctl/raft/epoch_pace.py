"""Limits how often other replicas may raise the epoch: each epoch is a write of quorum-state to the disk.

An epoch that is not joined is like one whose message was lost, which raft allows for: no vote is given in it,
and no leader of it is followed. Its next message joins it.
"""

from __future__ import annotations

from typing import Final

EPOCHS_AT_ONCE_MAX: Final = 50
"""Candidates that collide raise the epoch a few times before one of them wins."""

EPOCH_INTERVAL_MS: Final = 100
"""After that, one epoch in this time: elections have one in `controller.quorum.election.timeout.ms`."""


class EpochPace:
    """Counts the epochs that this replica joins. The times may not go back."""

    def __init__(self) -> None:
        self._paid_until_ms = 0

    def raised(self, now_ms: int) -> None:
        """Notes that the epoch is higher now."""
        self._paid_until_ms = max(self._paid_until_ms, now_ms) + EPOCH_INTERVAL_MS

    def is_exceeded(self, now_ms: int) -> bool:
        """Returns whether to join no higher epoch at this time."""
        return self._paid_until_ms - now_ms > EPOCHS_AT_ONCE_MAX * EPOCH_INTERVAL_MS
