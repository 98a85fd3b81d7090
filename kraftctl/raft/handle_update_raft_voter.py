"""KIP-853 UpdateRaftVoter: a voter reports to its leader where it listens and what it supports.

| # | must hold | else |
|---|---|---|
| 1 | the cluster id is ours, or absent | INCONSISTENT_CLUSTER_ID |
| 2 | we lead in the epoch of the request | as for every request to a leader |
| 3 | the voter has id, directory id, the controllers' listener, a version range | INVALID_REQUEST |
| 4 | no voter is being added or removed, and this epoch has committed | REQUEST_TIMED_OUT |
| 5 | the latest KRaftVoters record is committed (kraft.version 1) | REQUEST_TIMED_OUT |
| 6 | the range contains the finalized kraft.version | INVALID_REQUEST |
| 7 | the replica is a voter: by id and directory id, or by its id with kraft.version 0 | VOTER_NOT_FOUND |
| 8 | it is not another replica with the id of this leader | VOTER_NOT_FOUND |

With kraft.version 1 the voters are written to the log, as those of an added voter. With kraft.version 0 there
is no such record: the leader remembers what its voters say for as long as it leads, which the upgrade to
kraft.version 1 needs. As in Kafka the response waits for no commit: the voter asks until the log agrees.

Unlike Kafka's, this leader writes nothing when it knows all that already, as a voter whose log is behind asks
again and again; a voter with more or longer endpoints than a node registers is refused: INVALID_REQUEST; and
row 8, without which an upgrade to kraft.version 1 could leave the leader out of the voters.
"""

from __future__ import annotations

from kraftctl.raft.check_quorum import note_fetch_of_voter
from kraftctl.raft.core import RaftCore
from kraftctl.raft.effects import INFO
from kraftctl.raft.events import RequestReceived
from kraftctl.raft.named_endpoints import endpoints_of, why_unusable
from kraftctl.raft.replica_key import ReplicaKey
from kraftctl.raft.states import Leader
from kraftctl.raft.voter_change import is_voter_set_committed, write_voters
from kraftctl.raft.voter_rpcs import check_leads_cluster, is_incomplete
from kraftctl.raft.voter_set import VoterNode
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.update_raft_voter_request import UpdateRaftVoterRequest
from kraftctl_protocol.generated.update_raft_voter_response import CurrentLeader, UpdateRaftVoterResponse


def handle_update_raft_voter(core: RaftCore, event: RequestReceived) -> None:
    """Handles the request. Its response has no field for a reason, but names the leader."""
    request = event.request
    assert isinstance(request, UpdateRaftVoterRequest)
    error = check_leads_cluster(core, request.cluster_id, request.current_leader_epoch).error
    if error == Errors.NONE:
        error = _why_malformed(core, request)
    if error == Errors.NONE:
        leader = core.leader()
        assert leader is not None
        error = _update(core, leader, _voter_of(request))
    state = core.state
    current = CurrentLeader(leader_id=state.leader_id, leader_epoch=state.epoch)
    endpoint = state.leader_endpoints.get(event.listener_name)
    if endpoint is not None:
        current.host, current.port = endpoint
    core.respond(event.request_id, UpdateRaftVoterResponse(error_code=error, current_leader=current))


def _why_malformed(core: RaftCore, request: UpdateRaftVoterRequest) -> Errors:
    feature = request.kraft_version_feature
    has_range = 0 <= feature.min_supported_version <= feature.max_supported_version
    if is_incomplete(_key_of(request)) or not has_range or why_unusable(request.listeners) is not None:
        return Errors.INVALID_REQUEST
    is_known = core.default_listener() in endpoints_of(request.listeners)
    return Errors.NONE if is_known else Errors.INVALID_REQUEST


def _update(core: RaftCore, leader: Leader, node: VoterNode) -> Errors:
    in_log = core.history.kraft_version() >= 1
    if core.voter_change is not None or leader.high_watermark < 0:
        return Errors.REQUEST_TIMED_OUT
    if in_log and not is_voter_set_committed(core, leader):
        return Errors.REQUEST_TIMED_OUT
    if not node.supports(core.history.kraft_version()):
        return Errors.INVALID_REQUEST
    known = core.voters if in_log else leader.volatile_voters
    is_named_by_directory = in_log or node.key.id == core.key.id
    voters = known.updated_voter(node) if is_named_by_directory else known.updated_voter_by_id(node)
    if voters is None:
        return Errors.VOTER_NOT_FOUND
    if voters != known:
        if in_log:
            write_voters(core, leader, voters)
        else:
            core.limited_notice("voters", INFO, f"Remembering the voter {node!r}")
            leader.remember_voters(voters)
    note_fetch_of_voter(core, leader, node.key)
    return Errors.NONE


def _key_of(request: UpdateRaftVoterRequest) -> ReplicaKey:
    return ReplicaKey(request.voter_id, request.voter_directory_id)


def _voter_of(request: UpdateRaftVoterRequest) -> VoterNode:
    feature = request.kraft_version_feature
    endpoints = endpoints_of(request.listeners)
    return VoterNode(
        _key_of(request), endpoints, feature.min_supported_version, feature.max_supported_version
    )
