"""KIP-595, KIP-996: whom each state asks for what, whenever a peer is ready to be asked."""

from __future__ import annotations

from kraftctl.raft.core import RaftCore
from kraftctl.raft.effects import SendRequest
from kraftctl.raft.epoch_election import EpochElection
from kraftctl.raft.peers import Peer
from kraftctl.raft.raft_requests import (
    begin_quorum_epoch_request_to,
    end_quorum_epoch_request_of,
    fetch_request_of,
    fetch_snapshot_request_of,
    vote_request_to,
)
from kraftctl.raft.states import Candidate, Follower, Leader, Prospective, Resigned, Unattached
from kraftctl_protocol.message import Message

FIRST_BOOTSTRAP_ID = -2
"""As Kafka numbers servers whose node id is not known yet."""


def send_requests(core: RaftCore) -> None:
    """A quorum of one has nobody to ask, even while a stranger's epoch has unseated it."""
    if core.has_nobody_to_ask():
        return
    core.peers.expire(core.now_ms, core.config.retry_backoff_ms)
    state = core.state
    if isinstance(state, Leader):
        _send_begin_quorum_epoch(core, state)
    elif isinstance(state, Prospective | Candidate):
        _send_votes(core, state.election, pre_vote=isinstance(state, Prospective))
    elif isinstance(state, Resigned):
        for voter_id in state.unacked_voter_ids:
            _send(core, _voter(core, voter_id), end_quorum_epoch_request_of(core, state))
    elif core.shutting_down:
        return
    elif isinstance(state, Follower):
        _send_fetch(core, state)
    elif isinstance(state, Unattached):
        _send_fetch_to_any_bootstrap(core)


def _send_votes(core: RaftCore, election: EpochElection, *, pre_vote: bool) -> None:
    if election.is_lost():
        return
    for voter_id in election.unrecorded_voter_ids():
        key = election.keys[voter_id]
        _send(core, _voter(core, voter_id), vote_request_to(core, key, pre_vote=pre_vote))


def _send_begin_quorum_epoch(core: RaftCore, leader: Leader) -> None:
    """KAFKA-16536: also later, to voters that do not fetch: they may have forgotten where we are."""
    if core.now_ms < leader.begin_quorum_deadline_ms:
        return
    period_ms = core.config.fetch_timeout_ms // 2
    for voter_id, replica in leader.voter_states.items():
        is_silent = replica.last_fetch_ms < 0 or core.now_ms - replica.last_fetch_ms >= period_ms
        if voter_id != core.key.id and is_silent:
            _send(core, _voter(core, voter_id), begin_quorum_epoch_request_to(core, replica.key))
    leader.begin_quorum_deadline_ms = core.now_ms + period_ms


def _send_fetch(core: RaftCore, state: Follower) -> None:
    """From the leader; while it does not answer, from whoever may know of another one (KAFKA-19354)."""
    if core.now_ms < state.retry_at_ms:
        return
    endpoint = state.leader_endpoints.get(core.default_listener())
    if endpoint is None:
        _send_fetch_to_any_bootstrap(core)
        return
    leader = core.peers.peer(state.leader_id, endpoint[0], endpoint[1])
    if leader.is_backing_off():
        _send_fetch_to_any_bootstrap(core)
    elif not core.peers.has_any_in_flight() and _may_fetch(core):
        download = state.download
        if download is None:
            _send(core, leader, fetch_request_of(core))
        elif not download.is_complete:
            _send(core, leader, fetch_snapshot_request_of(core, download))


def _send_fetch_to_any_bootstrap(core: RaftCore) -> None:
    if core.peers.has_any_in_flight() or not _may_fetch(core):
        return
    ready = [peer for peer in _bootstrap_peers(core) if peer.is_ready()]
    if ready:
        _send(core, ready[core.rng.randrange(len(ready))], fetch_request_of(core))


def _may_fetch(core: RaftCore) -> bool:
    """KAFKA-17332: a leader takes a fetch for a promise that everything before it is on disk."""
    return core.log.flushed_offset == core.log.end_offset


def _bootstrap_peers(core: RaftCore) -> list[Peer]:
    """The configured ones, and the other voters: none of the former may vote any more."""
    servers = core.config.bootstrap_servers or []
    own = core.endpoints.get(core.default_listener())
    peers = [
        core.peers.peer(FIRST_BOOTSTRAP_ID - index, host, port)
        for index, (host, port) in enumerate(servers)
        if (host, port) != own
    ]
    for voter_id in core.voters.voter_ids():
        endpoint = core.voters.endpoints(voter_id).get(core.default_listener())
        if voter_id != core.key.id and endpoint is not None and endpoint not in servers:
            peers.append(core.peers.peer(voter_id, endpoint[0], endpoint[1]))
    return peers


def _voter(core: RaftCore, voter_id: int) -> Peer | None:
    endpoint = core.voters.endpoints(voter_id).get(core.default_listener())
    return None if endpoint is None else core.peers.peer(voter_id, endpoint[0], endpoint[1])


def _send(core: RaftCore, peer: Peer | None, request: Message) -> None:
    if peer is None or not peer.is_ready():
        return
    timeout_at_ms = core.now_ms + core.config.request_timeout_ms
    send_id = core.peers.sent(peer, timeout_at_ms)
    core.emit(SendRequest(send_id, peer.id, peer.host, peer.port, type(request).API_KEY, request))
