"""One run: a plan is carried out on a cluster, then all faults end and everything has to be well again."""

from __future__ import annotations

import gc
import random
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from tests.support.simulator.brokers.admin import ModelAdmin
from tests.support.simulator.brokers.broker_profiles import KAFKA_4_3, KAFKA_4_4
from tests.support.simulator.brokers.broker_world import BrokerWorld
from tests.support.simulator.brokers.brokers import ModelBroker
from tests.support.simulator.brokers.client_mix import ClientMix
from tests.support.simulator.checks.replication_settled import can_run, why_not_settled
from tests.support.simulator.cluster.cluster import CLUSTER_ID, Cluster
from tests.support.simulator.cluster.process import ControllerProcess
from tests.support.simulator.cluster.users import AUTHORIZER
from tests.support.simulator.coverage import count_records
from tests.support.simulator.faults.chaos import Chaos
from tests.support.simulator.faults.departures import Departures
from tests.support.simulator.faults.operator import Operator
from tests.support.simulator.faults.plan import DISK_SPEEDS, FIRST_BROKER_ID, PROFILES, Happening, Plan
from tests.support.simulator.faults.slice_happenings import SliceHappenings
from tests.support.simulator.timely_ends import LOOK_US, TimelyEnds

CHECKPOINT_MS = 5_000
LIVENESS_MS = 60_000
"""Many election timeouts without any fault: enough for candidates that disturb each other."""

VOTE = 52
UPDATE_RAFT_VOTER = 82
OLD_VERSIONS = {1: 17, VOTE: 1, 53: 1, 54: 1, 59: 1, 62: 4}
"""Fetch, Vote, BeginQuorumEpoch, EndQuorumEpoch, FetchSnapshot and BrokerRegistration of Kafka 3.9."""

WITHOUT_BROKERS = ("alter_quotas", "alter_scram", "create_acls")
"""What an admin can change when there are no brokers."""


def _mix(plan: Plan, rng: random.Random) -> ClientMix:
    mix = ClientMix.draw(rng)
    if PROFILES[plan.profile].stresses_isrs:
        mix.stress_isrs()
    if plan.large_brokers:
        mix.enlarge_brokers(rng)
    if plan.is_wide:
        mix.widen(rng, has_authorizer=AUTHORIZER.keys() <= plan.properties.keys())
    if plan.broker_count == 0:
        mix.forwarded_share = 0.0
        mix.operations = {name: float(name in WITHOUT_BROKERS) for name in mix.operations}
    mix.operations["change_voters"] = 0.0
    return mix


