"""Limits pre-votes of this replica after its leader refuses connections (KIP-996)."""

from __future__ import annotations

from typing import Final

from kraftctl.raft.states import NEVER_MS

ATTEMPTS_PER_EPOCH_MAX: Final = 8
"""The number of attempts in an interval. Other voters may notice some 10 ms later that the leader is gone."""

INTERVAL_MS: Final = 10_000
"""A leader may lead for months, and its address may refuse connections more than once in that time."""


class EarlyElectionLimit:
    """A network that refuses connections to one leader after the other must not raise an epoch each time."""

    def __init__(self) -> None:
        self._epoch = -1
        self._interval_start_ms = -NEVER_MS
        self._attempts = 0
        self._pause_until_ms = -NEVER_MS

    def admits(self, epoch: int, now_ms: int) -> bool:
        """Returns whether there may be one more attempt in `epoch`; then it is counted."""
        if epoch != self._epoch or now_ms - self._interval_start_ms >= INTERVAL_MS:
            self._epoch = epoch
            self._interval_start_ms = now_ms
            self._attempts = 0
        if self._attempts >= ATTEMPTS_PER_EPOCH_MAX or now_ms < self._pause_until_ms:
            return False
        self._attempts += 1
        return True

    def won(self, now_ms: int, pause_ms: int) -> None:
        """Notes that this replica begins an epoch. With its fetch timeout alone it would not begin
        another sooner.
        """
        self._pause_until_ms = now_ms + pause_ms
