"""A disk on which one call takes as long as a test wants, and a scripted node that stores things."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from kraftctl.apis.api_table import API_TABLE
from kraftctl.config.controller_config import ControllerConfig
from kraftctl.controller.results.request_context import RequestContext
from kraftctl.node.events import ClientRequest
from kraftctl.raft import events
from kraftctl.server.driver import Driver
from kraftctl.server.listeners.listener import SocketServer
from kraftctl.server.process.clock import Clock
from kraftctl.storage.metadata_partition import MetadataPartition
from kraftctl_protocol.generated.api_versions_request import ApiVersionsRequest
from kraftctl_protocol.principal import ANONYMOUS
from tests.server.serving import PROPERTIES, connect

STALL_SECONDS_MAX = 3.0
"""A test that is blocked by the stall could not end it; this limit does."""

CONTEXT = RequestContext(
    api=API_TABLE[ApiVersionsRequest.API_KEY],
    version=ApiVersionsRequest.HIGHEST_VERSION,
    client_id="test",
    principal=ANONYMOUS,
    listener="CONTROLLER",
    client_address=b"\x7f\x00\x00\x01",
)

TICKS = 20
TICK_SECONDS = 0.005


class StallingDisk:
    """`stall` makes the next call of that name on a matching path wait until `release`."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.begun = threading.Event()
        self.gave_up = False
        self._may_end = threading.Event()
        self._call = ""
        self._part_of_path = ""
        for name in ("fsync", "replace", "unlink", "ftruncate", "pread", "pwrite", "write"):
            patch.setattr(os, name, self._wrapped(name, getattr(os, name)))
        patch.setattr(os, "fdatasync", self._wrapped("fsync", os.fdatasync))

    def stall(self, call: str, part_of_path: str) -> None:
        self._part_of_path = part_of_path
        self._call = call

    def release(self) -> None:
        self._may_end.set()

    def _wrapped(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def wrapper(target: Any, *args: Any, **keywords: Any) -> Any:
            if name == self._call and self._part_of_path in path_of(target):
                self._call = ""
                self.begun.set()
                self.gave_up = not self._may_end.wait(STALL_SECONDS_MAX)
            return call(target, *args, **keywords)

        return wrapper


def path_of(target: Any) -> str:
    return os.readlink(f"/proc/self/fd/{target}") if isinstance(target, int) else str(target)


class ScriptedNode:
    """Answers `ResignRequested(n)` with `script[n]`, and records all other events."""

    next_deadline_ms = None

    def __init__(self) -> None:
        self.script: dict[int, list[Any]] = {}
        self.journal: list[str] = []
        self.seen: list[Any] = []
        self.may_stop = False
        self.changed = asyncio.Event()

    def step(self, event: Any, now_ms: int, wall_ms: int) -> list[Any]:
        if isinstance(event, ClientRequest):
            return []
        self.note(type(event).__name__)
        self.seen.append(event)
        if isinstance(event, events.ShutdownRequested):
            self.may_stop = True
        if isinstance(event, events.ResignRequested):
            return self.script.get(event.epoch, [])
        return []

    def note(self, what: str) -> None:
        self.journal.append(what)
        self.changed.set()

    async def until(self, what: str, count: int = 1) -> None:
        """Wait until the journal contains the entry that many times."""
        while self.journal.count(what) < count:
            self.changed.clear()
            await self.changed.wait()


class Stage:
    """A driver with a scripted node, a real directory and a real socket."""

    def __init__(self, driver: Driver, node: ScriptedNode, server: SocketServer, disk: StallingDisk) -> None:
        self.driver = driver
        self.node = node
        self.script = node.script
        self.server = server
        self.disk = disk

    def play(self, number: int) -> None:
        """Let the node emit that part of its script."""
        self.driver.offer(events.ResignRequested(number))

    def request(self, what: str) -> int:
        """Submit a request whose answer is recorded as `what`. Returns its id."""
        return self.driver.requests.submit(
            CONTEXT, ApiVersionsRequest(), lambda response: self.node.note(what)
        )

    async def expect_a_free_loop(self) -> None:
        """While the disk stalls, other tasks run and new connections are served."""
        while not self.disk.begun.is_set():
            await asyncio.sleep(TICK_SECONDS)
        loop = asyncio.get_running_loop()
        longest = 0.0
        for _ in range(TICKS):
            before = loop.time()
            await asyncio.sleep(TICK_SECONDS)
            longest = max(longest, loop.time() - before)
        client = await connect(self.server)
        client.send(b"\xff\xff\xff\xff")
        await client.expect_closed()
        assert not self.disk.gave_up, "the loop was blocked until the stall had ended"
        assert longest < STALL_SECONDS_MAX / 2
        assert self.driver.probe.longest_turn_ns < STALL_SECONDS_MAX / 2 * 1e9


@asynccontextmanager
async def stage(
    partition: MetadataPartition,
    patch: pytest.MonkeyPatch,
    *,
    retention_bytes: int = -1,
) -> AsyncIterator[Stage]:
    """Stops everything at the end; the caller closes the partition."""
    node = ScriptedNode()
    untyped: Any = node
    driver = Driver(
        untyped,
        partition,
        Clock(),
        retention_bytes=retention_bytes,
        retention_ms=-1,
        client_id="test",
        request_timeout_ms=1_000,
        retry_backoff_ms=20,
    )
    server = SocketServer(ControllerConfig(PROPERTIES))
    await server.bind()
    await server.accept(driver.requests)
    disk = StallingDisk(patch)
    try:
        yield Stage(driver, node, server, disk)
    finally:
        disk.release()
        await driver.stop()
        await server.stop()
