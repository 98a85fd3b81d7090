"""The network between the nodes of a cluster: a TCP proxy before each, whose links can be cut or slow.

A link is a pair of names, from the process that sends to the one that receives. Nodes are recognised by the
client id of their first request; everything that is no node is CLIENTS. While a link is cut, bytes and ends
of connections wait in the proxy, as they wait for a retransmission in a real network; then they arrive.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass

CLIENTS = "clients"

CLIENT_ID = re.compile(rb"(?:raft-client-|broker-)?(\d+)(?:-.*)?")
"""Of requests to the quorum, to the active controller, and of a fetcher: with the node id of the sender."""

BEFORE_CLIENT_ID_BYTES = 14
"""The size of the frame, API key, version, correlation id, and the length of the client id."""

CHUNK_BYTES = 65_536
START_SECONDS_MAX = 10.0

Link = tuple[str, str]


@dataclass(eq=False)
class Connection:
    """Two sockets: from the one that connected, and to the node."""

    source: str
    destination: str
    transports: tuple[asyncio.WriteTransport, asyncio.WriteTransport]

    def abort(self) -> None:
        for transport in self.transports:
            transport.abort()


class Network:
    """Proxies in a thread of their own. `names` are those of the nodes, by node id."""

    def __init__(self, names: Mapping[int, str]) -> None:
        self._names = names
        self._cut: dict[str, frozenset[Link]] = {}
        self._slow: dict[str, tuple[frozenset[Link], float]] = {}
        self._connections: set[Connection] = set()
        self._servers: list[asyncio.Server] = []
        self._loop = asyncio.new_event_loop()
        self._changed = asyncio.Event()
        self._thread = threading.Thread(target=self._loop.run_forever, name="network", daemon=True)
        self._thread.start()

    def add(self, name: str, proxy_port: int, port: int) -> None:
        """Connections to `proxy_port` lead to `port`, of the node with that name."""

        async def serve() -> None:
            server = await asyncio.start_server(
                lambda reader, writer: self._connected(name, port, reader, writer),
                "127.0.0.1",
                proxy_port,
            )
            self._servers.append(server)

        asyncio.run_coroutine_threadsafe(serve(), self._loop).result(START_SECONDS_MAX)

    def cut(self, owner: str, links: Iterable[Link]) -> None:
        """Nothing passes these links until `heal(owner)`."""
        self._change(lambda: self._cut.__setitem__(owner, frozenset(links)))

    def delay(self, owner: str, links: Iterable[Link], seconds: float) -> None:
        """Each chunk on these links is late by `seconds`, until `heal(owner)`."""
        self._change(lambda: self._slow.__setitem__(owner, (frozenset(links), seconds)))

    def reset(self, links: Iterable[Link]) -> None:
        """Ends the connections that exist on these links now, in either direction."""
        chosen = frozenset(links)

        def abort() -> None:
            for connection in list(self._connections):
                ends = (connection.source, connection.destination)
                if ends in chosen or ends[::-1] in chosen:
                    connection.abort()

        self._change(abort)

    def heal(self, owner: str) -> None:
        def forget() -> None:
            self._cut.pop(owner, None)
            self._slow.pop(owner, None)

        self._change(forget)

    def close(self) -> None:
        """Ends all connections."""
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result(START_SECONDS_MAX)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(START_SECONDS_MAX)
        self._loop.close()

    async def _end(self) -> None:
        for server in self._servers:
            server.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    def _change(self, change: Callable[[], None]) -> None:
        """On the loop; returns when it is in force."""
        done: Future[None] = Future()

        def apply() -> None:
            change()
            self._changed.set()
            self._changed = asyncio.Event()
            done.set_result(None)

        self._loop.call_soon_threadsafe(apply)
        done.result(START_SECONDS_MAX)

    def _is_cut(self, link: Link) -> bool:
        return any(link in links for links in self._cut.values())

    def _delay_s(self, link: Link) -> float:
        return max((seconds for links, seconds in self._slow.values() if link in links), default=0.0)

    async def _connected(
        self, name: str, port: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        try:
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", port)
        except (OSError, asyncio.CancelledError):
            writer.transport.abort()
            return
        connection = Connection("", name, (writer.transport, far_writer.transport))
        self._connections.add(connection)
        try:
            client_id, first = await _first_bytes(reader)
            source = connection.source = self._source(client_id)
            await asyncio.gather(
                self._pump((source, name), reader, far_writer, first),
                self._pump((name, source), far_reader, writer),
            )
        except (OSError, EOFError, asyncio.CancelledError):
            pass  # asyncio would print the end of a task that was cancelled
        finally:
            self._connections.discard(connection)
            connection.abort()

    def _source(self, client_id: bytes) -> str:
        found = CLIENT_ID.fullmatch(client_id)
        return CLIENTS if found is None else self._names.get(int(found[1]), CLIENTS)

    async def _pump(
        self, link: Link, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, first: bytes = b""
    ) -> None:
        """What arrives at one end of a link, in order, to the other; also the end of the connection."""
        while True:
            chunk = first or await reader.read(CHUNK_BYTES)
            first = b""
            while self._is_cut(link):
                await self._changed.wait()
            if delay_s := self._delay_s(link):
                await asyncio.sleep(delay_s)
            if not chunk:
                with contextlib.suppress(OSError):
                    writer.write_eof()
                return
            writer.write(chunk)
            await writer.drain()


async def _first_bytes(reader: asyncio.StreamReader) -> tuple[bytes, bytes]:
    """The client id of the first request, and all that was read to know it."""
    head = await reader.readexactly(BEFORE_CLIENT_ID_BYTES)
    length = int.from_bytes(head[-2:], "big", signed=True)
    client_id = await reader.readexactly(max(length, 0))
    return client_id, head + client_id
