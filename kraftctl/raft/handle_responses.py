"""KIP-595, KIP-853, KIP-996: what answers to our own requests mean, and what they tell about epochs.

Any answer may name a newer epoch or the leader of this one; that is acted upon before anything else
in it (`learn`). Errors nobody expects are noted, and the peer is left alone for a moment.
"""

from __future__ import annotations

from kraftctl.raft.change_voters import take_versions
from kraftctl.raft.core import RaftCore
from kraftctl.raft.download_snapshot import take_slice
from kraftctl.raft.effects import ERROR, INFO
from kraftctl.raft.elections import become_candidate, is_consistent_leader, join_epoch, record_vote
from kraftctl.raft.events import ResponseReceived
from kraftctl.raft.follow import follow
from kraftctl.raft.peers import Peer
from kraftctl.raft.states import Follower, Leader, Prospective, Resigned
from kraftctl.raft.topic_partition import METADATA_TOPIC, METADATA_TOPIC_ID
from kraftctl.raft.validation import uses_epochs_up
from kraftctl.raft.voter_set import Endpoints
from kraftctl_protocol.errors import Errors, error_of
from kraftctl_protocol.generated.begin_quorum_epoch_response import BeginQuorumEpochResponse
from kraftctl_protocol.generated.end_quorum_epoch_response import EndQuorumEpochResponse
from kraftctl_protocol.generated.fetch_response import FetchResponse
from kraftctl_protocol.generated.fetch_snapshot_response import FetchSnapshotResponse
from kraftctl_protocol.generated.vote_response import VoteResponse

IGNORED_ERRORS = frozenset([Errors.UNKNOWN_LEADER_EPOCH, Errors.INVALID_VOTER_KEY])
"""They say that the other side lags behind, or is another replica than we thought."""

EPOCH_ERRORS = frozenset([Errors.FENCED_LEADER_EPOCH, Errors.NOT_LEADER_OR_FOLLOWER])
"""They say that we lag behind; the answer names the epoch to join."""


def handle_response(core: RaftCore, event: ResponseReceived) -> None:
    peer = core.peers.answered(event.send_id)
    if peer is None:
        return
    response = event.response
    if isinstance(response, FetchResponse):
        usable = _handle_fetch(core, peer, response)
    elif isinstance(response, FetchSnapshotResponse):
        usable = _handle_fetch_snapshot(core, peer, response)
    elif isinstance(response, VoteResponse):
        usable = _handle_vote(core, peer, response)
    elif isinstance(response, BeginQuorumEpochResponse):
        usable = _handle_begin_quorum_epoch(core, peer, response)
    elif isinstance(response, EndQuorumEpochResponse):
        usable = _handle_end_quorum_epoch(core, peer, response)
    else:
        usable = take_versions(core, event.send_id, response)
    if not usable:
        peer.backoff_until_ms = core.now_ms + core.config.retry_backoff_ms


def learn(core: RaftCore, error: Errors, epoch: int, leader_id: int, endpoints: Endpoints) -> bool:
    """Join the epoch that an answer names. Whether the rest of the answer is still of interest."""
    if epoch < core.state.epoch or error in IGNORED_ERRORS:
        return False
    if uses_epochs_up(core, epoch):
        core.notice(ERROR, f"An answer names epoch {epoch}, which leaves no room for elections after it")
        return False
    if not is_consistent_leader(core, epoch, leader_id):
        core.notice(ERROR, f"An answer names {leader_id} leader of {epoch}, against {core.state!r}")
        return False
    old_epoch = core.state.epoch
    join_epoch(core, epoch, leader_id, endpoints)
    return epoch == old_epoch and error not in EPOCH_ERRORS


def _handle_vote(core: RaftCore, peer: Peer, response: VoteResponse) -> bool:
    if response.error_code == Errors.UNSUPPORTED_VERSION and isinstance(core.state, Prospective):
        core.notice(INFO, f"{peer.id} knows no pre-votes: standing for election at once")
        become_candidate(core)
        return True
    if response.error_code != Errors.NONE:
        return _unexpected(core, peer, response.error_code)
    topics = response.topics
    if len(topics) != 1 or topics[0].topic_name != METADATA_TOPIC or len(topics[0].partitions) != 1:
        return False
    partition = topics[0].partitions[0]
    error = error_of(partition.error_code)
    nodes = {node.node_id: (node.host, node.port) for node in response.node_endpoints}
    endpoints = _endpoints(core, partition.leader_id, nodes)
    known = core.state
    if not learn(core, error, partition.leader_epoch, partition.leader_id, endpoints):
        return core.state is not known
    if error != Errors.NONE:
        return _unexpected(core, peer, partition.error_code)
    record_vote(core, peer.id, partition.vote_granted)
    return True


