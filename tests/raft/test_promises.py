"""What a replica claims, grants and counts while disks are slow and peers lose data."""

from __future__ import annotations

from itertools import pairwise

import pytest

from kraftctl.raft.effects import AppendBatch, FlushLog, RaftEffect, TruncateLog
from kraftctl.raft.election_state import ElectionState
from kraftctl.raft.events import LogFlushed, RaftEvent, ResponseReceived, SnapshotDownloaded
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.fetch_response import FetchResponse
from kraftctl_protocol.generated.remove_raft_voter_request import RemoveRaftVoterRequest
from kraftctl_protocol.generated.vote_request import PartitionData, TopicData, VoteRequest
from kraftctl_protocol.generated.vote_response import VoteResponse
from kraftctl_protocol.record_batch import encode_batch
from tests.support.effort import seeds
from tests.support.simulator.raft_cluster import RaftCluster, Replica
from tests.support.simulator.raft_faults import Faults
from tests.support.simulator.raft_transcript import CLUSTER_ID, directory_id

VOTERS = [1, 2, 3]
ELECTION_MS = 15_000


class SlowDisks(RaftCluster):
    """The flushes of replicas in `stalled` do not end before `release`."""

    def __init__(self, seed: int, voter_ids: list[int]) -> None:
        self.stalled: set[int] = set()
        self.held: dict[int, FlushLog] = {}
        self.forged: dict[int, int] = {}
        super().__init__(seed, voter_ids, [], dynamic=True, faults=Faults())

    def _flush(self, replica: Replica, effect: FlushLog) -> None:
        if replica.node_id in self.stalled:
            self.held[replica.node_id] = effect
        else:
            super()._flush(replica, effect)

    def release(self, node_id: int) -> None:
        self.stalled.discard(node_id)
        effect = self.held.pop(node_id, None)
        if effect is not None:
            replica = self.replicas[node_id]
            replica.disk.flush(effect)
            self.step(replica, LogFlushed(effect.end_offset))

    def forge(self, node_id: int, *, leader_epoch: int) -> None:
        """The next answer to a Fetch of `node_id` names this epoch."""
        self.forged[node_id] = leader_epoch

    def step(self, replica: Replica, event: RaftEvent) -> None:
        if isinstance(event, ResponseReceived) and isinstance(event.response, FetchResponse):
            epoch = self.forged.pop(replica.node_id, None)
            if epoch is not None:
                partition = event.response.responses[0].partitions[0]
                partition.error_code = Errors.FENCED_LEADER_EPOCH
                partition.current_leader.leader_epoch = epoch
                partition.current_leader.leader_id = -1
        super().step(replica, event)

    def lose_power(self, node_id: int) -> None:
        self.held.pop(node_id, None)
        self.crash(node_id)


def leader_of(cluster: RaftCluster) -> Replica:
    leader = cluster.leader()
    assert leader is not None
    return leader


@pytest.mark.parametrize("seed", seeds(12))
def test_a_candidate_does_not_claim_what_a_power_failure_takes(seed: int) -> None:
    """LeaderCompleteness: C has X in memory only, gets B's vote for it, loses it, and asks again."""
    cluster = SlowDisks(seed, VOTERS)
    cluster.run_for(6_000)
    a = leader_of(cluster)
    b, c = (cluster.replicas[voter_id] for voter_id in VOTERS if voter_id != a.node_id)
    cluster.stalled.add(c.node_id)
    cluster.append(a, 1)
    cluster.run_for(200)
    assert a.high_watermark == a.disk.end_offset == c.disk.end_offset > c.disk.flushed_offset
    cluster.crash(a.node_id)
    for _ in range(ELECTION_MS):
        cluster.run_for(1)
        election = b.disk.quorum_state
        if c.node is not None and election is not None and election.voted_id == c.node_id:
            cluster.lose_power(c.node_id)
            cluster.start(c)
            break
    cluster.run_for(ELECTION_MS)
    cluster.release(c.node_id)
    cluster.run_for(ELECTION_MS)
    assert leader_of(cluster) is b


