"""Runs the node's loop on asyncio: threads for the disk, connections to other controllers, a graceful stop.

`NodeLoop` processes the events and `EffectExecutor` carries out the effects; neither knows asyncio.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import Callable

from kraftctl.controller.committed_credentials import CommittedCredentials
from kraftctl.controller.state.authorization import Authorizer
from kraftctl.node.committed_configs import committed_configs
from kraftctl.node.controller_node import ControllerNode
from kraftctl.node.events import NodeEvent
from kraftctl.raft import events
from kraftctl.raft.effects import SendRequest
from kraftctl.server.logs.audit_log import AuditLog
from kraftctl.server.logs.notice_log import LoggedNotices
from kraftctl.server.loop.controller_network import ControllerNetwork
from kraftctl.server.loop.disk_watch import LONG_SECONDS, DiskWatch
from kraftctl.server.loop.effect_executor import EffectExecutor
from kraftctl.server.loop.node_loop import NodeLoop
from kraftctl.server.loop.request_intake import RequestIntake
from kraftctl.server.loop.turn_probe import TurnProbe
from kraftctl.server.peers.peer_metrics import PeerMetrics
from kraftctl.server.peers.peers import PeerConnections
from kraftctl.server.process.clock import Clock
from kraftctl.server.process.snapshot_downloads import SnapshotDownloads
from kraftctl.server.process.storage_threads import StorageThreads
from kraftctl.server.process.turn_pace import TurnPace
from kraftctl.server.running_settings import RunningSettings
from kraftctl.storage.metadata_partition import MetadataPartition
from kraftctl_protocol.message import Message
from kraftctl_security.sasl.mechanism import NewSaslClient

logger = logging.getLogger("kraftctl.server.driver")

RESIGNATION_SECONDS_MAX = 5.0
"""A stopping leader waits this long until all voters know that it resigned, as Kafka's graceful shutdown."""


def turn_probe() -> TurnProbe:
    """Makes a probe for a driver on the running loop."""
    return TurnProbe(logger, asyncio.get_running_loop().time)


