"""Controllers as processes with stand-in brokers, and what is measured while something changes."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import shutil
import signal
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeVar

from kraftctl.dev.nodes import KraftctlController, quorum_properties
from kraftctl.dev.ports import free_port
from kraftctl.storage import witness
from kraftctl_protocol.message import Message
from tests.bench.measure import percentile
from tests.bench.scale_brokers import RUNNING, Heartbeat, StandIns
from tests.bench.scale_connection import Connection
from tests.bench.scale_watch import Led, Watch, longest_without_answer_s

M = TypeVar("M", bound=Message)

FIRST_ID: Final = 3000
POLL_S: Final = 0.02
SESSION_TIMEOUT: Final = "broker.session.timeout.ms"
QUIET_S: Final = 0.5
"""A change is complete once the high watermark has not moved for so long while the leader answered."""
LAG_PAUSE_S: Final = 0.005
START_SECONDS_MAX: Final = 180.0
ADMIN_SECONDS_MAX: Final = 180.0
SETTINGS: Final = {
    # No records but those of changes: what the high watermark gains is what a change has written.
    "metadata.max.idle.interval.ms": "0",
    SESSION_TIMEOUT: "9000",
}
NO_SETTINGS: Final[Mapping[str, str]] = {}
BROKERS_FILE: Final = "brokers.json"

LONGEST_TURN = re.compile(r"Longest turn since the dump before: ([\d.]+) ms, (.*) \(kraftctl")
COLLECTIONS = re.compile(r"Cyclic collector since the start: (.*) \(kraftctl")
FENCED = re.compile(r"Fencing broker (\d+)")
BLOCKED = re.compile(r"The event loop was blocked by (.*) for (\d+) ms")
"""The latter is in the log of every version, for turns over half a second."""


@dataclass
class Measured:
    """One change, and what others saw of it."""

    what: str
    voters: int = 1
    seconds: float = 0.0
    records: int = 0
    """By how much the high watermark grew."""
    heartbeats: int = 0
    p50_ms: float = 0.0
    p99_ms: float = 0.0
    max_ms: float = 0.0
    lost: int = 0
    """Heartbeats whose connection ended, or that had no response in half a minute."""
    refused: int = 0
    fenced: int = 0
    """Other brokers that were fenced meanwhile."""
    unanswered_ms: float = 0.0
    """The longest time for which the leader of the beginning did not answer ApiVersions."""
    turn_ms: float | None = None
    turn: str = ""
    leader_kept: bool | None = True
    """None when the leader ended on purpose."""
    peak_bytes: int = 0
    lag_ms: float = 0.0
    """The longest turn of the loop of this benchmark itself, which its figures include."""
    collections: str = ""
    """Of the leader's cyclic collector, from its start to the end of the row."""
    note: str = ""
    failed: str = ""


@dataclass
class Window:
    """Between two moments, while `measured` is filled in."""

    measured: Measured
    since_s: float
    led: Led
    own: set[int] = field(default_factory=set)
    until_s: float = 0.0


