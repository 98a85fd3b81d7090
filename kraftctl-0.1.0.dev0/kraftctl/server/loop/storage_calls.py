"""StorageCalls: runs on threads what an effect has to wait for, and what reads files.

While an effect is being stored, the effects and events after it wait. A flush and a read report their end,
and nothing waits for them.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import Final, TypeVar

from kraftctl.node.events import NodeEffect, NodeEvent
from kraftctl.raft import events
from kraftctl.server.loop.descriptor_shortage import DESCRIPTOR_RETRY_SECONDS, is_out_of_descriptors
from kraftctl.server.loop.executor_protocols import Clock, Inbox, RetentionDue, Scheduler
from kraftctl.server.loop.turn_probe import TurnProbe
from kraftctl.server.process.finished_call import Finished

logger = logging.getLogger("kraftctl.server.effect_executor")

RESIGN_SECONDS_MAX = 2.0
"""How long a leader that cannot read its own log waits until all voters know that it resigned."""

NOT_WAITING_NS: Final = -1

FLUSH: Final = "FlushLog"

T = TypeVar("T")


class StorageCalls:
    """Hands calls over to threads, and what they return to the inbox.

    While it is `paused`, nothing may be executed; `inbox.resume` ends the pause. `unreadable` is not None
    once the log or a snapshot could not be read: the node was asked to resign, and the process has to end.
    """

    def __init__(self, scheduler: Scheduler, inbox: Inbox, clock: Clock, probe: TurnProbe) -> None:
        self.scheduler = scheduler
        self.inbox = inbox
        self.clock = clock
        self._probe = probe
        self.stopped = False
        """Whether nothing new begins."""
        self.paused = False
        self.storing = ""
        """The effect that is being stored; the last one while none is."""
        self.storing_since_ns = NOT_WAITING_NS
        self.flushing_since_ns = NOT_WAITING_NS
        self.unreadable: BaseException | None = None

    def store(self, effect: NodeEffect | RetentionDue, call: Callable[[], NodeEvent | None]) -> None:
        """Runs `call` on the storage thread. What it returns is the very next event."""
        if self.stopped:
            self.inbox.end()
            return
        self.paused = True
        what = self._begin(effect)
        stored = partial(self._stored, what, self.storing_since_ns)
        self.scheduler.run_on_storage_thread(call, stored)

    def _begin(self, effect: NodeEffect | RetentionDue) -> str:
        self.storing = type(effect).__name__
        self.storing_since_ns = self.clock.now_ns()
        return self.storing

    def _stored(self, what: str, since_ns: int, storing: Finished[NodeEvent | None]) -> None:
        self.paused = False
        self.storing_since_ns = NOT_WAITING_NS
        self._probe.note_wait(self.clock.now_ns() - since_ns, what)
        error = storing.exception()
        if error is not None:
            self.inbox.fail(error)
        if not self.inbox.ended:
            self.inbox.resume(storing.result())

    def store_again(self, effect: NodeEffect, call: Callable[[], None]) -> None:
        """Runs `call` like `store`, and repeats it until there is a descriptor for it."""
        if self.stopped:
            self.inbox.end()
            return
        self.paused = True
        self._begin(effect)
        self._try(call)

    def _try(self, call: Callable[[], None]) -> None:
        if self.stopped:
            self.inbox.end()
            return

        def stored(storing: Finished[None]) -> None:
            error = storing.exception()
            if is_out_of_descriptors(error) and not self.inbox.ended:
                logger.error("%s; retrying in %.1f s", error, DESCRIPTOR_RETRY_SECONDS)
                self.scheduler.call_later(DESCRIPTOR_RETRY_SECONDS, partial(self._try, call))
            else:
                self._stored(self.storing, self.storing_since_ns, storing)

        self.scheduler.run_on_storage_thread(call, stored)

    def flush(self, call: Callable[[], int]) -> None:
        """Runs `call`, which returns up to where the log is on disk."""
        if self.stopped:
            return  # closing the log flushes what is left
        self.flushing_since_ns = self.clock.now_ns()
        flushed = partial(self._flushed, self.flushing_since_ns)
        self.scheduler.run_on_flush_thread(call, flushed)

    def _flushed(self, since_ns: int, flushing: Finished[int]) -> None:
        self.flushing_since_ns = NOT_WAITING_NS
        self._probe.note_wait(self.clock.now_ns() - since_ns, FLUSH)
        error = flushing.exception()
        if error is not None:
            self.inbox.fail(error)
        else:
            self.inbox.offer(events.LogFlushed(flushing.result()))

    def oldest_wait(self, now_ns: int) -> tuple[str, float]:
        """Returns what has waited for the disk longest, and for how many seconds; "" and 0 for nothing."""
        what, since_ns = self.storing, self.storing_since_ns
        if since_ns < 0 or 0 <= self.flushing_since_ns < since_ns:
            what, since_ns = FLUSH, self.flushing_since_ns
        return ("", 0.0) if since_ns < 0 else (what, (now_ns - since_ns) / 1e9)

    def read(self, call: Callable[[], T], done: Callable[[T], None]) -> None:
        """Runs `call` on the storage thread, after all that was stored before; `done` gets what was read."""
        if self.stopped:
            return
        self.scheduler.run_on_storage_thread(call, partial(self.was_read, done))

    def was_read(self, done: Callable[[T], None], reading: Finished[T]) -> None:
        """Hands over what was read. A failure ends the process."""
        error = reading.exception()
        if error is not None:
            self._cannot_read(error)
        elif not self.inbox.ended:
            self.inbox.guarded(lambda: done(reading.result()))

    def _cannot_read(self, error: BaseException) -> None:
        """A leader that cannot read its own log cannot replicate it: it resigns, then stops.

        Nothing that was acknowledged is in doubt, so writes that are running may still end.
        """
        if self.inbox.ended or self.unreadable is not None:
            return
        self.unreadable = error
        logger.error(
            "Cannot read the metadata log or a snapshot; resigning if this node leads, then stopping: %s",
            error,
        )
        self.scheduler.call_later(RESIGN_SECONDS_MAX, partial(self.inbox.fail, error))
        self.inbox.offer(events.ShutdownRequested())
