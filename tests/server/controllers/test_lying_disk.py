"""Real controllers on disks that lose what was not forced: all are killed, nothing acknowledged is lost.

The shim and its model have tests of their own in tests/dev/test_lying_disk_model.py.
"""

from __future__ import annotations

import os
import random
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from kraftctl.dev.nodes import KraftctlController, kraftctl_command
from kraftctl.dev.polling import await_result
from kraftctl.dev.processes import ProcessFailedError
from kraftctl.dev.settings import random_id
from tests.support.effort import FIRST_SEED, scaled
from tests.support.file_states import Aftermath
from tests.support.lying_disk.lying_disk import LyingDisk, build_shim
from tests.support.lying_disk.lying_quorum import Acknowledged, LyingQuorum
from tests.support.processes.quorum import leads

pytestmark = pytest.mark.slow

SMALL_FILES = {
    "internal.metadata.log.segment.bytes": "6000",
    "metadata.log.max.record.bytes.between.snapshots": "9000",
    "metadata.max.retention.bytes": "20000",
}
"""Segments roll, snapshots are written and the log is cut, within seconds."""

CLIENTS = 4
FSYNC_MS_MAX = 30
"""So that several batches wait for one flush when the power fails."""


@pytest.fixture(scope="module")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_shim(tmp_path_factory.mktemp("shim"))


def let_pass(seconds: float) -> None:
    """Wait for a random time."""
    threading.Event().wait(seconds)


class Failures:
    """Power failures of a quorum with a busy client, each followed by checks."""

    def __init__(self, quorum: LyingQuorum, topics: Acknowledged, rng: random.Random) -> None:
        self.quorum = quorum
        self.topics = topics
        self.rng = rng
        self._checked_count = 0

    def fail_power(self, aftermaths: Sequence[Aftermath]) -> None:
        """At a random moment, on slow disks. Each node has its own aftermath."""
        for disk in self.quorum.disks.values():
            disk.rule(f"fsync stall {self.rng.randrange(FSYNC_MS_MAX)}")
        self.topics.await_more(self.rng.randrange(3, 40))
        let_pass(self.rng.uniform(0, 0.05))
        self.quorum.kill_all()
        acknowledged = self.topics.times[self._checked_count :]
        self._checked_count += len(acknowledged)
        print(f"{self._checked_count} topics, now {[aftermath.name for aftermath in aftermaths]}")
        for disk in self.quorum.disks.values():
            disk.rule()
        needed = len(self.quorum.nodes) // 2 + 1
        counts = self.quorum.forced_counts(acknowledged)
        assert [(name, count) for name, count in counts if count < needed] == []
        self.quorum.fail_power(aftermaths, self.rng)
        self.topics.await_more(3)
        self.quorum.await_topics(self.topics.names)

    def fail_power_somehow(self, count: int) -> None:
        """First with the strict aftermath, then with any."""
        nodes = len(self.quorum.nodes)
        self.fail_power([Aftermath.STRICT] * nodes)
        for _ in range(count - 1):
            self.fail_power(self.rng.choices(list(Aftermath), k=nodes))


@pytest.mark.parametrize(
    ("size", "dynamic", "settings"),
    [
        pytest.param(3, False, {}, id="static", marks=pytest.mark.long),
        pytest.param(3, True, SMALL_FILES, id="dynamic-small-files", marks=pytest.mark.long),
        pytest.param(1, True, SMALL_FILES, id="standalone"),
    ],
)
def test_power_fails_for_all_and_nothing_acknowledged_is_lost(
    shim: Path, tmp_path: Path, size: int, dynamic: bool, settings: dict[str, str]
) -> None:
    print(f"seed {FIRST_SEED}")
    with (
        LyingQuorum(shim, tmp_path, size=size, dynamic=dynamic, settings=settings) as quorum,
        Acknowledged(quorum, CLIENTS) as topics,
    ):
        Failures(quorum, topics, random.Random(FIRST_SEED)).fail_power_somehow(scaled(2))


