"""Sequences of events that random faults hardly ever cause, and that some rules of raft are there for."""

from __future__ import annotations

import random
from collections.abc import Callable, Generator, Iterator

from kraftctl.node.events import NodeEffect
from kraftctl.raft.effects import SendRequest, WriteQuorumState
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.begin_transaction_record import BeginTransactionRecord
from kraftctl_protocol.generated.end_transaction_record import EndTransactionRecord
from kraftctl_protocol.generated.fetch_request import FetchRequest
from kraftctl_protocol.generated.fetch_response import EpochEndOffset, FetchResponse
from kraftctl_protocol.generated.fetch_snapshot_request import FetchSnapshotRequest
from kraftctl_protocol.generated.no_op_record import NoOpRecord
from kraftctl_protocol.message import Message
from tests.support.simulator.checks import removals
from tests.support.simulator.checks.checked_replica import CheckedReplica
from tests.support.simulator.cluster.cluster import Cluster
from tests.support.simulator.cluster.process import ControllerProcess
from tests.support.simulator.cluster.users import ADMIN, USERS
from tests.support.simulator.cluster.wire import LinkFaults, Place
from tests.support.simulator.faults.operator import Operator
from tests.support.simulator.faults.plan import FIRST_BROKER_ID, Plan
from tests.support.simulator.faults.sequence import LOOK_US, BeforeEffect, Pause, Sequence, Until, Wait

CHECK_QUORUM_ENDS_MS = 5_500
"""After that a leader that is alone must have resigned, with the longest fetch timeout and every excuse."""

A_BATCH = [NoOpRecord()] * 4

ANSWERED_US = 300_000
"""After that a leader has answered, on good links."""


Steps = Generator[Wait, None, bool]
"""Returns whether the sequence went to its end."""


