"""Binds the node id that brokers and controllers claim to the names of their principals.

Kafka has no such rule: with CLUSTER_ACTION, a broker may register, fetch and vote as any other node.
`kraftctl.node.principals` names the principals of node `{id}`; without it, all is as in Kafka.
"""

from __future__ import annotations

from kraftctl.config.node_principals import ID, NODES_KEY
from kraftctl.controller.results.request_context import RequestContext
from kraftctl_protocol.api_error import ApiError
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.allocate_producer_ids_request import AllocateProducerIdsRequest
from kraftctl_protocol.generated.alter_partition_request import AlterPartitionRequest
from kraftctl_protocol.generated.assign_replicas_to_dirs_request import AssignReplicasToDirsRequest
from kraftctl_protocol.generated.begin_quorum_epoch_request import BeginQuorumEpochRequest
from kraftctl_protocol.generated.broker_heartbeat_request import BrokerHeartbeatRequest
from kraftctl_protocol.generated.broker_registration_request import BrokerRegistrationRequest
from kraftctl_protocol.generated.controller_registration_request import ControllerRegistrationRequest
from kraftctl_protocol.generated.end_quorum_epoch_request import EndQuorumEpochRequest
from kraftctl_protocol.generated.fetch_request import FetchRequest
from kraftctl_protocol.generated.fetch_snapshot_request import FetchSnapshotRequest
from kraftctl_protocol.generated.update_raft_voter_request import UpdateRaftVoterRequest
from kraftctl_protocol.generated.vote_request import VoteRequest
from kraftctl_protocol.message import Message


class NodePrincipals:
    """The rule; `templates` are principals, Type:name, with `{id}` for the id of a node."""

    def __init__(self, templates: list[str]) -> None:
        self._templates = templates

    def why_refused(self, context: RequestContext, request: Message) -> ApiError | None:
        """Returns CLUSTER_AUTHORIZATION_FAILED if the sender claims another node than it may be."""
        if not self._templates:
            return None
        principal = str(context.principal)
        for node_id in acting_nodes(request):
            if principal not in [template.replace(ID, str(node_id)) for template in self._templates]:
                reason = f"{principal} is not a principal of node {node_id} by {NODES_KEY}"
                return ApiError(Errors.CLUSTER_AUTHORIZATION_FAILED, reason)
        return None


def acting_nodes(request: Message) -> list[int]:
    """Returns the nodes that the sender of a request claims to be: none, one, or several if it is hostile.

    A Fetch without a replica id, as an observer like the exporter sends it, is not a node's.
    """
    if isinstance(
        request,
        (
            BrokerRegistrationRequest,
            BrokerHeartbeatRequest,
            AlterPartitionRequest,
            AssignReplicasToDirsRequest,
            AllocateProducerIdsRequest,
        ),
    ):
        return [request.broker_id]
    if isinstance(request, ControllerRegistrationRequest):
        return [request.controller_id]
    if isinstance(request, UpdateRaftVoterRequest):
        return [request.voter_id]
    if isinstance(request, FetchRequest):
        # Which of the two a request has depends on its version; the other one is -1.
        return [node_id for node_id in (request.replica_id, request.replica_state.replica_id) if node_id >= 0]
    if isinstance(request, FetchSnapshotRequest):
        return [request.replica_id] if request.replica_id >= 0 else []
    if isinstance(request, VoteRequest):
        return [partition.replica_id for topic in request.topics for partition in topic.partitions]
    if isinstance(request, (BeginQuorumEpochRequest, EndQuorumEpochRequest)):
        return [partition.leader_id for topic in request.topics for partition in topic.partitions]
    return []
