"""KIP-595, KIP-853: BeginQuorumEpoch, by which a new leader makes itself and its endpoints known."""

from __future__ import annotations

from kraftctl.raft.core import RaftCore
from kraftctl.raft.events import RequestReceived
from kraftctl.raft.join_leader import join_leader
from kraftctl.raft.leader_endpoint import name_leader_endpoint
from kraftctl.raft.validation import is_for_another_voter, request_error
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.begin_quorum_epoch_request import BeginQuorumEpochRequest
from kraftctl_protocol.generated.begin_quorum_epoch_response import (
    BeginQuorumEpochResponse,
    PartitionData,
    TopicData,
)
from kraftctl_protocol.metadata_topic import METADATA_PARTITION, METADATA_TOPIC, is_for_metadata_log


def handle_begin_quorum_epoch(core: RaftCore, event: RequestReceived) -> None:
    """Joins the epoch, and then refuses a wrong voter key: the leader of the epoch was elected."""
    request = event.request
    assert isinstance(request, BeginQuorumEpochRequest)
    error = request_error(core, request.cluster_id, is_valid=is_for_metadata_log(request))
    if error != Errors.NONE:
        core.respond(event.request_id, BeginQuorumEpochResponse(error_code=error))
        return
    error = join_leader(core, request, "claims to lead")
    voter_directory_id = request.topics[0].partitions[0].voter_directory_id
    if error == Errors.NONE and is_for_another_voter(core, request.voter_id, voter_directory_id):
        error = Errors.INVALID_VOTER_KEY
    partition = PartitionData(
        partition_index=METADATA_PARTITION,
        error_code=error,
        leader_id=core.state.leader_id,
        leader_epoch=core.state.epoch,
    )
    response = BeginQuorumEpochResponse(topics=[TopicData(topic_name=METADATA_TOPIC, partitions=[partition])])
    name_leader_endpoint(core, event.listener_name, event.version, response)
    core.respond(event.request_id, response)
