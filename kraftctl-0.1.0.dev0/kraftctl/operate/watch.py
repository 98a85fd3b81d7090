"""Looks at the running controller once a second, on the thread of its loop, for probes on another thread.

What it leaves behind is replaced as a whole, so the other thread needs no lock, and sees how old it is.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from typing import Final

from kraftctl.config.controller_config import ControllerConfig
from kraftctl.controller.cluster_control.register_controller import needs_registration
from kraftctl.controller.results.failures import reason_of
from kraftctl.operate.committed_counts import CommittedCounts
from kraftctl.operate.readiness import Facts, Readiness, disk_full, reasons, why_not_ended, why_stuck
from kraftctl.operate.window import BucketWindow, Second, Window
from kraftctl.server.driver import Driver
from kraftctl.server.listeners.listener import SocketServer
from kraftctl.server.logs.audit_log import AuditLog
from kraftctl.server.logs.rate_limited_log import RateLimitedLog
from kraftctl.server.loop.request_turns import CHARGED_NS
from kraftctl.server.process.clock import Clock
from kraftctl.server.process.durations import BOUNDS_NS, Durations
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch

logger = logging.getLogger("kraftctl.server.operate")

TICK_SECONDS: Final = 0.25
"""The interval of samples of the loop; the controller is looked at in each fourth of them."""

TICKS_PER_LOOK: Final = 4

NS_PER_SECOND: Final = 1_000_000_000

STARTING = "The metadata log is being recovered, and no connection is accepted yet"
STOPPING = "This controller is stopping"
UNDECIDED = "The state of this controller cannot be looked at:"


class Watch:
    """Is the `Operation` of a controller; `why_not_live` and `why_not_ready` are for any thread."""

    def __init__(self, config: ControllerConfig, clock: Clock, audit_log: AuditLog | None = None) -> None:
        self.config = config
        self.clock = clock
        self.audit_log = audit_log
        self.counts = CommittedCounts()
        self.window = Window()
        self.queued = Durations()
        """How late the samples of the loop were."""
        self.queued_window = BucketWindow(tuple(bound_ns / 1e6 for bound_ns in BOUNDS_NS))
        self.processed_window = BucketWindow((CHARGED_NS / 1e6, *(bound_ns / 1e6 for bound_ns in BOUNDS_NS)))
        self.snapshot_since_ms = self.committed_since_ms = clock.now_ms()
        self._snapshot_id: OffsetAndEpoch | None = None
        self._ticks_count = 0
        self._due_ns = 0
        self._before = Totals(0, 0, 0, 0, False)
        self.has_started = False
        self.free_bytes: int | None = None
        """The room on the disk of the log, which a thread of its own finds out; None while unknown."""
        self.driver: Driver
        self.server: SocketServer
        self.loop: asyncio.AbstractEventLoop
        self._readiness = Readiness()
        self._reasons: tuple[str, ...] = (STARTING,)
        self._failures = RateLimitedLog(logger, lambda: clock.now_ns() / NS_PER_SECOND, lines_max=2)
        self._turned_ns = clock.now_ns()
        self._timer: asyncio.TimerHandle | None = None
        self._failed_ns: int | None = None
        self._committed = Moved(clock.now_ns())
        self._applied = Moved(clock.now_ns())
        self._followed = Moved(clock.now_ns())

    def started(self, driver: Driver, server: SocketServer) -> None:
        self.driver = driver
        self.server = server
        self.loop = asyncio.get_running_loop()
        self._before = self._totals(self.clock.now_ns())
        self._snapshot_id = driver.node.raft.latest_snapshot_id
        self._tick()
        self.has_started = True

    def stopping(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None
        self._reasons = (STOPPING,)
        if self.has_started and self.driver.failed.done():
            self._failed_ns = self.clock.now_ns()

    def why_not_live(self) -> str | None:
        """Returns why the process is stuck; None if it is not. A start and a stop have no turns to count."""
        if self._failed_ns is not None:
            return why_not_ended((self.clock.now_ns() - self._failed_ns) / NS_PER_SECOND)
        if self._timer is None:
            return None
        return why_stuck((self.clock.now_ns() - self._turned_ns) / NS_PER_SECOND)

    def why_not_ready(self) -> tuple[str, ...]:
        """Returns the reasons, the first cause first; none if the controller is ready."""
        stuck = self.why_not_live()
        return self._reasons if stuck is None else (stuck,)

    def _tick(self) -> None:
        self._timer = self.loop.call_later(TICK_SECONDS, self._tick)
        now_ns = self._turned_ns = self.clock.now_ns()
        if self._due_ns:
            self.queued.note(max(0, now_ns - self._due_ns))
        self._due_ns = now_ns + int(TICK_SECONDS * NS_PER_SECOND)
        self._ticks_count += 1
        if self._ticks_count % TICKS_PER_LOOK != 1:
            return
        try:
            self._reasons = tuple(self._decided(now_ns))
        except Exception as error:  # noqa: BLE001 - a defect here must not end what is looked at
            self._reasons = (f"{UNDECIDED} {reason_of(error)}. Next step: report it",)
            self._failures.warning(
                "The state of this controller cannot be looked at: %s. Next step: report it", reason_of(error)
            )
        try:
            self._count(now_ns)
        except Exception as error:  # noqa: BLE001 - a defect here must not make the controller unready
            self._failures.warning(
                "Metrics of this second are not counted: %s. Next step: report it", reason_of(error)
            )

    def _decided(self, now_ns: int) -> list[str]:
        grace_seconds = self.driver.node.raft.grace_ms / 1000
        found = reasons(self._facts(now_ns), grace_seconds)
        full = disk_full(self.config.metadata_log_dir, self.free_bytes)
        if full is not None:
            found.insert(0, full)
        return self._readiness.decide(found, now_ns / NS_PER_SECOND, grace_seconds)

    def processed(self) -> tuple[tuple[int, ...], float]:
        """Returns how many events took how long since the start, with those below CHARGED_NS first, and the
        time of the others in ms.
        """
        loop = self.driver.loop
        counts = tuple(loop.processing.counts)
        return (loop.events_count - sum(counts), *counts), loop.processing.total_ns / 1e6

    def _count(self, now_ns: int) -> None:
        raft, before, now = self.driver.node.raft, self._before, self._totals(now_ns)
        self._before = now
        commits, elections = raft.take_latencies()
        count, total, longest = self.driver.peer_metrics.take_latencies()
        grown = max(0, now.end_offset - before.end_offset)
        self.window.add(
            Second(
                seconds=(now.at_ns - before.at_ns) / NS_PER_SECOND,
                busy_seconds=(now.thread_ns - before.thread_ns) / NS_PER_SECOND,
                appended_records=grown if before.is_leader else 0,
                fetched_records=0 if before.is_leader else grown,
                commits=commits,
                elections=elections,
                peer_requests=(count, total * 1000, longest * 1000),
            )
        )
        self.queued_window.add(tuple(self.queued.counts))
        self.processed_window.add(self.processed()[0])
        self.look_at_counts()
        if now.high_watermark != before.high_watermark:
            self.committed_since_ms = now_ns // 1_000_000
        if raft.latest_snapshot_id != self._snapshot_id:
            self._snapshot_id = raft.latest_snapshot_id
            self.snapshot_since_ms = now_ns // 1_000_000

    def look_at_counts(self) -> bool:
        """Returns whether the counts of now, or of the look before, are of committed metadata."""
        node = self.driver.node
        return self.counts.look(node.controller, node.raft.high_watermark)

    def _totals(self, now_ns: int) -> Totals:
        raft = self.driver.node.raft
        return Totals(now_ns, self.clock.thread_ns(), raft.end_offset, raft.high_watermark, raft.is_leader)

    def _facts(self, now_ns: int) -> Facts:
        node = self.driver.node
        raft, controller = node.raft, node.controller
        high_watermark, applied_offset = raft.high_watermark, controller.next_replay_offset
        has_more = raft.is_leader and raft.end_offset > high_watermark
        is_behind = not controller.active and applied_offset < high_watermark
        has_no_ops = (
            self.config.metadata_max_idle_interval_ms > 0 and not raft.is_leader and high_watermark >= 0
        )
        effect, stored_seconds = self.driver.oldest_wait(now_ns)
        ssl_metrics, listener = self.server.security.ssl_metrics, self.config.controller_listener_names[0]
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
            follows_nothing_seconds=self._followed.seconds(high_watermark, now_ns, lasts=has_no_ops),
            idle_interval_seconds=self.config.metadata_max_idle_interval_ms / 1000,
            leader_id=raft.leader_id,
            voters_count=len(raft.voter_set),
            stored_effect=effect,
            stored_seconds=stored_seconds,
            log_dir=self.config.metadata_log_dir,
            listener=listener,
            certificate_expires_at_ms=ssl_metrics.own_expires_at_ms.get(listener),
            wall_ms=self.clock.wall_ms(),
        )


@dataclass(frozen=True)
class Totals:
    """What is compared with a second later."""

    at_ns: int
    thread_ns: int
    end_offset: int
    high_watermark: int
    is_leader: bool


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
