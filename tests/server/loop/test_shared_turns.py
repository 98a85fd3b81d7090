"""Steps of handshakes and requests have turns by what their addresses have used, not by their number."""

from __future__ import annotations

import asyncio
from functools import partial
from itertools import pairwise
from typing import Any

from kraftctl.server.loop.request_turns import MUST_WAIT, RequestTurns
from kraftctl.server.loop.turn_queue import ADDRESSES_MAX
from kraftctl_protocol.api_keys import ApiKey
from tests.server.serving import eventually

MS = 1_000_000


class Processor:
    """A clock that steps move on, and all else that turns need."""

    decoded_bytes = 0

    def __init__(self) -> None:
        self.ns = 0
        self.done: list[str] = []
        self.paused = False

    def turns(self) -> RequestTurns:
        scheduler: Any = asyncio.get_running_loop()
        return RequestTurns(self.now_ns, scheduler, self, lambda: self.paused)

    def now_ns(self) -> int:
        return self.ns

    def step(self, name: str, duration_ns: int = MS) -> None:
        self.ns += duration_ns
        self.done.append(name)


async def turns_of(processor: Processor, count: int) -> list[int]:
    """The number of steps in each turn of the loop."""
    seen = [0]
    while len(processor.done) < count:
        await asyncio.sleep(0)
        seen.append(len(processor.done))
    return [after - before for before, after in pairwise(seen) if after > before]


async def test_a_turn_has_as_many_steps_as_fit_into_it() -> None:
    for duration_ns, count in ((MS, 4), (3 * MS // 10, 14), (2 * MS, 2), (120 * MS, 1)):
        processor = Processor()
        turns = processor.turns()
        for _ in range(20):
            turns.wait(b"crowd", partial(processor.step, "", duration_ns))
        found = await turns_of(processor, 20)
        assert max(found) == count
        assert len(found) == -(-20 // count)


async def test_the_address_that_took_least_goes_first() -> None:
    """A client whose steps take ten times as long has a tenth of them."""
    processor = Processor()
    turns = processor.turns()
    for _ in range(30):
        turns.wait(b"costly", partial(processor.step, "costly", 10 * MS))
        turns.wait(b"usual", partial(processor.step, "usual"))
    turns.wait(b"honest", partial(processor.step, "honest"))
    await turns_of(processor, 61)
    assert "honest" in processor.done[:3]
    assert processor.done[:32].count("costly") == 3


async def test_an_address_that_comes_again_is_charged_for_what_it_took() -> None:
    """One connection after the other is no way to be first, as long as others wait."""
    processor = Processor()
    turns = processor.turns()

    def again() -> None:
        processor.step("again", 10 * MS)
        turns.wait(b"again", again)

    turns.wait(b"again", again)
    for _ in range(20):
        turns.wait(b"crowd", partial(processor.step, "crowd"))
    await turns_of(processor, 22)
    assert processor.done[:22].count("again") == 2


async def test_one_that_comes_late_does_not_wait_for_what_others_did_before() -> None:
    processor = Processor()
    turns = processor.turns()
    for _ in range(100):
        turns.wait(b"crowd", partial(processor.step, "crowd"))
    while len(processor.done) < 50:
        await asyncio.sleep(0)
    for _ in range(50):
        turns.wait(b"late", partial(processor.step, "late"))
    await turns_of(processor, 70)
    assert 5 <= processor.done[52:70].count("crowd") <= 13, "in turn from now on, not the late one alone"
    await turns_of(processor, 150)


async def test_no_address_is_remembered_for_ever() -> None:
    processor = Processor()
    turns = processor.turns()
    count = 3 * ADDRESSES_MAX
    for number in range(count):
        turns.wait(number.to_bytes(4), partial(processor.step, ""))
    while len(processor.done) < count:
        assert len(turns._times._used_ns) <= ADDRESSES_MAX
        await asyncio.sleep(0)
    await eventually(lambda: not turns._times._used_ns)
    assert not turns._steps


async def test_a_step_that_fails_stops_no_other() -> None:
    loop = asyncio.get_running_loop()
    turns = Processor().turns()
    failures: list[object] = []
    loop.set_exception_handler(lambda _, context: failures.append(context["exception"]))
    done: list[int] = []
    for number in range(12):
        turns.wait(b"", partial(done.append, number) if number % 2 else partial(next, iter(())))
    await eventually(lambda: len(done) == len(failures) == 6)


REQUEST = ApiKey.ALTER_PARTITION.to_bytes(2, "big")


async def test_records_wait_when_the_turn_is_over() -> None:
    processor = Processor()
    turns = processor.turns()
    for _ in range(39):
        began_ns = turns.begin_records()
        processor.ns += MS // 10
        turns.end_records(b"crowd", began_ns)
        assert not turns.is_spent
    turns.charge(MS // 10)
    assert turns.is_spent, "the node's time is the same"
    await asyncio.sleep(0)
    assert not turns.is_spent


async def test_steps_and_requests_have_one_budget() -> None:
    processor = Processor()
    turns = processor.turns()
    for _ in range(6):
        turns.wait(b"client", partial(processor.step, "step"))
        turns.begin_later(b"client", partial(processor.step, "request"))
    assert max(await turns_of(processor, 12)) == 4
    turns.end_records(b"client", processor.ns - 4 * MS)
    assert turns.begin(REQUEST, busy=False) == MUST_WAIT


async def test_an_address_has_one_account_for_all_it_does() -> None:
    """What it has used for handshakes counts when its requests wait, and the other way round."""
    for first, then in (("wait", "begin_later"), ("begin_later", "wait"), ("continue_later", "wait")):
        processor = Processor()
        turns = processor.turns()
        getattr(turns, first)(b"costly", partial(processor.step, "costly", 20 * MS))
        for _ in range(10):
            getattr(turns, then)(b"costly", partial(processor.step, "costly", 20 * MS))
            getattr(turns, then)(b"usual", partial(processor.step, "usual"))
        await turns_of(processor, 21)
        assert processor.done[:13].count("usual") == 10, (first, then)


async def test_what_begins_at_once_counts_while_others_wait() -> None:
    processor = Processor()
    turns = processor.turns()
    turns.wait(b"usual", partial(processor.step, "usual"))
    for _ in range(3):
        began_ns = turns.begin_records()
        processor.ns += MS
        turns.end_records(b"costly", began_ns)
    turns.wait(b"costly", partial(processor.step, "costly"))
    for _ in range(2):
        turns.wait(b"usual", partial(processor.step, "usual"))
    await turns_of(processor, 4)
    assert processor.done == ["usual", "usual", "usual", "costly"]


async def test_steps_go_on_while_an_effect_is_stored() -> None:
    processor = Processor()
    processor.paused = True
    turns = processor.turns()
    turns.begin_later(b"client", partial(processor.step, "request"))
    turns.continue_later(b"client", partial(processor.step, "response"))
    turns.wait(b"client", partial(processor.step, "step"))
    await turns_of(processor, 1)
    assert processor.done == ["step"]
    processor.paused = False
    turns.resume()
    await turns_of(processor, 3)
    assert processor.done == ["step", "response", "request"]
