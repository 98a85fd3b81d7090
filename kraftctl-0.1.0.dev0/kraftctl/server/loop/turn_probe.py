"""The longest turns of the event loop, and the longest waits for the disk."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final

from kraftctl.node.events import ClientRequest
from kraftctl.server.logs.rate_limited_log import RateLimitedLog
from kraftctl.server.process.durations import Durations

SLOW_NS: Final = 500_000_000
"""A turn or wait longer than this is logged: half of Kafka's default election timeout."""


class TurnProbe:
    """The longest since the start, and what caused it; for metrics and tests."""

    def __init__(self, logger: logging.Logger, now: Callable[[], float]) -> None:
        self.longest_turn_ns = 0
        self.longest_turn = ""
        """Its cause: the name of an effect, or of an event that the node processed."""
        self._recent_turn_ns = 0
        self._recent_turn = ""
        self.longest_wait_ns: dict[str, int] = {}
        """By the name of the effect that was stored."""
        self.waits: dict[str, Durations] = {}
        """The same, in buckets."""
        self.notable_ns = 0
        """Call `note` only for turns that took longer."""
        self._turns = RateLimitedLog(logger, now, lines_max=1)
        self._waits = RateLimitedLog(logger, now, lines_max=1)

    def note(self, turn_ns: int, what: object) -> None:
        """One step of the node, or one effect that was carried out on the loop, took `turn_ns`."""
        if turn_ns > self._recent_turn_ns:
            self._recent_turn_ns = turn_ns
            self._recent_turn = name_of(what)
            self.notable_ns = min(turn_ns, SLOW_NS)
        if turn_ns > self.longest_turn_ns:
            self.longest_turn_ns = turn_ns
            self.longest_turn = name_of(what)
        if turn_ns > SLOW_NS:
            self._turns.warning(
                "The event loop was blocked by %s for %d ms",
                name_of(what),
                turn_ns // 1_000_000,
            )

    def take_recent(self) -> tuple[int, str]:
        """The longest turn since the last call, in ns, and its cause; 0 and "" when there was none."""
        recent = self._recent_turn_ns, self._recent_turn
        self._recent_turn_ns = self.notable_ns = 0
        self._recent_turn = ""
        return recent

    def note_wait(self, wait_ns: int, what: str) -> None:
        """A call on another thread took `wait_ns`, including its time in the queue."""
        waits = self.waits.get(what)
        if waits is None:
            waits = self.waits[what] = Durations()
        waits.note(wait_ns)
        if wait_ns > self.longest_wait_ns.get(what, 0):
            self.longest_wait_ns[what] = wait_ns
        if wait_ns > SLOW_NS:
            self._waits.warning("%s waited for the disk for %d ms", what, wait_ns // 1_000_000)


def name_of(what: object) -> str:
    """The class of an event or effect, with the name of a request."""
    name = type(what).__name__
    return f"{name} {what.request.NAME}" if isinstance(what, ClientRequest) else name
