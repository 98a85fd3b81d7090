"""Decides when a line about a lasting condition is written: immediately, then more and more rarely."""

from __future__ import annotations

from typing import Final

INTERVAL_MS: Final = 60_000
"""The interval from the first line to the second. Each further one is twice as long."""

INTERVAL_MS_MAX: Final = 3_600_000

KEPT_MAX: Final = 64
"""Others can cause any number of reasons: the one that was not met for longest is forgotten."""


class SpokenReason:
    """A reason that was first met at `since_ms`, without a pause until `met_ms`."""

    def __init__(self, now_ms: int) -> None:
        self.since_ms = now_ms
        self.met_ms = now_ms
        self.next_ms = now_ms
        self.interval_ms = INTERVAL_MS
        self.is_spoken = False


class SpokenReasons:
    """The reasons by any text that distinguishes them. The times may not go back."""

    def __init__(self) -> None:
        self._reasons: dict[str, SpokenReason] = {}

    def is_due(self, reason: str, now_ms: int, *, lasts_ms: int = 0) -> bool:
        """Notes that the reason is met. Returns whether to write its line now: once it lasts, then rarely."""
        found = self._reasons.pop(reason, None)
        if found is None or now_ms - found.met_ms > 2 * INTERVAL_MS:
            if len(self._reasons) >= KEPT_MAX:
                self._reasons.pop(next(iter(self._reasons)))
            found = SpokenReason(now_ms)
        self._reasons[reason] = found
        found.met_ms = now_ms
        if now_ms - found.since_ms < lasts_ms or now_ms < found.next_ms:
            return False
        found.is_spoken = True
        found.next_ms = now_ms + found.interval_ms
        found.interval_ms = min(2 * found.interval_ms, INTERVAL_MS_MAX)
        return True

    def is_spoken(self, reason: str) -> bool:
        """Returns whether a line has said that the reason is met."""
        found = self._reasons.get(reason)
        return found is not None and found.is_spoken

    def end(self, reason: str) -> bool:
        """Ends a reason. Returns whether a line said that it had begun."""
        found = self._reasons.pop(reason, None)
        return found is not None and found.is_spoken

    def clear(self) -> None:
        self._reasons.clear()
