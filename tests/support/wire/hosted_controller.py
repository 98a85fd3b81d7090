"""A whole controller on a directory, with everything that `kraftctl start` runs except sockets.

Driver, node, storage, connections and codecs are the real ones; bytes are exchanged in memory, on a loop
with virtual time, so that a seed decides everything.
"""

from __future__ import annotations

import asyncio
import random
from pathlib import Path
from typing import Any

from kraftctl.cli.initial_controllers import voter_node
from kraftctl.config.controller_config import ControllerConfig
from kraftctl.image.metadata_image import MetadataImage
from kraftctl.raft.events import DeadlineReached
from kraftctl.raft.voter_set import VoterSet
from kraftctl.server.connections.connection import Connection
from kraftctl.server.controller_server import build_node
from kraftctl.server.driver import Driver
from kraftctl.server.listeners.listener import SocketServer
from kraftctl.storage.formatter import Formatter
from kraftctl.storage.meta_properties import read_meta_properties
from kraftctl_protocol.frames import FrameDecoder
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from kraftctl_protocol.uuids import random_uuid
from tests.support.active_controller import CLUSTER_ID, NODE_ID
from tests.support.controller_properties import controller_properties
from tests.support.partitions import open_partition
from tests.support.simulator.cluster.virtual_time_loop import (
    WALL_START_MS,
    ImmediateThreads,
    VirtualClock,
    VirtualTimeLoop,
)

RESPONSE_SECONDS_MAX = 120.0
"""Virtual time: longer than any request may wait."""

CALLER = ("127.0.0.1", 50_000)


class InvariantViolatedError(Exception):
    """An invariant that does not hold."""


class MemoryTransport(asyncio.Transport):
    """The controller's end of a connection: frames that it writes are kept until the client receives them."""

    def __init__(self, loop: asyncio.AbstractEventLoop, connection: Connection) -> None:
        super().__init__({"peername": CALLER})
        self.frames: list[bytes] = []
        self.closed = False
        self.changed = asyncio.Event()
        self._decoder = FrameDecoder()
        self._loop = loop
        self._connection = connection

    def write(self, data: Any) -> None:
        self.frames += self._decoder.feed(bytes(data))
        self.changed.set()

    def close(self) -> None:
        if not self.closed:
            self.closed = True
            self.changed.set()
            self._loop.call_soon(self._connection.connection_lost, None)

    def abort(self) -> None:
        self.close()

    def is_closing(self) -> bool:
        return self.closed

    def get_write_buffer_size(self) -> int:
        return 0

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """This client reads everything immediately."""

    def pause_reading(self) -> None:
        """Data that is sent afterwards still arrives, as if it was already in flight."""

    def resume_reading(self) -> None:
        """Nothing to do: reading never stopped."""


class MemoryClient:
    """The other end of one connection."""

    def __init__(self, loop: asyncio.AbstractEventLoop, connection: Connection) -> None:
        self._connection = connection
        self._transport = MemoryTransport(loop, connection)
        connection.connection_made(self._transport)

    @property
    def closed(self) -> bool:
        """Whether either side has closed it."""
        return self._transport.closed

    def send(self, data: bytes) -> None:
        """The data arrives immediately, and is processed as far as nothing has to wait."""
        self._connection.data_received(data)

    @property
    def has_answer(self) -> bool:
        """Whether `receive` returns without waiting."""
        return bool(self._transport.frames) or self._transport.closed

    async def receive(self) -> bytes | None:
        """The payload of the next response; None when the controller closes instead. TimeoutError."""
        transport = self._transport
        if not self.has_answer:
            async with asyncio.timeout(RESPONSE_SECONDS_MAX):
                while not self.has_answer:
                    transport.changed.clear()
                    await transport.changed.wait()
        return transport.frames.pop(0) if transport.frames else None

    def close(self) -> None:
        self._transport.close()


