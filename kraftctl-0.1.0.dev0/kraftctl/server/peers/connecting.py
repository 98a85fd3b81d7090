"""Connects to another controller, or finds that none of its addresses accepts a connection.

The addresses of its name are raced (RFC 8305): while one is silent, the next is tried beside it. The first
over which ApiVersions gets a response wins; the others are closed.
"""

from __future__ import annotations

import asyncio
import ssl
from collections import deque
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final, Generic, Protocol, TypeVar, cast

from kraftctl.server.peers.peer_ssl import Streams, open_ssl_streams
from kraftctl_protocol.primitives import DecodeError
from kraftctl_security.addresses.host_addresses import (
    ATTEMPT_DELAY_SECONDS,
    NOT_ANSWERED,
    NOT_CONNECTED,
    NOT_ENCRYPTED,
    Address,
    Failure,
)
from kraftctl_security.addresses.known_hosts import LOOKUP_SECONDS_MAX, KnownHost
from kraftctl_security.authentication_failures import AuthenticationFailedError, failure_of_ssl

RACING_MAX: Final = 3
"""The number of connections of one attempt. `descriptors.py` reserves what two for each controller need."""

CannotConnect: Final = (OSError, EOFError, DecodeError, AuthenticationFailedError)
"""The exceptions of an attempt at one address."""


class Closable(Protocol):
    """The result of a greeting over a connection."""

    def close(self) -> None:
        """Closes immediately, without waiting for unsent data."""
        ...


C = TypeVar("C", bound=Closable)


class RefusedError(OSError):
    """All addresses refuse connections, or close them before they say anything."""


