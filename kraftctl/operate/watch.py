"""Looks at the running controller once a second, on the thread of its loop, for probes on another thread.

What it leaves behind is replaced as a whole, so the other thread needs no lock, and sees how old it is.
"""

from __future__ import annotations

import asyncio

from kraftctl.config.controller_config import ControllerConfig
from kraftctl.controller.cluster_control.register_controller import needs_registration
from kraftctl.controller.results.failures import reason_of
from kraftctl.operate.readiness import Facts, Readiness, disk_full, reasons, why_stuck
from kraftctl.server.driver import Driver
from kraftctl.server.listeners.listener import SocketServer
from kraftctl.server.process.clock import Clock

TICK_SECONDS = 1.0

NS_PER_SECOND = 1_000_000_000

STARTING = "The metadata log is being recovered, and no connection is accepted yet"
STOPPING = "This controller is stopping"


class Watch:
    """Is the `Operation` of a controller; `why_not_live` and `why_not_ready` are for any thread."""

    def __init__(self, config: ControllerConfig, clock: Clock) -> None:
        self.config = config
        self.clock = clock
        self.has_started = False
        self.free_bytes: int | None = None
        """The room on the disk of the log, which a thread of its own finds out; None while unknown."""
        self.driver: Driver
        self.server: SocketServer
        self.loop: asyncio.AbstractEventLoop
        self._readiness = Readiness()
        self._reasons: tuple[str, ...] = (STARTING,)
        self._turned_ns = clock.now_ns()
        self._timer: asyncio.TimerHandle | None = None
        self._committed = Moved(clock.now_ns())
        self._applied = Moved(clock.now_ns())

    def started(self, driver: Driver, server: SocketServer) -> None:
        self.driver = driver
        self.server = server
        self.loop = asyncio.get_running_loop()
        self._tick()
        self.has_started = True

    def stopping(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None
        self._reasons = (STOPPING,)

    def why_not_live(self) -> str | None:
        """Returns why the process is stuck; None if it is not. A start and a stop have no turns to count."""
        if self._timer is None:
            return None
        return why_stuck((self.clock.now_ns() - self._turned_ns) / NS_PER_SECOND)

    def why_not_ready(self) -> tuple[str, ...]:
        """Returns the reasons, the first cause first; none if the controller is ready."""
        stuck = self.why_not_live()
        return self._reasons if stuck is None else (stuck,)

    def _tick(self) -> None:
        self._timer = self.loop.call_later(TICK_SECONDS, self._tick)
        self._turned_ns = self.clock.now_ns()
        try:
            self._reasons = tuple(self._decided(self._turned_ns))
        except Exception as error:  # noqa: BLE001 - a defect here must not end what is looked at
            self._reasons = (f"The state of this controller cannot be looked at: {reason_of(error)}",)

    def _decided(self, now_ns: int) -> list[str]:
        grace_seconds = self.driver.node.raft.grace_ms / 1000
        found = reasons(self._facts(now_ns), grace_seconds)
        full = disk_full(self.config.metadata_log_dir, self.free_bytes)
        if full is not None:
            found.insert(0, full)
        return self._readiness.decide(found, now_ns / NS_PER_SECOND, grace_seconds)

    def _facts(self, now_ns: int) -> Facts:
        node = self.driver.node
        raft, controller = node.raft, node.controller
        high_watermark, applied_offset = raft.high_watermark, controller.next_replay_offset
        has_more = raft.is_leader and raft.end_offset > high_watermark
        is_behind = not controller.active and applied_offset < high_watermark
        effect, stored_seconds = self.driver.oldest_wait(now_ns)
        return Facts(
            no_progress=raft.why_no_progress(now_ns // 1_000_000),
            no_vote=raft.why_no_vote(),
            is_loaded=controller.state.metadata_loaded,
            is_registered=not needs_registration(controller.image, controller.own_registration),
            is_leader=raft.is_leader,
            applied_offset=applied_offset,
            high_watermark=high_watermark,
            end_offset=raft.end_offset,
            unapplied_seconds=self._applied.seconds(applied_offset, now_ns, lasts=is_behind),
            uncommitted_seconds=self._committed.seconds(high_watermark, now_ns, lasts=has_more),
            stored_effect=effect,
            stored_seconds=stored_seconds,
            log_dir=self.config.metadata_log_dir,
            certificates_expire_at_ms=dict(self.server.security.ssl_metrics.certificate_expires_at_ms),
            wall_ms=self.clock.wall_ms(),
        )


class Moved:
    """Since when an offset has stood still."""

    def __init__(self, now_ns: int) -> None:
        self._offset = -1
        self._since_ns = now_ns

    def seconds(self, offset: int, now_ns: int, *, lasts: bool) -> float:
        """Returns for how long the offset has not moved although `lasts` says that it should."""
        if offset != self._offset or not lasts:
            self._offset = offset
            self._since_ns = now_ns
        return (now_ns - self._since_ns) / NS_PER_SECOND
