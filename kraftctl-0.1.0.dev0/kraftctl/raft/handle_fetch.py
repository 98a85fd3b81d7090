"""KIP-595: Fetch, from voters and observers alike; the checks in the order of Kafka's leader.

| # | must hold | else |
|---|---|---|
| 1 | the cluster id is ours, or absent | top level INCONSISTENT_CLUSTER_ID |
| 2 | exactly one topic and partition: the metadata log; none to forget | top level INVALID_REQUEST |
| 3 | wait, offset and epochs are not negative; last fetched epoch <= current | INVALID_REQUEST |
| 4 | the epoch is not behind ours | FENCED_LEADER_EPOCH |
| 5 | the epoch is not ahead of ours | UNKNOWN_LEADER_EPOCH |
| 6 | we are not shutting down | BROKER_NOT_AVAILABLE |
| 7 | we lead | NOT_LEADER_OR_FOLLOWER |
| 8 | we did not send it to ourselves | UNKNOWN_SERVER_ERROR |

A broker halts on a partition level INVALID_REQUEST, so row 3 refuses nothing that a broker sends.
"""

from __future__ import annotations

from kraftctl.raft.append import advance_high_watermark
from kraftctl.raft.check_quorum import note_fetch_of_voter
from kraftctl.raft.core import RaftCore
from kraftctl.raft.effects import WARN
from kraftctl.raft.events import RequestReceived
from kraftctl.raft.leadership_rounds import hear_voter, must_be_informed
from kraftctl.raft.log_state import SNAPSHOT, VALID
from kraftctl.raft.other_replicas import (
    note_observer_with_id_of_voter,
    note_replica,
    note_waiting_fetch,
)
from kraftctl.raft.parked_fetches import ANONYMOUS, KNOWN_OBSERVER, NEW_OBSERVER, VOTER, ParkedFetch
from kraftctl.raft.raft_config import (
    PARKED_FETCH_BYTES,
    REPEATED_FETCH_DELAY_MS,
    REPEATED_FETCHES_MAX,
    RESPONSE_BYTES_MAX,
)
from kraftctl.raft.replica_key import ReplicaKey
from kraftctl.raft.respond_fetch import (
    answer,
    gathers,
    has_news,
    respond_elsewhere,
    respond_error,
    respond_throttled,
)
from kraftctl.raft.states import Leader
from kraftctl.raft.validation import leader_only_error, request_error
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.fetch_request import FetchPartition, FetchRequest
from kraftctl_protocol.generated.fetch_response import FetchResponse
from kraftctl_protocol.metadata_topic import is_fetch_of_metadata_log
from kraftctl_protocol.offset_and_epoch import BOOTSTRAP_SNAPSHOT_ID, OffsetAndEpoch

REPLICA_STATE_FROM_VERSION = 15

CHARACTER_BYTES = 4
"""A character takes at most this much memory."""

UNKNOWN_FIELD_BYTES = 150
"""An unknown tagged field takes this much memory beside its data."""


def handle_fetch(core: RaftCore, event: RequestReceived) -> None:
    request = event.request
    assert isinstance(request, FetchRequest)
    # There are no fetch sessions that could forget a topic.
    is_valid = is_fetch_of_metadata_log(request, event.version) and not request.forgotten_topics_data
    error = request_error(core, request.cluster_id, is_valid=is_valid)
    if error != Errors.NONE:
        core.respond(event.request_id, FetchResponse(error_code=error))
        return
    partition = request.topics[0].partitions[0]
    _note_own_id(core, event, request, partition)
    error = _partition_error(core, request, partition, event.version)
    if error != Errors.NONE:
        respond_error(core, event.request_id, event.listener_name, event.version, error)
        return
    leader = core.leader()
    assert leader is not None
    fetch = _fetch_of(core, event, request, partition)
    _note_id_of_voter(core, leader, fetch.key, event.client_address)
    _serve(core, leader, fetch, request.max_wait_ms)
    if fetch.rank == VOTER and core.parked.holds(fetch.request_id):
        note_waiting_fetch(core, leader.voter_states[fetch.key.id], fetch, event.client_address)


def _note_own_id(
    core: RaftCore, event: RequestReceived, request: FetchRequest, partition: FetchPartition
) -> None:
    """Notes that another process has this node's id, even if another node leads: it may not know."""
    if _replica_id(request, event.version) == core.key.id:
        note_replica(
            core, ReplicaKey(core.key.id, partition.replica_directory_id), "a Fetch", event.client_address
        )


def _note_id_of_voter(core: RaftCore, leader: Leader, key: ReplicaKey, client_address: bytes) -> None:
    """Notes that two processes have the id of one voter, in two directories."""
    voter = leader.voter_states.get(key.id)
    if voter is None or voter.fetched_directory_id == key.directory_id:
        return
    if voter.matches(key):
        note_replica(core, key, "a Fetch", client_address)
    else:
        note_observer_with_id_of_voter(core, leader, key, client_address)


def _serve(core: RaftCore, leader: Leader, fetch: ParkedFetch, max_wait_ms: int) -> None:
    """Responds immediately if there is anything new for the replica, else parks the Fetch."""
    _note_lost_records(core, leader, fetch)
    kind, place = _compare_logs(core, fetch)
    if kind != VALID:
        respond_elsewhere(core, leader, fetch, kind, place)
        return
    fetch.rank = _rank(leader, fetch.key)
    repeated = fetch.key.id >= 0 and _note_progress(core, leader, fetch)
    if max_wait_ms > 0 and not has_news(core, leader, fetch) and not must_be_informed(core, leader, fetch):
        _park(core, leader, fetch)
    elif max_wait_ms > 0 and repeated:
        # The replica cannot use our responses; without a pause it would fetch hundreds of times a second.
        fetch.delay(core.now_ms + REPEATED_FETCH_DELAY_MS)
        _park(core, leader, fetch)
    elif max_wait_ms > 0 and gathers(core, fetch):
        leader.wake_observers_at(fetch.gathers_until_ms())
        _park(core, leader, fetch)
    else:
        answer(core, leader, fetch)