def test_recovery_ends_when_all_is_flushed() -> None:
    """Otherwise a power failure could lose it again, and this replica would vote without it."""
    cluster = SlowDisks(8, VOTERS)
    cluster.run_for(6_000)
    leader = leader_of(cluster)
    cluster.append(leader, 5)
    cluster.run_for(500)
    victim = next(replica for replica in cluster.replicas.values() if replica is not leader)
    cluster.forget(victim.node_id)
    cluster.stalled.add(victim.node_id)
    cluster.restart_all()
    cluster.run_for(1_500)
    assert cluster.held[victim.node_id].end_offset >= leader.high_watermark
    assert victim.recovering_epoch is not None
    cluster.release(victim.node_id)
    cluster.run_for(1_500)
    assert victim.recovering_epoch is None
    assert victim.disk.flushed_offset >= leader.high_watermark


def test_a_leader_that_left_one_other_voter_resigns_when_it_is_cut_off() -> None:
    """KAFKA-15489: the voter that remains is another one, and gets no message of it."""
    cluster = SlowDisks(1, [1, 2])
    cluster.run_for(6_000)
    leader = leader_of(cluster)
    assert leader.node is not None
    epoch = leader.node.epoch
    cluster.isolate(leader.node_id)
    request = RemoveRaftVoterRequest(
        cluster_id=CLUSTER_ID, voter_id=leader.node_id, voter_directory_id=directory_id(leader.node_id)
    )
    cluster.ask(leader, request)
    assert len(leader.node.voter_set) == 1
    cluster.run_for(3_100)
    assert not leader.node.is_leader
    assert leader.node.epoch >= epoch


def test_a_leader_says_when_a_voter_has_lost_records() -> None:
    cluster = SlowDisks(2, VOTERS)
    cluster.run_for(6_000)
    leader = leader_of(cluster)
    other = next(voter_id for voter_id in VOTERS if voter_id != leader.node_id)
    cluster.append(leader, 4)
    cluster.run_for(500)
    had = leader.disk.end_offset
    cluster.forget(other)
    cluster.restart_all()
    cluster.run_for(3_000)
    lines = [line for line in cluster.lines if "it has lost part of its log" in line]
    assert len(lines) == 1
    assert f"fetches from offset 0, although it had everything up to {had} on disk" in lines[0]


@pytest.mark.parametrize("pre_vote", [True, False], ids=["pre-vote", "vote"])
def test_a_replica_outside_of_the_voter_set_cannot_depose_an_active_leader(pre_vote: bool) -> None:
    """KIP-996: neither its pre-vote nor its Vote changes anything, on disk or in memory."""
    cluster = SlowDisks(3, VOTERS)
    cluster.run_for(6_000)
    leader = leader_of(cluster)
    assert leader.node is not None
    epoch = leader.node.epoch
    written = [line for line in cluster.lines if "write quorum-state" in line]
    for replica in cluster.replicas.values():
        for ahead in (1, 100, 1 << 29):
            request = vote_request(epoch + ahead, 77, leader.disk.end_offset, pre_vote=pre_vote)
            answers = cluster.ask(replica, request)
            assert isinstance(answers[0], VoteResponse)
            partition = answers[0].topics[0].partitions[0]
            assert (partition.vote_granted, partition.leader_epoch) == (False, epoch + ahead)
    cluster.run_for(5_000)
    assert leader.node.is_leader
    assert leader.node.epoch == epoch
    assert [line for line in cluster.lines if "write quorum-state" in line] == written


