"""A name with several addresses on the loopback, and what may be behind an address that is of no use."""

from __future__ import annotations

import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from kraftctl.dev.ports import can_listen, free_port

NAME = "several.example"
V4, OTHER_V4, THIRD_V4 = "127.0.0.1", "127.0.0.2", "127.0.0.3"
V6 = "::1"

SIZE_WITHOUT_FRAME = struct.pack(">i", 1_000)
ALERT = b"\x15\x03\x03\x00\x02\x02\x50"
HTTP = b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"

ask_system = socket.getaddrinfo


class Names:
    """The resolver of this process: some names have the addresses that a test says, in its order."""

    def __init__(self) -> None:
        self.addresses: dict[str, list[str]] = {}
        self.errors: dict[str, OSError] = {}
        self.asked: list[str] = []
        self.holds = threading.Event()
        self.holds.set()

    def getaddrinfo(self, host: Any, port: Any, *args: Any, **keys: Any) -> Any:
        if host not in self.addresses and host not in self.errors:
            return ask_system(host, port, *args, **keys)
        if keys.get("flags", 0) & socket.AI_NUMERICHOST:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        self.asked.append(host)
        assert self.holds.wait(20.0)
        if host in self.errors:
            raise self.errors[host]
        return [each for address in self.addresses[host] for each in ask_system(address, port, *args, **keys)]


@contextmanager
def resolving(monkeypatch: pytest.MonkeyPatch) -> Iterator[Names]:
    """While it lasts, `socket.getaddrinfo` answers by `Names`."""
    names = Names()
    monkeypatch.setattr(socket, "getaddrinfo", names.getaddrinfo)
    yield names
    names.holds.set()


def free_everywhere() -> int:
    """A port that is free at all addresses used here."""
    while True:
        port = free_port()
        if can_listen(port) and all(_is_free(each, port) for each in (OTHER_V4, THIRD_V4, V6)):
            return port


def _is_free(address: str, port: int) -> bool:
    with _socket(address) as probe:
        try:
            probe.bind((address, port))
        except OSError:
            return False
        return True


def _socket(address: str) -> socket.socket:
    made = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    return made


class BadAddress:
    """Each connection is accepted, and `behave` decides what becomes of it."""

    def __init__(self, address: str, port: int, behave: Callable[[socket.socket], None]) -> None:
        self.accepted_count = 0
        self._behave = behave
        self._held: list[socket.socket] = []
        self._listener = _socket(address)
        self._listener.bind((address, port))
        self._listener.listen(64)
        self._thread = threading.Thread(target=self._accept, daemon=True)

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            self.accepted_count += 1
            self._held.append(client)
            try:
                self._behave(client)
            except OSError:
                client.close()

    def __enter__(self) -> BadAddress:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join()
        for each in self._held:
            each.close()


@contextmanager
def dropping(address: str, port: int) -> Iterator[None]:
    """Its queue is full: SYNs are dropped, as by a firewall."""
    with _socket(address) as listener:
        listener.bind((address, port))
        listener.listen(0)
        clients = [_socket(address) for _ in range(3)]
        for client in clients:
            client.setblocking(False)
            client.connect_ex((address, port))
        yield
        for client in clients:
            client.close()


def reset(client: socket.socket) -> None:
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.close()


def saying(data: bytes) -> Callable[[socket.socket], None]:
    """Waits for the first bytes of the client, and says this whatever they are."""

    def behave(client: socket.socket) -> None:
        client.settimeout(5.0)
        client.recv(10_000)
        client.sendall(data)

    return behave


def shaking_hands(context: ssl.SSLContext) -> Callable[[socket.socket], None]:
    """SSL, and then nothing."""
    held: list[ssl.SSLSocket] = []

    def behave(client: socket.socket) -> None:
        client.settimeout(5.0)
        held.append(context.wrap_socket(client, server_side=True))

    return behave


BEHAVIOURS: dict[str, Callable[[socket.socket], None]] = {
    "silent": lambda _: None,
    "closes": lambda client: client.close(),
    "resets": reset,
    "no-whole-frame": saying(SIZE_WITHOUT_FRAME),
    "garbage": saying(struct.pack(">i", 12) + b"not of Kafka"),
    "frame-too-large": saying(b"\x7f\xff\xff\xff"),
    "http": saying(HTTP),
    "ssl-alert": saying(ALERT),
}
"""What needs neither SSL nor Kafka's protocol."""
