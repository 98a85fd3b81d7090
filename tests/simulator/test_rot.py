"""Damage that is aimed at what a start has to notice: it is where it should be, and is noticed."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

import pytest

from kraftctl_protocol.log_file_names import PARTITION_DIRECTORY, QUORUM_STATE
from tests.support.simulator.cluster.cluster import Cluster
from tests.support.simulator.cluster.process import ControllerProcess
from tests.support.simulator.disks.disks import fast_disk
from tests.support.simulator.faults import log_damage
from tests.support.simulator.faults.operator import RECOVERY_POINT, Operator
from tests.support.simulator.faults.rot import Rot

SEGMENT = f"{PARTITION_DIRECTORY}/00000000000000000000.log"
VOTES = f"{PARTITION_DIRECTORY}/{QUORUM_STATE}"

WITHOUT_DAMAGE = 2
"""The seed of a directory that is adopted as it is."""


class Damaged:
    """Three controllers, of which the last follower was killed."""

    def __init__(self) -> None:
        self.cluster = Cluster(1, [1, 2, 3], dynamic=True)
        self.operator = Operator(self.cluster)
        self.rot = Rot(self.cluster, self.operator)
        self.rng = random.Random(1)

    def settle(self) -> None:
        self.cluster.start()
        self.cluster.await_active()
        self.cluster.run_for(3_000)
        self.victim = [process for process in self.cluster.running() if not process.controller.active][-1]

    @property
    def log(self) -> bytes:
        return self.victim.disk.content(SEGMENT)

    def injure(self, injury: Callable[[ControllerProcess, random.Random], bool]) -> str:
        """Why the next start is refused."""
        self.operator.back_up(self.victim)
        self.victim.kill()
        assert injury(self.victim, self.rng)
        return self.cluster.restart(self.victim)


@pytest.fixture
def damaged() -> Iterator[Damaged]:
    found = Damaged()
    with found.cluster.files.attach():
        found.settle()
        yield found


def test_the_end_of_the_log(damaged: Damaged) -> None:
    before = damaged.log
    assert "everything was durable" in damaged.injure(damaged.rot.lose_end_of_log)
    kept_bytes = len(damaged.log)
    assert damaged.log == before[:kept_bytes] != before


def test_the_middle_of_the_log(damaged: Damaged) -> None:
    before = damaged.log
    damage = log_damage.damage_the_middle(damaged.victim.disk, damaged.rng)
    assert damage is not None
    assert len(damaged.log) == len(before)
    differing = [at for at, pair in enumerate(zip(before, damaged.log, strict=True)) if len(set(pair)) > 1]
    assert damage.position <= differing[0] <= differing[-1] < len(before) - 50


def test_a_segment(damaged: Damaged) -> None:
    damaged.rng = random.Random(2)
    while not damaged.operator.rotten:
        refusal = damaged.injure(damaged.rot.lose_file)
    assert damaged.victim.disk.state(SEGMENT) is not None
    assert refusal == ""
    assert damaged.victim.partition.recovering_epoch is not None


def test_votes_of_a_later_release(damaged: Damaged) -> None:
    assert "is not supported" in damaged.injure(damaged.rot.replace_votes)


@pytest.mark.parametrize("seed", range(4))
def test_older_votes(damaged: Damaged, seed: int) -> None:
    damaged.rng = random.Random(seed)
    before = damaged.victim.disk.content(VOTES)
    refusal = damaged.injure(damaged.rot.restore_old_votes)
    assert ("older copy" in refusal) is (damaged.victim.disk.content(VOTES) != before)


def test_a_directory_without_a_recovery_point(damaged: Damaged) -> None:
    damaged.operator.damaged.add(damaged.victim.node_id)
    assert damaged.rot.adopt_directory(damaged.victim, damaged.rng)
    assert damaged.victim.disk.state(RECOVERY_POINT) is not None
    assert damaged.cluster.counts["starts refused"] == 1


def test_a_directory_without_a_recovery_point_that_never_had_votes() -> None:
    """It was killed in its first start: nothing is left that shows that it has not voted."""
    found = Damaged()
    with found.cluster.files.attach():
        victim = found.cluster.processes[1]
        victim.set_speed(lambda _rng: 1_000_000)
        found.cluster.start()
        found.cluster.run_for(500)
        assert victim.disk.state(VOTES) is None
        assert found.rot.adopt_directory(victim, found.rng)
        assert victim.partition.recovering_epoch is not None
        victim.set_speed(fast_disk)
        found.cluster.run_for(10_000)
        assert victim.partition.recovering_epoch is None


def test_a_directory_without_a_recovery_point_that_has_votes(damaged: Damaged) -> None:
    """Those are in quorum-state: to recover would cost the quorum a voter for nothing."""
    assert damaged.rot.adopt_directory(damaged.victim, random.Random(WITHOUT_DAMAGE))
    assert damaged.cluster.counts["starts refused"] == 0
    assert damaged.victim.partition.recovering_epoch is None
    assert not damaged.cluster.checks.quorum.replicas[damaged.victim.key].is_excused


def test_the_end_of_what_a_stop_has_flushed(damaged: Damaged) -> None:
    assert damaged.rot.stop_and_lose_end(damaged.victim, damaged.rng)
    damaged.cluster.run_for(7_000)
    assert damaged.victim.why_down == "stopped"
    assert "everything was durable" in damaged.cluster.restart(damaged.victim)


def test_a_process_that_ends_twice(damaged: Damaged) -> None:
    life = damaged.victim.life
    assert damaged.rot.end_twice(damaged.victim, damaged.rng)
    damaged.cluster.run_for(2_000)
    assert (damaged.victim.life, damaged.victim.why_down) == (life + 1, "lost power")
    assert damaged.cluster.restart(damaged.victim) == ""


def test_a_damaged_download_is_repeated(damaged: Damaged) -> None:
    victim = damaged.victim
    victim.kill()
    damaged.operator.lose_log(victim)
    for process in damaged.cluster.running():
        process.config.metadata_max_retention_bytes = 0
    for _ in range(3):
        for process in damaged.cluster.running():
            process.make_snapshot_due()
        damaged.cluster.run_for(1_000)
    assert damaged.rot.damage_download(victim, damaged.rng)
    assert damaged.cluster.restart(victim) == ""
    damaged.cluster.run_for(10_000)
    assert damaged.cluster.counts["downloads damaged"] == 1
    assert victim.partition.recovering_epoch is None
