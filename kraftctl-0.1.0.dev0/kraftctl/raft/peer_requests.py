"""Decides which requests each state sends to its peers when one of them is ready (KIP-595, KIP-853,
KIP-996).
"""

from __future__ import annotations

from kraftctl.raft.auto_join import is_to_join, join_request, next_join_ms
from kraftctl.raft.core import RaftCore
from kraftctl.raft.effects import SendRequest
from kraftctl.raft.epoch_election import EpochElection
from kraftctl.raft.peers import NOTHING_IN_FLIGHT, Peer
from kraftctl.raft.replica_key import ReplicaKey
from kraftctl.raft.states import (
    Candidate,
    Follower,
    Leader,
    Prospective,
    Resigned,
    SnapshotDownload,
    Unattached,
)
from kraftctl.raft.update_voter import is_to_update, update_raft_voter_request
from kraftctl_protocol.generated import (
    begin_quorum_epoch_request,
    end_quorum_epoch_request,
    fetch_request,
    fetch_snapshot_request,
    vote_request,
)
from kraftctl_protocol.generated.begin_quorum_epoch_request import BeginQuorumEpochRequest
from kraftctl_protocol.generated.end_quorum_epoch_request import EndQuorumEpochRequest
from kraftctl_protocol.generated.fetch_request import FetchRequest
from kraftctl_protocol.generated.fetch_snapshot_request import FetchSnapshotRequest
from kraftctl_protocol.generated.vote_request import VoteRequest
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_topic import METADATA_PARTITION, METADATA_TOPIC, METADATA_TOPIC_ID

FIRST_BOOTSTRAP_ID = -2
"""Kafka numbers servers like this whose node id is not known yet."""


def send_requests(core: RaftCore) -> None:
    """Sends what is due. A quorum of one sends no requests, even after another replica has raised the epoch.

    The checks of `other_quorums` are the exception.
    """
    if core.has_no_peers():
        return
    state = core.state
    if isinstance(state, Leader):
        _send_begin_quorum_epoch(core, state)
    elif isinstance(state, Prospective | Candidate):
        _send_votes(core, state.election, pre_vote=isinstance(state, Prospective))
        if state.leader_id < 0 and state.election.is_unanswered() and not core.shutting_down:
            # Perhaps all voters listen elsewhere than the log says.
            _send_fetch_to_any_bootstrap(core)
    elif isinstance(state, Resigned):
        for voter_id in state.unacked_voter_ids:
            send(core, _voter(core, voter_id), _end_quorum_epoch_request_of(core, state))
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
        send(core, _voter(core, voter_id), vote_request_to(core, key, pre_vote=pre_vote))


def _send_begin_quorum_epoch(core: RaftCore, leader: Leader) -> None:
    """Sends it again to voters that do not fetch: they may not know the leader any longer (KAFKA-16536)."""
    if core.now_ms < leader.begin_quorum_deadline_ms:
        return
    period_ms = core.config.fetch_timeout_ms // 2
    for voter_id, replica in leader.voter_states.items():
        is_silent = replica.last_fetch_ms < 0 or core.now_ms - replica.last_fetch_ms >= period_ms
        if voter_id != core.key.id and is_silent:
            send_begin_quorum_epoch_to(core, replica.key)
    leader.send_begin_quorum_epoch_at(core.now_ms + period_ms)


def send_begin_quorum_epoch_to(core: RaftCore, voter: ReplicaKey) -> None:
    send(core, _voter(core, voter.id), _begin_quorum_epoch_request_to(core, voter))