def _handle_begin_quorum_epoch(core: RaftCore, peer: Peer, response: BeginQuorumEpochResponse) -> bool:
    if response.error_code != Errors.NONE:
        return _unexpected(core, peer, response.error_code)
    topics = response.topics
    if len(topics) != 1 or topics[0].topic_name != METADATA_TOPIC or len(topics[0].partitions) != 1:
        return False
    partition = topics[0].partitions[0]
    error = error_of(partition.error_code)
    nodes = {node.node_id: (node.host, node.port) for node in response.node_endpoints}
    endpoints = _endpoints(core, partition.leader_id, nodes)
    known = core.state
    if not learn(core, error, partition.leader_epoch, partition.leader_id, endpoints):
        return core.state is not known
    if error != Errors.NONE:
        return _unexpected(core, peer, partition.error_code)
    state = core.state
    if isinstance(state, Leader) and peer.id in state.voter_states:
        state.voter_states[peer.id].has_acknowledged_leader = True
    return True


def _handle_end_quorum_epoch(core: RaftCore, peer: Peer, response: EndQuorumEpochResponse) -> bool:
    if response.error_code != Errors.NONE:
        return _unexpected(core, peer, response.error_code)
    topics = response.topics
    if len(topics) != 1 or topics[0].topic_name != METADATA_TOPIC or len(topics[0].partitions) != 1:
        return False
    partition = topics[0].partitions[0]
    error = error_of(partition.error_code)
    nodes = {node.node_id: (node.host, node.port) for node in response.node_endpoints}
    state = core.state
    # The leader of our epoch is ourselves still, as far as the others know.
    is_own_epoch = isinstance(state, Resigned) and partition.leader_epoch == state.epoch
    if not is_own_epoch:
        endpoints = _endpoints(core, partition.leader_id, nodes)
        learn(core, error, partition.leader_epoch, partition.leader_id, endpoints)
        return True
    if error != Errors.NONE:
        return _unexpected(core, peer, partition.error_code)
    if isinstance(state, Resigned) and peer.id in state.unacked_voter_ids:
        state.unacked_voter_ids.remove(peer.id)
    return True


def _handle_fetch(core: RaftCore, peer: Peer, response: FetchResponse) -> bool:
    """Also the way to find a leader: whoever does not lead answers with the one it knows."""
    if response.error_code != Errors.NONE:
        return _unexpected(core, peer, response.error_code)
    topics = response.responses
    if len(topics) != 1 or topics[0].topic_id != METADATA_TOPIC_ID or len(topics[0].partitions) != 1:
        return False
    partition = topics[0].partitions[0]
    error = error_of(partition.error_code)
    leader_id, epoch = partition.current_leader.leader_id, partition.current_leader.leader_epoch
    nodes = {node.node_id: (node.host, node.port) for node in response.node_endpoints}
    known = core.state
    if not learn(core, error, epoch, leader_id, _endpoints(core, leader_id, nodes)):
        # The same epoch and leader again would only bring the same answer, at once.
        return core.state is not known
    if error != Errors.NONE:
        return _unexpected(core, peer, partition.error_code)
    state = core.state
    if not isinstance(state, Follower) or state.leader_id != leader_id:
        return False
    follow(core, state, partition)
    return True


def _handle_fetch_snapshot(core: RaftCore, peer: Peer, response: FetchSnapshotResponse) -> bool:
    if response.error_code != Errors.NONE:
        return _unexpected(core, peer, response.error_code)
    topics = response.topics
    if len(topics) != 1 or topics[0].name != METADATA_TOPIC or len(topics[0].partitions) != 1:
        return False
    partition = topics[0].partitions[0]
    error = error_of(partition.error_code)
    leader_id, epoch = partition.current_leader.leader_id, partition.current_leader.leader_epoch
    nodes = {node.node_id: (node.host, node.port) for node in response.node_endpoints}
    known = core.state
    if not learn(core, error, epoch, leader_id, _endpoints(core, leader_id, nodes)):
        return core.state is not known
    state = core.state
    if not isinstance(state, Follower) or state.leader_id != leader_id:
        return False
    take_slice(core, state, partition)
    return True


def _endpoints(core: RaftCore, leader_id: int, nodes: dict[int, tuple[str, int]]) -> Endpoints:
    """Answers name the leader under the listener that was asked; older ones not at all."""
    if leader_id < 0:
        return {}
    endpoint = nodes.get(leader_id)
    if endpoint is None:
        return core.voters.endpoints(leader_id)
    return {core.default_listener(): endpoint}


def _unexpected(core: RaftCore, peer: Peer, error_code: int) -> bool:
    if error_code != Errors.BROKER_NOT_AVAILABLE:
        core.notice(ERROR, f"Unexpected error {error_of(error_code).name} from {peer.id}")
    return False
