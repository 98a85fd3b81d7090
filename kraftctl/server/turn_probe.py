"""How long the driver kept the event loop busy at a time, and how long it waited for the disk."""

from __future__ import annotations

import logging
from collections.abc import Callable

from kraftctl.node.events import ClientRequest
from kraftctl.server.request_log import RateLimitedLog

SLOW_NS = 500_000_000
"""A turn or a wait worth a line: half of Kafka's default election timeout."""


class TurnProbe:
    """The longest of everything since the start, with what it was; for metrics and tests."""

    def __init__(self, logger: logging.Logger, now: Callable[[], float]) -> None:
        self.longest_turn_ns = 0
        self.longest_turn = ""
        """What it did: the name of an effect, or of an event that the node had to work on."""
        self.longest_wait_ns: dict[str, int] = {}
        """By the name of the effect that had something stored."""
        self.notable_ns = 0
        """A turn that took longer has to be `noted`; the others need no call."""
        self._turns = RateLimitedLog(logger, now, lines_max=1)
        self._waits = RateLimitedLog(logger, now, lines_max=1)

    def note(self, turn_ns: int, what: object) -> None:
        """One step of the node, or one effect that was carried out on the loop."""
        if turn_ns > self.longest_turn_ns:
            self.longest_turn_ns = turn_ns
            self.longest_turn = name_of(what)
            self.notable_ns = min(turn_ns, SLOW_NS)
        if turn_ns > SLOW_NS:
            self._turns.warning(
                "The event loop was busy with %s for %d ms and did nothing else",
                name_of(what),
                turn_ns // 1_000_000,
            )

    def note_wait(self, wait_ns: int, what: str) -> None:
        """Something was stored on another thread, and took so long from when it was asked for."""
        if wait_ns > self.longest_wait_ns.get(what, 0):
            self.longest_wait_ns[what] = wait_ns
        if wait_ns > SLOW_NS:
            self._waits.warning("%s waited for the disk for %d ms", what, wait_ns // 1_000_000)


def name_of(what: object) -> str:
    """The kind of an event or effect; of a request, its name too."""
    name = type(what).__name__
    return f"{name} {what.request.NAME}" if isinstance(what, ClientRequest) else name
