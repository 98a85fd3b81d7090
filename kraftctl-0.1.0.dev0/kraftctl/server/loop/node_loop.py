"""The loop around the pure node: event -> step -> effects in order, each done before the next begins.

Here is what belongs to the loop: the inbox, the step, the timer, and the end after a failure. The executor
carries out the effects. Time, threads and the network are protocols: a simulation runs this very loop.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Final

from kraftctl.node.events import ClientRequest, NodeEvent
from kraftctl.raft import events
from kraftctl.server.loop.deadline_timer import DeadlineDue, DeadlineTimer
from kraftctl.server.loop.direct_calls import Effects, execute, is_paused, may_stop, next_deadline_ms, step
from kraftctl.server.loop.executor_protocols import (
    Clock,
    Executor,
    Network,
    Node,
    RetentionDue,
    Scheduler,
)
from kraftctl.server.loop.request_turns import CHARGED_NS, RequestTurns
from kraftctl.server.loop.turn_probe import TurnProbe
from kraftctl.server.process.durations import Durations

NS_PER_MS: Final = 1_000_000

NO_EFFECTS: Final[Effects] = []
"""An empty list that is never changed."""


class NodeLoop:
    """Owns the node, its inbox and its timer; everything here runs where the node runs. Is an `Inbox`.

    Needs an executor, by `attach`, before the first event. `on_may_stop` is called whenever processing pauses
    for lack of events while the node may stop. `on_end` is called with the failure that ended the loop, or
    with None; it is called again for a failure of what was still running.

    It has 17 fields, because it counts and times events as well, for the metrics.
    """

    def __init__(
        self,
        node: Node,
        *,
        clock: Clock,
        scheduler: Scheduler,
        network: Network,
        probe: TurnProbe,
        on_may_stop: Callable[[], None],
        on_end: Callable[[BaseException | None], None],
    ) -> None:
        self._node = node
        # Looked up once: called several times for each event.
        self._now_ns = clock.now_ns
        self._wall_ms = clock.wall_ms
        self._network = network
        self._probe = probe
        self._on_may_stop = on_may_stop
        self._on_end = on_end
        self._executor: Executor
        self._inbox: deque[NodeEvent | RetentionDue | DeadlineDue] = deque()
        self._effects: Effects = NO_EFFECTS
        self._effects_done = 0
        self._draining = False
        self._deadlines = DeadlineTimer(
            clock, scheduler, deadline_ms=self._deadline_ms, guarded=self.guarded, report=self._offer
        )
        self.ended = False
        self.events_count = 0
        """The number of events that the node has processed."""
        self.processing = Durations()
        """The time of those that took longer than CHARGED_NS."""
        self.turns = RequestTurns(clock.now_ns, scheduler, network, self._is_paused)
        """The time of requests, which is asked for before one is offered."""

    def attach(self, executor: Executor) -> None:
        """Carry out effects with it. Its inbox is this loop, so the loop is made first."""
        self._executor = executor

    # The inbox.

    def offer(self, event: NodeEvent | RetentionDue) -> None:
        """Processes `event` after those that are already waiting; nothing once processing has ended."""
        if not self.ended:
            self._offer(event)

    def offer_in_turn(self, address: bytes, offer: Callable[[], None]) -> None:
        """Calls `offer`, which offers a decoded request from `address`, when requests have time."""
        self.turns.continue_later(address, offer)

    def is_busy(self) -> bool:
        """Returns whether an event that is offered now waits in the inbox."""
        return self._draining or is_paused(self._executor)

    def _is_paused(self) -> bool:
        return self._executor.paused

    def _offer(self, event: NodeEvent | RetentionDue | DeadlineDue) -> None:
        if self.is_busy():
            self._inbox.append(event)
        else:
            assert not self._inbox or self.ended, "what is not paused has processed all"
            self._drain(event)

    def resume(self, next_event: NodeEvent | None) -> None:
        """After a pause of the executor: carry out the effects that follow, then process `next_event`."""
        if next_event is not None:
            self._inbox.appendleft(next_event)
        self._drain(None)
        self.turns.resume()

    def _drain(self, event: NodeEvent | RetentionDue | DeadlineDue | None) -> None:
        """Carry out what is left of the effects, then process what is in the inbox; or `event`, when nothing
        of either is left."""
        self._draining = True
        try:
            self._process_all(event)
        except Exception as error:  # noqa: BLE001 - as in `guarded`
            self.fail(error)
        self._draining = False

    def _process_all(self, event: NodeEvent | RetentionDue | DeadlineDue | None) -> None:
        executor, now_ns = self._executor, self._now_ns
        since_ns = now_ns()
        while True:
            effects = self._effects
            while self._effects_done < len(effects):
                effect = effects[self._effects_done]
                self._effects_done += 1
                execute(executor, effect)
                until_ns = now_ns()
                if until_ns - since_ns > CHARGED_NS:
                    self._took(until_ns - since_ns, effect)
                since_ns = until_ns
                if is_paused(executor) or self.ended:
                    return
            if event is None and self._inbox:
                event = self._inbox.popleft()
            if event is None or self.ended:
                break
            self._effects = self._step(event, since_ns // NS_PER_MS)
            self._effects_done = 0
            self.events_count += 1
            until_ns = now_ns()
            if until_ns - since_ns > CHARGED_NS:
                self.processing.note(until_ns - since_ns)
                self._took(until_ns - since_ns, event)
            since_ns = until_ns
            event = None
        self._effects = NO_EFFECTS
        if may_stop(self._node):
            self._on_may_stop()
            if executor.unreadable is not None:
                self.fail(executor.unreadable)
        self._deadlines.follow(next_deadline_ms(self._node))

    def _took(self, duration_ns: int, what: object) -> None:
        self.turns.charge(duration_ns)
        if duration_ns > self._probe.notable_ns:
            self._probe.note(duration_ns, what)

    def _step(self, event: NodeEvent | RetentionDue | DeadlineDue, now_ms: int) -> Effects:
        if isinstance(event, ClientRequest):
            # First: to compare with a class that is not compiled takes as long as all of a step's own calls.
            return step(self._node, event, now_ms, self._wall_ms())
        if isinstance(event, RetentionDue):
            return [event]
        if isinstance(event, DeadlineDue):
            if self._deadlines.is_late(event, now_ms):
                return []
            event = events.DeadlineReached()
        return step(self._node, event, now_ms, self._wall_ms())

    def stop_timer(self) -> None:
        """Report no deadline any more; events that are offered are still processed."""
        self._deadlines.stop()

    def _deadline_ms(self) -> int | None:
        return self._node.next_deadline_ms

    # The end.

    def guarded(self, action: Callable[[], None]) -> None:
        """Run `action`; whatever it raises ends the loop, as in `_drain`: these two catch everything."""
        try:
            action()
        except Exception as error:  # noqa: BLE001 - handed on, never swallowed
            self.fail(error)

    def fail(self, error: BaseException) -> None:
        """End with this failure."""
        self._end(error)

    def end(self) -> None:
        """Process, carry out and answer nothing more, as if the process had been killed here."""
        self._end(None)

    def _end(self, error: BaseException | None) -> None:
        self.ended = True
        self._inbox.clear()
        self.turns.clear()
        self._effects = NO_EFFECTS
        self._network.cancel_all()
        self._deadlines.stop()
        self._on_end(error)
