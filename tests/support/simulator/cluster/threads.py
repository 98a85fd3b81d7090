"""A `Scheduler` on virtual time: threads that wait for a simulated disk.

A call is run at the end of the time that it takes, or at its beginning; then what it forces is forced at the
end, and what it does after that may not have happened when the process ends in between.
"""

from __future__ import annotations

import random
from collections import Counter, deque
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar, cast

from kraftctl.server.process.finished_call import Finished
from kraftctl.server.process.worker_thread import Ended
from kraftctl.storage.errors import StorageError
from kraftctl_protocol.primitives import DecodeError
from tests.support.simulator.cluster.clocks import SimulatedClock
from tests.support.simulator.cluster.lifetime import Lifetime
from tests.support.simulator.cluster.virtual_time import Timer
from tests.support.simulator.disks.disk import SimulatedDisk
from tests.support.simulator.disks.disks import DiskSpeed

T = TypeVar("T")

STALL_US = 1_000_000

LATE_CALLS = 0.6
"""How many of the calls run at the end of their time."""

DECODING_US = 2_000
"""A long request takes so long, or longer."""


def _run(call: Callable[[], object]) -> Ended[object]:
    """What a disk may cause is handed over as a result; anything else is a find."""
    try:
        return Ended(call(), None)
    except (StorageError, OSError) as error:
        return Ended(None, error)


class SimulatedThread:
    """One call after the other."""

    def __init__(
        self,
        life: Lifetime,
        disk: SimulatedDisk,
        speed: DiskSpeed,
        rng: random.Random,
        counts: Counter[str],
    ) -> None:
        self._counts = counts
        self._life = life
        self._disk = disk
        self._speed = speed
        self._rng = rng
        self._waiting: deque[tuple[Callable[[], object], Callable[[Finished[object]], None]]] = deque()
        self._busy = False
        self._holds = False
        self._end_held: Callable[[], None] | None = None
        self._late_call: Callable[[], object] | None = None

    def hold(self) -> None:
        """From now on the code of a call runs at its beginning, and the call ends on command."""
        self._holds = True

    def end_held(self) -> bool:
        """End the call that is held; the next one begins. Returns whether there was one."""
        end, self._end_held = self._end_held, None
        if end is not None:
            end()
        return end is not None

    def release(self) -> None:
        """Hold no more, also not the present call."""
        self._holds = False
        self.end_held()

    def submit(self, call: Callable[[], object], done: Callable[[Finished[object]], None]) -> None:
        self._waiting.append((call, done))
        if not self._busy:
            self._begin()

    def _begin(self) -> None:
        self._busy = True
        call, done = self._waiting.popleft()
        duration_us = self._speed(self._rng)
        if duration_us >= STALL_US:
            self._counts["disk calls of a second or more"] += 1
        if not self._holds and self._rng.random() < LATE_CALLS:
            self._late_call = call
            self._life.after(duration_us, lambda: self._end(_run(call), done))
            return
        token = self._disk.begin()
        ended = _run(call)
        self._disk.code_ended(token)

        def forced() -> None:
            # The disk works while the process is frozen.
            if not self._life.ended:
                self._disk.finish(token)
                self._life.run(lambda: self._end(ended, done))

        if self._holds:
            self._end_held = forced
        else:
            self._life.time.call_after(duration_us, forced)

    def _end(self, ended: Ended[object], done: Callable[[Finished[object]], None]) -> None:
        self._late_call = None
        self._busy = False
        done(ended)
        if self._waiting and not self._busy and not self._life.ended:
            self._begin()

    def finish(self) -> None:
        """Run what was handed over and has not run yet; its results are of no interest any more."""
        calls = [] if self._late_call is None else [self._late_call]
        calls += [call for call, _ in self._waiting]
        self._late_call = None
        self._waiting.clear()
        for call in calls:
            _run(call)

    def take_late_call(self) -> Callable[[], object] | None:
        """The call whose code has not run yet; it ends with the process."""
        call, self._late_call = self._late_call, None
        self._waiting.clear()
        return call


class SimulatedThreads:
    """The three threads of a controller, and its loop."""

    def __init__(
        self,
        life: Lifetime,
        disk: SimulatedDisk,
        speed: DiskSpeed,
        clock: SimulatedClock,
        rng: random.Random,
        counts: Counter[str],
    ) -> None:
        self._life = life
        self._disk = disk
        self._clock = clock
        self._rng = rng
        self._storage_thread = SimulatedThread(life, disk, speed, rng, counts)
        self._flush_thread = SimulatedThread(life, disk, speed, rng, counts)
        self._snapshot_thread = SimulatedThread(life, disk, speed, rng, counts)

    def run_on_storage_thread(self, call: Callable[[], T], done: Callable[[Finished[T]], None]) -> None:
        self._storage_thread.submit(call, cast("Callable[[Finished[object]], None]", done))

    def run_on_flush_thread(self, call: Callable[[], T], done: Callable[[Finished[T]], None]) -> None:
        self._flush_thread.submit(call, cast("Callable[[Finished[object]], None]", done))

    def run_on_snapshot_thread(self, call: Callable[[], T], done: Callable[[Finished[T]], None]) -> None:
        self._snapshot_thread.submit(call, cast("Callable[[Finished[object]], None]", done))

    def run_on_decoding_thread(
        self, call: Callable[[Callable[[], object]], T], done: Callable[[Finished[T]], None]
    ) -> None:
        try:
            ended: Ended[object] = Ended(call(lambda: None), None)
        except DecodeError as error:
            ended = Ended(None, error)
        self._life.after(DECODING_US, lambda: cast("Callable[[Finished[object]], None]", done)(ended))

    def hold_flushes(self) -> None:
        self._flush_thread.hold()

    def end_held_flush(self) -> bool:
        return self._flush_thread.end_held()

    def release_flushes(self) -> None:
        self._flush_thread.release()

    def call_soon(self, call: Callable[[], None]) -> None:
        self._life.after(0, call)

    call_after_sockets = call_soon

    def call_later(self, delay_seconds: float, call: Callable[[], None]) -> Timer:
        """By the clock of this machine."""
        return self._life.after(self._clock.real_us(round(delay_seconds * 1_000_000)), call)

    def finish(self) -> None:
        """An orderly stop: every call that was handed over ends."""
        for thread in (self._storage_thread, self._flush_thread, self._snapshot_thread):
            thread.finish()

    def end(self) -> int:
        """The process ends: of the calls whose code had not run, some had done a part of it. Returns how
        many got that far."""
        threads = (self._storage_thread, self._flush_thread, self._snapshot_thread)
        late = [call for thread in threads if (call := thread.take_late_call()) is not None]
        self._rng.shuffle(late)
        begun = [call for call in late if self._rng.random() < 0.5]
        for call in begun:
            with suppress(StorageError, OSError):  # the disk may have failed it
                self._disk.run_until_bomb(call, self._rng)
        return len(begun)
