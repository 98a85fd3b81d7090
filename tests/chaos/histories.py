"""What was seen of the quorum and of partitions over time, and what of it must not happen."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from tests.chaos.finding import FindError


@dataclass
class SeenEpoch:
    """One epoch of the quorum. High watermarks are -1 while none was seen."""

    leader_id: int
    lowest: int = -1
    highest: int = -1


class QuorumHistory:
    """NeverTwoLeadersInSameEpoch and MonotonicHighWatermark, over all that anyone has seen. Thread-safe.

    What a leader knows to be committed is in the logs of all leaders of later epochs.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.epochs: dict[int, SeenEpoch] = {}

    def note(self, leader_id: int, epoch: int, high_watermark: int) -> None:
        """A response of the leader of `epoch`; -1 for a high watermark that it does not know. FindError."""
        with self._lock:
            seen = self.epochs.setdefault(epoch, SeenEpoch(leader_id))
            if seen.leader_id != leader_id:
                raise FindError(
                    f"NeverTwoLeadersInSameEpoch: {seen.leader_id} and {leader_id} lead in epoch {epoch}"
                )
            if high_watermark < 0:
                return
            self._compare(epoch, high_watermark)
            seen.lowest = high_watermark if seen.lowest < 0 else min(seen.lowest, high_watermark)
            seen.highest = max(seen.highest, high_watermark)

    def _compare(self, epoch: int, high_watermark: int) -> None:
        for other, seen in self.epochs.items():
            back = seen.highest > high_watermark and other < epoch
            ahead = 0 <= seen.lowest < high_watermark and other > epoch
            if back or ahead:
                raise FindError(
                    f"MonotonicHighWatermark: {high_watermark} in epoch {epoch}, and {seen.lowest} to"
                    f" {seen.highest} in epoch {other}"
                )


class RisingNumbers:
    """Numbers of things that one observer sees, which may never fall. Used by one thread."""

    def __init__(self, invariant: str, what: str) -> None:
        self._invariant = invariant
        self._what = what
        self._highest: dict[object, int] = {}

    def note(self, key: object, number: int) -> None:
        """FindError when it is below an earlier one of the same key."""
        before = self._highest.get(key, number)
        if number < before:
            raise FindError(f"{self._invariant}: {self._what}, {key}: {before}, then {number}")
        self._highest[key] = number

    def forget(self) -> None:
        """The observer has started anew."""
        self._highest.clear()
