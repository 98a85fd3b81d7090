"""A disk that stalls for a second delays what waits for it, but not the loop: connections are served."""

from __future__ import annotations

import re
import socket
import struct
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from kraftctl.dev.nodes import KraftctlController
from tests.support.lying_disk.lying_disk import ANY, build_shim, stall_rules
from tests.support.lying_disk.lying_quorum import Acknowledged, LyingQuorum

pytestmark = pytest.mark.slow

STALL_MS = 1_000
BUSY_MS_MAX = 500
"""Half of the stall: nothing has waited for its end, however busy the machine is."""

SMALL_FILES = {
    "internal.metadata.log.segment.bytes": "6000",
    "metadata.log.max.record.bytes.between.snapshots": "9000",
    "metadata.max.retention.bytes": "20000",
}
"""Segments roll, snapshots are written and the log is cut, within seconds."""

FLUSH_ON_LOOP = """
from concurrent.futures import Future
from functools import partial
from kraftctl.server.process.storage_threads import StorageThreads
def run_on_loop(threads, flush, done):
    flushed = Future()
    flushed.set_result(flush())
    threads.call_soon(partial(done, flushed))
StorageThreads.run_on_flush_thread = run_on_loop
"""

SOON = {"controller.quorum.fetch.timeout.ms": "1000", "controller.quorum.election.timeout.ms": "500"}
"""After which followers notice that their leader was killed."""

TURN_LINE = r"^longest turn \d+ ms"

PRINT_TURNS = """
from kraftctl.server.driver import Driver
stop = Driver.stop
async def stop_and_print(driver):
    await stop(driver)
    probe = driver.probe
    waits_ms = {what: wait_ns // 1_000_000 for what, wait_ns in sorted(probe.longest_wait_ns.items())}
    turn_ms = probe.longest_turn_ns // 1_000_000
    print(f"longest turn {turn_ms} ms, {probe.longest_turn}; longest waits in ms {waits_ms}")
Driver.stop = stop_and_print
"""
"""The figures of the driver's probe, as the last line of a node that is stopped."""

BY_WRITING = [
    ("fsync", ".log"),
    ("write", ".log"),
    ("open", ".log"),
    ("truncate", "index"),
    ("rename", ".log.deleted"),
    ("unlink", ".log.deleted"),
    ("rename", ".checkpoint"),
    ("unlink", ".checkpoint.deleted"),
    (ANY, ""),
]
"""Calls that a sequence of new topics causes, and a part of the path. The last entry is any call."""

BY_ELECTION = [
    ("fsync", "quorum-state"),
    ("unlink", "quorum-state.tmp"),
    ("rename", "quorum-state"),
]
"""The last one is WHOLE: the figures are of nodes that are not killed after it."""

WHOLE = (("unlink", ".log.deleted"), ("rename", "quorum-state"), (ANY, ""))
"""Stalls that last to their end. The others are over when the loop has answered once."""


@pytest.fixture(scope="module")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_shim(tmp_path_factory.mktemp("shim"))


def await_loop(port: int) -> None:
    """Waits until a new connection that sends an invalid size is closed, which needs the loop only."""
    with socket.create_connection(("localhost", port), timeout=30.0) as connection:
        connection.sendall(struct.pack(">i", -1))
        assert connection.recv(1) == b""


