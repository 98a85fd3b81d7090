"""Operation: who watches a running controller from outside of its loop, as seen by the controller."""

from __future__ import annotations

from typing import Protocol

from kraftctl.server.driver import Driver
from kraftctl.server.listeners.listener import SocketServer


class Operation(Protocol):
    """Learns of the phases of a controller, on the thread of its loop."""

    def started(self, driver: Driver, server: SocketServer) -> None:
        """Notes that the log is recovered and connections are accepted."""
        ...

    def stopping(self) -> None:
        """Notes that the controller ends: it is not ready any more."""
        ...