def _park(core: RaftCore, leader: Leader, fetch: ParkedFetch) -> None:
    """Parks a Fetch. One that finds no place, or loses it, has to make the pause it asked for (KIP-219)."""
    evicted = core.parked.make_room(fetch)
    if evicted is None:
        respond_throttled(core, leader, fetch)
        return
    for other in evicted:
        respond_throttled(core, leader, other)
    core.parked.park(fetch)


def _rank(leader: Leader, key: ReplicaKey) -> int:
    """Returns the rank, before this Fetch is noted: any client can claim any id once."""
    if key.id < 0:
        return ANONYMOUS
    if leader.is_voter(key):
        return VOTER
    return KNOWN_OBSERVER if key in leader.observer_states else NEW_OBSERVER


def _note_lost_records(core: RaftCore, leader: Leader, fetch: ParkedFetch) -> None:
    """Notes a loss: a voter had everything below its fetch offset in our epoch on disk, and fetches
    lower now.
    """
    voter = leader.voter_states.get(fetch.key.id)
    if voter is None or not voter.matches(fetch.key) or fetch.fetch_offset >= voter.end_offset:
        return
    core.limited_notice(
        "lost records",
        WARN,
        f"Voter {fetch.key} fetches from offset {fetch.fetch_offset}, although it had everything up to"
        f" {voter.end_offset} on disk: it has lost part of its log, or is another process with its node.id."
        " Next step: keep the other voters running until it has everything again (kraftctl quorum describe"
        " --replication), then see docs/operations/lost-disk.md",
    )
    voter.end_offset = fetch.fetch_offset


def _compare_logs(core: RaftCore, fetch: ParkedFetch) -> tuple[int, OffsetAndEpoch]:
    """Compares the logs. An empty replica loads a snapshot, even if the log still begins at 0."""
    if fetch.fetch_offset == 0:
        snapshot_id = core.log.latest_snapshot_id()
        if snapshot_id is not None and snapshot_id != BOOTSTRAP_SNAPSHOT_ID:
            return SNAPSHOT, snapshot_id
    return core.log.validate(fetch.fetch_offset, fetch.last_fetched_epoch)


def _note_progress(core: RaftCore, leader: Leader, fetch: ParkedFetch) -> bool:
    """Notes what the replica has on disk. Returns whether it repeats the same Fetch."""
    replica = leader.replica(fetch.key, core.now_ms)
    replica.fetched_directory_id = fetch.key.directory_id
    replica.update(
        fetch_offset=fetch.fetch_offset,
        leader_end_offset=core.log.end_offset,
        now_ms=core.now_ms,
        wall_ms=core.wall_ms,
    )
    if leader.is_voter(fetch.key):
        note_fetch_of_voter(core, leader, fetch.key)
        hear_voter(core, leader, fetch)
        advance_high_watermark(core, leader)
    else:
        fetch.observer = replica
    if not has_news(core, leader, fetch):
        replica.has_nothing_to_fetch()
        return False
    return replica.is_repeating(fetch.fetch_offset, fetch.request_high_watermark, REPEATED_FETCHES_MAX)


def _partition_error(
    core: RaftCore, request: FetchRequest, partition: FetchPartition, version: int
) -> Errors:
    if (
        request.max_wait_ms < 0
        or partition.fetch_offset < 0
        or partition.last_fetched_epoch < 0
        or partition.last_fetched_epoch > partition.current_leader_epoch
    ):
        return Errors.INVALID_REQUEST
    error = leader_only_error(core, partition.current_leader_epoch)
    if error == Errors.NONE and _replica_id(request, version) == core.key.id:
        return Errors.UNKNOWN_SERVER_ERROR
    return error


def _replica_id(request: FetchRequest, version: int) -> int:
    """Returns the replica's id, -1 for readers that are not replicas."""
    return request.replica_state.replica_id if version >= REPLICA_STATE_FROM_VERSION else request.replica_id


def _fetch_of(
    core: RaftCore, event: RequestReceived, request: FetchRequest, partition: FetchPartition
) -> ParkedFetch:
    """Returns the request's partition. Its own byte limit is ignored: replicas send 0 there."""
    return ParkedFetch(
        request_id=event.request_id,
        listener_name=event.listener_name,
        version=event.version,
        key=ReplicaKey(_replica_id(request, event.version), partition.replica_directory_id),
        fetch_offset=partition.fetch_offset,
        last_fetched_epoch=partition.last_fetched_epoch,
        request_high_watermark=partition.high_watermark,
        max_bytes=min(max(request.max_bytes, 0), RESPONSE_BYTES_MAX),
        deadline_ms=core.now_ms + request.max_wait_ms,
        held_bytes=PARKED_FETCH_BYTES + _text_bytes(request, partition),
        connection_id=event.connection_id,
    )


def _text_bytes(request: FetchRequest, partition: FetchPartition) -> int:
    """Returns the memory of texts, which may be long in a request that the connection keeps until the
    response.
    """
    size = CHARACTER_BYTES * (len(request.rack_id) + len(request.cluster_id or ""))
    for unknown in (
        request.unknown_tagged_fields,
        request.replica_state.unknown_tagged_fields,
        request.topics[0].unknown_tagged_fields,
        partition.unknown_tagged_fields,
    ):
        for _, data in unknown or []:
            size += len(data) + UNKNOWN_FIELD_BYTES
    return size