class Stalls:
    """One call of one disk stalls at a time. The figures are the longest response times of the loop."""

    def __init__(self, quorum: LyingQuorum) -> None:
        self._quorum = quorum
        self.figures_ms: dict[str, float] = {}

    def stall(self, node: KraftctlController, call: str, part: str, cause: Callable[[], object]) -> None:
        disk = self._quorum.disk(node)
        before = len(disk.stalls())
        disk.rule(*stall_rules(call, STALL_MS, part))
        try:
            cause()
            began_ns = disk.await_stall(call, before).time_ns
            end_ns = began_ns + STALL_MS * 1_000_000 if (call, part) in WHOLE else began_ns
            answers_ms: list[float] = []
            while not answers_ms or began_ns < end_ns:
                await_loop(node.port)
                answers_ms.append((time.monotonic_ns() - began_ns) / 1_000_000)
                began_ns = time.monotonic_ns()
            self.figures_ms[f"{call} {part} {node.name}"] = max(answers_ms)
        finally:
            disk.rule()

    def check(self) -> None:
        """Check the response times from outside and the driver's own probe. Ends the nodes."""
        print({what: f"answered after {answer_ms:.0f} ms" for what, answer_ms in self.figures_ms.items()})
        turns_ms = []
        for node in self._quorum.nodes:
            node.stop()
            line = node.await_log(TURN_LINE)
            print(line)
            turns_ms.append(int(re.findall(r"\d+", line)[0]))
        assert {what: ms for what, ms in self.figures_ms.items() if ms > BUSY_MS_MAX} == {}
        assert max(turns_ms) < BUSY_MS_MAX


def nothing() -> None:
    pass


@pytest.mark.prevents("disk-on-the-loop")
@pytest.mark.parametrize(
    "in_turn", [pytest.param(True, id="in-turn"), pytest.param(False, id="each", marks=pytest.mark.long)]
)
def test_the_loop_runs_while_the_disk_stalls(shim: Path, tmp_path: Path, in_turn: bool) -> None:
    """The leader's disk, and a follower's: in turn, or each of them for each call."""
    with (
        LyingQuorum(shim, tmp_path, dynamic=True, settings=SMALL_FILES, planted=PRINT_TURNS) as quorum,
        Acknowledged(quorum) as topics,
    ):
        stalls = Stalls(quorum)
        for number, (call, part) in enumerate(BY_WRITING):
            leader = quorum.leader()
            follower = next(node for node in quorum.nodes if node is not leader)
            nodes = (leader, follower)
            for node in (nodes[number % 2],) if in_turn else nodes:
                topics.await_more(1)
                stalls.stall(node, call, part, nothing)
        topics.close()
        stalls.check()


@pytest.mark.long
def test_the_loop_runs_while_the_disk_stalls_in_an_election(shim: Path, tmp_path: Path) -> None:
    with (
        LyingQuorum(shim, tmp_path, dynamic=False, settings=SOON, planted=PRINT_TURNS) as quorum,
        Acknowledged(quorum) as topics,
    ):
        stalls = Stalls(quorum)
        for call, part in BY_ELECTION:
            topics.await_more(1)
            leader = quorum.leader()
            node = next(node for node in quorum.nodes if node is not leader)
            stalls.stall(node, call, part, leader.kill)
            quorum.disk(leader).settle()
            leader.start()
        topics.close()
        stalls.check()


def test_the_probe_says_how_long_the_disk_took(shim: Path, tmp_path: Path) -> None:
    """A flush takes a second, while the loop is never busy for long."""
    with (
        LyingQuorum(shim, tmp_path, size=1, dynamic=False, planted=PRINT_TURNS) as quorum,
        Acknowledged(quorum) as topics,
    ):
        stalls = Stalls(quorum)
        topics.await_more(1)
        (node,) = quorum.nodes
        with quorum.disk(node).stalled("fsync", STALL_MS, ".log"):
            print(node.await_log(r"FlushLog waited for the disk for \d{4} ms"))
        topics.await_more(1)
        topics.close()
        stalls.check()


def test_a_flush_on_the_loop_is_found_out(shim: Path, tmp_path: Path) -> None:
    """Checks the checker, from outside and by the probe."""
    with (
        LyingQuorum(shim, tmp_path, size=1, dynamic=False, planted=PRINT_TURNS + FLUSH_ON_LOOP) as quorum,
        Acknowledged(quorum) as topics,
    ):
        stalls = Stalls(quorum)
        topics.await_more(1)
        (node,) = quorum.nodes
        stalls.stall(node, "fsync", ".log", nothing)
        topics.close()
        assert min(stalls.figures_ms.values()) > BUSY_MS_MAX
        with pytest.raises(AssertionError):
            stalls.check()
        assert int(re.findall(r"\d+", node.await_log(TURN_LINE))[0]) > BUSY_MS_MAX
