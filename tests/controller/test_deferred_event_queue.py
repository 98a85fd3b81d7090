"""Responses wait in the order of their offsets, until their own records are committed."""

from __future__ import annotations

import pytest

from kraftctl.controller.deferred_event_queue import DeferredEventQueue


@pytest.mark.parametrize(
    ("stable_offset", "released", "highest_pending"),
    [
        pytest.param(3, [], 7, id="nothing-yet"),
        pytest.param(4, ["a"], 7, id="its-very-offset"),
        pytest.param(5, ["a", "b", "c"], 7, id="two-of-one-offset"),
        pytest.param(6, ["a", "b", "c"], 7, id="one-below-the-next"),
        pytest.param(7, ["a", "b", "c", "d"], None, id="all"),
    ],
)
def test_what_is_released(stable_offset: int, released: list[str], highest_pending: int | None) -> None:
    queue: DeferredEventQueue[str] = DeferredEventQueue()
    for offset, entry in ((4, "a"), (5, "b"), (5, "c"), (7, "d")):
        queue.add(offset, entry)
    assert queue.complete_up_to(stable_offset) == released
    assert queue.highest_pending_offset == highest_pending
    assert released + queue.fail_all() == ["a", "b", "c", "d"]
