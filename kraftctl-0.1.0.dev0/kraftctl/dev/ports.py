"""Free TCP ports for processes that take their port as a setting."""

from __future__ import annotations

import random
import socket

CANDIDATES = range(12_000, 32_000)
"""These are below the range from which Linux takes the local ports of outgoing connections (32,768 and
up)."""

_handed_out: set[int] = set()


def free_port() -> int:
    """Returns a free loopback port that this process has not returned before, or was given back."""
    candidates = [port for port in CANDIDATES if port not in _handed_out]
    random.SystemRandom().shuffle(candidates)
    for port in candidates:
        if can_listen(port):
            _handed_out.add(port)
            return port
    raise OSError(f"no free port in {CANDIDATES}")


def give_back(port: int) -> None:
    """Lets `free_port` return it again, as its process has ended."""
    _handed_out.discard(port)


def accepts_connections(port: int, host: str = "localhost") -> bool:
    """Returns whether a process listens there; the connection is closed immediately."""
    try:
        with socket.create_connection((host, port), timeout=1.0):
            return True
    except OSError:
        return False


def can_listen(port: int) -> bool:
    """Returns whether the loopback port is free now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True
