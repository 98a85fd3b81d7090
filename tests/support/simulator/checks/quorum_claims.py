"""What a node says in its requests and votes must be on its disk: a crash must not take it back."""

from __future__ import annotations

from kraftctl.node.events import ClientRequest, NodeEffect, NodeEvent
from kraftctl.raft.effects import SendRequest
from kraftctl.raft.election_state import ElectionState
from kraftctl.raft.replica_key import ReplicaKey
from kraftctl_protocol.generated.add_raft_voter_request import AddRaftVoterRequest
from kraftctl_protocol.generated.begin_quorum_epoch_request import BeginQuorumEpochRequest
from kraftctl_protocol.generated.end_quorum_epoch_request import EndQuorumEpochRequest
from kraftctl_protocol.generated.fetch_request import FetchRequest
from kraftctl_protocol.generated.fetch_snapshot_request import FetchSnapshotRequest
from kraftctl_protocol.generated.remove_raft_voter_request import RemoveRaftVoterRequest
from kraftctl_protocol.generated.vote_request import PartitionData, VoteRequest
from kraftctl_protocol.generated.vote_response import VoteResponse
from kraftctl_protocol.message import Message
from tests.support.simulator.checks import voter_changes
from tests.support.simulator.checks.checked_replica import CheckedReplica
from tests.support.simulator.checks.invariants import broken

Votes = dict[tuple[ReplicaKey, int], int]

WINS_ALONE = frozenset(["Candidate", "Leader"])


def check_request(replica: CheckedReplica, effect: NodeEffect) -> None:
    """Epochs are in quorum-state, and ends of logs are flushed, before another node learns of them."""
    assert isinstance(effect, SendRequest)
    request = effect.request
    if isinstance(request, FetchRequest):
        fetch = request.topics[0].partitions[0]
        _check_promise(replica, fetch.current_leader_epoch)
        _check_claim(replica, fetch.fetch_offset, fetch.last_fetched_epoch, "Fetch")
    elif isinstance(request, VoteRequest):
        asked = request.topics[0].partitions[0]
        if not asked.pre_vote:
            _check_promise(replica, asked.replica_epoch)
            _check_own_vote(replica, asked.replica_epoch)
        _check_claim(replica, asked.last_offset, asked.last_offset_epoch, "Vote")
    elif isinstance(request, BeginQuorumEpochRequest | EndQuorumEpochRequest):
        _check_promise(replica, request.topics[0].partitions[0].leader_epoch)
    elif isinstance(request, AddRaftVoterRequest | RemoveRaftVoterRequest):
        voter_changes.check_own_request(replica, request)
    elif isinstance(request, FetchSnapshotRequest):
        _check_promise(replica, request.topics[0].partitions[0].current_leader_epoch)


def _check_own_vote(replica: CheckedReplica, epoch: int) -> None:
    stored = replica.stored
    if stored is not None and stored.epoch == epoch and stored.voted_id != replica.node_id:
        broken("ElectionSafety", f"{replica.name} is a candidate, its quorum-state: {stored!r}")


def _check_promise(replica: CheckedReplica, epoch: int) -> None:
    stored = replica.stored
    written = -1 if stored is None else stored.epoch
    if epoch > written:
        broken("MonotonicEpoch", f"{replica.name} names epoch {epoch} while quorum-state says {written}")


def _check_claim(replica: CheckedReplica, end_offset: int, epoch: int, what: str) -> None:
    log = replica.log
    if end_offset > log.durable_end:
        broken(
            "LeaderCompleteness",
            f"{replica.name} claims offset {end_offset} in {what}, {log.durable_end} is on its disk",
        )
    known = log.epoch_before(end_offset)
    if epoch != known:
        broken(
            "LeaderCompleteness",
            f"{replica.name} claims epoch {epoch} at {end_offset} in {what}: {known}",
        )


def check_vote(votes: Votes, replica: CheckedReplica, request: VoteRequest, response: Message) -> None:
    """A vote is a promise that the disk already holds, and is given once."""
    if not isinstance(response, VoteResponse) or not response.topics:
        return
    asked = request.topics[0].partitions[0]
    if not response.topics[0].partitions[0].vote_granted:
        return
    _check_is_up_to_date(replica, asked)
    if asked.pre_vote:
        return
    stored = replica.stored
    if stored is None or (stored.epoch, stored.voted_id) != (asked.replica_epoch, asked.replica_id):
        broken(
            "ElectionSafety",
            f"{replica.name} votes for {asked.replica_id} in epoch {asked.replica_epoch}, quorum-state:"
            f" {stored!r}",
        )
    count_vote(votes, replica, asked.replica_epoch, asked.replica_id)


def _check_is_up_to_date(replica: CheckedReplica, asked: PartitionData) -> None:
    """Each time: a candidate that asks again may have lost a part of its log."""
    log = replica.log
    own = (log.epoch_before(log.end), log.end)
    if (asked.last_offset_epoch, asked.last_offset) < own:
        broken(
            "LeaderCompleteness",
            f"{replica.name} votes for {asked.replica_id} in epoch {asked.replica_epoch}, whose log ends at"
            f" {asked.last_offset} of epoch {asked.last_offset_epoch}, its own at {own[1]} of {own[0]}",
        )


def check_pre_vote(replica: CheckedReplica, event: NodeEvent, epoch: int, state_name: str) -> None:
    """KIP-996: a pre-vote changes nothing. What the timers of the same step do is something else: a leader
    that has resigned gives up its epoch, and a single voter elects itself.
    """
    assert isinstance(event, ClientRequest)
    request = event.request
    if not isinstance(request, VoteRequest) or epoch == replica.epoch or replica.state_name == "Resigned":
        return
    if request.topics and request.topics[0].partitions[0].pre_vote and state_name not in WINS_ALONE:
        broken(
            "StableLeadership",
            f"a pre-vote takes {replica.name} from {replica.state_name} of epoch {replica.epoch} to"
            f" {state_name} of {epoch}",
        )


def remember_vote(votes: Votes, key: ReplicaKey, found: ElectionState) -> None:
    """A former life has given it, perhaps as its last act."""
    if found.voted_id >= 0:
        votes.setdefault((key, found.epoch), found.voted_id)


def count_vote(votes: Votes, replica: CheckedReplica, epoch: int, candidate: int) -> None:
    """One vote per epoch, across crashes and lost disks; candidates vote for themselves."""
    given = votes.get((replica.key, epoch))
    if given is None:
        if replica.is_recovering:
            broken("ElectionSafety", f"{replica.name} recovers and votes for {candidate} in epoch {epoch}")
        votes[replica.key, epoch] = candidate
    elif given != candidate:
        broken("ElectionSafety", f"{replica.name} voted for {given} and {candidate} in epoch {epoch}")