class Simulation:
    """`run` it once; AssertionError names the invariant that does not hold."""

    def __init__(self, plan: Plan, *, traced: bool = False) -> None:
        self.plan = plan
        self.trace: list[str] | None = [] if traced else None
        rng = random.Random(plan.seed)
        self.cluster = Cluster(
            rng.getrandbits(64),
            plan.voter_ids,
            plan.observer_ids,
            dynamic=plan.dynamic,
            properties=plan.properties,
            metadata_version=plan.metadata_version,
        )
        self.checks = self.cluster.checks
        self.operator = Operator(self.cluster)
        self.operator.deletes_votes = plan.deletes_votes
        mix = _mix(plan, rng)
        self._world = BrokerWorld(
            cluster_id=CLUSTER_ID,
            bootstrap=list(plan.voter_ids),
            network=self.cluster.clients,
            time=self.cluster.time,
            watch=self.checks.brokers,
            mix=mix,
            static_voter_ids=() if plan.dynamic else plan.voter_ids,
        )
        self._world.damage_is_possible = lambda: bool(self.operator.damaged)
        self.brokers = [
            ModelBroker(broker_id, self._world, random.Random(rng.getrandbits(64)), profile=profile)
            for broker_id, profile in enumerate(plan.broker_profiles, FIRST_BROKER_ID)
        ]
        self.admin = ModelAdmin(self._world, self.brokers, random.Random(rng.getrandbits(64)))
        more = SliceHappenings(self.cluster, self.brokers).table()
        self.chaos = Chaos(plan, self.cluster, self.operator, more)
        self._departures = Departures(self.cluster, self.brokers, self._all_run)
        self._timely_ends = TimelyEnds(self.cluster, self.brokers)
        self.checks.partitions.may_ask_for_unclean = mix.operations["elect_unclean"] > 0
        self._prepare()

    @property
    def counts(self) -> Counter[str]:
        """Everything that was injected, and what brokers and admins have seen and done."""
        disks = [process.disk for process in self.cluster.processes.values()]
        drawn = {
            "writes to a full disk": sum(disk.no_space_count for disk in disks),
            "failed fsyncs": sum(disk.fsync_failures_count for disk in disks),
            "failed reads": sum(disk.read_failures_count for disk in disks),
            "drifting clocks": len(self.plan.clock_percents),
            "wall clocks apart": len(self.plan.wall_ahead_ms),
            "controllers of an older release": len(self.plan.old_releases),
            "brokers of an older release": sum(
                broker.disk.profile not in (KAFKA_4_3, KAFKA_4_4) for broker in self.brokers
            ),
            "controllers of a static quorum that know no voters": (
                0 if self.plan.dynamic else len(self.plan.observer_ids)
            ),
        }
        records = count_records(self.checks.history.committed)
        return self.cluster.counts + self._world.counts + Counter(drawn) + records

    def _prepare(self) -> None:
        plan, cluster = self.plan, self.cluster
        cluster.wire.faults = plan.links
        for node_id, process in cluster.processes.items():
            process.set_speed(DISK_SPEEDS[plan.disks[node_id]])
            process.clock_percent = plan.clock_percents.get(node_id, 100)
            process.turns_seed = plan.seed
            process.turn_units, process.turn_us_max = plan.turn_units, plan.turn_us_max
            process.wall_ahead_ms = plan.wall_ahead_ms.get(node_id, 0)
            process.versions_max = self._versions_max(node_id)
            process.on_failure = self.operator.failed
            process.on_election = self.operator.elected
            process.trace = self.trace

    def _versions_max(self, node_id: int) -> dict[int, int]:
        """Where voters change, all send pre-votes, but in a wide run."""
        if node_id not in self.plan.old_releases:
            return {}
        versions = dict(OLD_VERSIONS)
        if not self.plan.dynamic and not self.plan.upgrades:
            versions[UPDATE_RAFT_VOTER] = -1  # before Kafka 3.9
        if not self.plan.is_wide and (self.plan.changes_voters or self.plan.upgrades or self.plan.joins):
            del versions[VOTE]
        return versions

    def run(self) -> None:
        with self.cluster.files.attach():
            self.cluster.start()
            for broker in self.brokers:
                broker.start()
            self.admin.start()
            for happening in self.plan.happenings:
                self.cluster.time.call_at(happening.at_ms * 1000, partial(self._happen, happening))
            self._look()
            for at_ms in range(CHECKPOINT_MS, self.plan.duration_ms, CHECKPOINT_MS):
                self.cluster.time.call_at(at_ms * 1000, self._checkpoint)
            self.cluster.time.run_until(self.plan.duration_ms * 1000)
            self._settle()
        gc.unfreeze()  # controllers freeze what they load, for the rest of their process

    def _happen(self, happening: Happening) -> None:
        if self.trace is not None:
            self.trace.append(f"{happening}")
        self.chaos.happen(happening)
        self._timely_ends.look()

    def _look(self) -> None:
        self._timely_ends.look()
        self.cluster.time.call_after(LOOK_US, self._look)

    def _checkpoint(self) -> None:
        with self._readable() as processes:
            self.checks.checkpoint(self.cluster.running(), processes)

    @contextmanager
    def _readable(self) -> Iterator[list[ControllerProcess]]:
        """The running processes whose disks hold what was written; meanwhile no read fails."""
        processes = [
            process
            for process in self.cluster.running()
            if process.node_id not in self.operator.rotten and process.partition.log.is_in_service
        ]
        failing = [(process.disk, process.disk.read_fails) for process in processes]
        for disk, _ in failing:
            disk.read_fails = None
        yield processes
        for disk, read_fails in failing:
            disk.read_fails = read_fails

    def _settle(self) -> None:
        """EventuallyLeaderElected, ValuesEventuallyAcked: without faults all replicas end with one log."""
        cluster = self.cluster
        self.chaos.stop()
        cluster.heal()
        self.chaos.settle()
        self._checkpoint()
        self.operator.replace_rotten_disks()
        for broker in self.brokers:
            broker.calm()
        if self.plan.large_brokers:
            self._departures.begin(random.Random(self.plan.seed))
        self.admin.stop()
        committed = self.checks.committed_end
        cluster.run_until(self._all_follow, LIVENESS_MS, "EventuallyLeaderElected")
        if self.plan.upgrades:
            cluster.run_until(self.operator.has_upgraded, LIVENESS_MS, "ReconfigurationNotStuck")
        if self.plan.joins:
            cluster.run_until(self._all_vote, LIVENESS_MS, "ReconfigurationNotStuck")
        cluster.run_until(lambda: self.admin.is_idle, LIVENESS_MS, "EventuallyAnswered")
        self._departures.settle()
        self._settle_brokers()
        if self.plan.is_wide:
            cluster.run_until(self.admin.create_first_topic, LIVENESS_MS, "EventuallyAnswered")
            self._settle_brokers()
        if self.plan.large_brokers and all(broker.is_running for broker in self.brokers):
            self._departures.return_after_all_have_left(random.Random(self.plan.seed))
            self._settle_brokers()
        wanted = max([committed + 1, *[process.raft.end_offset for process in cluster.running()]])
        cluster.run_until(lambda: self._all_have(wanted), LIVENESS_MS, "ValuesEventuallyAcked")
        cluster.run_until(lambda: self._brokers_have(wanted), LIVENESS_MS, "EventuallyMetadataConverges")
        leader = cluster.active()
        assert leader is not None
        with self._readable() as processes:
            self.checks.checkpoint(cluster.running(), processes)
        self.checks.final(cluster.running(), self._broker_ids(leader), committed)
        self.admin.history.check_final(leader.controller.image)

    def _settle_brokers(self) -> None:
        """EventuallyUnfenced, EventuallyReassignmentCompletes."""
        until_us = self.cluster.time.now_us + LIVENESS_MS * 1000
        while (missing := self._why_not_settled()) is not None:
            assert self.cluster.time.now_us < until_us, missing
            self.cluster.run_for(500)

    def _why_not_settled(self) -> str | None:
        leader = self.cluster.active()
        if not self._all_run() or leader is None:
            return "EventuallyLeaderElected: no active controller"
        elr_has_changed = self.admin.elr_has_changed
        return why_not_settled(self.brokers, leader.controller.image, elr_has_changed=elr_has_changed)

    def _broker_ids(self, leader: ControllerProcess) -> list[int]:
        """Of those whose release supports the features of the cluster."""
        image = leader.controller.image
        return [broker.broker_id for broker in self.brokers if can_run(broker, image)]

    def _brokers_have(self, end_offset: int) -> bool:
        leader = self.cluster.active()
        return leader is not None and all(
            broker.disk.image.end_offset >= end_offset
            for broker in self.brokers
            if can_run(broker, leader.controller.image)
        )

    def _all_run(self) -> bool:
        """A process whose disk turns out to be damaged is repaired."""
        for process in self.cluster.down():
            self.operator.start(process)
        return not self.operator.has_open_changes

    def _all_follow(self) -> bool:
        leader = self.cluster.active()
        if not self._all_run() or leader is None:
            return False
        return self.operator.later_epochs.is_none(leader, self.brokers) and all(
            process.raft.leader_id == leader.node_id and process.partition.recovering_epoch is None
            for process in self.cluster.running()
        )

    def _all_vote(self) -> bool:
        """All controllers have made themselves voters."""
        leader = self.cluster.active()
        return (
            self._all_follow()
            and leader is not None
            and len(leader.raft.voter_set) == len(self.plan.node_ids)
        )

    def _all_have(self, end_offset: int) -> bool:
        return self._all_follow() and all(
            process.raft.high_watermark >= end_offset and process.controller.next_replay_offset >= end_offset
            for process in self.cluster.running()
        )
