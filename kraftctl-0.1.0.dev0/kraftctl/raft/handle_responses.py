"""Handles responses to our own requests, with the epochs and leaders they name (KIP-595, KIP-853, KIP-996).

Any response may name a newer epoch or the leader of this one; that comes before anything else in it
(`learn`). Unexpected errors are logged, and the peer gets no request for a moment.
"""

from __future__ import annotations

from kraftctl.raft.auto_join import take_join_response
from kraftctl.raft.core import RaftCore
from kraftctl.raft.download_snapshot import take_slice
from kraftctl.raft.early_elections import connection_refused
from kraftctl.raft.effects import ERROR, INFO
from kraftctl.raft.elections import become_candidate, is_consistent_leader, join_epoch, record_vote
from kraftctl.raft.events import ResponseReceived
from kraftctl.raft.follow import follow
from kraftctl.raft.other_quorums import take_look
from kraftctl.raft.other_replicas import note_leader, note_own_id_leads
from kraftctl.raft.peer_identities import take_identity
from kraftctl.raft.peers import Peer
from kraftctl.raft.response_reports import note_absence, note_refusal, note_response
from kraftctl.raft.states import Follower, Leader, Prospective, Resigned
from kraftctl.raft.validation import is_raised_too_often
from kraftctl.raft.voter_change import take_versions
from kraftctl.raft.voter_set import Endpoints
from kraftctl_protocol.errors import Errors, error_of
from kraftctl_protocol.generated.add_raft_voter_response import AddRaftVoterResponse
from kraftctl_protocol.generated.begin_quorum_epoch_response import BeginQuorumEpochResponse
from kraftctl_protocol.generated.end_quorum_epoch_response import EndQuorumEpochResponse
from kraftctl_protocol.generated.fetch_response import FetchResponse
from kraftctl_protocol.generated.fetch_snapshot_response import FetchSnapshotResponse
from kraftctl_protocol.generated.remove_raft_voter_response import RemoveRaftVoterResponse
from kraftctl_protocol.generated.update_raft_voter_response import UpdateRaftVoterResponse
from kraftctl_protocol.generated.vote_response import VoteResponse
from kraftctl_protocol.metadata_topic import (
    is_fetched_from_metadata_log,
    is_for_metadata_log,
    is_snapshot_of_metadata_log,
)
from kraftctl_protocol.peer_limits import bounded_ms, is_address, uses_epochs_up

IGNORED_ERRORS = frozenset([Errors.UNKNOWN_LEADER_EPOCH, Errors.INVALID_VOTER_KEY])
"""The peer lags, or is not the replica that was expected."""

EPOCH_ERRORS = frozenset([Errors.FENCED_LEADER_EPOCH, Errors.NOT_LEADER_OR_FOLLOWER])
"""This replica lags; the response names the epoch to join."""


PeerResponse = (
    FetchResponse | FetchSnapshotResponse | VoteResponse | BeginQuorumEpochResponse | EndQuorumEpochResponse
)


class NamedEpoch:
    """The error, the epoch and the leader, if known, that every response has."""

    def __init__(self, error_code: int, leader_id: int, epoch: int) -> None:
        self.error = error_of(error_code)
        self.leader_id = leader_id
        self.epoch = epoch


def handle_response(core: RaftCore, event: ResponseReceived) -> None:
    if take_identity(core, event) or take_look(core, event):
        return
    note_absence(core, event)
    peer = core.peers.answered(event.send_id)
    if peer is None:
        return
    response = event.response
    if isinstance(
        response,
        FetchResponse
        | FetchSnapshotResponse
        | VoteResponse
        | BeginQuorumEpochResponse
        | EndQuorumEpochResponse,
    ):
        usable = _handle(core, peer, response)
    elif isinstance(response, UpdateRaftVoterResponse):
        usable = _take_update(core, peer, response)
    elif isinstance(response, AddRaftVoterResponse | RemoveRaftVoterResponse):
        usable = take_join_response(core, response)
    else:
        usable = take_versions(core, event.send_id, response)
    if not usable:
        peer.back_off(core.now_ms + core.config.retry_backoff_ms)
    if event.refused:
        connection_refused(core, peer)


def _note_reached(core: RaftCore, peer: Peer, leader_id: int) -> None:
    """Notes that the leader of this epoch responds at the known address, and says itself that it leads.

    Another voter may listen there in the meantime: it names another address, and that one is right.
    """
    state = core.state
    address = (peer.host, peer.port)
    if not isinstance(state, Follower) or not peer.id == state.leader_id == leader_id:
        return
    if state.leader_endpoints.get(core.default_listener()) == address:
        state.leader_reached(core.now_ms)


def _handle(core: RaftCore, peer: Peer, response: PeerResponse) -> bool:
    """Returns whether the peer may be asked again without a pause."""
    if response.error_code != Errors.NONE:
        return _refused(core, peer, response)
    named = _named_epoch(response)
    if named is None:
        return False
    note_response(core, peer, response, named.error, named.leader_id)
    known = core.state
    # To the others a resigned leader still leads its epoch: its own id there is no contradiction.
    is_resignation = isinstance(response, EndQuorumEpochResponse)
    is_own_epoch = is_resignation and isinstance(known, Resigned) and named.epoch == known.epoch
    if not is_own_epoch and not learn(core, named, _endpoints(core, named.leader_id, response)):
        # The same epoch and leader again would only bring the same response immediately.
        return core.state is not known or is_resignation
    if named.error != Errors.NONE and not isinstance(response, FetchSnapshotResponse):
        return _unexpected(core, peer, named.error)
    _note_reached(core, peer, named.leader_id)
    return _take(core, peer, response, named.leader_id)


