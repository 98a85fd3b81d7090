"""KIP-595, KIP-853: BeginQuorumEpoch, by which a new leader makes itself and its endpoints known."""

from __future__ import annotations

from kraftctl.raft.core import RaftCore
from kraftctl.raft.effects import ERROR, Respond
from kraftctl.raft.elections import is_consistent_leader, join_epoch
from kraftctl.raft.events import RequestReceived
from kraftctl.raft.topic_partition import METADATA_PARTITION, METADATA_TOPIC
from kraftctl.raft.validation import is_for_another_voter, is_other_cluster, voter_only_error
from kraftctl.raft.voter_set import Endpoints
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.begin_quorum_epoch_request import BeginQuorumEpochRequest
from kraftctl_protocol.generated.begin_quorum_epoch_response import (
    BeginQuorumEpochResponse,
    NodeEndpoint,
    PartitionData,
    TopicData,
)


def handle_begin_quorum_epoch(core: RaftCore, event: RequestReceived) -> None:
    """A wrong voter key is refused only after the epoch was joined: the leader in it is real."""
    request = event.request
    assert isinstance(request, BeginQuorumEpochRequest)
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
        core.notice(ERROR, f"{leader_id} claims to lead epoch {epoch}, which contradicts {core.state!r}")
        error = Errors.UNKNOWN_SERVER_ERROR
    if error == Errors.NONE:
        join_epoch(core, epoch, leader_id, _endpoints(core, request, leader_id))
        if is_for_another_voter(core, request.voter_id, partition.voter_directory_id):
            error = Errors.INVALID_VOTER_KEY
    _answer(core, event, error)


def _endpoints(core: RaftCore, request: BeginQuorumEpochRequest, leader_id: int) -> Endpoints:
    """Leaders before KIP-853 do not name theirs: the voter set knows them."""
    if request.leader_endpoints:
        return {endpoint.name: (endpoint.host, endpoint.port) for endpoint in request.leader_endpoints}
    return core.voters.endpoints(leader_id)


def _is_for_metadata_log(request: BeginQuorumEpochRequest) -> bool:
    return (
        len(request.topics) == 1
        and request.topics[0].topic_name == METADATA_TOPIC
        and len(request.topics[0].partitions) == 1
        and request.topics[0].partitions[0].partition_index == METADATA_PARTITION
    )


def _refuse(core: RaftCore, event: RequestReceived, error: Errors) -> None:
    core.emit(Respond(event.request_id, BeginQuorumEpochResponse(error_code=error)))


def _answer(core: RaftCore, event: RequestReceived, error: Errors) -> None:
    state = core.state
    partition = PartitionData(
        partition_index=METADATA_PARTITION,
        error_code=error,
        leader_id=state.leader_id,
        leader_epoch=state.epoch,
    )
    response = BeginQuorumEpochResponse(topics=[TopicData(topic_name=METADATA_TOPIC, partitions=[partition])])
    endpoint = state.leader_endpoints.get(event.listener_name)
    if event.version >= 1 and state.leader_id >= 0 and endpoint is not None:
        response.node_endpoints = [NodeEndpoint(node_id=state.leader_id, host=endpoint[0], port=endpoint[1])]
    core.emit(Respond(event.request_id, response))