class Cluster:
    """Controllers 3000, 3001, ... with static voters, so that a directory works with any ports."""

    def __init__(
        self,
        directory: Path,
        *,
        cluster_id: str,
        voters: int,
        brokers: int,
        settings: Mapping[str, str] = NO_SETTINGS,
    ) -> None:
        settings = {**SETTINGS, **settings}
        self.session_s = int(settings[SESSION_TIMEOUT]) / 1e3
        ports = {FIRST_ID + index: free_port() for index in range(voters)}
        self.nodes = [
            KraftctlController(
                node_id,
                directory / f"controller-{node_id}",
                cluster_id,
                dynamic=False,
                port=port,
                properties={**quorum_properties(ports, dynamic=False), **settings},
            )
            for node_id, port in ports.items()
        ]
        self.fleet = StandIns(cluster_id, brokers)
        self.watches = {node.node_id: Watch(node.node_id, node.port, self._led) for node in self.nodes}
        self.led: list[Led] = []
        self._lags: list[tuple[float, float]] = []
        self._tasks: list[asyncio.Task[None]] = []
        self._admin = Connection(0, "admin")
        self._admin_port = 0

    # Processes.

    async def __aenter__(self) -> Cluster:
        for node in self.nodes:
            if not node.log_directory.exists():
                node.format()
            node.start(wait=False)
        for watch in self.watches.values():
            self._tasks += [
                asyncio.create_task(watch.ask_versions()),
                asyncio.create_task(watch.ask_quorum()),
            ]
        self._tasks.append(asyncio.create_task(self._measure_lag()))
        self.fleet.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.fleet.stop()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for node in self.nodes:
            node.kill()

    async def leader(self, since_s: float | None = None) -> KraftctlController:
        """The controller that leads, as soon as one says so after `since_s`, by default now."""
        moment = self.now() if since_s is None else since_s
        await self.until(
            lambda: bool(self.led) and self.led[-1].at_s >= moment, "a leader", START_SECONDS_MAX
        )
        return self.node(self.led[-1].leader_id)

    def node(self, node_id: int) -> KraftctlController:
        return self.nodes[node_id - FIRST_ID]

    @staticmethod
    def now() -> float:
        return time.monotonic()

    async def until(self, holds: Callable[[], bool], what: str, seconds_max: float) -> None:
        """Raises TimeoutError."""
        until_s = self.now() + seconds_max
        while not holds():
            if self.now() > until_s:
                raise TimeoutError(f"not within {seconds_max:g} s: {what}")
            await asyncio.sleep(POLL_S)

    async def stop_node(self, node: KraftctlController) -> None:
        """SIGTERM."""
        assert node.process is not None
        node.process.signal(signal.SIGTERM)
        await self.until(lambda: not node.running, f"{node.name} stops", 60.0)
        node.stop()

    # Requests.

    async def ask(self, request: Message, version: int, answer: type[M]) -> M:
        """Of the admin, to the active controller."""
        if self._admin_port != self.fleet.port:
            self._admin.close()
            self._admin_port = self.fleet.port
            self._admin = Connection(self._admin_port, "admin")
        return await self._admin.call(request, version, answer, ADMIN_SECONDS_MAX)

    async def settled(self) -> float:
        """When the high watermark moved last; returns once that is `QUIET_S` ago, by answers of a leader."""
        since_s = self.now()
        while True:
            if self.led and self.led[-1].at_s >= since_s + QUIET_S:
                last = self.led[-1].high_watermark
                moved_s = next((each.at_s for each in reversed(self.led) if each.high_watermark != last), 0.0)
                if self.led[-1].at_s - moved_s >= QUIET_S:
                    return moved_s
            await asyncio.sleep(POLL_S)

    # Measuring.

    @asynccontextmanager
    async def measuring(
        self, what: str, own: Collection[int] = (), starting: KraftctlController | None = None
    ) -> AsyncIterator[Window]:
        """Fills in the measured values at the end; heartbeats of the brokers in `own` do not count.

        The body sets `until_s` when it knows the end of the change better. With `starting`, this controller
        has just been started, and leads at the end.
        """
        leader = starting or await self.leader()
        log_from = leader.log_file.stat().st_size
        if starting is None:
            await self._longest_turn(leader)
            reset_peak(leader)
            await self.leader()
        window = Window(Measured(what), self.now(), self.led[-1], set(own))
        if starting is not None:
            window.measured.leader_kept = None
        try:
            yield window
        except (TimeoutError, ValueError) as error:
            # A change that is refused or does not end: the row says so, and others follow.
            window.measured.failed = str(error) or "no response"
        window.until_s = window.until_s or self.now()
        await self._fill(window, leader, log_from)

    async def _fill(self, window: Window, leader: KraftctlController, log_from: int) -> None:
        measured = window.measured
        with contextlib.suppress(TimeoutError):
            await self.leader()
        inside = [
            each
            for each in self.fleet.heartbeats
            if each.broker_id not in window.own
            and each.sent_s <= window.until_s
            and ended_s(each) >= window.since_s
        ]
        measured.seconds = window.until_s - window.since_s
        measured.records = self.led[-1].high_watermark - window.led.high_watermark
        if measured.leader_kept is not None:
            measured.leader_kept = all(
                (each.leader_id, each.epoch) == (window.led.leader_id, window.led.epoch)
                for each in self.led
                if each.at_s >= window.since_s
            )
        self._fill_heartbeats(measured, inside)
        watch = self.watches[leader.node_id]
        measured.unanswered_ms = 1e3 * longest_without_answer_s(
            watch.versions, window.since_s, window.until_s
        )
        measured.lag_ms = 1e3 * max(
            (lag for at_s, lag in self._lags if window.since_s <= at_s <= window.until_s), default=0.0
        )
        fenced = {int(broker_id) for broker_id in FENCED.findall(text_from(leader.log_file, log_from))}
        measured.fenced = len(fenced - window.own)
        measured.peak_bytes = peak_bytes(leader)
        turn = await self._longest_turn(leader)
        measured.collections = "".join(COLLECTIONS.findall(text_from(leader.log_file, log_from))[-1:])
        if turn is None:
            turn = logged_turn(leader.log_file, log_from)
        if turn is not None:
            measured.turn_ms, measured.turn = turn

    @staticmethod
    def _fill_heartbeats(measured: Measured, inside: list[Heartbeat]) -> None:
        times_ms = [1e3 * (ended_s(each) - each.sent_s) for each in inside]
        measured.heartbeats = len(inside)
        if times_ms:
            measured.p50_ms = percentile(times_ms, 0.5)
            measured.p99_ms = percentile(times_ms, 0.99)
            measured.max_ms = max(times_ms)
        measured.lost = sum(each.lost_s is not None for each in inside)
        measured.refused = sum(each.error_code != 0 for each in inside)

    async def _longest_turn(self, leader: KraftctlController) -> tuple[float, str] | None:
        """Since the call before, by a dump of the leader; None if its version does not say."""
        if leader.process is None or not leader.running:
            return None
        log_from = leader.log_file.stat().st_size
        leader.process.signal(signal.SIGQUIT)
        ended = lambda: "End of the stacks" in text_from(leader.log_file, log_from)  # noqa: E731
        try:
            await self.until(ended, "a dump", 30.0)
        except TimeoutError:
            return None
        found = LONGEST_TURN.search(text_from(leader.log_file, log_from))
        return (float(found[1]), found[2]) if found else None

    def _led(self, led: Led) -> None:
        if self.led:
            # A new leader does not know it before it has committed something.
            led.high_watermark = max(led.high_watermark, self.led[-1].high_watermark)
        self.led.append(led)
        self.fleet.port = self.node(led.leader_id).port

    async def _measure_lag(self) -> None:
        while True:
            before_s = self.now()
            await asyncio.sleep(LAG_PAUSE_S)
            self._lags.append((before_s, self.now() - before_s - LAG_PAUSE_S))

    # Directories that are used again.

    def save(self, target: Path) -> None:
        """The directory of the first controller, which has stopped, and what its brokers know."""
        shutil.rmtree(target, ignore_errors=True)
        target.parent.mkdir(parents=True, exist_ok=True)
        partial = target.with_suffix(".partial")
        shutil.rmtree(partial, ignore_errors=True)
        shutil.copytree(self.nodes[0].log_directory, partial / "data")
        state = {"cluster_id": self.fleet.cluster_id, "brokers": self.fleet.state()}
        (partial / BROKERS_FILE).write_text(json.dumps(state))
        partial.rename(target)