def _refused(core: RaftCore, peer: Peer, response: PeerResponse) -> bool:
    """Handles the refusal of a request. Returns whether the peer may be asked again without a pause."""
    is_without_pre_vote = (
        isinstance(response, VoteResponse) and response.error_code == Errors.UNSUPPORTED_VERSION
    )
    state = core.state
    if is_without_pre_vote and isinstance(state, Prospective):
        if state.is_hint_only():
            record_vote(core, peer.id, False)
            return True
        text = f"{peer.id} does not support pre-votes: becoming a candidate"
        core.limited_notice("responses", INFO, text)
        become_candidate(core)
        return True
    return _unexpected(core, peer, error_of(response.error_code))


def _named_epoch(response: PeerResponse) -> NamedEpoch | None:
    """Returns None when the response is not about the metadata log."""
    if isinstance(response, FetchResponse):
        if not is_fetched_from_metadata_log(response):
            return None
        fetched = response.responses[0].partitions[0]
        current = fetched.current_leader
        return NamedEpoch(fetched.error_code, current.leader_id, current.leader_epoch)
    if isinstance(response, FetchSnapshotResponse):
        if not is_snapshot_of_metadata_log(response):
            return None
        wanted = response.topics[0].partitions[0]
        leader = wanted.current_leader
        return NamedEpoch(wanted.error_code, leader.leader_id, leader.leader_epoch)
    if not is_for_metadata_log(response):
        return None
    partition = response.topics[0].partitions[0]
    return NamedEpoch(partition.error_code, partition.leader_id, partition.leader_epoch)


def _take(core: RaftCore, peer: Peer, response: PeerResponse, leader_id: int) -> bool:
    """Handles what only this kind of response contains; returns whether there needs to be no pause."""
    state = core.state
    if isinstance(response, VoteResponse):
        record_vote(core, peer.id, response.topics[0].partitions[0].vote_granted)
    elif isinstance(response, BeginQuorumEpochResponse):
        if isinstance(state, Leader) and peer.id in state.voter_states:
            state.voter_states[peer.id].has_acknowledged_leader = True
    elif isinstance(response, EndQuorumEpochResponse):
        if isinstance(state, Resigned):
            state.acked_by(peer.id)
            if core.shutting_down and not state.unacked_voter_ids:
                state.wait_for_election(core.now_ms + core.config.election_timeout_ms)
    elif not isinstance(state, Follower) or state.leader_id != leader_id:
        # This is how a follower finds its leader: a replica that does not lead names the one it knows.
        return False
    elif isinstance(response, FetchResponse):
        if peer.fetched_from != core.log.end():
            return True  # a response over another address of the leader has come first
        follow(core, state, response.responses[0].partitions[0])
        if response.throttle_time_ms > 0:
            # KIP-219: a busy leader has no place where this Fetch could wait.
            pause_ms = bounded_ms(response.throttle_time_ms, core.config.fetch_wait_ms_max)
            state.pause_fetching(core.now_ms + pause_ms)
    else:
        take_slice(core, state, response.topics[0].partitions[0])
    return True


def _take_update(core: RaftCore, peer: Peer, response: UpdateRaftVoterResponse) -> bool:
    """Notes that the leader knows this voter now, or refuses; the period between two requests is the
    backoff.

    A peer of a release without this request cannot be updated any further.
    """
    state = core.state
    error = error_of(response.error_code)
    if error == Errors.UNSUPPORTED_VERSION and isinstance(state, Follower):
        state.leader_is_updated()
        return True
    current = response.current_leader
    named = NamedEpoch(response.error_code, current.leader_id, current.leader_epoch)
    endpoints = core.voters.endpoints(named.leader_id)
    if named.leader_id >= 0 and is_address(current.host, current.port):
        endpoints = {core.default_listener(): (current.host, current.port)}
    if not learn(core, named, endpoints):
        return core.state is not state
    _note_reached(core, peer, named.leader_id)
    if error == Errors.NONE and isinstance(state, Follower):
        state.leader_is_updated()
        state.leader_answered(core.now_ms, core.fetch_deadline_ms())
        return True
    return error == Errors.REQUEST_TIMED_OUT or _unexpected(core, peer, error)


def learn(core: RaftCore, named: NamedEpoch, endpoints: Endpoints) -> bool:
    """Joins the epoch that a response names. Returns whether the rest of the response still matters."""
    epoch, leader_id = named.epoch, named.leader_id
    if epoch < core.state.epoch or named.error in IGNORED_ERRORS:
        return False
    if uses_epochs_up(core.state.epoch, epoch):
        text = f"A response names epoch {epoch}, which leaves no room for elections after it"
        core.limited_notice("responses", ERROR, text)
        return False
    if not is_consistent_leader(core, epoch, leader_id):
        if leader_id == core.key.id:
            note_own_id_leads(core, epoch)
            return False
        text = f"A response names {leader_id} leader of {epoch}, which contradicts {core.state!r}"
        core.limited_notice("responses", ERROR, text)
        return False
    if is_raised_too_often(core, epoch):
        return False
    old_epoch = core.state.epoch
    join_epoch(core, epoch, leader_id, endpoints)
    if leader_id >= 0:
        note_leader(core, leader_id)
    return epoch == old_epoch and named.error not in EPOCH_ERRORS


def _endpoints(core: RaftCore, leader_id: int, response: PeerResponse) -> Endpoints:
    """Returns the leader's endpoint for the listener that we use; older versions name none."""
    if leader_id < 0:
        return {}
    for node in response.node_endpoints:
        if node.node_id == leader_id and is_address(node.host, node.port):
            return {core.default_listener(): (node.host, node.port)}
    return core.voters.endpoints(leader_id)


def _unexpected(core: RaftCore, peer: Peer, error: Errors) -> bool:
    note_refusal(core, peer, error)
    return False
