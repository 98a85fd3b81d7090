"""Checks for a leader that its bootstrap servers follow it: each may lead a quorum of its own.

That happens when both were formatted with --standalone: neither ever sends the other a request. A leader
sends a Fetch without a replica id to bootstrap servers that are not voters; their responses name a leader.
"""

from __future__ import annotations

from typing import Final

from kraftctl.raft import progress_states as states
from kraftctl.raft.core import RaftCore
from kraftctl.raft.effects import SendRequest
from kraftctl.raft.events import ResponseReceived
from kraftctl.raft.peer_requests import bootstrap_peers
from kraftctl.raft.peers import Peer
from kraftctl.raft.progress_faults import fault
from kraftctl.raft.progress_reasons import voters_text
from kraftctl.raft.response_reports import note_other_cluster
from kraftctl.raft.states import Leader
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated import fetch_request
from kraftctl_protocol.generated.fetch_request import FetchRequest
from kraftctl_protocol.generated.fetch_response import FetchResponse, LeaderIdAndEpoch
from kraftctl_protocol.metadata_topic import (
    METADATA_PARTITION,
    METADATA_TOPIC,
    METADATA_TOPIC_ID,
    is_fetched_from_metadata_log,
)

LOOK_EVERY_MS: Final = 60_000

EPOCH_BEFORE_ALL: Final = 0
"""No leader has this epoch, so each server names its own epoch and leader, and sends no records."""


def begin_to_look(core: RaftCore, leader: Leader) -> None:
    """Starts the checks when the node begins to lead."""
    if _outsiders(core):
        core.other_quorums.begin(leader.epoch, core.now_ms + core.config.fetch_timeout_ms)
    else:
        core.other_quorums.end()


def look(core: RaftCore) -> None:
    """Checks the servers when a deadline has come."""
    watch, leader = core.other_quorums, core.leader()
    if leader is None or leader.epoch != watch.epoch or core.shutting_down:
        watch.end()
        return
    watch.look_at(core.now_ms + LOOK_EVERY_MS)
    for peer in _outsiders(core):
        send_id = core.peers.take_send_id()
        watch.ask(send_id, peer.id, peer.host, peer.port)
        core.emit(SendRequest(send_id, peer.id, peer.host, peer.port, FetchRequest.API_KEY, _request(core)))


def take_look(core: RaftCore, event: ResponseReceived) -> bool:
    """Returns whether this was the response to such a Fetch."""
    asked = core.other_quorums.take(event.send_id)
    if asked is None:
        return False
    leader, response = core.leader(), event.response
    if leader is None or not isinstance(response, FetchResponse):
        return True
    if response.error_code == Errors.INCONSISTENT_CLUSTER_ID:
        note_other_cluster(core, core.peers.reports.of(asked[0], asked[1], asked[2]))
        _look_again(core)
    elif response.error_code == Errors.NONE and is_fetched_from_metadata_log(response):
        named = response.responses[0].partitions[0].current_leader
        if _is_of_another_quorum(core, leader, named):
            _note_other_quorum(core, leader, named, f"{asked[1]}:{asked[2]}")
            _look_again(core)
    return True


def _outsiders(core: RaftCore) -> list[Peer]:
    """Returns the bootstrap servers whose addresses are not those of voters."""
    listener = core.default_listener()
    known = [node.endpoints.get(listener) for node in core.voters.nodes.values()]
    return [peer for peer in bootstrap_peers(core) if peer.id < 0 and (peer.host, peer.port) not in known]


def _is_of_another_quorum(core: RaftCore, leader: Leader, named: LeaderIdAndEpoch) -> bool:
    """Returns whether the leader is of another quorum; followers that lag may name a former leader of
    this one.
    """
    if named.leader_id < 0 or (named.leader_id == leader.leader_id and named.leader_epoch <= leader.epoch):
        return False
    if named.leader_epoch >= leader.epoch:
        return True
    return all(named.leader_id not in voters.voter_ids() for _, voters in core.history.voters)


def _note_other_quorum(core: RaftCore, leader: Leader, named: LeaderIdAndEpoch, address: str) -> None:
    fields = {
        "cluster": core.cluster_id,
        "address": address,
        "other": str(named.leader_id),
        "other_epoch": str(named.leader_epoch),
        "leader": str(leader.leader_id),
        "epoch": str(leader.epoch),
        "voters": voters_text(core.voters),
    }
    # By then a leader that the others have left has resigned.
    fault(core, states.TWO_QUORUMS, address, fields, lasts_ms=2 * core.config.fetch_timeout_ms)


def _look_again(core: RaftCore) -> None:
    """Schedules a second check soon, to be sure; after that as usual."""
    watch = core.other_quorums
    if not watch.doubts:
        watch.doubt()
        watch.look_at(core.now_ms + 2 * core.config.fetch_timeout_ms)


def _request(core: RaftCore) -> FetchRequest:
    partition = fetch_request.FetchPartition(
        partition=METADATA_PARTITION,
        current_leader_epoch=EPOCH_BEFORE_ALL,
        last_fetched_epoch=EPOCH_BEFORE_ALL,
        partition_max_bytes=0,
    )
    topic = fetch_request.FetchTopic(topic=METADATA_TOPIC, topic_id=METADATA_TOPIC_ID, partitions=[partition])
    return FetchRequest(
        cluster_id=core.cluster_id,
        replica_state=fetch_request.ReplicaState(replica_id=-1),
        max_wait_ms=0,
        max_bytes=1,
        topics=[topic],
    )
