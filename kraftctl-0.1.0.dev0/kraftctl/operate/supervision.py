"""Says to the service manager when a controller serves, why it waits, that its loop turns, and that it stops.

It is ready to the manager when it accepts connections: voters that start together find their leader only
then, so a unit that waited for a leader would be ended by its own time-out. The status is that of `/readyz`.
"""

from __future__ import annotations

import asyncio
from typing import Final

from kraftctl.operate.readiness import joined
from kraftctl.operate.watch import STARTING, Watch
from kraftctl.server.driver import Driver
from kraftctl.server.listeners.listener import SocketServer
from kraftctl.server.process.service_manager import ServiceManager, shown_status

SECONDS_MAX: Final = 1.0
"""The interval in which the watch looks at the controller."""

PER_WATCHDOG: Final = 4
"""How often WATCHDOG=1 is sent within the time of the watchdog; sd_watchdog_enabled(3) advises two."""

READY: Final = "Ready"


class Supervision:
    """Is the `Operation` of a controller whose service manager is sent what the watch sees."""

    def __init__(self, watch: Watch, manager: ServiceManager) -> None:
        self._watch = watch
        self._manager = manager
        self._timer: asyncio.TimerHandle | None = None
        self._unsent = ["READY=1"]
        self._status = shown_status(STARTING)
        manager.send(self._status)
        self._seconds = min(SECONDS_MAX, (manager.watchdog_seconds or PER_WATCHDOG) / PER_WATCHDOG)

    def started(self, driver: Driver, server: SocketServer) -> None:
        self._watch.started(driver, server)
        self._tick()

    def stopping(self) -> None:
        self._watch.stopping()
        self._unsent = ["STOPPING=1"]
        self._send()

    def close(self) -> None:
        """Sends nothing any more."""
        if self._timer is not None:
            self._timer.cancel()
        self._manager.close()

    def _tick(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(self._seconds, self._tick)
        self._send()

    def _send(self) -> None:
        """Sends what is new, and that the loop turns; again with the next tick if it was not taken."""
        shown = shown_status(joined(self._watch.why_not_ready()) or READY)
        due = [*self._unsent, *([shown] if shown != self._status else [])]
        if self._manager.watchdog_seconds is not None and self._watch.why_not_live() is None:
            due.append("WATCHDOG=1")
        if due and self._manager.send(*due):
            self._unsent, self._status = [], shown
