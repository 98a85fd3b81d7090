"""A random history of a quorum: `run_chaos(seed)` chooses the kinds of faults, then injects them.

Swarm testing: in each run some kinds of faults are frequent and others do not occur, so that faults do not
hide each other's effects. The same seed is the same history.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from kraftctl.raft.effects import (
    AppendBatch,
    FlushLog,
    RaftEffect,
    Respond,
    SendRequest,
    StartOver,
    TruncateLog,
    WriteQuorumState,
)
from tests.support.simulator.raft_cluster import RaftCluster, Replica
from tests.support.simulator.raft_faults import (
    DiskSpeed,
    Faults,
    PlannedCrash,
    fast_disk,
    slow_disk,
    stalling_disk,
)
from tests.support.simulator.voter_requests import add_voter, remove_voter

LIVENESS_MS = 60_000
"""Many election timeouts without any fault: enough for candidates that disturb each other."""

STEPS = (30, 60, 90)
"""The steps of a history: before each, time passes; then one thing happens."""

CRASH_KINDS: tuple[type[RaftEffect] | None, ...] = (
    None,
    WriteQuorumState,
    AppendBatch,
    FlushLog,
    TruncateLog,
    StartOver,
    SendRequest,
    Respond,
)

ALL_FAST, ONE_SLOW, ALL_SLOW, STALLING = "all are fast", "one is slow", "all are slow", "some fsyncs stall"


def run_chaos(seed: int, voter_count: int | None = None) -> RaftCluster:
    """Raises AssertionError, which names the invariant that does not hold."""
    return Chaos(seed, voter_count).run()


def settle(cluster: RaftCluster) -> None:
    """EventuallyLeaderElected, ValuesEventuallyAcked: without faults all replicas end with the same log."""
    cluster.heal()
    cluster.restart_all()
    _run_until(cluster, lambda: _all_follow(cluster), "EventuallyLeaderElected")
    leader = cluster.leader()
    assert leader is not None
    before = len(cluster.committed)
    cluster.append(leader, 1)
    _run_until(cluster, lambda: len(cluster.committed) > before and _all_agree(cluster), "NoLogDivergence")
    cluster.checks.check_durability()


def _run_until(cluster: RaftCluster, is_so: Callable[[], bool], invariant: str) -> None:
    """It may hold only briefly, before candidates disturb each other: then it has to hold again."""
    until_ms = cluster.now_ms + LIVENESS_MS
    while not is_so():
        assert cluster.now_ms < until_ms, f"{invariant}: not within {LIVENESS_MS} ms without faults"
        cluster.run_for(500)


def _all_follow(cluster: RaftCluster) -> bool:
    leader = cluster.leader()
    if leader is None or leader.high_watermark < leader.disk.end_offset:
        return False
    return all(
        replica.node is not None
        and replica.node.leader_id == leader.node_id
        and replica.disk.recovering_epoch is None
        for replica in cluster.replicas.values()
    )


def _all_agree(cluster: RaftCluster) -> bool:
    committed = len(cluster.committed)
    return _all_follow(cluster) and all(
        replica.high_watermark == committed == replica.disk.end_offset
        for replica in cluster.replicas.values()
    )


class Chaos:
    """One history. `rng` decides what happens; the cluster has its own generator for the timing."""

    def __init__(self, seed: int, voter_count: int | None = None) -> None:
        rng = self.rng = random.Random(seed)
        count = voter_count or rng.choice((1, 2, 3, 3, 3, 4, 5, 5, 7))
        self.voter_ids = list(range(1, count + 1))
        self.observer_ids = [11, 12][: rng.randint(0, 2)]
        dynamic = rng.random() < 0.6
        self.changes_voters = dynamic and rng.random() < 0.5
        self.kind = "voters change" if self.changes_voters else "dynamic" if dynamic else "static"
        self.node_ids = self.voter_ids + self.observer_ids
        self.cluster = RaftCluster(
            seed,
            self.voter_ids,
            self.observer_ids,
            dynamic=dynamic,
            faults=self._draw_faults(),
            voters_change=self.changes_voters,
            clock_percents=self._draw_clocks(),
            retry_backoff_ms=rng.choice((20, 100, 300, 300)),
            encodes=rng.random() < 0.2,
        )
        self.steps = rng.choice(STEPS)
        self.pause_ms_max = rng.choice((200, 600, 1_200, 3_000))
        self.happenings = self._draw_happenings()

    def _draw_faults(self) -> Faults:
        rng = self.rng
        slow_links = {}
        if rng.random() < 0.2:
            for _ in range(rng.randint(1, 4)):
                slow_links[rng.choice(self.node_ids), rng.choice(self.node_ids)] = rng.randint(100, 3_000)
        return Faults(
            loss=rng.choice((0.0, 0.0, 0.02, 0.2)),
            delay_ms_max=rng.choice((1, 5, 50, 400)),
            duplicates=rng.choice((0.0, 0.0, 0.05, 0.3)),
            slow_links=slow_links,
            disks=self._draw_disks(),
        )

    def _draw_disks(self) -> dict[int, DiskSpeed]:
        rng = self.rng
        kind = rng.choice((ALL_FAST, ONE_SLOW, ALL_SLOW, STALLING))
        disks: dict[int, DiskSpeed] = dict.fromkeys(self.node_ids, fast_disk)
        if kind == ONE_SLOW:
            disks[rng.choice(self.voter_ids)] = slow_disk
        elif kind == ALL_SLOW:
            disks = dict.fromkeys(self.node_ids, slow_disk)
        elif kind == STALLING:
            disks = dict.fromkeys(self.node_ids, stalling_disk)
        return disks

    def _draw_clocks(self) -> dict[int, int]:
        if self.rng.random() < 0.7:
            return {}
        return {node_id: self.rng.randint(90, 110) for node_id in self.node_ids}

    def _draw_happenings(self) -> list[Callable[[], None]]:
        """Each kind has a weight of 0 to 3 in this history; the steps of recovery always occur."""
        weighted: list[Callable[[], None]] = [self._append] * 8 + [self._restart] * 5 + [self._join] * 3
        kinds = [
            self._lose_power,
            self._kill,
            self._plan_crash,
            self._plan_crash,
            self._isolate,
            self._cut_one_way,
            self._take_snapshots,
            self._freeze,
            self._forget,
            self._lose_power_everywhere,
        ]
        if self.changes_voters:
            kinds += [self._add_voter, self._remove_voter]
        for kind in kinds:
            weighted += [kind] * self.rng.choice((0, 0, 0, 1, 2, 3))
        return weighted

    def run(self) -> RaftCluster:
        for _ in range(self.steps):
            self.cluster.run_for(self.rng.randint(0, self.pause_ms_max))
            self.rng.choice(self.happenings)()
        settle(self.cluster)
        return self.cluster

    # What happens

    def _running(self) -> list[Replica]:
        return [replica for replica in self.cluster.replicas.values() if replica.node is not None]

    def _append(self) -> None:
        for replica in self._running():
            if replica.node is not None and replica.node.is_leader and not replica.is_frozen:
                self.cluster.append(replica, self.rng.randint(1, 3))

    def _restart(self) -> None:
        self.cluster.restart_all()

    def _join(self) -> None:
        self.cluster.cut.clear()
        for node_id in self.node_ids:
            self.cluster.resume(node_id)

    def _lose_power(self) -> None:
        self.cluster.crash_with_any_tail(self.rng.choice(self.node_ids))

    def _lose_power_everywhere(self) -> None:
        for node_id in self.node_ids:
            self.cluster.crash_with_any_tail(node_id)

    def _kill(self) -> None:
        self.cluster.kill(self.rng.choice(self.node_ids))

    def _plan_crash(self) -> None:
        rng = self.rng
        replica = self.cluster.replicas[rng.choice(self.node_ids)]
        kind = rng.choice(CRASH_KINDS)
        replica.planned_crash = PlannedCrash(
            rng.randint(1, 40) if kind is None else rng.randint(1, 3),
            kind,
            before=rng.random() < 0.5,
            power_fails=rng.random() < 0.7,
        )

    def _isolate(self) -> None:
        self.cluster.isolate(self.rng.choice(self.node_ids))

    def _cut_one_way(self) -> None:
        self.cluster.cut.add((self.rng.choice(self.node_ids), self.rng.choice(self.node_ids)))

    def _take_snapshots(self) -> None:
        for replica in self._running():
            if self.rng.random() < 0.5 and not replica.is_frozen and replica.node is not None:
                self.cluster.take_snapshot(replica)

    def _freeze(self) -> None:
        self.cluster.freeze(self.rng.choice(self.node_ids))

    def _forget(self) -> None:
        """Never more than a minority at a time, and none while voters change."""
        node_id = self.rng.choice(self.node_ids)
        disks = {voter_id: self.cluster.replicas[voter_id].disk for voter_id in self.voter_ids}
        forgotten = {voter_id for voter_id, disk in disks.items() if disk.recovering_epoch is not None}
        if node_id in self.voter_ids:
            forgotten.add(node_id)
        if not self.changes_voters and len(forgotten) <= (len(self.voter_ids) - 1) // 2:
            log, votes = self.rng.choice(((True, True), (True, True), (True, False), (False, True)))
            self.cluster.forget(node_id, log=log, votes=votes)

    def _add_voter(self) -> None:
        leader = self.cluster.leader()
        if leader is not None and not leader.is_frozen:
            self.cluster.ask(leader, add_voter(self.rng.choice(self.node_ids)))

    def _remove_voter(self) -> None:
        """Not the leader of two voters: if the removal is on its disk alone, neither can be elected."""
        leader = self.cluster.leader()
        if leader is not None and leader.node is not None and not leader.is_frozen:
            voter_ids = leader.node.voter_set.voter_ids()
            voter_id = self.rng.choice(voter_ids)
            if len(voter_ids) > 2 or voter_id != leader.node_id:
                self.cluster.ask(leader, remove_voter(voter_id))