def restored(
    saved: Path, directory: Path, *, voters: int, settings: Mapping[str, str] = NO_SETTINGS
) -> Cluster:
    """A cluster that begins with a copy of what `Cluster.save` has written: each voter has the same log.

    The marker that names the replica that wrote it is not copied: another one that finds it does not vote.
    """
    state = json.loads((saved / BROKERS_FILE).read_text())
    cluster = Cluster(
        directory,
        cluster_id=state["cluster_id"],
        voters=voters,
        brokers=len(state["brokers"]),
        settings=settings,
    )
    shutil.copytree(saved / "data", cluster.nodes[0].log_directory)
    for node in cluster.nodes[1:]:
        node.format()
        shutil.copytree(
            saved / "data" / node.metadata_directory.name,
            node.metadata_directory,
            ignore=shutil.ignore_patterns(witness.FILE_NAME),
            dirs_exist_ok=True,
        )
    cluster.fleet.restore(state["brokers"])
    cluster.fleet.set_modes(RUNNING)
    return cluster


def ended_s(heartbeat: Heartbeat) -> float:
    """When it was answered or lost; now for one in flight."""
    return heartbeat.answered_s or heartbeat.lost_s or time.monotonic()


def reset_peak(node: KraftctlController) -> None:
    """Let Linux count the peak of the resident memory from now on."""
    assert node.process is not None
    Path(f"/proc/{node.process.pid}/clear_refs").write_text("5")


def peak_bytes(node: KraftctlController) -> int:
    if node.process is None or not node.running:
        return 0
    found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{node.process.pid}/status").read_text())
    return int(found[1]) * 1024 if found else 0


def text_from(file: Path, position: int) -> str:
    with file.open("rb") as opened:
        opened.seek(position)
        return opened.read().decode("utf-8", "replace")


def logged_turn(file: Path, position: int) -> tuple[float, str] | None:
    """The longest of the turns that a controller has logged because they took over half a second."""
    found = [(float(ms), what) for what, ms in BLOCKED.findall(text_from(file, position))]
    return max(found, default=None)


async def within(seconds: float, what: str, awaited: Awaitable[object]) -> None:
    """Raises TimeoutError that says what did not happen."""
    try:
        async with asyncio.timeout(seconds):
            await awaited
    except TimeoutError:
        raise TimeoutError(f"not within {seconds:g} s: {what}") from None
