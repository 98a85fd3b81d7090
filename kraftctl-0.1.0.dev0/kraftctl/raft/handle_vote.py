"""KIP-595, KIP-853, KIP-996: Vote, real and preliminary; the checks in Kafka's order.

| # | must hold | else |
|---|---|---|
| 1 | the cluster id is ours, or absent | top level INCONSISTENT_CLUSTER_ID |
| 2 | exactly one topic and partition: the metadata log | top level INVALID_REQUEST |
| 3 | the candidate's log ends before the epoch of its election (pre-vote: not after it) | INVALID_REQUEST |
| 4 | the epoch is not behind ours | FENCED_LEADER_EPOCH |
| 5 | the candidate has an id, and its epoch leaves room for others | INVALID_REQUEST |
| 6 | it means this replica, in this directory | INVALID_VOTER_KEY |

A granted vote is on disk before the response leaves. Who may raise our epoch, between 5 and 6:

| request of a larger epoch | Kafka | here |
|---|---|---|
| pre-vote | the epoch is joined, on disk | nothing changes (KIP-996) |
| Vote of one of our voters, present or former | the epoch is joined | the epoch is joined |
| Vote of one that never was one, while the leader is active | it is joined, the leader resigns | refused |
| the same while no leader is active | the epoch is joined, the logs decide | as in Kafka |
| Vote of any replica once the first voter set is forgotten | the epoch is joined | the epoch is joined |

A voter that was removed may not know it, and have the pre-votes of a majority from before. If its epoch were
refused, no voter would follow it there, and it would follow none; observers and brokers would take the epoch
from it and from each other. It asks once: no majority grants it another pre-vote. One without pre-votes
(Kafka before 4.0) learns of the leader from responses of a later epoch.
A candidate that is not among our voters may be in a voter set that this replica has not fetched yet
(KIP-853). It then wins with a majority of that set, and this replica follows when it leads.
"""

from __future__ import annotations

from kraftctl.raft.core import RaftCore
from kraftctl.raft.effects import DEBUG, INFO
from kraftctl.raft.election_state import UNKNOWN_LEADER_ID
from kraftctl.raft.elections import add_vote, become_unattached
from kraftctl.raft.events import RequestReceived
from kraftctl.raft.leader_endpoint import name_leader_endpoint
from kraftctl.raft.other_replicas import note_candidate
from kraftctl.raft.replica_key import ReplicaKey, is_same_replica
from kraftctl.raft.states import Candidate, EpochState, Follower, Leader, Resigned
from kraftctl.raft.validation import (
    is_for_another_voter,
    is_raised_too_often,
    request_error,
    voter_only_error,
)
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.vote_request import PartitionData, VoteRequest
from kraftctl_protocol.generated.vote_response import PartitionData as VoteAnswer
from kraftctl_protocol.generated.vote_response import TopicData, VoteResponse
from kraftctl_protocol.metadata_topic import METADATA_PARTITION, METADATA_TOPIC, is_for_metadata_log


def handle_vote(core: RaftCore, event: RequestReceived) -> None:
    request = event.request
    assert isinstance(request, VoteRequest)
    error = request_error(core, request.cluster_id, is_valid=is_for_metadata_log(request))
    if error != Errors.NONE:
        core.respond(event.request_id, VoteResponse(error_code=error))
        return
    partition = request.topics[0].partitions[0]
    error = _partition_error(core, partition)
    if error != Errors.NONE:
        _answer(core, event, error, False, core.state.epoch)
        return
    note_candidate(core, _candidate(partition), event.client_address)
    if partition.replica_epoch > core.state.epoch and _may_raise_epoch(core, partition):
        become_unattached(core, partition.replica_epoch)
    if is_for_another_voter(core, request.voter_id, partition.voter_directory_id):
        _answer(core, event, Errors.INVALID_VOTER_KEY, False, partition.replica_epoch)
        return
    _answer(core, event, Errors.NONE, _vote(core, partition), partition.replica_epoch)