class HostedController:
    """Formats a new `directory`; `start` it on a loop of virtual time, and `stop` it in the end."""

    def __init__(
        self,
        directory: Path,
        rng: random.Random,
        *,
        dynamic: bool,
        metadata_version: int,
        properties: dict[str, str],
    ) -> None:
        self.config = ControllerConfig(
            controller_properties(directory, node_id=NODE_ID, static=not dynamic, more=properties)
        )
        if read_meta_properties(directory) is None:
            voter = voter_node(NODE_ID, "localhost", 9093, random_uuid(rng), "CONTROLLER")
            Formatter(
                cluster_id=CLUSTER_ID,
                node_id=NODE_ID,
                log_dirs=[directory],
                metadata_log_dir=directory,
                has_dynamic_quorum=dynamic,
                initial_voters=VoterSet([voter]) if dynamic else None,
                release_version=metadata_version,
            ).format(rng, WALL_START_MS, lambda line: None)
        meta = read_meta_properties(directory)
        assert meta is not None
        assert meta.directory_id is not None
        self.directory_id = meta.directory_id
        self.partition = open_partition(directory)
        self._clients: list[MemoryClient] = []
        ports = {endpoint.listener: endpoint.port for endpoint in self.config.listeners}
        node_rng = random.Random(rng.getrandbits(64))
        self._node = build_node(self.config, meta, self.partition, ports, node_rng, "localhost")

    def start(self) -> None:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, VirtualTimeLoop)
        self._loop = loop
        self.driver = Driver(
            self._node,
            self.partition,
            VirtualClock(loop),
            retention_bytes=self.config.metadata_max_retention_bytes,
            retention_ms=self.config.metadata_max_retention_ms,
            client_id=f"raft-client-{NODE_ID}",
            request_timeout_ms=self.config.controller_quorum_request_timeout_ms,
            retry_backoff_ms=self.config.controller_quorum_retry_backoff_ms,
            threads=ImmediateThreads(loop),
        )
        self.driver.failed.add_done_callback(self._disconnect)
        self._server = SocketServer(self.config)
        self._owner = self._server.listeners[0].owner(self.driver.requests)
        # Every line is wanted, however many there are.
        for limited in (*self.driver._executor._notices.failed_requests.values(), self._server.logs.failures):
            limited._limit.lines_max = 1 << 30
        self.driver.start()

    async def stop(self) -> None:
        await self.driver.stop()
        await self._server.stop()
        self.partition.close()

    def connect(self) -> MemoryClient:
        client = MemoryClient(self._loop, Connection(self._owner))
        self._clients = [client, *[known for known in self._clients if not known.closed]]
        return client

    def run_due_tasks(self) -> None:
        """Afterwards only the caller causes events."""
        self.driver.offer(DeadlineReached())

    def check_alive(self) -> None:
        """Raises InvariantViolatedError when a failure has ended it."""
        failed = self.driver.failed
        if failed.done():
            error = failed.exception()
            raise InvariantViolatedError(f"the controller has ended: {error!r}") from error

    def _disconnect(self, failed: asyncio.Future[object]) -> None:
        """As at the end of the process: the connections are closed."""
        for client in self._clients:
            client.close()

    @property
    def image(self) -> MetadataImage:
        return self._node.controller.image

    def soft_state(self) -> list[str]:
        """The state of the active controller beyond its log, as far as requests change it.

        Without the times of contact: a heartbeat counts as contact even when it fails.
        """
        state = self._node.controller.state
        heartbeats = state.heartbeats
        brokers = [
            f"{id_}: {known.epoch} {known.fenced} {known.metadata_offset} {known.controlled_shutdown_offset}"
            for id_, known in sorted(heartbeats._brokers.items())
        ]
        sessions = [f"{id_}" for id_, known in sorted(heartbeats._brokers.items()) if known.has_session]
        buckets = state.mutation_quotas._buckets.items()
        return [*brokers, *sessions, *[f"{key}: {bucket.tokens:.3f}" for key, bucket in buckets]]

    @property
    def active(self) -> bool:
        return self._node.controller.active

    @property
    def next_replay_offset(self) -> int:
        return self._node.controller.next_replay_offset

    @property
    def epoch(self) -> int:
        return self._node.raft.epoch

    @property
    def snapshot_ids(self) -> list[OffsetAndEpoch]:
        return self.partition.snapshots.ids()

    @property
    def end_offset(self) -> int:
        return self.partition.log.end_offset