def _send_fetch(core: RaftCore, state: Follower) -> None:
    """Fetches from the leader, or from the bootstrap servers while it does not respond (KAFKA-19354).

    A Fetch there may wait for a voter that is silent, so the leader is asked again beside it. A voter that
    has just heard from its leader asks no other: one connection may have ended. Of a new leader it hears by
    BeginQuorumEpoch. A voter first sends what it has to report about itself.
    """
    if core.now_ms < state.retry_at_ms:
        return
    endpoint = state.leader_endpoints.get(core.default_listener())
    if endpoint is None:
        _send_fetch_to_any_bootstrap(core)
        return
    leader = core.peers.peer(state.leader_id, endpoint[0], endpoint[1])
    if leader.is_backing_off():
        recently_ms = core.now_ms - core.config.fetch_timeout_ms // 2
        if not (core.is_voter() and state.has_reached_leader_since(recently_ms)):
            _send_fetch_to_any_bootstrap(core, but=endpoint)
        return
    if not _send_change_of_voters(core, state, leader) and leader.is_ready() and _may_fetch(core):
        download = state.download
        if download is None:
            _send_fetch_to(core, leader)
        elif not download.is_complete:
            send(core, leader, _fetch_snapshot_request_of(core, download))


def _send_change_of_voters(core: RaftCore, state: Follower, leader: Peer) -> bool:
    """Returns whether such a request was due, and was sent."""
    next_ms = core.next_update_voter_ms()
    request: Message
    if is_to_update(core, state):
        request = update_raft_voter_request(core)
    elif is_to_join(core, state):
        request = join_request(core)
        next_ms = next_join_ms(core)
    else:
        if core.now_ms >= state.update_voter_at_ms:
            # KAFKA-19850: a voter that is removed does not add itself in the next moment.
            state.consider_update_at(next_ms)
        return False
    if send(core, leader, request) == NOTHING_IN_FLIGHT:
        return False
    state.consider_update_at(next_ms)
    return True


def _send_fetch_to_any_bootstrap(core: RaftCore, but: tuple[str, int] | None = None) -> None:
    if core.peers.has_any_in_flight() or not _may_fetch(core):
        return
    ready = [peer for peer in bootstrap_peers(core) if peer.is_ready() and (peer.host, peer.port) != but]
    if ready:
        _send_fetch_to(core, ready[core.random_below(len(ready))])


def _send_fetch_to(core: RaftCore, peer: Peer) -> None:
    """Sends a Fetch to a peer that is ready."""
    send(core, peer, _fetch_request_of(core))
    peer.fetches_from(core.log.end())


def _may_fetch(core: RaftCore) -> bool:
    """Returns whether to fetch: to a leader it means that everything below the offset is on disk
    (KAFKA-17332).
    """
    return core.log.flushed_offset == core.log.end_offset


def bootstrap_peers(core: RaftCore) -> list[Peer]:
    """Returns the peers at the bootstrap addresses."""
    return [core.peers.peer(*address) for address in bootstrap_addresses(core)]


def bootstrap_addresses(core: RaftCore) -> list[tuple[int, str, int]]:
    """Returns the configured servers and the other voters: the configured ones may not be voters any
    longer.
    """
    servers = core.config.bootstrap_servers or []
    own = core.endpoints.get(core.default_listener())
    addresses = [
        (FIRST_BOOTSTRAP_ID - index, host, port)
        for index, (host, port) in enumerate(servers)
        if (host, port) != own
    ]
    for voter_id in core.voters.voter_ids():
        endpoint = core.voters.endpoints(voter_id).get(core.default_listener())
        if voter_id != core.key.id and endpoint is not None and endpoint not in servers:
            addresses.append((voter_id, endpoint[0], endpoint[1]))
    return addresses


def _voter(core: RaftCore, voter_id: int) -> Peer | None:
    endpoint = core.voters.endpoints(voter_id).get(core.default_listener())
    return None if endpoint is None else core.peers.peer(voter_id, endpoint[0], endpoint[1])


def send(core: RaftCore, peer: Peer | None, request: Message) -> int:
    """Returns the send id; `NOTHING_IN_FLIGHT` when the peer is unknown or not ready."""
    if peer is None or not peer.is_ready():
        return NOTHING_IN_FLIGHT
    send_id = core.peers.sent(peer, core.now_ms + core.config.request_timeout_ms)
    core.emit(
        SendRequest(send_id, peer.id, peer.host, peer.port, type(request).API_KEY, request, core.state.epoch)
    )
    return send_id