class RareSequences:
    """`begin` one: it starts what is down, and waits until all voters are level with an active leader."""

    def __init__(self, plan: Plan, cluster: Cluster, operator: Operator) -> None:
        self._plan = plan
        self._cluster = cluster
        self._operator = operator
        self._rng = random.Random(0)
        self._sequence = Sequence(plan, cluster)
        self.stop = self._sequence.stop

    @property
    def is_running(self) -> bool:
        return self._sequence.is_running

    def end_transaction(self) -> None:
        """The active controller ends the transaction that a sequence began and, stopped, never ends."""
        leader = self._cluster.active()
        if leader is None or leader.controller.image.journal.transaction_start is None:
            return
        if leader.loop.is_busy():
            # Written now, the record would be in its image before it can be in its log.
            self._cluster.time.call_after(LOOK_US, self.end_transaction)
        else:
            leader.write(EndTransactionRecord())

    def begin(self, steps: Callable[[ControllerProcess], Steps], name: str, seed: int) -> bool:
        self._rng = random.Random(seed)
        return self._sequence.run(self._when_settled(steps, name))

    def _when_settled(self, steps: Callable[[ControllerProcess], Steps], name: str) -> Iterator[Wait]:
        for process in self._cluster.running():
            process.resume()
        self._start_again(self._cluster.down())
        yield Until(lambda: self._settled_leader() is not None)
        leader = self._settled_leader()
        assert leader is not None
        if (yield from steps(leader)):
            self._cluster.counts[f"{name}: to the end"] += 1

    def _start_again(self, processes: list[ControllerProcess]) -> None:
        for process in processes:
            if process.lifetime is None:
                process.heal_disk()
                self._operator.start(process)

    def _settled_leader(self) -> ControllerProcess | None:
        """The active controller, if it is a voter, and all voters have everything that it has."""
        leader = self._cluster.active()
        if leader is None or not leader.raft.is_leader or not leader.raft.voter_set.is_voter(leader.key):
            return None
        for voter_id in leader.raft.voter_set.voter_ids():
            process = self._cluster.processes[voter_id]
            if not _is_ready(process) or process.raft.epoch != leader.raft.epoch:
                return None
            if process.partition.log.durable_end_offset != leader.raft.end_offset:
                return None
        return leader

    def _other_voters(self, leader: ControllerProcess) -> list[ControllerProcess]:
        voter_ids = leader.raft.voter_set.voter_ids()
        return [self._cluster.processes[voter_id] for voter_id in voter_ids if voter_id != leader.node_id]

    def _replica(self, process: ControllerProcess) -> CheckedReplica:
        return self._cluster.checks.quorum.replicas[process.key]

    def leaders_in_turn(self, leader: ControllerProcess) -> Steps:
        """As in figure 8 of the paper on Raft, with batches: two leaders append in turn, without a commit.

        The log of the first then has a batch in which an epoch of the second ends.
        """
        elected = leader

        def is_election(process: ControllerProcess, effect: NodeEffect) -> bool:
            nonlocal elected
            if not isinstance(effect, WriteQuorumState) or effect.state.leader_id != process.node_id:
                return False
            elected = process
            return True

        if len(leader.raft.voter_set) != 3:
            return False
        self._cluster.isolate(leader.node_id)
        leader.write_all(A_BATCH)
        for _ in range(2):
            yield BeforeEffect(is_election)
            self._sequence.join()
            self._cluster.isolate(elected.node_id)
        yield BeforeEffect(is_election)
        return True

    def candidate_loses_records(self, leader: ControllerProcess) -> Steps:
        """KIP-595: after it has a vote, and before it has won. Enough other voters have these records."""
        candidate = leader

        def is_vote(process: ControllerProcess, effect: NodeEffect) -> bool:
            nonlocal candidate
            if not isinstance(effect, WriteQuorumState) or effect.state.has_leader():
                return False
            if effect.state.voted_id in (-1, process.node_id):
                return False
            candidate = self._cluster.processes[effect.state.voted_id]
            return True

        if self._operator.damaged or self._plan.changes_voters or len(leader.raft.voter_set) < 3:
            return False
        self._cluster.isolate(leader.node_id)
        yield BeforeEffect(is_vote)
        yield Pause(1)
        end_offset = self._end_that_may_be_lost(candidate)
        if end_offset is None:
            return False
        candidate.kill()
        self._operator.lose_tail(candidate, end_offset)
        self._operator.start(candidate)
        yield Pause(1_500_000)
        return True

    def _end_that_may_be_lost(self, candidate: ControllerProcess) -> int | None:
        """Where its log may end from now on: a majority without it has everything, so any leader has."""
        if candidate.lifetime is None or candidate.raft.state_name != "Candidate":
            return None
        lost = self._replica(candidate)
        batches = lost.log.batches
        snapshot_end = 0 if lost.newest_snapshot is None else lost.newest_snapshot.offset
        start_offset = max(snapshot_end, candidate.raft.log_start_offset, 1)
        ends = [batch.base_offset for batch in batches[-3:] if batch.base_offset >= start_offset]
        if not ends or lost.log.durable_end != lost.log.end:
            return None
        voters = candidate.raft.voter_set
        holders = 0
        for key, replica in self._cluster.checks.quorum.replicas.items():
            if key != candidate.key and voters.is_voter(key) and not (replica.is_gone or replica.is_excused):
                holders += replica.log.is_durable(batches[-1])
        return self._rng.choice(ends) if holders > len(voters) // 2 else None

    def leader_of_two_leaves(self, leader: ControllerProcess) -> Steps:
        """It removes itself, and is cut off as soon as the other voter has that on its disk.

        Not earlier, and nothing may happen to the two: neither of them could be elected.
        """

        def knows(process: ControllerProcess, effect: NodeEffect) -> bool:
            is_fetch = isinstance(effect, SendRequest) and isinstance(effect.request, FetchRequest)
            return is_fetch and process is last and last.raft.voter_set.is_only_voter(last.key)

        def leaves() -> bool:
            is_settled = self._settled_leader() is leader and len(leader.raft.voter_set) == 2
            return is_settled and self._operator.remove_voter(leader.node_id)

        others = self._other_voters(leader)
        if not self._plan.changes_voters or len(others) not in (1, 2):
            return False
        if len(others) == 2:
            last = others.pop(self._rng.randrange(2))
            self._operator.remove_voter(others[0].node_id)
        else:
            last = others[0]
        yield Until(leaves, 3_000)
        yield BeforeEffect(knows, 60_000)
        self._cluster.isolate(leader.node_id)
        yield Pause(CHECK_QUORUM_ENDS_MS * 1000)
        return True

    def download_alone(self, leader: ControllerProcess) -> Steps:
        """The only follower that a leader has left fetches a snapshot, for longer than check-quorum waits."""

        def is_trimmed() -> bool:
            if leader.lifetime is not None:
                leader.make_snapshot_due()
            return leader.raft.log_start_offset > loader.raft.end_offset

        def downloads(process: ControllerProcess, effect: NodeEffect) -> bool:
            is_request = isinstance(effect, SendRequest) and isinstance(effect.request, FetchSnapshotRequest)
            return is_request and process is loader

        others = self._other_voters(leader)
        if len(others) != 2:
            return False
        self._rng.shuffle(others)
        loader, other = others
        self._cluster.isolate(loader.node_id)
        yield Until(is_trimmed)
        self._sequence.join()
        yield BeforeEffect(downloads)
        timeout_ms = leader.config.controller_quorum_fetch_timeout_ms
        self._cluster.isolate(other.node_id)
        slow: dict[tuple[Place, Place], int] = {(loader.node_id, leader.node_id): timeout_ms * 600}
        self._cluster.wire.faults = LinkFaults(slow_links=slow)
        yield Pause(timeout_ms * 3_000)
        return True

    def leader_alone_changes_voters(self, leader: ControllerProcess) -> Steps:
        """It is cut off, and asked to remove a voter shortly before it must resign."""
        if not self._plan.changes_voters or len(leader.raft.voter_set) < 3:
            return False
        self._cluster.isolate(leader.node_id)
        yield Pause(leader.config.controller_quorum_fetch_timeout_ms * 1_350)
        if not self._operator.remove_voter(self._rng.choice(self._other_voters(leader)).node_id):
            return False
        yield Pause(CHECK_QUORUM_ENDS_MS * 1000)
        return True

    def remove_beside_down(self, leader: ControllerProcess) -> Steps:
        """As many voters are down as may be. The leader removes another one only where a majority of those
        that remain works. It is forced to sometimes: those that are down keep their disks, and are back soon.
        """
        others = self._other_voters(leader)
        down = self._rng.sample(others, len(others) // 2)
        if not self._plan.changes_voters or not down:
            return False
        for process in down:
            self._rng.choice((ControllerProcess.kill, ControllerProcess.lose_power))(process)
        life = leader.life, leader.raft.epoch
        # A Fetch that was sent before still arrives.
        late_us = self._cluster.wire.late_us_max
        yield Pause(leader.config.controller_quorum_fetch_timeout_ms * 1_200 + late_us)
        working = [leader, *[process for process in others if process not in down]]
        leaving = self._rng.choice(working if self._rng.random() < 0.8 else down)
        # A change from before the leader could miss the others: a voter that it adds counts here.
        voters = {leader, *self._other_voters(leader)}
        if not (leader.raft.voter_set.is_voter(leader.key) and voters.issuperset(others)):
            return False
        if not self._operator.remove_voter(leaving.node_id):
            return False
        yield Pause(ANSWERED_US)
        if leader.lifetime is None or (leader.life, leader.raft.epoch) != life or not leader.raft.is_leader:
            return False
        remaining = voters - {leaving}
        if {leader, *self._other_voters(leader)} - {leaving} != remaining:
            return False
        is_allowed = removals.check(
            leader.node_id,
            leaving.key,
            remaining=len(remaining),
            working=len(remaining - set(down)),
            is_removed=not leader.raft.voter_set.is_voter(leaving.key),
        )
        self._cluster.counts[f"removals {'allowed' if is_allowed else 'refused'} while voters are down"] += 1
        if not is_allowed and self._rng.random() < 0.5:
            self._cluster.counts["removals forced while voters are down"] += 1
            self._operator.remove_voter(leaving.node_id, forced=True)
            yield Pause(ANSWERED_US)
        self._start_again(down)
        yield Until(lambda: self._settled_leader() is not None)
        return True

    def leader_ends_in_a_transaction(self, leader: ControllerProcess) -> Steps:
        """As a controller of Kafka may (KIP-868): the next leader aborts the transaction.

        Where anything else has come in between, the transaction ends: model brokers cannot undo it.
        """
        clients = (ADMIN, *USERS, *[f"broker-{FIRST_BROKER_ID + i}" for i in range(self._plan.broker_count)])
        self._cluster.wire.cut |= {(client, leader.node_id) for client in clients}
        yield Pause(ANSWERED_US)
        if not _is_ready(leader) or not leader.controller.active:
            return False
        if leader.controller.image.journal.transaction_start is not None:
            return False  # that of an earlier sequence, and they do not nest
        start = leader.raft.end_offset
        leader.write(BeginTransactionRecord(name="left open"))
        yield Until(lambda: leader.lifetime is None or leader.raft.high_watermark > start, 2_000)
        if leader.lifetime is None or not leader.controller.active:
            return False
        if leader.controller.image.journal.transaction_start is None:
            return False  # another leader, or this one when it led again, has aborted it
        inside = [batch for batch in self._replica(leader).log.batches if batch.base_offset > start]
        if any(batch.changes_metadata() for batch in inside):
            self.end_transaction()
            return False
        leader.kill()
        yield Pause(ANSWERED_US)
        self._start_again([leader])
        yield Until(lambda: self._cluster.active() is not None)
        return True

    # One answer of a leader.

    def leader_lacks_records(self, rng: random.Random) -> bool:
        """One answer of it, as if it had lost what is committed: the follower must not follow. Half of them
        are new processes, which have learned of no high watermark yet.
        """
        followers = [
            process
            for process in self._cluster.running()
            if process.raft.state_name == "Follower" and self._ends_below_high_watermark(process)
        ]
        if followers:
            process = rng.choice(followers)
            known = -1
            if _is_ready(process) and rng.random() < 0.5:
                point = process.partition.recovery_point.point
                assert point is not None
                known = point.committed_end
                process.kill()
                self._operator.start(process)
            process.forge = lambda response: self._forget(process, response, rng, known)
        return bool(followers)

    def _ends_below_high_watermark(
        self, process: ControllerProcess, known: int = -1
    ) -> list[tuple[int, int]]:
        """(offset, epoch of the record before it) of the ends of batches that its log still has, below what
        it or its former process has known to be committed.
        """
        raft = process.raft
        return [
            (batch.end, batch.epoch)
            for batch in self._replica(process).log.batches
            if raft.log_start_offset < batch.end < max(raft.high_watermark, known)
        ]

    def _forget(self, process: ControllerProcess, response: Message, rng: random.Random, known: int) -> None:
        if not isinstance(response, FetchResponse) or not response.responses:
            return
        partition = response.responses[0].partitions[0]
        ends = self._ends_below_high_watermark(process, known)
        if partition.error_code != Errors.NONE or process.raft.state_name != "Follower" or not ends:
            return
        process.forge = None
        end_offset, epoch = rng.choice(ends)
        partition.diverging_epoch = EpochEndOffset(epoch=epoch, end_offset=end_offset)
        partition.records = b""
        self._operator.misled(process)


def _is_ready(process: ControllerProcess) -> bool:
    return (
        process.lifetime is not None
        and not process.is_frozen
        and not process.watched.paused
        and process.partition.recovering_epoch is None
    )