def test_a_leader_that_does_not_answer_is_not_active() -> None:
    """KIP-853: voters that this replica does not know yet may have elected one of them."""
    cluster = RaftCluster(3, VOTERS, [11], dynamic=True, faults=Faults())
    cluster.run_for(6_000)
    leader = leader_of(cluster)
    assert leader.node is not None
    observer = cluster.replicas[11]
    assert observer.node is not None
    epoch = leader.node.epoch + 1
    request = vote_request(epoch, 77, leader.disk.end_offset, pre_vote=False)
    cluster.ask(observer, request)
    assert observer.node.epoch == epoch - 1
    for voter_id in VOTERS:
        cluster.crash(voter_id)
    cluster.run_for(2_500)
    cluster.ask(observer, request)
    assert observer.node.epoch == epoch


def vote_request(epoch: int, candidate_id: int, last_offset: int, *, pre_vote: bool) -> VoteRequest:
    partition = PartitionData(
        replica_epoch=epoch,
        replica_id=candidate_id,
        replica_directory_id=directory_id(candidate_id),
        last_offset_epoch=epoch - 1,
        last_offset=last_offset,
        pre_vote=pre_vote,
    )
    return VoteRequest(topics=[TopicData(topic_name="__cluster_metadata", partitions=[partition])])


def test_a_voter_that_is_ahead_by_an_epoch_rejoins_the_quorum() -> None:
    """EventuallyLeaderElected: its requests change nothing, its responses to the leader do."""
    cluster = SlowDisks(4, VOTERS)
    cluster.run_for(6_000)
    leader = leader_of(cluster)
    assert leader.node is not None
    ahead = next(voter_id for voter_id in VOTERS if voter_id != leader.node_id)
    cluster.crash(ahead)
    cluster.replicas[ahead].disk.quorum_state = ElectionState(epoch=leader.node.epoch + 5, data_version=1)
    cluster.restart_all()
    cluster.run_for(30_000)
    leader = leader_of(cluster)
    assert [replica.node.leader_id for replica in cluster.replicas.values() if replica.node] == [
        leader.node_id
    ] * 3
    cluster.append(leader, 1)
    cluster.run_for(500)
    assert leader.high_watermark == leader.disk.end_offset


def test_a_leader_that_lacks_what_is_committed_ends_its_follower() -> None:
    """Two disks have lost what they had confirmed: the third must neither truncate nor fetch forever."""
    cluster = SlowDisks(5, VOTERS)
    cluster.run_for(6_000)
    leader = leader_of(cluster)
    before = leader.disk.end_offset
    cluster.append(leader, 3)
    cluster.run_for(1_000)
    witness = cluster.replicas[max(voter_id for voter_id in VOTERS if voter_id != leader.node_id)]
    assert witness.high_watermark == before + 3
    for replica in cluster.replicas.values():
        if replica is not witness:
            cluster.crash(replica.node_id)
            replica.disk.batches = [batch for batch in replica.disk.batches if batch.last_offset < before]
            replica.disk.flushed_offset = before
    cluster.committed = cluster.committed[:before]
    cluster.isolate(witness.node_id)
    cluster.restart_all()
    cluster.run_for(10_000)
    cluster.cut.clear()
    with pytest.raises(AssertionError, match=r"everything up to offset \d+ is known to be committed"):
        cluster.run_for(10_000)


def test_damaged_downloads_are_repeated_at_growing_intervals() -> None:
    cluster = SlowDisks(6, VOTERS)
    cluster.run_for(6_000)
    leader = leader_of(cluster)
    behind = next(voter_id for voter_id in VOTERS if voter_id != leader.node_id)
    cluster.append(leader, 40)
    cluster.run_for(1_000)
    cluster.take_snapshot(leader)
    cluster.forget(behind)
    disk = cluster.replicas[behind].disk
    whole = disk.downloaded
    disk.downloaded = lambda snapshot_id: SnapshotDownloaded(snapshot_id, 0)  # type: ignore[method-assign]
    cluster.restart_all()
    cluster.run_for(60_000)
    lines = [line.split(" ") for line in cluster.lines]
    finished_ms = [int(words[0]) for words in lines if words[1:3] == [str(behind), "finish"]]
    pauses_ms = [after - before for before, after in pairwise(finished_ms)]
    assert 5 <= len(finished_ms) <= 8
    assert all(after >= 1.5 * before for before, after in pairwise(pauses_ms))
    assert leader.node is not None
    assert leader.node.is_leader, "the follower keeps fetching"
    disk.downloaded = whole  # type: ignore[method-assign]
    cluster.run_for(70_000)
    assert disk.end_offset == leader.disk.end_offset


