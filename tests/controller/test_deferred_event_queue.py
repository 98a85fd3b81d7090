"""Responses wait in the order of their offsets, until their own records are committed."""

from __future__ import annotations

import weakref

import pytest

from kraftctl.controller.results.deferred_event_queue import DeferredEventQueue


@pytest.mark.parametrize(
    ("stable_offset", "released"),
    [
        pytest.param(3, [], id="nothing-yet"),
        pytest.param(4, ["a"], id="its-very-offset"),
        pytest.param(5, ["a", "b", "c"], id="two-of-one-offset"),
        pytest.param(6, ["a", "b", "c"], id="one-below-the-next"),
        pytest.param(7, ["a", "b", "c", "d"], id="all"),
    ],
)
@pytest.mark.parametrize(
    "added",
    [
        pytest.param("abcd", id="in-the-order-of-the-offsets"),
        pytest.param("dbca", id="in-another-order"),
    ],
)
def test_what_is_released(stable_offset: int, released: list[str], added: str) -> None:
    queue: DeferredEventQueue[str] = DeferredEventQueue()
    offsets = {"a": 4, "b": 5, "c": 5, "d": 7}
    for entry in added:
        queue.add(offsets[entry], entry)
    assert queue.complete_up_to(stable_offset) == released
    assert released + queue.fail_all() == ["a", "b", "c", "d"]


class Entry:
    """One that may be referred to weakly."""


def test_what_is_released_is_forgotten_while_others_wait() -> None:
    """A controller under load is never without one that waits: a thousand requests stayed in memory."""
    queue: DeferredEventQueue[Entry] = DeferredEventQueue()
    released = [weakref.ref(entry) for entry in add_entries(queue, 3)]
    queue.add(9, Entry())
    queue.complete_up_to(8)
    assert [entry() for entry in released] == [None, None, None]
    assert len(queue) == 1


def add_entries(queue: DeferredEventQueue[Entry], count: int) -> list[Entry]:
    entries = [Entry() for _ in range(count)]
    for entry in entries:
        queue.add(8, entry)
    return entries
