"""KIP-595, KIP-853: EndQuorumEpoch, by which a resigning leader names its successors, the best first."""

from __future__ import annotations

from kraftctl.raft.core import RaftCore
from kraftctl.raft.events import RequestReceived
from kraftctl.raft.join_leader import join_leader
from kraftctl.raft.leader_endpoint import name_leader_endpoint
from kraftctl.raft.replica_key import ReplicaKey, is_same_replica
from kraftctl.raft.states import Follower
from kraftctl.raft.validation import request_error
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.end_quorum_epoch_request import EndQuorumEpochRequest
from kraftctl_protocol.generated.end_quorum_epoch_request import PartitionData as EndedEpoch
from kraftctl_protocol.generated.end_quorum_epoch_response import (
    EndQuorumEpochResponse,
    PartitionData,
    TopicData,
)
from kraftctl_protocol.metadata_topic import METADATA_PARTITION, METADATA_TOPIC, is_for_metadata_log


def handle_end_quorum_epoch(core: RaftCore, event: RequestReceived) -> None:
    """Lets a follower of that leader elect before its fetch timeout."""
    request = event.request
    assert isinstance(request, EndQuorumEpochRequest)
    error = request_error(core, request.cluster_id, is_valid=is_for_metadata_log(request))
    if error != Errors.NONE:
        core.respond(event.request_id, EndQuorumEpochResponse(error_code=error))
        return
    ended = request.topics[0].partitions[0]
    error = join_leader(core, request, "gives up")
    state = core.state
    if (
        error == Errors.NONE
        and isinstance(state, Follower)
        and state.leader_id == ended.leader_id
        and core.may_vote()
    ):
        state.leader_resigned(core.now_ms + _election_backoff_ms(core, ended))
    partition = PartitionData(
        partition_index=METADATA_PARTITION,
        error_code=error,
        leader_id=core.state.leader_id,
        leader_epoch=core.state.epoch,
    )
    response = EndQuorumEpochResponse(topics=[TopicData(topic_name=METADATA_TOPIC, partitions=[partition])])
    name_leader_endpoint(core, event.listener_name, event.version, response)
    core.respond(event.request_id, response)


def _election_backoff_ms(core: RaftCore, partition: EndedEpoch) -> int:
    candidates = [
        ReplicaKey(candidate.candidate_id, candidate.candidate_directory_id)
        for candidate in partition.preferred_candidates
    ] or [ReplicaKey(voter_id) for voter_id in partition.preferred_successors]
    position = 0
    for candidate in candidates:
        if is_same_replica(candidate, core.key):
            break
        position += 1
    return election_backoff_ms(position, len(candidates), core.config.election_backoff_ms_max)


def election_backoff_ms(position: int, successor_count: int, backoff_ms_max: int) -> int:
    """Returns the wait of a successor: none for the first, for each further one twice that of the one
    before.
    """
    if position == 0:
        return 0
    if position >= successor_count:
        return backoff_ms_max
    base_ms = backoff_ms_max >> (successor_count - 1)
    return min(backoff_ms_max, base_ms << (position - 1))
