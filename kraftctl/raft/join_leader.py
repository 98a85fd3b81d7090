"""Joins the epoch whose leader a BeginQuorumEpoch or EndQuorumEpoch request names (KIP-595, KIP-853)."""

from __future__ import annotations

from kraftctl.raft.core import RaftCore
from kraftctl.raft.effects import ERROR
from kraftctl.raft.elections import is_consistent_leader, join_epoch
from kraftctl.raft.named_endpoints import endpoints_of, why_unusable
from kraftctl.raft.other_replicas import note_leader
from kraftctl.raft.validation import is_raised_too_often, voter_only_error
from kraftctl.raft.voter_set import Endpoints
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.begin_quorum_epoch_request import BeginQuorumEpochRequest
from kraftctl_protocol.generated.end_quorum_epoch_request import EndQuorumEpochRequest


def join_leader(
    core: RaftCore, request: BeginQuorumEpochRequest | EndQuorumEpochRequest, what_it_says: str
) -> Errors:
    """Joins the epoch in `request`. An error means that nothing was done."""
    partition = request.topics[0].partitions[0]
    leader_id, epoch = partition.leader_id, partition.leader_epoch
    error = voter_only_error(core, leader_id, epoch)
    if error != Errors.NONE:
        return error
    if why_unusable(request.leader_endpoints) is not None:
        return Errors.INVALID_REQUEST
    if not is_consistent_leader(core, epoch, leader_id):
        text = f"{leader_id} {what_it_says} epoch {epoch}, which contradicts {core.state!r}"
        core.limited_notice("contradictions", ERROR, text)
        return Errors.UNKNOWN_SERVER_ERROR
    if is_raised_too_often(core, epoch):
        return Errors.BROKER_NOT_AVAILABLE
    join_epoch(core, epoch, leader_id, _endpoints(core, request, leader_id))
    note_leader(core, leader_id)
    return Errors.NONE


def _endpoints(
    core: RaftCore, request: BeginQuorumEpochRequest | EndQuorumEpochRequest, leader_id: int
) -> Endpoints:
    """Returns the leader's endpoints, from the voter set if the request has none: before KIP-853, and in
    EndQuorumEpoch.
    """
    if request.leader_endpoints:
        return endpoints_of(request.leader_endpoints)
    return core.voters.endpoints(leader_id)
