"""The loop around the node, without asyncio, threads or a network."""

from __future__ import annotations

import gc
import logging
from collections.abc import Callable
from typing import Any

import pytest

from kraftctl.raft import effects, events
from kraftctl.server.loop.deadline_timer import REPEATS_MAX, UNREAD_MS_MAX
from kraftctl.server.loop.node_loop import NodeLoop
from kraftctl.server.loop.turn_probe import TurnProbe


class Timer:
    def __init__(self, at_ms: int, call: Callable[[], None]) -> None:
        self.at_ms = at_ms
        self.call = call
        self.cancelled = False

    def cancel(self) -> None:
        self.cancelled = True


class World:
    """Everything around the loop: a node that emits a notice for each text in `script[event]`.

    The journal has what happens.
    """

    def __init__(self) -> None:
        self.script: dict[str, list[str]] = {}
        self.journal: list[str] = []
        self.may_stop = False
        self.next_deadline_ms: int | None = None
        self.time_ms = 1_000
        self.timers: list[Timer] = []
        self.after_sockets: list[Callable[[], None]] = []
        self.paused = False
        self.decoded_bytes = 0
        self.unreadable: BaseException | None = None
        self.probe = TurnProbe(logging.getLogger("tests.node_loop"), lambda: 0.0)
        self.ends: list[BaseException | None] = []
        this: Any = self
        self.loop = NodeLoop(
            this,
            clock=this,
            scheduler=this,
            network=this,
            probe=self.probe,
            on_may_stop=lambda: self.journal.append("may stop"),
            on_end=self.ends.append,
        )
        self.loop.attach(this)

    def step(self, event: object, now_ms: int, wall_ms: int) -> list[effects.Notice]:
        name = type(event).__name__
        self.journal.append(name)
        return self.scripted(name)

    def scripted(self, name: str) -> list[effects.Notice]:
        return [effects.Notice(effects.RAFT, effects.INFO, text) for text in self.script.get(name, [])]

    def execute(self, effect: effects.Notice) -> None:
        self.journal.append(effect.text)
        match effect.text:
            case "pause":
                self.paused = True
            case "raise":
                raise OSError("disk full")
            case "end":
                self.loop.end()
            case "offer":
                self.loop.offer(events.LogFlushed(1))
            case "take time":
                self.time_ms += 1
            case "take long":
                self.time_ms += UNREAD_MS_MAX + 1

    def cancel_all(self) -> None:
        self.journal.append("cancel all")

    def now_ms(self) -> int:
        return self.time_ms

    def now_ns(self) -> int:
        return self.time_ms * 1_000_000

    def wall_ms(self) -> int:
        return self.time_ms

    def call_after_sockets(self, call: Callable[[], None]) -> None:
        self.after_sockets.append(call)

    def read_sockets(self, *found: events.LogFlushed) -> None:
        """`found` is in them; what waits for that continues."""
        for event in found:
            self.loop.offer(event)
        calls, self.after_sockets = self.after_sockets, []
        for call in calls:
            call()

    def call_soon(self, call: Callable[[], None]) -> None:
        """No request waits in these tests."""

    def call_later(self, delay_seconds: float, call: Callable[[], None]) -> Timer:
        timer = Timer(self.time_ms + round(delay_seconds * 1000), call)
        self.timers.append(timer)
        return timer


def test_effects_follow_their_event_and_precede_the_next() -> None:
    world = World()
    world.script = {"Started": ["offer", "second"]}
    world.loop.offer(events.Started())
    assert world.journal == ["Started", "offer", "second", "LogFlushed"]


def test_after_a_pause_its_event_comes_before_those_that_waited() -> None:
    world = World()
    world.script = {"Started": ["pause", "second"], "LogStartChanged": ["third"]}
    world.loop.offer(events.Started())
    world.loop.offer(events.LogFlushed(1))
    assert world.journal == ["Started", "pause"]
    world.paused = False
    world.loop.resume(events.LogStartChanged(1))
    assert world.journal[2:] == ["second", "LogStartChanged", "third", "LogFlushed"]


def test_what_is_carried_out_is_not_held_until_the_next_event() -> None:
    """A response may have a megabyte."""
    world = World()
    world.script = {"Started": ["first", "last"]}
    world.loop.offer(events.Started())
    assert [
        each for each in gc.get_objects() if isinstance(each, effects.Notice) and each.text == "last"
    ] == []


@pytest.mark.parametrize(("last", "failures"), [("end", 0), ("raise", 1)])
def test_nothing_follows_the_end(last: str, failures: int) -> None:
    """Between two effects of one step: neither the second effect, nor an event that waits, nor a timer."""
    world = World()
    world.next_deadline_ms = 2_000
    world.loop.offer(events.DeadlineReached())
    world.script = {"Started": ["offer", last, "second"]}
    world.loop.offer(events.Started())
    world.loop.offer(events.LogFlushed(2))
    world.loop.resume(None)
    assert world.journal == ["DeadlineReached", "Started", "offer", last, "cancel all"]
    assert [type(end) for end in world.ends] == [OSError if failures else type(None)]
    assert [timer.cancelled for timer in world.timers] == [True]