def _may_raise_epoch(core: RaftCore, partition: PartitionData) -> bool:
    """Returns whether a request of a larger epoch may raise ours."""
    if partition.pre_vote or is_raised_too_often(core, partition.replica_epoch):
        return False
    never_was_voter = core.history.is_whole() and not core.history.was_voter(_candidate(partition))
    return not never_was_voter or not _is_leader_active(core)


def _is_leader_active(core: RaftCore) -> bool:
    """Returns whether this replica leads, or follows a leader that responds to its fetches in time."""
    state = core.state
    if isinstance(state, Leader):
        return True
    if not isinstance(state, Follower) or not state.has_fetched_from_leader:
        return False
    return core.now_ms - state.last_response_ms < core.config.fetch_timeout_ms


def _candidate(partition: PartitionData) -> ReplicaKey:
    return ReplicaKey(partition.replica_id, partition.replica_directory_id)


def _vote(core: RaftCore, partition: PartitionData) -> bool:
    candidate = _candidate(partition)
    up_to_date = core.is_log_up_to_date(partition.last_offset_epoch, partition.last_offset)
    if core.recovering_epoch is not None:
        granted = False  # the vote of this epoch may be given already, and be forgotten
    elif partition.pre_vote:
        granted = up_to_date and may_grant_pre_vote(core.state)
    elif partition.replica_epoch > core.state.epoch:
        granted = False
    else:
        granted = may_grant_vote(core.state, candidate, up_to_date) and candidate.id != core.key.id
        if granted and core.state.voted_key is None:
            add_vote(core, candidate)
    kind = "Pre-vote" if partition.pre_vote else "Vote"
    verdict = "granted" if granted else "rejected"
    text = f"{kind} of epoch {partition.replica_epoch} for {candidate} is {verdict}"
    core.limited_notice("votes", DEBUG if core.progress.is_stalled else INFO, text)
    return granted


def may_grant_pre_vote(state: EpochState) -> bool:
    """KIP-996: returns False while the leader is active. For a follower without a fetch in this epoch it is
    not.

    It is also not active once it has resigned or refuses connections; Kafka's followers refuse then.
    """
    if isinstance(state, Leader):
        return False
    return not (isinstance(state, Follower) and state.has_fetched_from_leader and not state.is_leader_gone())


def may_grant_vote(state: EpochState, candidate: ReplicaKey, log_is_up_to_date: bool) -> bool:
    """Grants one vote per epoch, and none in an epoch that has a leader.

    The same candidate may ask again, but its log is compared again: it may have lost records (KIP-595).
    """
    if isinstance(state, Leader | Candidate | Follower | Resigned):
        return False
    vote = state.voted_key
    if vote is not None:
        return is_same_replica(vote, candidate) and log_is_up_to_date
    return log_is_up_to_date and not state.has_leader()


def _partition_error(core: RaftCore, partition: PartitionData) -> Errors:
    last_epoch, epoch = partition.last_offset_epoch, partition.replica_epoch
    # No record exists of an epoch that is not won yet; a pre-vote names the current one.
    is_illegal_epoch = last_epoch > epoch if partition.pre_vote else last_epoch >= epoch
    if partition.last_offset < 0 or last_epoch < 0 or is_illegal_epoch:
        return Errors.INVALID_REQUEST
    return voter_only_error(core, partition.replica_id, epoch)


def _answer(core: RaftCore, event: RequestReceived, error: Errors, granted: bool, asked_epoch: int) -> None:
    """Responds with the requested epoch if it is larger: candidates ignore responses of older epochs."""
    state = core.state
    is_of_own_epoch = asked_epoch <= state.epoch
    partition = VoteAnswer(
        partition_index=METADATA_PARTITION,
        error_code=error,
        leader_id=state.leader_id if is_of_own_epoch else UNKNOWN_LEADER_ID,
        leader_epoch=state.epoch if is_of_own_epoch else asked_epoch,
        vote_granted=granted,
    )
    response = VoteResponse(topics=[TopicData(topic_name=METADATA_TOPIC, partitions=[partition])])
    if partition.leader_id >= 0:
        name_leader_endpoint(core, event.listener_name, event.version, response)
    core.respond(event.request_id, response)
