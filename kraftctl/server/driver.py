"""The loop around the pure node: event -> step -> effects in order, each done before the next begins.

Here is what belongs to the loop: the inbox, the step, the timer, the end after a failure, and the stop.
`EffectExecutor` carries out the effects.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Iterator

from kraftctl.controller.request_context import RequestContext
from kraftctl.node.controller_node import ControllerNode
from kraftctl.node.events import ClientRequest, NodeEffect, NodeEvent
from kraftctl.raft import events
from kraftctl.server.clock import Clock
from kraftctl.server.connection import Respond
from kraftctl.server.controller_network import ControllerNetwork
from kraftctl.server.effect_executor import EffectExecutor
from kraftctl.server.executor_protocols import RetentionDue
from kraftctl.server.notice_log import LoggedNotices
from kraftctl.server.peers import Peers
from kraftctl.server.snapshot_downloads import SnapshotDownloads
from kraftctl.server.storage_threads import StorageThreads
from kraftctl.server.turn_probe import TurnProbe
from kraftctl.storage.metadata_partition import MetadataPartition
from kraftctl_protocol.message import Message

logger = logging.getLogger("kraftctl.server.driver")

RESIGNATION_SECONDS_MAX = 5.0
"""How long a stopping leader waits until all voters know that it resigned: Kafka's graceful shutdown."""


class Driver:
    """Owns the node, its inbox and its timer, all on the loop's thread.

    After a failure of storage or a broken invariant, `failed` is completed with the exception, nothing
    is answered any more, and the process has to stop. What was acknowledged is on disk; clients do not
    know whether the rest is.
    """

    def __init__(
        self,
        node: ControllerNode,
        storage: MetadataPartition,
        clock: Clock,
        *,
        retention_bytes: int,
        retention_ms: int,
        client_id: str,
        request_timeout_ms: int,
        retry_backoff_ms: int,
    ) -> None:
        self._node = node
        self._clock = clock
        self._loop = asyncio.get_running_loop()
        self._inbox: deque[NodeEvent | RetentionDue] = deque()
        self._effects: Iterator[NodeEffect | RetentionDue] = iter(())
        self._draining = False
        self._timer: asyncio.TimerHandle | None = None
        self._timer_ms = -1
        self._may_stop = asyncio.Event()
        self.ended = False
        self.failed: asyncio.Future[object] = self._loop.create_future()
        self.probe = TurnProbe(logger, self._loop.time)
        self._network = ControllerNetwork(
            Peers(
                client_id=client_id,
                request_timeout_ms=request_timeout_ms,
                backoff_ms=retry_backoff_ms,
                offer=self.offer,
            )
        )
        self._threads = StorageThreads(self._loop)
        self._downloads = SnapshotDownloads(storage.snapshots)
        self._notices = LoggedNotices(self._loop.time)
        self._executor = EffectExecutor(
            storage=storage,
            downloads=self._downloads,
            network=self._network,
            clock=clock,
            scheduler=self._threads,
            notices=self._notices,
            inbox=self,
            probe=self.probe,
            retention_bytes=retention_bytes,
            retention_ms=retention_ms,
        )

    def start(self) -> None:
        self.offer(events.Started())

    def submit(self, context: RequestContext, request: Message, respond: Respond) -> int:
        """Hand a request to the node; unless cancelled, `respond` is called once, maybe inside."""
        request_id = self._network.accept(respond)
        self.offer(ClientRequest(request_id, context, request))
        return request_id

    def cancel(self, request_id: int) -> None:
        """The connection is gone; what the request changes is still changed."""
        if self._network.cancel(request_id):
            self.offer(events.RequestCancelled(request_id))

    async def stop(self) -> None:
        """Resign if this node leads, finish what is being written, stop the timer."""
        if not self.failed.done():
            self.offer(events.ShutdownRequested())
            await self._await_resignation()
        await self._network.stop()
        if self._timer is not None:
            self._timer.cancel()
        self._executor.stop()
        await self._threads.stop()
        self._downloads.abort()

    async def _await_resignation(self) -> None:
        try:
            async with asyncio.timeout(RESIGNATION_SECONDS_MAX):
                await self._may_stop.wait()
        except TimeoutError:
            logger.warning("Not every voter knows that this leader resigned; the others will notice")

    # The inbox.

    def offer(self, event: NodeEvent | RetentionDue) -> None:
        """Process `event` after those that are already waiting; nothing once processing has ended."""
        if self.ended:
            return
        self._inbox.append(event)
        if not self._draining and not self._executor.paused:
            self._drain()

    def resume(self, next_event: NodeEvent | None) -> None:
        """After a pause of the executor: carry out the effects that follow, then process `next_event`."""
        if next_event is not None:
            self._inbox.appendleft(next_event)
        self._drain()

    def _drain(self) -> None:
        self._draining = True
        self.guarded(self._drain_inbox)
        self._draining = False

    def _drain_inbox(self) -> None:
        executor, probe, now_ns = self._executor, self.probe, self._clock.now_ns
        since_ns = now_ns()
        while True:
            for effect in self._effects:
                executor.execute(effect)
                until_ns = now_ns()
                if until_ns - since_ns > probe.notable_ns:
                    probe.note(until_ns - since_ns, effect)
                since_ns = until_ns
                if executor.paused or self.ended:
                    return
            if not self._inbox or self.ended:
                break
            event = self._inbox.popleft()
            self._effects = self._step(event)
            until_ns = now_ns()
            if until_ns - since_ns > probe.notable_ns:
                probe.note(until_ns - since_ns, event)
            since_ns = until_ns
        if self._node.may_stop:
            self._may_stop.set()
            if executor.unreadable is not None:
                self.fail(executor.unreadable)
        self._set_timer()

    def _step(self, event: NodeEvent | RetentionDue) -> Iterator[NodeEffect | RetentionDue]:
        if isinstance(event, RetentionDue):
            return iter((event,))
        return iter(self._node.step(event, self._clock.now_ms(), self._clock.wall_ms()))

    # The end.

    def guarded(self, action: Callable[[], None]) -> None:
        """Run `action`; whatever it raises ends the process: the one place that catches everything."""
        try:
            action()
        except Exception as error:  # noqa: BLE001 - handed on, never swallowed
            self.fail(error)

    def fail(self, error: BaseException) -> None:
        """End, and complete `failed` with the reason."""
        self.end()
        if not self.failed.done():
            self.failed.set_exception(error)
        self._may_stop.set()

    def end(self) -> None:
        """Process, carry out and answer nothing more, as if the process had been killed here."""
        self.ended = True
        self._inbox.clear()
        self._effects = iter(())
        self._network.cancel_all()

    # The timer.

    def _set_timer(self) -> None:
        if self.ended:
            return
        deadline_ms = self._node.next_deadline_ms
        if deadline_ms is None or deadline_ms == self._timer_ms:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer_ms = deadline_ms
        delay_ms = max(0, deadline_ms - self._clock.now_ms())
        self._timer = self._loop.call_later(delay_ms / 1000, self._deadline_reached)

    def _deadline_reached(self) -> None:
        self._timer_ms = -1
        self.offer(events.DeadlineReached())
