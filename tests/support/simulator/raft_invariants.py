"""Named properties of the quorum, checked after every effect. The names are Kafka's and the TLA+ models'."""

from __future__ import annotations

from itertools import pairwise

from kraftctl.raft.raft_node import RaftNode
from kraftctl.raft.replica_key import ReplicaKey
from kraftctl.raft.voter_set import VoterSet
from tests.support.simulator.raft_disk import RaftDisk

STATES_OF_VOTERS = frozenset(["Prospective", "Candidate"])


def single_leader(leaders: dict[int, int], epoch: int, node_id: int) -> None:
    """KIP-595 SingleLeader: no epoch is led by two replicas, nor twice by one that restarted."""
    assert epoch not in leaders, f"SingleLeader: {leaders[epoch]}, then {node_id} led {epoch}"
    leaders[epoch] = node_id


def leader_completeness(disk: RaftDisk, committed: list[tuple[int, bytes]]) -> None:
    """KIP-595 LeaderCompleteness: an elected leader has everything that was ever committed."""
    assert committed_log(disk)[: len(committed)] == committed, "LeaderCompleteness"


def monotonic_high_watermark(before: int, after: int) -> None:
    """KIP-595 MonotonicHighWatermark, within one process; a decrease ends brokers."""
    assert after > before, "MonotonicHighWatermark"


def consistent_committed_data(disk: RaftDisk, offset: int, committed: list[tuple[int, bytes]]) -> None:
    """KIP-595 ConsistentCommittedData: all replicas agree on what is committed, for ever."""
    common = min(len(committed), offset)
    assert committed_log(disk)[:common] == committed[:common], "ConsistentCommittedData"


def majority_reached_high_watermark(voters: list[RaftDisk], offset: int) -> None:
    """KIP-595 MajorityReachedHighWatermark: on disk, not merely written.

    A replica that has lost it does not vote until it has it again.
    """
    holders = [disk for disk in voters if disk.flushed_offset >= offset or disk.recovering_epoch is not None]
    assert len(holders) > len(voters) // 2, "MajorityReachedHighWatermark"


def durability(voters: list[RaftDisk], committed: list[tuple[int, bytes]]) -> None:
    """KIP-595 Durability: what was ever committed is on a majority's disks, unless they were lost."""
    holders = [disk for disk in voters if disk.recovering_epoch is not None or _holds(disk, committed)]
    assert len(holders) > len(voters) // 2, "Durability"


def _holds(disk: RaftDisk, committed: list[tuple[int, bytes]]) -> bool:
    count = len(committed)
    return disk.flushed_offset >= count and committed_log(disk)[:count] == committed


def committed_is_kept(end_offset: int, high_watermark: int) -> None:
    """KIP-595 Durability: no replica drops what it knows to be committed."""
    assert end_offset >= high_watermark, "Durability: committed records were truncated"


def truncated_between_batches(disk: RaftDisk, end_offset: int) -> None:
    """LogMatching: the core knows where the log ends on disk, which keeps whole batches only."""
    assert disk.end_offset == end_offset, f"LogMatching: {end_offset} is not the end of a batch"


def monotonic_epoch(before: int, after: int) -> None:
    """MonotonicEpoch: quorum-state never goes back, across all crashes."""
    assert after >= before, f"MonotonicEpoch: quorum-state of epoch {after} after {before}"


def promise_is_on_disk(disk: RaftDisk, epoch: int) -> None:
    """MonotonicEpoch: no message names an epoch that a crash of its sender could take back."""
    written = -1 if disk.quorum_state is None else disk.quorum_state.epoch
    assert epoch <= written, f"MonotonicEpoch: epoch {epoch} is named while quorum-state says {written}"


def append_follows_quorum_state(disk: RaftDisk, epoch: int) -> None:
    """MonotonicEpoch: an epoch and its leader are in quorum-state before they are in the log."""
    state = disk.quorum_state
    assert state is not None, f"MonotonicEpoch: a batch of epoch {epoch} without quorum-state"
    assert epoch < state.epoch or (epoch == state.epoch and state.has_leader()), (
        f"MonotonicEpoch: a batch of epoch {epoch} while quorum-state says {state!r}"
    )


def vote_is_on_disk(disk: RaftDisk, epoch: int, candidate_id: int) -> None:
    """ElectionSafety: a vote that the voter forgets could also be given to another candidate."""
    state = disk.quorum_state
    assert state is not None, "ElectionSafety: a vote without quorum-state"
    assert (state.epoch, state.voted_id) == (epoch, candidate_id), f"ElectionSafety: {state!r} on disk"


def one_vote_per_epoch(votes: dict[tuple[int, int], int], voter_id: int, epoch: int, candidate: int) -> None:
    """ElectionSafety: one vote per epoch, across crashes and lost disks; candidates vote for themselves."""
    given = votes.setdefault((voter_id, epoch), candidate)
    assert given == candidate, f"ElectionSafety: {voter_id} voted for {given} and {candidate} in {epoch}"


def claim_is_on_disk(disk: RaftDisk, end_offset: int, last_epoch: int) -> None:
    """LeaderCompleteness: a Fetch or Vote claims nothing that a power failure could take away."""
    assert end_offset <= disk.flushed_offset, (
        f"LeaderCompleteness: offset {end_offset} is claimed, {disk.flushed_offset} is on disk"
    )
    known = disk.last_epoch_at(end_offset)
    assert last_epoch == known, f"LeaderCompleteness: epoch {last_epoch} is claimed at {end_offset}: {known}"


def observers_never_vote(node: RaftNode, key: ReplicaKey) -> None:
    """KIP-853 ObserversNeverVote: only a member of its own latest voter set becomes a candidate.

    A leader that removed itself leads until that is committed.
    """
    assert node.state_name not in STATES_OF_VOTERS or node.voter_set.is_voter(key), "ObserversNeverVote"


def majorities_overlap(one: VoterSet, other: VoterSet) -> bool:
    """At most one voter was added and at most one removed: any two majorities then share a voter."""
    ones = {node.key for node in one.nodes.values()}
    others = {node.key for node in other.nodes.values()}
    return len(ones - others) <= 1 and len(others - ones) <= 1


def next_voter_set_overlaps(history: list[tuple[int, VoterSet]]) -> None:
    """KIP-853 NextVoterSetOverlaps: any two majorities of neighbouring voter sets share a voter."""
    for (_, before), (_, after) in pairwise(history):
        assert majorities_overlap(before, after), "NextVoterSetOverlaps"


def at_most_one_uncommitted_voter_change(history: list[tuple[int, VoterSet]], committed: int) -> None:
    """KIP-853 AtMostOneUncommittedVoterChange: a leader waits for one change before it makes the next.

    `committed` is what any replica considered committed: a new leader may not know that the last change is.
    """
    uncommitted = [offset for offset, _ in history if offset >= max(committed, 0)]
    assert len(uncommitted) <= 1, "AtMostOneUncommittedVoterChange"


def committed_log(disk: RaftDisk) -> list[tuple[int, bytes]]:
    """One entry per offset: the epoch and the batch it is in."""
    return [
        (batch.epoch, batch.batch)
        for batch in disk.cut + disk.batches
        for _ in range(batch.base_offset, batch.last_offset + 1)
    ]
