"""Carries out the happenings of a plan on a cluster."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from functools import partial

from kraftctl.raft import effects
from tests.support.simulator.cluster.cluster import Cluster
from tests.support.simulator.cluster.process import LOST_POWER, ControllerProcess
from tests.support.simulator.cluster.watching import PlannedEnd
from tests.support.simulator.cluster.wire import Place
from tests.support.simulator.disks.disk import Failing
from tests.support.simulator.faults.operator import Operator
from tests.support.simulator.faults.places_of_faults import (
    CUTS,
    EFFECT_KINDS,
    PROMISES,
    RARE_EFFECTS,
    ROTTING,
    SEGMENTS,
)
from tests.support.simulator.faults.plan import FIRST_BROKER_ID, Happening, Plan
from tests.support.simulator.faults.rare_sequences import RareSequences, Steps
from tests.support.simulator.faults.rot import Rot

DISK_FULL_BYTES_MAX = 4_000

REFUSALS_APART_US = 250_000


class Chaos:
    """`happen` injects one fault, or something that the cluster has to do. `more` has other happenings."""

    def __init__(
        self,
        plan: Plan,
        cluster: Cluster,
        operator: Operator,
        more: Mapping[str, Callable[[random.Random], bool]],
    ) -> None:
        self._plan = plan
        self._cluster = cluster
        self._operator = operator
        self._sequences = RareSequences(plan, cluster, operator)
        self._rng = random.Random(0)
        self._kind = ""
        self._is_over = False
        self._happenings: dict[str, Callable[[], bool]] = {
            "restart": self._restart,
            "join": self._join,
            "kill": lambda: self._with_running(ControllerProcess.kill),
            "lose power": lambda: self._with_running(ControllerProcess.lose_power),
            "lose power everywhere": self._lose_power_everywhere,
            "kill everywhere": self._kill_everywhere,
            "end between effects": self._end_between_effects,
            "end after a rare effect": self._end_after_rare_effect,
            "end while the log is cut": self._end_while_the_log_is_cut,
            "lose power in a flush": self._lose_power_in_a_flush,
            "stop": lambda: self._with_running(ControllerProcess.stop),
            "freeze": lambda: self._with_running(ControllerProcess.freeze),
            "isolate": self._isolate,
            "isolate leader": self._isolate_leader,
            "cut one way": self._cut_one_way,
            "cut off broker": self._cut_off_broker,
            "separate": self._separate,
            "bridge": self._bridge,
            "refuse connections": self._refuse_connections,
            "wall clock jumps": self._wall_clock_jumps,
            "monotonic clock jumps": self._monotonic_clock_jumps,
            "disk full": self._disk_full,
            "fsync fails": self._fsync_fails,
            "reads fail": self._reads_fail,
            "bit rot": self._bit_rot,
            "log lost": self._log_lost,
            "votes lost": self._votes_lost,
            "directory lost": self._directory_lost,
            "old log restored": self._old_log_restored,
            "add voter": self._add_voter,
            "remove voter": self._remove_voter,
            "change voters twice": self._change_voters_twice,
            "upgrade kraft.version": self._operator.upgrade_kraft_version,
            "move voter": lambda: self._operator.move_voter(self._any().node_id),
            "snapshot": self._snapshot,
        }
        self._happenings |= self._rare(self._sequences) | self._injuries(Rot(cluster, operator))
        for kind, begin in more.items():
            self._happenings[kind] = partial(self._begin_of, begin)

    def _begin_of(self, begin: Callable[[random.Random], bool]) -> bool:
        return begin(self._rng)

    def _rare(self, sequences: RareSequences) -> dict[str, Callable[[], bool]]:
        return {
            "leaders in turn": lambda: self._begin(sequences.leaders_in_turn),
            "candidate loses records": lambda: self._begin(sequences.candidate_loses_records),
            "leader of two leaves": lambda: self._begin(sequences.leader_of_two_leaves),
            "leader alone changes voters": lambda: self._begin(sequences.leader_alone_changes_voters),
            "download alone": lambda: self._begin(sequences.download_alone),
            "remove voter while others are down": lambda: self._begin(sequences.remove_beside_down),
            "leader ends in a transaction": lambda: self._begin(sequences.leader_ends_in_a_transaction),
            "leader lacks records": lambda: sequences.leader_lacks_records(self._rng),
        }

    def _injuries(self, rot: Rot) -> dict[str, Callable[[], bool]]:
        return {
            "file lost": lambda: self._injure(rot.lose_file),
            "end of log lost": lambda: self._injure(rot.lose_end_of_log),
            "old votes restored": lambda: self._injure(rot.restore_old_votes),
            "quorum-state of a later release": lambda: self._injure(rot.replace_votes),
            "directory adopted": lambda: self._injure(rot.adopt_directory, is_down=False),
            "stop and lose end of log": lambda: self._injure(rot.stop_and_lose_end, is_down=False),
            "damaged download": lambda: rot.damage_download(self._any(), self._rng),
            "end twice": lambda: rot.end_twice(self._any(), self._rng),
        }

    def happen(self, happening: Happening) -> None:
        """Counted when it could be done."""
        if self._sequences.is_running:
            return
        self._kind = happening.kind
        self._rng = random.Random(happening.seed)
        if self._happenings[happening.kind]():
            self._cluster.counts[happening.kind] += 1

    def stop(self) -> None:
        """All faults end: no sequence of them continues."""
        self._sequences.stop()
        self._is_over = True

    def settle(self) -> None:
        """What a sequence left behind ends, too, once all processes are reachable."""
        self._sequences.end_transaction()

    def _with_running(self, action: Callable[[ControllerProcess], None]) -> bool:
        running = self._cluster.running()
        if running:
            action(self._rng.choice(running))
        return bool(running)

    def _any(self) -> ControllerProcess:
        return self._cluster.processes[self._rng.choice(self._plan.node_ids)]

    # The ways back.

    def _restart(self) -> bool:
        down = self._cluster.down()
        for process in down:
            process.heal_disk()
            self._operator.start(process)
        return bool(down)

    def _join(self) -> bool:
        self._cluster.wire.cut.clear()
        self._cluster.wire.refused.clear()
        for process in self._cluster.running():
            if process.is_frozen:
                self._cluster.counts["resumed"] += 1
            process.resume()
        return True

    # Processes.

    def _lose_power_everywhere(self) -> bool:
        for process in self._cluster.running():
            process.lose_power()
        return True

    def _kill_everywhere(self) -> bool:
        for process in self._cluster.running():
            process.kill()
        return True

    def _end_between_effects(self) -> bool:
        running = self._cluster.running()
        if not running:
            return False
        rng = self._rng
        process = rng.choice(running)
        kind = rng.choice(EFFECT_KINDS)
        power_fails = rng.random() < 0.7

        def end() -> None:
            process.watched.planned_end = None
            self._cluster.counts["ended between effects"] += 1
            if power_fails:
                process.lose_power()
            else:
                process.kill()

        count = rng.randint(1, 60) if kind is None else rng.randint(1, 3)
        process.watched.planned_end = PlannedEnd(count, kind, before=rng.random() < 0.5, end=end)
        return True

    def _end_after_rare_effect(self) -> bool:
        """Power fails where one of these happens first, soon after it: much of it is not forced yet."""
        delay_us = self._rng.choice((0, 100, 1_000, 20_000, 300_000))
        return self._end_after(self._rng.choice(RARE_EFFECTS), delay_us, self._rng.random() < 0.7)

    def _end_while_the_log_is_cut(self) -> bool:
        """Where that happens first; mostly a part of it has been done."""
        delay_us = self._rng.choice((0, 50, 200, 1_000))
        return self._end_after(CUTS, delay_us, self._rng.random() < 0.2)

    def _lose_power_in_a_flush(self) -> bool:
        """Of what the flush was to force, all, nothing or any sectors survive."""
        running = self._cluster.running()
        if not running:
            return False
        process = self._rng.choice(running)
        delay_us = self._rng.choice((0, 0, 50, 1_000))

        def end() -> None:
            process.watched.planned_end = None
            self._cluster.counts["lost power in a flush"] += 1
            assert process.lifetime is not None
            process.lifetime.after(delay_us, process.lose_power)

        count = self._rng.randint(1, 4)
        process.watched.planned_end = PlannedEnd(count, effects.FlushLog, before=False, end=end)
        return True

    def _end_after(
        self, kind: type[object] | tuple[type[object], ...], delay_us: int, power_fails: bool
    ) -> bool:
        running = self._cluster.running()

        def end(process: ControllerProcess) -> None:
            for other in running:
                if other.lifetime is not None:
                    other.watched.planned_end = None
            self._cluster.counts["ended after a rare effect"] += 1
            assert process.lifetime is not None
            process.lifetime.after(delay_us, process.lose_power if power_fails else process.kill)

        for process in running:
            process.watched.planned_end = PlannedEnd(1, kind, before=False, end=partial(end, process))
        return bool(running)

    # The network.

    def _isolate(self) -> bool:
        self._cluster.isolate(self._rng.choice(self._plan.node_ids))
        return True

    def _isolate_leader(self) -> bool:
        """Clients still reach it: it appends what it cannot commit."""
        leader = self._cluster.leader()
        if leader is None:
            return False
        self._cluster.isolate(leader.node_id)
        return True

    def _cut_one_way(self) -> bool:
        self._cluster.wire.cut.add(
            (self._rng.choice(self._plan.node_ids), self._rng.choice(self._plan.node_ids))
        )
        return True

    def _cut_off_broker(self) -> bool:
        """From some of the controllers, in one direction or both. Other brokers still reach it."""
        rng = self._rng
        if self._plan.broker_count == 0:
            return False
        client = f"broker-{FIRST_BROKER_ID + rng.randrange(self._plan.broker_count)}"
        node_ids = list(self._plan.node_ids)
        if rng.random() < 0.3:
            node_ids = rng.sample(node_ids, rng.randint(1, len(node_ids)))
        directions = rng.choice((1, 2, 3, 3, 3))
        for node_id in node_ids:
            if directions & 1:
                self._cluster.wire.cut.add((client, node_id))
            if directions & 2:
                self._cluster.wire.cut.add((node_id, client))
        return True

    def _halves(self) -> tuple[list[Place], list[Place]]:
        node_ids: list[Place] = list(self._plan.node_ids)
        self._rng.shuffle(node_ids)
        middle = len(node_ids) // 2
        return node_ids[:middle], node_ids[middle:]

    def _separate(self) -> bool:
        self._cluster.wire.separate(*self._halves())
        return len(self._plan.node_ids) > 1

    def _bridge(self) -> bool:
        """Two halves that do not reach each other, and one node that reaches both."""
        ones, others = self._halves()
        self._cluster.wire.separate(ones, others[1:])
        return bool(ones) and len(others) > 1

    def _refuse_connections(self) -> bool:
        """Some or all of the others cannot connect to the leader for a moment; it runs. Perhaps again soon,
        when another may lead.
        """
        duration_us = self._rng.choice((50_000, 50_000, 300_000, 3_000_000))
        is_series = self._rng.random() < 0.5
        share = 1.0 if is_series else self._rng.random()
        for number in range(6 if is_series else 1):
            at_us = number * (duration_us + REFUSALS_APART_US)
            self._cluster.time.call_after(at_us, partial(self._refuse_leader, share, duration_us))
        return True

    def _refuse_leader(self, share: float, duration_us: int) -> None:
        leader = self._cluster.leader()
        if leader is None or self._is_over:
            return
        others = [node_id for node_id in self._plan.node_ids if node_id != leader.node_id]
        links = {(node_id, leader.node_id) for node_id in others[: round(share * len(others))]}
        refused = self._cluster.wire.refused
        refused |= links
        self._cluster.time.call_after(duration_us, lambda: refused.difference_update(links))

    # Clocks.

    def _wall_clock_jumps(self) -> bool:
        process = self._any()
        process.jump_wall_clock(self._rng.choice((-1, 1)) * self._rng.choice((100, 10_000, 3_600_000)))
        return True

    def _monotonic_clock_jumps(self) -> bool:
        """As after a suspended machine: only ever forward."""
        running = self._cluster.running()
        if running:
            self._rng.choice(running).clock.offset_us += self._rng.choice((50_000, 1_500_000, 12_000_000))
        return bool(running)

    # Disks that fail, and recover when the process is restarted.

    def _disk_full(self) -> bool:
        self._any().disk.bytes_left = self._rng.randrange(DISK_FULL_BYTES_MAX)
        return True

    def _fsync_fails(self) -> bool:
        """Not on a damaged disk, see `_damage`."""
        process = self._any()
        if process.node_id in self._operator.damaged:
            return False
        process.disk.fsync_fails = self._rng.choice(list(Failing))
        return True

    def _reads_fail(self) -> bool:
        self._any().disk.read_fails = self._rng.choice(list(Failing))
        return True

    # Disks that lose what they held.

    def _victim(self) -> ControllerProcess | None:
        """A machine that may lose its data: never more than a minority of the voters in one run.

        Where observers make themselves voters, they count.
        """
        damaged = self._operator.damaged
        voter_ids = self._plan.node_ids if self._plan.joins else self._plan.voter_ids
        voters = [voter_id for voter_id in voter_ids if voter_id in damaged]
        room = (len(self._plan.voter_ids) - 1) // 2 - len(voters)
        node_id = self._rng.choice(self._plan.node_ids)
        if node_id in voter_ids and node_id not in damaged and room <= 0:
            return None
        return self._cluster.processes[node_id]

    def _damage(self, action: Callable[[ControllerProcess], bool], *, ends_process: bool) -> bool:
        """Not together with a power failure, or an fsync that failed: after it, the recovery point may be up
        to a second old, and what was durable after that is lost without a trace.
        """
        process = self._victim()
        if process is None or (process.lifetime is None and process.why_down == LOST_POWER):
            return False
        if process.disk.fsync_failures_count > 0:
            return False
        if ends_process:
            if process.lifetime is not None:
                process.kill()
            process.heal_disk()
        if not action(process):
            return False
        self._operator.damaged.add(process.node_id)
        return True

    def _injure(
        self, injury: Callable[[ControllerProcess, random.Random], bool], *, is_down: bool = True
    ) -> bool:
        return self._damage(lambda process: injury(process, self._rng), ends_process=is_down)

    def _bit_rot(self) -> bool:
        """Forced bytes that the disk does not return as they were written."""
        rng = self._rng

        def rot(process: ControllerProcess) -> bool:
            disk = process.disk
            is_static = not self._plan.dynamic and process.node_id in self._plan.voter_ids
            kinds = ROTTING if is_static else (*ROTTING, PROMISES)
            harm = rng.choice((disk.flip_bit, disk.flip_bit, disk.cut_tail, disk.append_garbage, disk.swap))
            # A checkpoint does not say at which offset it ends: one in the place of another goes unnoticed.
            damage = harm(rng, SEGMENTS if harm == disk.swap else kinds)
            process.note(f"damaged: {damage}")
            if damage is None:
                return False
            self._operator.rotted(process, damage)
            return True

        return self._damage(rot, ends_process=rng.random() < 0.5)

    def _log_lost(self) -> bool:
        return self._damage(self._operator.lose_log, ends_process=True)

    def _votes_lost(self) -> bool:
        """In half of the cases another controller has been there."""
        had_other = self._rng.random() < 0.5
        lose = partial(self._operator.lose_votes, had_other=had_other)
        return self._damage(lose, ends_process=True)

    def _directory_lost(self) -> bool:
        if not self._plan.dynamic:
            return False
        return self._damage(self._operator.lose_directory, ends_process=True)

    def _old_log_restored(self) -> bool:
        return self._damage(self._operator.restore_old_log, ends_process=True)

    # Work.

    def _add_voter(self) -> bool:
        node_id = self._rng.choice(self._plan.node_ids)
        waits = self._rng.random() < 0.5
        return self._now_or_at_next_election(lambda: self._operator.add_voter(node_id, waits=waits))

    def _remove_voter(self) -> bool:
        voter_seed = self._rng.getrandbits(32)
        return self._now_or_at_next_election(lambda: self._remove_one_voter(random.Random(voter_seed)))

    def _now_or_at_next_election(self, change: Callable[[], bool]) -> bool:
        """A new leader refuses until it has committed a record; the voters before it may not know it yet."""
        if self._rng.random() < 0.6:
            return change()
        self._operator.at_next_election(change)
        return True

    def _change_voters_twice(self) -> bool:
        """The second change is asked for before the first one can be committed."""
        rng = self._rng
        nodes = rng.sample(self._plan.node_ids, min(2, len(self._plan.node_ids)))
        voter_seed = rng.getrandbits(32)
        begun = self._operator.add_voter(nodes[0], waits=False)

        def second() -> None:
            if voter_seed & 1:
                self._operator.add_voter(nodes[-1], waits=False, overlaps=True)
            else:
                self._remove_one_voter(random.Random(voter_seed), overlaps=True)

        for delay_us in (1, 2_000, 5_000, 20_000):
            self._cluster.time.call_after(delay_us, second)
        return begun

    def _remove_one_voter(self, rng: random.Random, *, overlaps: bool = False) -> bool:
        """Not the leader of two voters: if the removal is on its disk alone, neither can be elected."""
        leader = self._cluster.leader()
        if leader is None:
            return False
        voter_ids = leader.raft.voter_set.voter_ids()
        voter_id = rng.choice(voter_ids)
        if len(voter_ids) < 2 or (len(voter_ids) == 2 and voter_id == leader.node_id):
            return False
        return self._operator.remove_voter(voter_id, overlaps=overlaps)

    def _begin(self, steps: Callable[[ControllerProcess], Steps]) -> bool:
        return self._sequences.begin(steps, self._kind, self._rng.getrandbits(32))

    def _snapshot(self) -> bool:
        running = [process for process in self._cluster.running() if self._rng.random() < 0.7]
        for process in running:
            process.make_snapshot_due()
        self._operator.back_up(self._any())
        return bool(running)
