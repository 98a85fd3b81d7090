"""KIP-853: a response names the leader's endpoint for the listener that received the request, if known."""

from __future__ import annotations

from typing import Final

from kraftctl.raft.core import RaftCore
from kraftctl.raft.election_state import UNKNOWN_LEADER_ID
from kraftctl_protocol.generated import (
    begin_quorum_epoch_response,
    end_quorum_epoch_response,
    fetch_response,
    fetch_snapshot_response,
    vote_response,
)
from kraftctl_protocol.generated.begin_quorum_epoch_response import BeginQuorumEpochResponse
from kraftctl_protocol.generated.end_quorum_epoch_response import EndQuorumEpochResponse
from kraftctl_protocol.generated.fetch_response import FetchResponse
from kraftctl_protocol.generated.fetch_snapshot_response import FetchSnapshotResponse
from kraftctl_protocol.generated.vote_response import VoteResponse

FROM_VERSION: Final = 1

FROM_VERSION_OF_FETCH: Final = 17
"""Kafka fills the fields from this version on, though they exist since 16."""


def leader_for_observers(core: RaftCore, listener_name: str, has_endpoints: bool) -> int:
    """Returns the leader that a Fetch or FetchSnapshot response names, -1 if unknown.

    Brokers halt on a leader whose endpoint they do not learn, so a response that `has_endpoints` names the
    leader with its endpoint or not at all. A replica that lost its log may know the one without the other.
    """
    state = core.state
    if has_endpoints and listener_name not in state.leader_endpoints:
        return UNKNOWN_LEADER_ID
    return state.leader_id


def name_leader_endpoint(
    core: RaftCore,
    listener_name: str,
    version: int,
    response: FetchResponse
    | FetchSnapshotResponse
    | VoteResponse
    | BeginQuorumEpochResponse
    | EndQuorumEpochResponse,
) -> None:
    """Sets the endpoint in the response, unless it is unknown."""
    if version < (FROM_VERSION_OF_FETCH if isinstance(response, FetchResponse) else FROM_VERSION):
        return
    leader_id = core.state.leader_id
    endpoint = core.state.leader_endpoints.get(listener_name)
    if leader_id < 0 or endpoint is None:
        return
    host, port = endpoint
    if isinstance(response, FetchResponse):
        response.node_endpoints = [fetch_response.NodeEndpoint(node_id=leader_id, host=host, port=port)]
    elif isinstance(response, FetchSnapshotResponse):
        response.node_endpoints = [
            fetch_snapshot_response.NodeEndpoint(node_id=leader_id, host=host, port=port)
        ]
    elif isinstance(response, VoteResponse):
        response.node_endpoints = [vote_response.NodeEndpoint(node_id=leader_id, host=host, port=port)]
    elif isinstance(response, BeginQuorumEpochResponse):
        response.node_endpoints = [
            begin_quorum_epoch_response.NodeEndpoint(node_id=leader_id, host=host, port=port)
        ]
    else:
        response.node_endpoints = [
            end_quorum_epoch_response.NodeEndpoint(node_id=leader_id, host=host, port=port)
        ]