def test_unusable_records_are_fetched_again_at_growing_intervals() -> None:
    """At most once per half a fetch timeout in the end; the follower keeps its leader meanwhile."""
    cluster = SlowDisks(7, [1, 2])
    cluster.run_for(6_000)
    leader = leader_of(cluster)
    other = 3 - leader.node_id
    cluster.isolate(other)
    cluster.append(leader, 1)
    last = leader.disk.batches[-1]
    whole = last.batch
    last.batch = whole[:-1] + bytes([whole[-1] ^ 1])
    cluster.run_for(100)
    cluster.cut.clear()
    cluster.run_for(4_000)
    lines_count = len(cluster.lines)
    cluster.run_for(16_000)
    assert not [line for line in cluster.lines[lines_count:] if "Transition to Prospective" in line]
    complaints = [line for line in cluster.lines if "are unusable" in line]
    assert 15 <= len(complaints) <= 40
    assert leader.node is not None
    assert leader.node.is_leader
    last.batch = whole
    cluster.run_for(2_000)
    assert cluster.replicas[other].disk.end_offset == leader.disk.end_offset


def test_a_response_that_names_the_last_epoch_is_ignored() -> None:
    """No election could follow it. A peer may have stored it when such epochs were still accepted."""
    cluster = SlowDisks(8, VOTERS)
    cluster.run_for(6_000)
    leader = leader_of(cluster)
    other = next(voter_id for voter_id in VOTERS if voter_id != leader.node_id)
    last_epoch = (1 << 31) - 1
    cluster.forge(other, leader_epoch=last_epoch)
    cluster.run_for(3_000)
    assert leader.node is not None
    assert leader.node.is_leader
    assert any(f"names epoch {last_epoch}" in line for line in cluster.lines)


class Boundaries(RaftCluster):
    """Core and disk agree about the end of a truncated log."""

    def check(self, replica: Replica, effect: RaftEffect) -> None:
        super().check(replica, effect)
        if isinstance(effect, TruncateLog):
            assert replica.disk.end_offset == effect.end_offset


def test_a_log_is_never_truncated_in_the_middle_of_a_batch() -> None:
    """LogMatching: the leader's epoch ends within a batch that another epoch wrote here."""
    cluster = Boundaries(9, VOTERS, [], dynamic=False, faults=Faults())
    begins = [(1, 0, 2)]
    logs = {1: begins, 2: [*begins, (2, 3, 5), (4, 6, 6)], 3: [*begins, (3, 3, 4)]}
    for voter_id, batches in logs.items():
        cluster.crash(voter_id)
        disk = cluster.replicas[voter_id].disk
        disk.quorum_state = ElectionState(epoch=4, leader_id=2 if voter_id == 2 else -1)
        for epoch, base, last in batches:
            data = encode_batch(base, epoch, 0, [b"x"] * (last - base + 1))
            disk.batches.append(AppendBatch(base, last, epoch, data, False))
        disk.flushed_offset = disk.end_offset
    cluster.isolate(2)
    cluster.restart_all()
    cluster.run_for(10_000)
    assert leader_of(cluster).node_id == 3
    cluster.cut.clear()
    cluster.run_for(10_000)
    assert [line for line in cluster.lines if line.endswith("2 truncate 3")]
    assert {replica.disk.end_offset for replica in cluster.replicas.values()} == {
        leader_of(cluster).disk.end_offset
    }
