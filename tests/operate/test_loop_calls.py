"""Calls on a loop that another thread runs: one of each kind at a time."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator

import pytest

from kraftctl.operate import loop_calls
from kraftctl.operate.loop_calls import LoopCalls


class OtherLoop:
    """A loop on a thread, which a call of the test may keep busy; counts the calls."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.may_go_on = threading.Event()
        self.made_count = 0
        self._thread = threading.Thread(target=self.loop.run_forever)
        self._thread.start()

    def get_stuck(self) -> None:
        self.loop.call_soon_threadsafe(self.may_go_on.wait)

    def call(self) -> int:
        self.made_count += 1
        return self.made_count

    def fail(self) -> int:
        self.made_count += 1
        message = "a defect"
        raise ValueError(message)

    def end(self) -> None:
        self.may_go_on.set()
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()


@pytest.fixture
def other() -> Iterator[OtherLoop]:
    other = OtherLoop()
    yield other
    if not other.loop.is_closed():
        other.end()


async def test_a_stuck_loop_has_one_call_of_a_kind_to_make(
    other: OtherLoop, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = LoopCalls()
    other.get_stuck()
    with monkeypatch.context() as patch:
        patch.setattr(loop_calls, "LOOP_SECONDS_MAX", 0.001)
        for _ in range(20):
            with pytest.raises(TimeoutError):
                await calls.make("a", other.loop, other.call)
    asking = [asyncio.ensure_future(calls.make("a", other.loop, other.call)) for _ in range(5)]
    await asyncio.sleep(0)
    other.may_go_on.set()
    assert await asyncio.gather(*asking) == [1] * 5
    assert await calls.make("a", other.loop, other.call) == 2, "what is asked later is found out anew"


async def test_those_that_share_a_call_share_its_failure(other: OtherLoop) -> None:
    calls = LoopCalls()
    other.get_stuck()
    asking = [asyncio.ensure_future(calls.make("a", other.loop, other.fail)) for _ in range(3)]
    another = asyncio.ensure_future(calls.make("b", other.loop, lambda: "of another kind"))
    await asyncio.sleep(0)
    other.may_go_on.set()
    found = await asyncio.gather(*asking, return_exceptions=True)
    assert [str(error) for error in found] == ["a defect"] * 3
    assert await another == "of another kind"
    assert await calls.make("a", other.loop, other.call) == 2


async def test_a_loop_that_has_ended_times_out(other: OtherLoop) -> None:
    other.end()
    with pytest.raises(TimeoutError, match="has ended"):
        await LoopCalls().make("a", other.loop, other.call)
