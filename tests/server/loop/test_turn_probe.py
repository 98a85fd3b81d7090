"""The longest turn: since the start, and since it was asked for last."""

from __future__ import annotations

import logging

from kraftctl.raft import effects, events
from kraftctl.server.loop.turn_probe import SLOW_NS, TurnProbe

STARTED, FLUSH = events.Started(), effects.FlushLog(1)


def noted(probe: TurnProbe, turn_ns: int, what: object) -> None:
    """As the loop does it."""
    if turn_ns > probe.notable_ns:
        probe.note(turn_ns, what)


def test_what_is_taken_is_forgotten_and_the_longest_since_the_start_is_not() -> None:
    probe = TurnProbe(logging.getLogger("test"), lambda: 0.0)
    assert probe.take_recent() == (0, "")
    noted(probe, 5_000, STARTED)
    noted(probe, 4_000, FLUSH)
    assert probe.take_recent() == (5_000, "Started")
    noted(probe, 3_000, FLUSH)
    assert probe.take_recent() == (3_000, "FlushLog")
    assert probe.take_recent() == (0, "")
    assert (probe.longest_turn_ns, probe.longest_turn) == (5_000, "Started")


def test_each_slow_turn_is_notable() -> None:
    probe = TurnProbe(logging.getLogger("test"), lambda: 0.0)
    noted(probe, 3 * SLOW_NS, STARTED)
    noted(probe, 2 * SLOW_NS, FLUSH)
    assert probe.notable_ns == SLOW_NS
    assert probe.take_recent() == (3 * SLOW_NS, "Started")