class Driver:
    """A running node. Everything here is called on the thread of the asyncio loop.

    `has_room` says whether clients have read most of their responses. With an `ssl_context`, other
    controllers are reached over SSL; with a `new_sasl_client`, this side authenticates to them by SASL. The
    `audit_log` has a line for each request that asks for a change.

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
        has_room: Callable[[], bool] = lambda: True,
        is_own: Callable[[str, int], bool] = lambda _host, _port: False,
        ssl_context: ssl.SSLContext | None = None,
        new_sasl_client: NewSaslClient | None = None,
        audit_log: AuditLog | None = None,
        probe: TurnProbe | None = None,
        threads: StorageThreads | None = None,
    ) -> None:
        loop = asyncio.get_running_loop()
        self._node, self._may_stop = node, asyncio.Event()
        self._asked: dict[int, asyncio.Future[Message | None]] = {}  # by send id, also those given up
        self.failed: asyncio.Future[object] = loop.create_future()
        self.probe = probe or turn_probe()
        self._peers = PeerConnections(
            client_id=client_id,
            request_timeout_ms=request_timeout_ms,
            backoff_ms=retry_backoff_ms,
            offer=self._peer_responded,
            ssl_context=ssl_context,
            new_sasl_client=new_sasl_client,
            is_own=is_own,
            epoch=lambda: node.raft.epoch,
        )
        self._network = ControllerNetwork(self._peers, has_room)
        self._threads = threads or StorageThreads(loop)
        self._downloads = SnapshotDownloads(storage.snapshots)
        self._node_loop = NodeLoop(
            node,
            clock=clock,
            scheduler=self._threads,
            network=self._network,
            probe=self.probe,
            on_may_stop=self._may_stop.set,
            on_end=self._on_end,
        )
        notices = LoggedNotices(loop.time, loop.call_later, audit_log)
        self._executor = self._new_executor(storage, clock, notices, retention_bytes, retention_ms)
        self._node_loop.attach(self._executor)
        self._disk_watch = DiskWatch(logger, loop.time, lambda: self.oldest_wait(clock.now_ns()))
        self._disk_timer: asyncio.TimerHandle | None = None
        self.requests = RequestIntake(node, self._network, self._node_loop)  # For connections.

    def _new_executor(
        self,
        storage: MetadataPartition,
        clock: Clock,
        notices: LoggedNotices,
        retention_bytes: int,
        retention_ms: int,
    ) -> EffectExecutor:
        return EffectExecutor(
            storage=storage,
            downloads=self._downloads,
            network=self._network,
            clock=clock,
            scheduler=self._threads,
            notices=notices,
            inbox=self._node_loop,
            probe=self.probe,
            pace=TurnPace(clock.now_ns),
            retention_bytes=retention_bytes,
            retention_ms=retention_ms,
        )

    def start(self, settings: RunningSettings | None = None) -> None:
        """Starts the node. Dynamic configs change `settings`, and requests the levels of loggers."""
        self._executor.settings = settings
        self._look_at_disk()
        self.offer(events.Started())

    def _look_at_disk(self) -> None:
        self._disk_watch.look()
        self._disk_timer = asyncio.get_running_loop().call_later(LONG_SECONDS, self._look_at_disk)

    def offer(self, event: NodeEvent) -> None:
        """Adds `event` after those that are already waiting; nothing after a failure."""
        self._node_loop.offer(event)

    async def ask_leader(self, request: Message) -> Message | None:
        """Returns the response of the leader, which is another node; None if there is none in time."""
        raft = self._node.raft
        address = raft.leader_address
        if address is None or self.failed.done():
            return None
        send_id = raft.take_send_id()
        asked: asyncio.Future[Message | None] = asyncio.get_running_loop().create_future()
        self._asked[send_id] = asked
        self._peers.send(SendRequest(send_id, raft.leader_id, *address, request.API_KEY, request))
        return await asked

    def _peer_responded(self, event: events.ResponseReceived) -> None:
        asked = self._asked.pop(event.send_id, None)
        if asked is None:
            self.offer(event)
        elif not asked.done():
            asked.set_result(event.response)

    @property
    def node(self) -> ControllerNode:
        """The node, to look at."""
        return self._node

    @property
    def loop(self) -> NodeLoop:
        """The loop of the node, to look at."""
        return self._node_loop

    @property
    def peer_metrics(self) -> PeerMetrics:
        """The counts of connections to other controllers."""
        return self._peers.metrics

    def oldest_wait(self, now_ns: int) -> tuple[str, float]:
        """Returns what has waited for the disk longest, and for how many seconds; "" and 0 for nothing."""
        return self._executor.oldest_wait(now_ns)

    @property
    def credentials(self) -> CommittedCredentials:
        """The users and tokens of the metadata log."""
        return CommittedCredentials(self._node.controller)

    @property
    def authorizer(self) -> Authorizer:
        """The authorizer, which is never replaced."""
        return self._node.controller.state.authorizer

    def has_rules(self) -> bool:
        """Returns whether the authorizer, if there is one, knows the ACLs."""
        return self.authorizer.ready

    def use_ssl_context(self, context: ssl.SSLContext) -> None:
        """Sets the context for connections to other controllers that are opened from now on."""
        self._peers.ssl_context = context

    def dynamic_configs(self) -> dict[str, str] | None:
        """Returns the committed dynamic configs of this node; None before all that is committed is known."""
        controller, high_watermark = self._node.controller, self._node.raft.high_watermark
        if not controller.active and not 0 <= high_watermark <= controller.next_replay_offset:
            return None
        return committed_configs(controller, controller.last_stable_offset).own

    async def stop(self) -> None:
        """Resigns if this node leads, finishes what is being written, stops the timer."""
        if not self.failed.done():
            self.offer(events.ShutdownRequested())
            await self._await_resignation()
        await self._peers.stop()
        self._node_loop.stop_timer()
        self._executor.stop()
        await self._threads.stop()
        if self._disk_timer is not None:
            self._disk_timer.cancel()
        self._downloads.abort()

    async def _await_resignation(self) -> None:
        try:
            async with asyncio.timeout(RESIGNATION_SECONDS_MAX):
                await self._may_stop.wait()
        except TimeoutError:
            logger.warning("Not every voter knows that this leader resigned; the others will notice")

    def _on_end(self, error: BaseException | None) -> None:
        if error is not None and not self.failed.done():
            self.failed.set_exception(error)
        self._may_stop.set()
