"""The interpreter lock: no thread demands it in the middle of a turn of the loop."""

from __future__ import annotations

import sys
import threading
import time

from kraftctl.server.process.interpreter_lock import released_between_turns

TURN_SECONDS = 0.03
"""Longer than CPython's own switch interval of 5 ms."""
TRIES = 9


def need_the_lock(ready: threading.Event, ended: threading.Event, seen: list[bool]) -> None:
    ready.set()
    ended.wait(TURN_SECONDS / 10)  # and then needs the lock, long before the turn ends
    seen.append(ended.is_set())


def interrupted_turns() -> int:
    """How often, of `TRIES`, a thread that needs the lock has it before the turn of this thread ends."""
    found = 0
    for _ in range(TRIES):
        ready, ended = threading.Event(), threading.Event()
        seen: list[bool] = []

        thread = threading.Thread(target=need_the_lock, args=(ready, ended, seen))
        thread.start()
        ready.wait()
        until_s = time.monotonic() + TURN_SECONDS
        while time.monotonic() < until_s:
            pass
        ended.set()
        thread.join()
        found += not seen[0]
    return found


def test_a_turn_is_not_interrupted() -> None:
    with released_between_turns():
        # Most may be, when a busy machine stops this process for longer than the interval. Else all would be.
        assert interrupted_turns() < TRIES


def test_the_interval_is_what_it_was_at_the_end() -> None:
    before = sys.getswitchinterval()
    with released_between_turns():
        pass
    assert sys.getswitchinterval() == before
