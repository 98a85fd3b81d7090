"""Accepts connections, a few per turn of the loop, so that a flood of them neither blocks it nor uses up
descriptors.

The loops' own servers accept all that wait, and count them only when their transports are made.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import socket
from collections.abc import Callable
from typing import Final, Protocol

from kraftctl.server.connections.client_address import client_address

logger = logging.getLogger("kraftctl.server.listener")

PENDING_MAX: Final = 16
"""The number of accepted connections that have no transport yet."""

ACCEPTS_PER_TURN: Final = 16
"""The number of accepts in a turn, including clients that are refused."""

RETRY_SECONDS: Final = 0.1
"""The pause after an accept has failed for lack of a resource."""

NO_DESCRIPTOR: Final = (errno.EMFILE, errno.ENFILE)


class Admission(Protocol):
    """Decides who may connect."""

    def may_accept(self) -> bool:
        """Returns False while room is being made: clients wait in the backlog for a moment."""
        ...

    def why_not(self, host: str) -> str | None:
        """Returns why a connection from `host` is refused; None when it is not."""
        ...

    def pause_seconds(self) -> float:
        """Returns how long clients wait in the backlog before the next accept; 0 if they need not."""
        ...

    def accepted(self) -> None:
        """Notes that a client was accepted, whether it is refused or not."""
        ...

    def refuse(self, peer: str, reason: str) -> None:
        """Counts and logs a client that was refused."""
        ...


class Acceptor:
    """Owns a listening socket, from `start` to `stop`, and a spare descriptor for refusing clients."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        listening: socket.socket,
        admission: Admission,
        make_connection: Callable[[], asyncio.Protocol],
    ) -> None:
        self._loop = loop
        self._listening = listening
        self._admission = admission
        self._make_connection = make_connection
        self._pending: set[asyncio.Task[None]] = set()
        self._retry: asyncio.TimerHandle | None = None
        self._spare: int | None = None
        self._stopped = False

    def start(self) -> None:
        self._spare = os.open(os.devnull, os.O_RDONLY)
        self._loop.add_reader(self._listening, self._accept)

    def stop(self) -> None:
        """Closes the socket. Further calls have no effect."""
        if self._stopped:
            return
        self._stopped = True
        if self._retry is not None:
            self._retry.cancel()
        self._loop.remove_reader(self._listening)
        self._listening.close()
        self._release_spare()

    def _accept(self) -> None:
        for _ in range(ACCEPTS_PER_TURN):
            if len(self._pending) >= PENDING_MAX or not self._admission.may_accept():
                return
            if (pause_seconds := self._admission.pause_seconds()) > 0:
                self._pause(pause_seconds)
                return
            try:
                client, address = self._listening.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:
                self._cannot_accept(error)
                return
            self._admission.accepted()
            self._admit(client, address)

    def _admit(self, client: socket.socket, address: tuple[str, int]) -> None:
        host, _ = client_address(address[0])
        reason = self._admission.why_not(host)
        if reason is not None:
            client.close()
            self._admission.refuse(f"{host}:{address[1]}", reason)
            return
        client.setblocking(False)
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        task = self._loop.create_task(self._connect(client))
        self._pending.add(task)
        task.add_done_callback(self._pending.discard)

    async def _connect(self, client: socket.socket) -> None:
        try:
            await self._loop.connect_accepted_socket(self._make_connection, client)
        except OSError as error:
            logger.debug("A connection ended while it was accepted: %s", error)
            client.close()

    def _pause(self, seconds: float) -> None:
        self._loop.remove_reader(self._listening)
        self._retry = self._loop.call_later(seconds, self._accept_again)

    # Without descriptors.

    def _cannot_accept(self, error: OSError) -> None:
        """Refuses one client with the spare descriptor, or leaves all in the backlog for a moment."""
        if error.errno in NO_DESCRIPTOR and self._spare is not None:
            self._release_spare()
            self._turn_away(error)
            self._take_spare()
        self._pause(RETRY_SECONDS)

    def _turn_away(self, error: OSError) -> None:
        try:
            client, address = self._listening.accept()
        except OSError:
            return
        client.close()
        host, _ = client_address(address[0])
        self._admission.refuse(f"{host}:{address[1]}", f"no descriptor is left: {error.strerror}")

    def _accept_again(self) -> None:
        self._retry = None
        if self._spare is None:
            self._take_spare()
        self._loop.add_reader(self._listening, self._accept)
        self._accept()

    def _release_spare(self) -> None:
        if self._spare is not None:
            os.close(self._spare)
            self._spare = None

    def _take_spare(self) -> None:
        try:
            self._spare = os.open(os.devnull, os.O_RDONLY)
        except OSError:
            self._spare = None
