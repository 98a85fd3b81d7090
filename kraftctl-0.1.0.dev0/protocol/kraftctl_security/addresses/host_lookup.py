"""Asks the resolver of the system for the addresses of a name, on a thread that no caller has to wait for.

`getaddrinfo` cannot be interrupted: with name servers that do not answer it takes half a minute, and the
thread pools of event loops are full after a few such calls.
"""

from __future__ import annotations

import socket
from concurrent.futures import Future
from threading import Thread

from kraftctl_security.addresses.host_addresses import Address

Found = list[Address] | OSError
"""The addresses, or the error of the resolver."""


class HostLookup:
    """Runs one lookup of one name at a time. It is not thread-safe."""

    def __init__(self, host: str, port: int) -> None:
        self._host = host
        self._port = port
        self._running: Future[Found] | None = None

    def start(self) -> Future[Found]:
        """Returns the lookup under way, or a new one: a late result serves the next caller. It never
        raises.
        """
        if self._running is None:
            self._running = self._new()
        return self._running

    def taken(self) -> None:
        """Notes that the result was read, so that the next `start` begins another lookup unless one is
        running.
        """
        if self._running is not None and self._running.done():
            self._running = None

    def _new(self) -> Future[Found]:
        future: Future[Found] = Future()
        future.set_running_or_notify_cancel()  # From now on it cannot be cancelled.
        try:
            future.set_result(self._addresses(socket.AI_NUMERICHOST))
        except socket.gaierror:
            try:
                Thread(target=self._ask, args=(future,), name=f"lookup {self._host}", daemon=True).start()
            except RuntimeError as error:
                future.set_result(OSError(f"{self._host} was not looked up: {error}"))
        except UnicodeError:
            future.set_result(OSError(f"'{self._host}' is no name of a host"))
        return future

    def _ask(self, future: Future[Found]) -> None:
        try:
            future.set_result(self._addresses(0))
        except OSError as error:
            future.set_result(error)
        except UnicodeError:
            future.set_result(OSError(f"'{self._host}' is no name of a host"))

    def _addresses(self, flags: int) -> list[Address]:
        found = socket.getaddrinfo(self._host, self._port, type=socket.SOCK_STREAM, flags=flags)
        return [Address(int(family), place) for family, _, _, _, place in found]
