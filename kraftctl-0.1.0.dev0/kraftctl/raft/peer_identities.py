"""Finds out who responds at an address where another replica was expected: its cluster, or its id by
elimination.

No response of raft names the replica that sends it. A pre-vote is for one voter alone, and changes nothing:
the replica that does not refuse it with INVALID_VOTER_KEY is that voter (KIP-853, KIP-996). The cluster id
is in the response to DescribeCluster (KIP-919).
"""

from __future__ import annotations

from typing import Final

from kraftctl.raft.core import RaftCore
from kraftctl.raft.effects import SendRequest
from kraftctl.raft.events import ResponseReceived
from kraftctl.raft.identities import Identity
from kraftctl.raft.peer_requests import vote_request_to
from kraftctl.raft.replica_key import ReplicaKey
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.describe_cluster_request import DescribeClusterRequest
from kraftctl_protocol.generated.describe_cluster_response import DescribeClusterResponse
from kraftctl_protocol.generated.vote_response import VoteResponse
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_topic import is_for_metadata_log

CONTROLLER_ENDPOINTS: Final = 2
"""DescribeCluster's endpoint type for controllers."""


def ask_cluster(core: RaftCore, host: str, port: int) -> Identity:
    """Returns the known identity of the address; it is asked again after a while."""
    identity = core.identities.of(host, port)
    if identity.is_to_be_asked(core.now_ms):
        _send(core, identity, DescribeClusterRequest(endpoint_type=CONTROLLER_ENDPOINTS))
    return identity


def ask_replica(core: RaftCore, host: str, port: int, expected: ReplicaKey) -> Identity:
    """Returns the same about the replica that is not `expected`, or not in that directory."""
    identity = core.identities.of(host, port)
    if identity.is_to_be_asked(core.now_ms):
        others = [ReplicaKey(voter_id) for voter_id in core.voters.voter_ids() if voter_id != expected.id]
        identity.candidates = [core.key, ReplicaKey(expected.id), *others]
        _ask_next(core, identity)
    return identity


def take_identity(core: RaftCore, event: ResponseReceived) -> bool:
    """Returns whether this was the response to such a question."""
    identity = core.identities.answered(event.send_id)
    if identity is None:
        return False
    response = event.response
    if isinstance(response, DescribeClusterResponse):
        if response.error_code == Errors.NONE and response.cluster_id:
            identity.cluster_id = response.cluster_id
    elif (
        isinstance(response, VoteResponse)
        and response.error_code == Errors.NONE
        and is_for_metadata_log(response)
    ):
        _take_vote(core, identity, response.topics[0].partitions[0].error_code)
    return True


def _take_vote(core: RaftCore, identity: Identity, error_code: int) -> None:
    asked = identity.candidates.pop(0)
    if error_code != Errors.INVALID_VOTER_KEY:
        identity.is_replica(asked)
    elif identity.candidates:
        _ask_next(core, identity)
    else:
        identity.is_nobody()


def _ask_next(core: RaftCore, identity: Identity) -> None:
    _send(core, identity, vote_request_to(core, identity.candidates[0], pre_vote=True))


def _send(core: RaftCore, identity: Identity, request: Message) -> None:
    send_id = core.peers.take_send_id()
    core.identities.asked(send_id, identity, core.now_ms)
    core.emit(SendRequest(send_id, -1, identity.host, identity.port, type(request).API_KEY, request))