def vote_request_to(core: RaftCore, voter: ReplicaKey, *, pre_vote: bool) -> VoteRequest:
    """Makes a request from what is on disk: a power failure after the vote must not lose any of it."""
    flushed_end = core.log.flushed_end()
    partition = vote_request.PartitionData(
        partition_index=METADATA_PARTITION,
        replica_epoch=core.state.epoch,
        replica_id=core.key.id,
        replica_directory_id=core.key.directory_id,
        voter_directory_id=voter.directory_id,
        last_offset_epoch=flushed_end.epoch,
        last_offset=flushed_end.offset,
        pre_vote=pre_vote,
    )
    topic = vote_request.TopicData(topic_name=METADATA_TOPIC, partitions=[partition])
    return VoteRequest(cluster_id=core.cluster_id, voter_id=voter.id, topics=[topic])


def _begin_quorum_epoch_request_to(core: RaftCore, voter: ReplicaKey) -> BeginQuorumEpochRequest:
    partition = begin_quorum_epoch_request.PartitionData(
        partition_index=METADATA_PARTITION,
        voter_directory_id=voter.directory_id,
        leader_id=core.key.id,
        leader_epoch=core.state.epoch,
    )
    return BeginQuorumEpochRequest(
        cluster_id=core.cluster_id,
        voter_id=voter.id,
        topics=[begin_quorum_epoch_request.TopicData(topic_name=METADATA_TOPIC, partitions=[partition])],
        leader_endpoints=[
            begin_quorum_epoch_request.LeaderEndpoint(name=name, host=host, port=port)
            for name, (host, port) in core.endpoints.items()
        ],
    )


def _end_quorum_epoch_request_of(core: RaftCore, state: Resigned) -> EndQuorumEpochRequest:
    """Makes a request without endpoints, like Kafka's leaders: their followers have them."""
    partition = end_quorum_epoch_request.PartitionData(
        partition_index=METADATA_PARTITION,
        leader_id=core.key.id,
        leader_epoch=state.epoch,
        preferred_successors=[key.id for key in state.preferred_successors],
        preferred_candidates=[
            end_quorum_epoch_request.ReplicaInfo(candidate_id=key.id, candidate_directory_id=key.directory_id)
            for key in state.preferred_successors
        ],
    )
    topic = end_quorum_epoch_request.TopicData(topic_name=METADATA_TOPIC, partitions=[partition])
    return EndQuorumEpochRequest(cluster_id=core.cluster_id, topics=[topic])


def _fetch_request_of(core: RaftCore) -> FetchRequest:
    """Makes a request after a flush: everything below the fetch offset has to be on disk."""
    assert core.log.flushed_offset == core.log.end_offset
    partition = fetch_request.FetchPartition(
        partition=METADATA_PARTITION,
        current_leader_epoch=core.state.epoch,
        fetch_offset=core.log.end_offset,
        last_fetched_epoch=core.log.last_epoch(),
        replica_directory_id=core.key.directory_id,
        high_watermark=core.high_watermark,
        partition_max_bytes=0,
    )
    topic = fetch_request.FetchTopic(topic=METADATA_TOPIC, topic_id=METADATA_TOPIC_ID, partitions=[partition])
    return FetchRequest(
        cluster_id=core.cluster_id,
        replica_state=fetch_request.ReplicaState(replica_id=core.key.id),
        max_wait_ms=core.config.fetch_wait_ms_max,
        max_bytes=core.config.fetch_bytes_max,
        topics=[topic],
    )


def _fetch_snapshot_request_of(core: RaftCore, download: SnapshotDownload) -> FetchSnapshotRequest:
    """Makes a request for the next slice (KIP-630)."""
    partition = fetch_snapshot_request.PartitionSnapshot(
        partition=METADATA_PARTITION,
        current_leader_epoch=core.state.epoch,
        snapshot_id=fetch_snapshot_request.SnapshotId(
            end_offset=download.snapshot_id.offset, epoch=download.snapshot_id.epoch
        ),
        position=download.position,
        replica_directory_id=core.key.directory_id,
    )
    topic = fetch_snapshot_request.TopicSnapshot(name=METADATA_TOPIC, partitions=[partition])
    return FetchSnapshotRequest(
        cluster_id=core.cluster_id,
        replica_id=core.key.id,
        max_bytes=core.config.fetch_snapshot_bytes_max,
        topics=[topic],
    )
