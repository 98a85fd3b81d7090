"""What watching costs a controller: its metrics each second with its probes, and a console beside it."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final

from kraftctl.dev.nodes import kraftctl_command
from kraftctl.dev.ports import free_port
from kraftctl.dev.processes import ManagedProcess
from tests.bench.measure import percentile
from tests.bench.scale_cluster import Cluster, Measured

OBSERVED_S: Final = 30.0
"""What each row lasts."""

PAUSE_S: Final = 1.0
PROBES: Final = ("/livez", "/readyz", "/status.json")
READS_SECONDS_MAX: Final = 120.0
POLL_S: Final = 0.2


async def observe(cluster: Cluster, operate_port: int) -> AsyncIterator[Measured]:
    """Nothing happens but heartbeats: first unwatched, then with scrapes, then with a console as well."""
    seconds = min(OBSERVED_S, cluster.session_s * 3)
    async with cluster.measuring("nothing watches") as window:
        await asyncio.sleep(seconds)
    yield window.measured
    async with cluster.measuring("/metrics and probes each second") as window:
        window.measured.note = await _scrape(operate_port, seconds)
    yield window.measured
    async with _console(cluster, operate_port) as page_port:
        async with cluster.measuring("a console reads the log") as window:
            await _until_drawn(page_port)
        yield window.measured
        async with cluster.measuring("the console follows, scrapes as well") as window:
            window.measured.note = await _scrape(operate_port, seconds)
        yield window.measured


async def _scrape(port: int, seconds: float) -> str:
    """Returns how many there were, how large, and what they took."""
    took_ms: list[float] = []
    size = 0
    until_s = time.monotonic() + seconds
    while time.monotonic() < until_s:
        began_s = time.monotonic()
        size = len(await _get(port, "/metrics"))
        took_ms.append(1e3 * (time.monotonic() - began_s))
        for path in PROBES:
            await _get(port, path)
        await asyncio.sleep(max(0.0, began_s + PAUSE_S - time.monotonic()))
    return f"{len(took_ms)} scrapes of {size:,} bytes, p50 {percentile(took_ms, 0.5):.1f} ms"


async def _get(port: int, path: str) -> bytes:
    """Returns the whole response; ValueError unless its status is 200."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n".encode())
    response = await reader.read()
    writer.close()
    if b" 200 " not in response.split(b"\r\n", 1)[0]:
        raise ValueError(f"{path}: {response[:200]!r}")
    return response


@asynccontextmanager
async def _console(cluster: Cluster, operate_port: int) -> AsyncIterator[int]:
    """Runs `kraftctl console` as a process beside the controller; yields the port of its page."""
    port = free_port()
    (node,) = cluster.nodes
    command = [
        *kraftctl_command(),
        *("console", "--bootstrap-controllers", f"127.0.0.1:{node.port}"),
        *("--operate", f"http://127.0.0.1:{operate_port}", "--listen", f"http://127.0.0.1:{port}"),
    ]
    process = ManagedProcess("console", command, Path(node.log_directory).with_name("console.log"))
    try:
        yield port
    finally:
        process.kill()


async def _until_drawn(port: int) -> None:
    """Waits for the first picture, which needs the whole log. Raises TimeoutError."""
    async with asyncio.timeout(READS_SECONDS_MAX):
        while True:
            with suppress(OSError, ValueError):
                picture = json.loads((await _get(port, "/picture.json")).split(b"\r\n\r\n", 1)[1])
                if "counts" in picture and not picture["log"]["is_reading_snapshot"]:
                    return
            await asyncio.sleep(POLL_S)
