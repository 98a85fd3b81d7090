"""DeadlineTimer: reports the node's deadline, after what was in the sockets when it was reached."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from kraftctl.server.loop.executor_protocols import Clock, Scheduler, TimerHandle

UNREAD_MS_MAX: Final = 100
"""A deadline is not reported when the sockets were read longer ago than that: a disk was waited for, or a
turn was long. It is a small part of every timeout."""

NOT_SET_MS: Final = (1 << 62) - 1
"""When the timer runs that is not set: after every deadline."""

REPEATS_MAX: Final = 10
"""Sockets are read at most this many times more before deadlines are reported, so that a loop of long turns
still has deadlines."""


class DeadlineDue:
    """Internal to the loop: a deadline is reached. What was in the sockets at `read_ms` waits before this."""

    def __init__(self, read_ms: int, repeats_left: int) -> None:
        self.read_ms = read_ms
        self.repeats_left = repeats_left


class DeadlineTimer:
    """Calls `report` when `deadline_ms` has passed; whatever is raised in a timer goes to `guarded`."""

    def __init__(
        self,
        clock: Clock,
        scheduler: Scheduler,
        *,
        deadline_ms: Callable[[], int | None],
        guarded: Callable[[Callable[[], None]], None],
        report: Callable[[DeadlineDue], None],
    ) -> None:
        self._clock = clock
        self._scheduler = scheduler
        self._deadline_ms = deadline_ms
        self._guarded = guarded
        self._report = report
        self._timer: TimerHandle | None = None
        self._timer_ms = NOT_SET_MS
        self._is_stopped = False
        self._reads_sockets = False
        """A deadline is reached, and the node does not know yet."""

    def stop(self) -> None:
        """Reports no deadline any more."""
        self._is_stopped = True
        if self._timer is not None:
            self._timer.cancel()

    def follow(self, deadline_ms: int | None) -> None:
        """Sets the timer to the deadline, or leaves it before it: most deadlines become later and later, with
        every Fetch and every heartbeat, and to set a timer again takes 1 us, as much as half a heartbeat in
        the node."""
        if deadline_ms is None or deadline_ms >= self._timer_ms or self._is_stopped or self._reads_sockets:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer_ms = deadline_ms
        delay_ms = max(0, deadline_ms - self._clock.now_ms())
        self._timer = self._scheduler.call_later(delay_ms / 1000, self._timer_ran)

    def is_late(self, due: DeadlineDue, now_ms: int) -> bool:
        """Returns whether the sockets are read once more, because it is long ago; `due` comes again then."""
        unread_ms = now_ms - due.read_ms
        if due.repeats_left > 0 and unread_ms > UNREAD_MS_MAX:
            self._read_sockets(due.repeats_left - 1)
            return True
        self._reads_sockets = False
        return False

    def _timer_ran(self) -> None:
        self._timer = None
        self._timer_ms = NOT_SET_MS
        self._guarded(self._read_sockets_if_due)

    def _read_sockets_if_due(self) -> None:
        deadline_ms = self._deadline_ms()
        if deadline_ms is None or deadline_ms > self._clock.now_ms():
            self.follow(deadline_ms)
            return
        self._reads_sockets = True
        self._read_sockets(REPEATS_MAX)

    def _read_sockets(self, repeats_left: int) -> None:
        """What has come in time is processed before anything ends for lack of it."""
        due = DeadlineDue(self._clock.now_ms(), repeats_left)
        self._scheduler.call_after_sockets(partial(self._sockets_were_read, due))

    def _sockets_were_read(self, due: DeadlineDue) -> None:
        if not self._is_stopped:
            self._report(due)