class Race(Generic[C]):
    """One attempt to connect, to each address of the name at most once."""

    def __init__(
        self,
        host: KnownHost,
        greet: Callable[[Address, asyncio.StreamReader, asyncio.StreamWriter], Awaitable[C]],
        *,
        context: ssl.SSLContext | None,
        is_own: Callable[[str, int], bool],
    ) -> None:
        """Uses SSL if there is a `context`.

        `greet` gets a response to ApiVersions, and returns the object that the caller uses the connection
        by. `is_own` says whether this process listens at an address.
        """
        self._host = host
        self._greet = greet
        self._context = context
        self._is_own = is_own
        self._loop = asyncio.get_running_loop()
        self._began_at: dict[Address, float] = {}
        self._missing: dict[Address, str] = {}
        """The step that has not finished yet."""
        self._errors: list[Exception] = []
        self._all_refuse = True
        """Whether no process is known to live at any of the addresses."""
        self._running: dict[asyncio.Task[C], Address] = {}

    async def run(self) -> C:
        """Returns the result of `greet` for the first address that responded.

        Raises RefusedError when each address refuses, AuthenticationFailedError when none responds and SSL
        fails at one, the error itself when there is one address, and else OSError or DecodeError. When it is
        cancelled, the silence of the addresses is noted.
        """
        await self._resolve()
        won: C | None = None
        try:
            won = await self._first(deque(self._host.addresses.to_try()))
            return won
        except asyncio.CancelledError:
            self._note_silence()
            raise
        finally:
            try:
                await self._close_losers()
            except asyncio.CancelledError:
                if won is not None:
                    won.close()
                raise

    async def _resolve(self) -> None:
        lookup = asyncio.wrap_future(self._host.lookup.start())
        began_at = self._loop.time()
        wait = LOOKUP_SECONDS_MAX if self._host.addresses.is_known() else None
        try:
            if not lookup.done():
                await asyncio.wait([lookup], timeout=wait)
        except asyncio.CancelledError:
            self._host.is_unresolved(self._loop.time() - began_at)
            raise
        else:
            if lookup.done():
                self._host.take(lookup.result())
        finally:
            lookup.cancel()  # Of a lookup that has not ended, the next attempt gets the response.

    async def _first(self, left: deque[Address]) -> C:
        """Returns the first connection. The next attempt begins when one has failed, or has been silent
        for a while.
        """
        while left or self._running:
            if left and len(self._running) < RACING_MAX:
                address = left.popleft()
                self._running[asyncio.ensure_future(self._attempt(address))] = address
            delay = ATTEMPT_DELAY_SECONDS if left and len(self._running) < RACING_MAX else None
            await asyncio.wait(self._running, timeout=delay, return_when=asyncio.FIRST_COMPLETED)
            for task in [each for each in self._running if each.done()]:
                address = self._running[task]
                try:
                    connection = task.result()
                except CannotConnect as error:
                    self._failed(address, error)
                    del self._running[task]
                else:
                    del self._running[task]
                    return connection
        raise self._failure()

    async def _attempt(self, address: Address) -> C:
        self._began_at[address] = self._loop.time()
        self._missing[address] = NOT_CONNECTED
        reader, writer = await self._streams(address)
        self._missing[address] = NOT_ANSWERED
        try:
            return await self._greet(address, reader, writer)
        except BaseException as error:
            writer.transport.abort()
            if self._context is None and isinstance(error, ConnectionError | EOFError):
                # A process that ends accepts no connection, or closes it; so does a proxy in front of it.
                raise RefusedError("closed before a response") from error
            # With SSL, the process has finished a handshake: it may refuse the certificate of this node. In
            # TLS 1.3 it does so after the handshake of the side that has it.
            if isinstance(error, ssl.SSLError):
                raise failure_of_ssl(error) or error from error
            raise

    async def _streams(self, address: Address) -> Streams:
        if self._context is None:
            reader = asyncio.StreamReader(loop=self._loop)
            protocol = asyncio.StreamReaderProtocol(reader, loop=self._loop)
            transport = await self._connect(address, protocol)
            return reader, asyncio.StreamWriter(transport, protocol, reader, self._loop)
        try:
            return await open_ssl_streams(partial(self._connect, address), self._context, self._host.host)
        except ssl.SSLError as error:
            raise failure_of_ssl(error) or error from error

    async def _connect(self, address: Address, protocol: asyncio.Protocol) -> asyncio.Transport:
        """Connects by numbers. A socket that is passed to uvloop keeps its descriptor when a reset closes the
        transport early, and closes that number once more, which another file may have by then.
        """
        port = cast("int", address.place[1])
        transport, _ = await self._loop.create_connection(
            lambda: protocol, address.numbers(), port, family=address.family
        )
        self._missing[address] = NOT_ENCRYPTED
        try:
            self._refuse_own(address, transport)
        except BaseException:
            transport.abort()
            raise
        return transport

    def _refuse_own(self, address: Address, transport: asyncio.Transport) -> None:
        """Refuses an address of this process, unless the name has no other: the response then names the
        problem.
        """
        if not self._host.addresses.has_several():
            return
        here, there = transport.get_extra_info("sockname"), transport.get_extra_info("peername")
        if not here or not there:
            raise ConnectionResetError("the connection was reset")
        if here[0] == there[0] and self._is_own(there[0], there[1]):
            self._host.addresses.is_own(address)
            raise OSError("this controller itself listens there")

    def _failed(self, address: Address, error: Exception) -> None:
        self._errors.append(error)
        if isinstance(error, ConnectionRefusedError | ConnectionResetError):
            is_refusal = self._missing[address] != NOT_ANSWERED
        else:
            is_refusal = isinstance(error, RefusedError)
        self._all_refuse = self._all_refuse and is_refusal
        self._note(address, str(error) or type(error).__name__)

    def _note_silence(self) -> None:
        """Notes silent addresses, except those that had no time yet: the next attempt begins with them."""
        for address in self._running.values():
            seconds = self._loop.time() - self._began_at.get(address, self._loop.time())
            if seconds >= ATTEMPT_DELAY_SECONDS or not self._host.addresses.has_several():
                self._note(address, f"{self._missing[address]} within {seconds:.1f} s")

    def _note(self, address: Address, reason: str) -> None:
        now = self._loop.time()
        self._host.addresses.failed(address, Failure(reason, now - self._began_at[address], now))

    async def _close_losers(self) -> None:
        for task in self._running:
            task.cancel()
        for outcome in await asyncio.gather(*self._running, return_exceptions=True):
            if not isinstance(outcome, BaseException):
                outcome.close()

    def _failure(self) -> Exception:
        """Returns the error of an attempt that has no address left."""
        addresses = self._host.addresses
        # An address that has left the name meanwhile is not noted there.
        text = addresses.reasons() or "; ".join(dict.fromkeys(map(str, self._errors)))
        if self._errors and self._all_refuse and addresses.is_whole():
            return RefusedError(text)
        if len(self._errors) == 1:
            return self._errors[0]
        for each in self._errors:
            if isinstance(each, AuthenticationFailedError):
                return AuthenticationFailedError(text, each.keys)
        if self._errors and all(isinstance(each, DecodeError) for each in self._errors):
            return DecodeError(text)
        return OSError(text)
