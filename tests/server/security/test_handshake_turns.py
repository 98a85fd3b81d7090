"""Steps of handshakes take turns by what they have taken, not by their number."""

from __future__ import annotations

import asyncio
from functools import partial
from itertools import pairwise

from kraftctl.server.process.clock import Clock
from kraftctl.server.security.handshake_turns import ADDRESSES_MAX, HandshakeTurns
from tests.server.serving import eventually

MS = 1_000_000


class Processor(Clock):
    """A clock that steps move on."""

    def __init__(self) -> None:
        self.ns = 0
        self.done: list[str] = []

    def now_ns(self) -> int:
        return self.ns

    def thread_ns(self) -> int:
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
        turns = HandshakeTurns(asyncio.get_running_loop(), processor)
        for _ in range(20):
            turns.wait("crowd", partial(processor.step, "", duration_ns))
        found = await turns_of(processor, 20)
        assert max(found) == count
        assert len(found) == -(-20 // count)


async def test_the_address_that_took_least_goes_first() -> None:
    """A client whose steps take ten times as long has a tenth of them."""
    processor = Processor()
    turns = HandshakeTurns(asyncio.get_running_loop(), processor)
    for _ in range(30):
        turns.wait("costly", partial(processor.step, "costly", 10 * MS))
        turns.wait("usual", partial(processor.step, "usual"))
    turns.wait("honest", partial(processor.step, "honest"))
    await turns_of(processor, 61)
    assert "honest" in processor.done[:3]
    assert processor.done[:32].count("costly") == 3


async def test_an_address_that_comes_again_is_charged_for_what_it_took() -> None:
    """One connection after the other is no way to be first, as long as others wait."""
    processor = Processor()
    turns = HandshakeTurns(asyncio.get_running_loop(), processor)

    def again() -> None:
        processor.step("again", 10 * MS)
        turns.wait("again", again)

    turns.wait("again", again)
    for _ in range(20):
        turns.wait("crowd", partial(processor.step, "crowd"))
    await turns_of(processor, 22)
    assert processor.done[:22].count("again") == 2


async def test_one_that_comes_late_does_not_wait_for_what_others_did_before() -> None:
    processor = Processor()
    turns = HandshakeTurns(asyncio.get_running_loop(), processor)
    for _ in range(100):
        turns.wait("crowd", partial(processor.step, "crowd"))
    while len(processor.done) < 50:
        await asyncio.sleep(0)
    for _ in range(50):
        turns.wait("late", partial(processor.step, "late"))
    await turns_of(processor, 70)
    assert 5 <= processor.done[52:70].count("crowd") <= 13, "in turn from now on, not the late one alone"
    await turns_of(processor, 150)


async def test_no_address_is_remembered_for_ever() -> None:
    processor = Processor()
    turns = HandshakeTurns(asyncio.get_running_loop(), processor)
    count = 3 * ADDRESSES_MAX
    for number in range(count):
        turns.wait(str(number), partial(processor.step, ""))
    while len(processor.done) < count:
        assert len(turns._taken) <= ADDRESSES_MAX
        await asyncio.sleep(0)
    await eventually(lambda: not turns._taken)
    assert not turns._waiting


async def test_a_step_that_fails_stops_no_other() -> None:
    loop = asyncio.get_running_loop()
    turns = HandshakeTurns(loop, Clock())
    failures: list[object] = []
    loop.set_exception_handler(lambda _, context: failures.append(context["exception"]))
    done: list[int] = []
    for number in range(12):
        turns.wait("", partial(done.append, number) if number % 2 else partial(next, iter(())))
    await eventually(lambda: len(done) == len(failures) == 6)


async def test_records_wait_when_they_take_more_than_their_share() -> None:
    clock = Processor()
    turns = HandshakeTurns(asyncio.get_running_loop(), clock)

    def decrypt(duration_ns: int) -> None:
        began_ns = turns.begin_records()
        clock.ns += duration_ns
        turns.end_records(began_ns)

    for _ in range(1_000):
        decrypt(MS // 10)
        assert not turns.are_records_crowded()
        clock.ns += MS // 5
    decrypt(10 * MS)
    assert turns.are_records_crowded()
    clock.ns += 20 * MS
    assert not turns.are_records_crowded(), "half of the time since then"
