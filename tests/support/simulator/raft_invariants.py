"""Named properties of the quorum, checked after every effect. The names are Kafka's and the TLA+ models'."""

from __future__ import annotations

from itertools import pairwise

from kraftctl.raft.raft_node import RaftNode
from kraftctl.raft.replica_key import ReplicaKey
from kraftctl.raft.voter_set import VoterSet
from tests.support.raft_disk import RaftDisk

STATES_OF_VOTERS = frozenset(["Prospective", "Candidate"])


def single_leader(leaders: dict[int, int], epoch: int, node_id: int) -> None:
    """KIP-595 SingleLeader: no epoch is led by two replicas, nor twice by one that restarted."""
    assert epoch not in leaders, f"SingleLeader: {leaders[epoch]}, then {node_id} led {epoch}"
    leaders[epoch] = node_id


def leader_completeness(disk: RaftDisk, committed: list[tuple[int, bytes]]) -> None:
    """KIP-595 LeaderCompleteness: who is elected has everything that was ever committed."""
    assert committed_log(disk)[: len(committed)] == committed, "LeaderCompleteness"


def monotonic_high_watermark(before: int, after: int) -> None:
    """KIP-595 MonotonicHighWatermark, within one process; brokers die of the contrary."""
    assert after > before, "MonotonicHighWatermark"


def consistent_committed_data(disk: RaftDisk, offset: int, committed: list[tuple[int, bytes]]) -> None:
    """KIP-595 ConsistentCommittedData: what one replica takes for committed is so for all, for ever."""
    common = min(len(committed), offset)
    assert committed_log(disk)[:common] == committed[:common], "ConsistentCommittedData"


def majority_reached_high_watermark(voters: list[RaftDisk], offset: int) -> None:
    """KIP-595 MajorityReachedHighWatermark: on disk, not merely written."""
    holders = [disk for disk in voters if disk.flushed_offset >= offset]
    assert len(holders) > len(voters) // 2, "MajorityReachedHighWatermark"


def observers_never_vote(node: RaftNode, key: ReplicaKey) -> None:
    """KIP-853 ObserversNeverVote: only who is in its own latest voter set stands for election.

    A leader that removed itself leads until that is committed.
    """
    assert node.state_name not in STATES_OF_VOTERS or node.voter_set.is_voter(key), "ObserversNeverVote"


def next_voter_set_overlaps(history: list[tuple[int, VoterSet]]) -> None:
    """KIP-853 NextVoterSetOverlaps: any two majorities of neighbouring voter sets share a voter."""
    for (_, before), (_, after) in pairwise(history):
        assert before.has_overlapping_majority(after), "NextVoterSetOverlaps"


def at_most_one_uncommitted_voter_change(history: list[tuple[int, VoterSet]], high_watermark: int) -> None:
    """KIP-853 AtMostOneUncommittedVoterChange: a leader waits for one change before it makes the next."""
    if high_watermark >= 0:
        uncommitted = [offset for offset, _ in history if offset >= high_watermark]
        assert len(uncommitted) <= 1, "AtMostOneUncommittedVoterChange"


def committed_log(disk: RaftDisk) -> list[tuple[int, bytes]]:
    """One entry per offset: the epoch and the batch it is in."""
    return [
        (batch.epoch, batch.batch)
        for batch in disk.cut + disk.batches
        for _ in range(batch.base_offset, batch.last_offset + 1)
    ]
