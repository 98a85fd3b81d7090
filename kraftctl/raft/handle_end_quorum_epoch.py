"""KIP-595, KIP-853: EndQuorumEpoch, by which a resigning leader names its successors, the best first."""

from __future__ import annotations

from kraftctl.raft.core import RaftCore
from kraftctl.raft.effects import ERROR, Respond
from kraftctl.raft.elections import is_consistent_leader, join_epoch
from kraftctl.raft.events import RequestReceived
from kraftctl.raft.replica_key import NO_DIRECTORY_ID, ReplicaKey
from kraftctl.raft.states import Follower
from kraftctl.raft.topic_partition import METADATA_PARTITION, METADATA_TOPIC
from kraftctl.raft.validation import is_other_cluster, voter_only_error
from kraftctl.raft.voter_set import Endpoints
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.end_quorum_epoch_request import EndQuorumEpochRequest
from kraftctl_protocol.generated.end_quorum_epoch_request import PartitionData as EndedEpoch
from kraftctl_protocol.generated.end_quorum_epoch_response import (
    EndQuorumEpochResponse,
    NodeEndpoint,
    PartitionData,
    TopicData,
)


def handle_end_quorum_epoch(core: RaftCore, event: RequestReceived) -> None:
    """A follower of that leader does not wait its fetch timeout out."""
    request = event.request
    assert isinstance(request, EndQuorumEpochRequest)
    if is_other_cluster(core, request.cluster_id):
        _refuse(core, event, Errors.INCONSISTENT_CLUSTER_ID)
        return
    if not _is_for_metadata_log(request):
        _refuse(core, event, Errors.INVALID_REQUEST)
        return
    partition = request.topics[0].partitions[0]
    leader_id, epoch = partition.leader_id, partition.leader_epoch
    error = voter_only_error(core, leader_id, epoch)
    if error == Errors.NONE and not is_consistent_leader(core, epoch, leader_id):
        core.notice(ERROR, f"{leader_id} gives up epoch {epoch}, which contradicts {core.state!r}")
        error = Errors.UNKNOWN_SERVER_ERROR
    if error == Errors.NONE:
        join_epoch(core, epoch, leader_id, _endpoints(core, request, leader_id))
        state = core.state
        if isinstance(state, Follower) and state.leader_id == leader_id and core.may_vote():
            state.deadline_ms = core.now_ms + _election_backoff_ms(core, partition)
    _answer(core, event, error)


def _election_backoff_ms(core: RaftCore, partition: EndedEpoch) -> int:
    candidates = [
        ReplicaKey(candidate.candidate_id, candidate.candidate_directory_id)
        for candidate in partition.preferred_candidates
    ] or [ReplicaKey(voter_id) for voter_id in partition.preferred_successors]
    position = 0
    for candidate in candidates:
        if candidate.id == core.key.id and candidate.directory_id in (
            NO_DIRECTORY_ID,
            core.key.directory_id,
        ):
            break
        position += 1
    return election_backoff_ms(position, len(candidates), core.config.election_backoff_ms_max)


def election_backoff_ms(position: int, successor_count: int, backoff_ms_max: int) -> int:
    """The first in line starts at once, each one after it waits twice as long as the one before."""
    if position == 0:
        return 0
    if position >= successor_count:
        return backoff_ms_max
    base_ms = backoff_ms_max >> (successor_count - 1)
    return min(backoff_ms_max, base_ms << (position - 1))


def _endpoints(core: RaftCore, request: EndQuorumEpochRequest, leader_id: int) -> Endpoints:
    """Kafka's leaders leave theirs out here: what is known of them already must do."""
    if request.leader_endpoints:
        return {endpoint.name: (endpoint.host, endpoint.port) for endpoint in request.leader_endpoints}
    return core.voters.endpoints(leader_id)


def _is_for_metadata_log(request: EndQuorumEpochRequest) -> bool:
    return (
        len(request.topics) == 1
        and request.topics[0].topic_name == METADATA_TOPIC
        and len(request.topics[0].partitions) == 1
        and request.topics[0].partitions[0].partition_index == METADATA_PARTITION
    )


def _refuse(core: RaftCore, event: RequestReceived, error: Errors) -> None:
    core.emit(Respond(event.request_id, EndQuorumEpochResponse(error_code=error)))


def _answer(core: RaftCore, event: RequestReceived, error: Errors) -> None:
    state = core.state
    partition = PartitionData(
        partition_index=METADATA_PARTITION,
        error_code=error,
        leader_id=state.leader_id,
        leader_epoch=state.epoch,
    )
    response = EndQuorumEpochResponse(topics=[TopicData(topic_name=METADATA_TOPIC, partitions=[partition])])
    endpoint = state.leader_endpoints.get(event.listener_name)
    if event.version >= 1 and state.leader_id >= 0 and endpoint is not None:
        response.node_endpoints = [NodeEndpoint(node_id=state.leader_id, host=endpoint[0], port=endpoint[1])]
    core.emit(Respond(event.request_id, response))