def test_the_timer_follows_the_deadline_of_the_node() -> None:
    """It is set anew when the deadline comes earlier, not for each event."""
    world = World()
    loop = world.loop
    for world.next_deadline_ms in (1_500, 1_500, 1_200, None):
        loop.offer(events.LogFlushed(1))
    assert [(timer.at_ms, timer.cancelled) for timer in world.timers] == [(1_500, True), (1_200, False)]
    world.next_deadline_ms = 900
    world.timers[-1].call()
    world.read_sockets()
    assert world.journal[-1] == "DeadlineReached"
    assert (world.timers[-1].at_ms, world.timers[-1].cancelled) == (1_000, False)
    loop.stop_timer()
    world.next_deadline_ms = 3_000
    loop.offer(events.LogFlushed(1))
    assert world.journal[-1] == "LogFlushed"
    assert [timer.cancelled for timer in world.timers] == [True, False, True]


def test_a_deadline_that_becomes_later_does_not_set_the_timer_anew() -> None:
    """It runs too early once, reports nothing, and then follows the deadline."""
    world = World()
    for world.next_deadline_ms in (1_500, 1_600, 1_700):
        world.loop.offer(events.LogFlushed(1))
    world.time_ms = 1_500
    world.timers[0].call()
    assert world.journal == ["LogFlushed"] * 3
    assert world.after_sockets == []
    assert [(timer.at_ms, timer.cancelled) for timer in world.timers] == [(1_500, False), (1_700, False)]
    world.time_ms = 1_700
    world.timers[1].call()
    world.read_sockets()
    assert world.journal[3:] == ["DeadlineReached"]


def test_a_deadline_that_is_gone_leaves_no_timer() -> None:
    """The one that was set runs, and the next deadline is followed as the first."""
    world = World()
    for world.next_deadline_ms in (1_500, None):
        world.loop.offer(events.LogFlushed(1))
    world.time_ms = 1_500
    world.timers[0].call()
    assert (world.after_sockets, len(world.timers)) == ([], 1)
    world.next_deadline_ms = 9_000
    world.loop.offer(events.LogFlushed(1))
    assert [timer.at_ms for timer in world.timers] == [1_500, 9_000]


def test_a_node_that_may_stop_is_reported_when_nothing_is_left_to_do() -> None:
    world = World()
    world.script = {"ShutdownRequested": ["pause", "second"]}
    world.may_stop = True
    world.loop.offer(events.ShutdownRequested())
    assert world.journal == ["ShutdownRequested", "pause"]
    world.paused = False
    world.loop.resume(None)
    assert world.journal[2:] == ["second", "may stop"]
    assert world.ends == []


def test_a_loop_whose_log_is_unreadable_ends_when_the_node_may_stop() -> None:
    world = World()
    world.unreadable = OSError("bad sector")
    world.loop.offer(events.ShutdownRequested())
    assert world.ends == []
    world.may_stop = True
    world.loop.offer(events.LogFlushed(1))
    assert world.ends == [world.unreadable]


def test_a_long_turn_is_noted_with_its_effect() -> None:
    world = World()
    world.script = {"Started": ["first", "take time"]}
    world.loop.offer(events.Started())
    assert world.journal == ["Started", "first", "take time"]
    assert world.probe.take_recent() == (1_000_000, "Notice")


# A deadline, and what has come in time.

LATE_MS = 7_600

FLUSHED = events.LogFlushed(1)


def at_a_deadline() -> World:
    """Its timer runs late, and nothing else has happened since."""
    world = World()
    world.next_deadline_ms = 1_500
    world.loop.offer(events.Started())
    world.time_ms += LATE_MS
    world.timers[-1].call()
    world.journal.clear()
    return world


@pytest.mark.prevents("KAFKA-17793")
def test_what_waits_in_sockets_is_processed_before_a_deadline() -> None:
    """KAFKA-17793: a heartbeat that came in time counts, however late it is read."""
    world = at_a_deadline()
    assert world.journal == []
    world.read_sockets(FLUSHED, FLUSHED)
    assert world.journal == ["LogFlushed", "LogFlushed", "DeadlineReached"]


def test_one_deadline_is_reported_once() -> None:
    """Events in between set no timer for the same deadline, and what changes it is seen afterwards."""
    world = at_a_deadline()
    timers = len(world.timers)
    world.loop.offer(FLUSHED)
    assert (len(world.timers), len(world.after_sockets)) == (timers, 1)
    world.next_deadline_ms = 20_000
    world.read_sockets()
    assert world.journal == ["LogFlushed", "DeadlineReached"]
    assert [timer.at_ms for timer in world.timers[timers:]] == [20_000]


def test_what_came_while_a_disk_was_waited_for_is_processed_before_a_deadline() -> None:
    """The deadline waits in the inbox, what came after it behind it, and more in the sockets."""
    world = at_a_deadline()
    world.script = {"LogStartChanged": ["pause"]}
    world.loop.offer(events.LogStartChanged(1))
    world.read_sockets()
    world.loop.offer(FLUSHED)
    world.time_ms += LATE_MS
    world.paused = False
    world.loop.resume(None)
    assert world.journal == ["LogStartChanged", "pause", "LogFlushed"]
    world.read_sockets(FLUSHED)
    assert world.journal[3:] == ["LogFlushed", "DeadlineReached"]


def test_turns_that_are_all_long_do_not_put_off_a_deadline_for_ever() -> None:
    world = at_a_deadline()
    world.script = {"LogFlushed": ["take long"]}
    rounds = 0
    while "DeadlineReached" not in world.journal:
        assert rounds <= REPEATS_MAX
        world.read_sockets(FLUSHED)
        rounds += 1
    assert rounds == REPEATS_MAX + 1


@pytest.mark.parametrize("end", ["end", "stop_timer"])
def test_a_loop_that_ends_reports_no_deadline(end: str) -> None:
    world = at_a_deadline()
    getattr(world.loop, end)()
    world.read_sockets()
    assert "DeadlineReached" not in world.journal