def test_power_fails_for_all_and_their_supervisor_deletes_quorum_state(shim: Path, tmp_path: Path) -> None:
    """Whatever a power failure has left, it proves their votes."""
    print(f"seed {FIRST_SEED}")
    with (
        LyingQuorum(shim, tmp_path, dynamic=True, settings=SMALL_FILES) as quorum,
        Acknowledged(quorum, CLIENTS) as topics,
    ):
        quorum.deletes_votes = True
        Failures(quorum, topics, random.Random(FIRST_SEED)).fail_power_somehow(scaled(2))
        for node in quorum.nodes:
            node.await_log("It is written again with epoch")
            assert node.process is not None
            assert not any("does not vote" in line for line in node.process.lines())


@pytest.mark.long
def test_voters_are_killed_while_another_disk_is_slow(shim: Path, tmp_path: Path) -> None:
    """One after the other, and then all together.

    Votes are stored faster: if they took longer than an election, there would be no leader, as with Kafka.
    """
    rng = random.Random(FIRST_SEED)
    print(f"seed {FIRST_SEED}")
    with LyingQuorum(shim, tmp_path, dynamic=True) as quorum, Acknowledged(quorum) as topics:
        slow, *others = rng.sample(quorum.nodes, k=3)
        topics.await_more(3)
        for node in others[: scaled(1)]:
            quorum.disk(slow).rule(f"fsync stall {rng.randrange(1_000, 1_500)} .log", "fsync stall 100")
            node.kill()
            topics.await_more(1)
            quorum.disk(node).settle()
            node.start()
        Failures(quorum, topics, rng).fail_power(rng.choices(list(Aftermath), k=3))


def test_a_formatted_directory_survives(shim: Path, tmp_path: Path) -> None:
    """What `kraftctl format` reports as done is on disk, including the voters of a dynamic quorum."""
    node = KraftctlController(3000, tmp_path, random_id())
    node.write_configuration()
    node.log_directory.mkdir()
    disk = LyingDisk(shim, node.log_directory)
    format_command = kraftctl_command("format", *node.format_flags())
    subprocess.run(format_command, check=True, env={**os.environ, **disk.environment}, timeout=60)
    disk.fail_power(Aftermath.STRICT, random.Random(FIRST_SEED))
    node.start()
    try:
        await_result(lambda: leads(node), "the node leads")
    finally:
        node.kill()


FORCES_LESS = """
import os
from pathlib import Path
def forces(path):
    return {condition}
def forcing_some(call):
    def force(descriptor):
        if forces(Path(os.readlink(f"/proc/self/fd/{{descriptor}}"))):
            call(descriptor)
    return force
os.fsync, os.fdatasync = forcing_some(os.fsync), forcing_some(os.fdatasync)
"""
"""Compiled modules look `os.fsync` up with each call, and methods of their own classes only once."""

NO_FLUSH = FORCES_LESS.format(condition='path.suffix != ".log"')
NO_FLUSH_OF_SMALL_FILES = FORCES_LESS.format(condition='path.is_dir() or path.suffix == ".log"')
NO_FLUSH_OF_DIRECTORIES = FORCES_LESS.format(condition="not path.is_dir()")


@pytest.mark.parametrize(
    "planted",
    [
        pytest.param(NO_FLUSH, id="segments-are-not-flushed"),
        pytest.param(NO_FLUSH_OF_SMALL_FILES, id="small-files-are-not-flushed"),
        pytest.param(NO_FLUSH_OF_DIRECTORIES, id="directories-are-not-flushed"),
    ],
)
def test_a_controller_that_forces_too_little_is_found_out(shim: Path, tmp_path: Path, planted: str) -> None:
    """Checks the checker."""
    with LyingQuorum(shim, tmp_path, size=1, dynamic=False, planted=planted) as quorum:
        with Acknowledged(quorum) as topics:
            topics.await_more(3)

        def recover() -> None:
            quorum.fail_power([Aftermath.STRICT], random.Random(0))
            quorum.await_topics(topics.names, timeout_s=0.5)

        with pytest.raises((AssertionError, ProcessFailedError)) as raised:
            recover()
        print(raised.value)


def test_acknowledging_before_a_majority_has_forced_it_is_found_out(shim: Path, tmp_path: Path) -> None:
    """Checks the checker: whether or not the power failure comes at the right moment."""
    with LyingQuorum(shim, tmp_path, dynamic=False, planted=NO_FLUSH) as quorum:
        with Acknowledged(quorum) as topics:
            topics.await_more(3)
        quorum.kill_all()
        assert [count for _, count in quorum.forced_counts(topics.times) if count >= 2] == []
