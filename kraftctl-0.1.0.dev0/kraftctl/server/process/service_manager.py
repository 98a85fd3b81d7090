"""Sends the state of this process to the service manager that started it: sd_notify(3), without its library.

A unit of `Type=notify` counts as started with READY=1, `systemctl status` shows STATUS=, and a watchdog ends
a process that sends no WATCHDOG=1.
"""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Mapping
from typing import Final

logger = logging.getLogger("kraftctl.server")

STATUS_CHARACTERS_MAX: Final = 1000
"""A message has 4096 bytes at most (NOTIFY_BUFFER_MAX of systemd), and a character four."""

MICROSECONDS: Final = 1_000_000


class ServiceManager:
    """A socket of datagrams that never waits: what the service manager does not take is not sent."""

    def __init__(self, address: str, watchdog_seconds: float | None) -> None:
        """`watchdog_seconds` is how long WATCHDOG=1 may be missing, None without a watchdog.

        Raises OSError if no socket can be opened.
        """
        self.watchdog_seconds = watchdog_seconds
        self._address = address
        self._is_warned = False
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.setblocking(False)

    def send(self, *assignments: str) -> bool:
        """Returns whether the service manager has got them: the caller sends what matters again."""
        path = f"\0{self._address[1:]}" if self._address.startswith("@") else self._address
        try:
            self._socket.sendto("\n".join(assignments).encode(errors="replace"), path)
        except OSError as error:
            if not self._is_warned:
                self._is_warned = True
                logger.warning(
                    "The service manager at NOTIFY_SOCKET=%s takes no message: %s. Next step: see whether it"
                    " runs, and unset the variable where there is none",
                    self._address,
                    error.strerror or error,
                )
            return False
        return True

    def close(self) -> None:
        """Closes the socket; nothing may be sent after that."""
        self._socket.close()


def service_manager(environment: Mapping[str, str]) -> ServiceManager | None:
    """Returns the one that the variables name; None if there is none that this process can reach."""
    address = environment.get("NOTIFY_SOCKET", "")
    if not address.startswith(("/", "@")):
        return None
    try:
        return ServiceManager(address, _watchdog_seconds(environment))
    except OSError as error:
        logger.warning(
            "The service manager at NOTIFY_SOCKET=%s is sent nothing: no socket can be opened: %s. Next step:"
            " see how many files this process and its host may open",
            address,
            error.strerror or error,
        )
        return None


def _watchdog_seconds(environment: Mapping[str, str]) -> float | None:
    """Returns what WATCHDOG_USEC says, if it is for this process: a shell around it may be meant."""
    if environment.get("WATCHDOG_PID", str(os.getpid())) != str(os.getpid()):
        return None
    text = environment.get("WATCHDOG_USEC", "")
    return int(text) / MICROSECONDS if text.isdecimal() and int(text) else None


def shown_status(text: str) -> str:
    """Returns the assignment that shows this text in `systemctl status`: one line."""
    return f"STATUS={' '.join(text.split())[:STATUS_CHARACTERS_MAX]}"
