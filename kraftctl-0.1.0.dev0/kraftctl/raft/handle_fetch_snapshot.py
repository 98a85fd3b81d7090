"""KIP-630: FetchSnapshot, one slice of a checkpoint file at a time."""

from __future__ import annotations

from kraftctl.raft.check_quorum import note_fetch_of_voter
from kraftctl.raft.core import RaftCore
from kraftctl.raft.effects import RespondFetchSnapshot
from kraftctl.raft.events import RequestReceived
from kraftctl.raft.leader_endpoint import FROM_VERSION, leader_for_observers, name_leader_endpoint
from kraftctl.raft.log_state import SnapshotInfo
from kraftctl.raft.raft_config import RESPONSE_BYTES_MAX
from kraftctl.raft.replica_key import ReplicaKey
from kraftctl.raft.states import Leader
from kraftctl.raft.validation import leader_only_error, request_error
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.fetch_snapshot_request import FetchSnapshotRequest
from kraftctl_protocol.generated.fetch_snapshot_request import PartitionSnapshot as WantedSlice
from kraftctl_protocol.generated.fetch_snapshot_response import (
    FetchSnapshotResponse,
    LeaderIdAndEpoch,
    PartitionSnapshot,
    SnapshotId,
    TopicSnapshot,
)
from kraftctl_protocol.metadata_topic import METADATA_PARTITION, METADATA_TOPIC
from kraftctl_protocol.offset_and_epoch import BOOTSTRAP_SNAPSHOT_ID, OffsetAndEpoch


def handle_fetch_snapshot(core: RaftCore, event: RequestReceived) -> None:
    request = event.request
    assert isinstance(request, FetchSnapshotRequest)
    is_valid = len(request.topics) == 1 and len(request.topics[0].partitions) == 1
    error = request_error(core, request.cluster_id, is_valid=is_valid)
    if error != Errors.NONE:
        core.respond(event.request_id, FetchSnapshotResponse(error_code=error))
        return
    topic = request.topics[0]
    wanted = topic.partitions[0]
    if topic.name != METADATA_TOPIC or wanted.partition != METADATA_PARTITION:
        unknown = PartitionSnapshot(
            index=wanted.partition,
            error_code=Errors.UNKNOWN_TOPIC_OR_PARTITION,
            unaligned_records=b"",
        )
        core.respond(event.request_id, _response(core, event, topic.name, unknown))
        return
    error = leader_only_error(core, wanted.current_leader_epoch)
    if error != Errors.NONE:
        _answer_error(core, event, error)
        return
    _serve(core, event, request, wanted)


def _serve(
    core: RaftCore, event: RequestReceived, request: FetchSnapshotRequest, wanted: WantedSlice
) -> None:
    snapshot_id = OffsetAndEpoch(wanted.snapshot_id.end_offset, wanted.snapshot_id.epoch)
    info = core.log.snapshot(snapshot_id)
    if info is None or snapshot_id == BOOTSTRAP_SNAPSHOT_ID:
        _answer_error(core, event, Errors.SNAPSHOT_NOT_FOUND)
        return
    if not 0 <= wanted.position < info.size_bytes:
        _answer_error(core, event, Errors.POSITION_OUT_OF_RANGE)
        return
    leader = core.leader()
    assert leader is not None
    _note_slice(core, leader, ReplicaKey(request.replica_id, wanted.replica_directory_id))
    _answer_slice(core, event, info, wanted.position, request.max_bytes)


def _note_slice(core: RaftCore, leader: Leader, key: ReplicaKey) -> None:
    """Notes that a replica downloads, for those who look for silent ones; Kafka notes voters only."""
    if key.id < 0 or key.id == core.key.id:
        return
    note_fetch_of_voter(core, leader, key)
    leader.replica(key, core.now_ms).fetched_slice(core.now_ms, core.wall_ms)


def _answer_slice(
    core: RaftCore, event: RequestReceived, info: SnapshotInfo, position: int, max_bytes: int
) -> None:
    """Responds with a slice; the response must repeat the id and the position of the request."""
    partition = _partition(core, event, Errors.NONE)
    partition.snapshot_id = SnapshotId(end_offset=info.snapshot_id.offset, epoch=info.snapshot_id.epoch)
    partition.size = info.size_bytes
    partition.position = position
    size_bytes = min(max(max_bytes, 0), RESPONSE_BYTES_MAX, info.size_bytes - position)
    response = _response(core, event, METADATA_TOPIC, partition)
    core.emit(RespondFetchSnapshot(event.request_id, response, info.snapshot_id, position, size_bytes))


def _answer_error(core: RaftCore, event: RequestReceived, error: Errors) -> None:
    response = _response(core, event, METADATA_TOPIC, _partition(core, event, error))
    core.respond(event.request_id, response)


def _partition(core: RaftCore, event: RequestReceived, error: Errors) -> PartitionSnapshot:
    leader_id = leader_for_observers(core, event.listener_name, event.version >= FROM_VERSION)
    return PartitionSnapshot(
        index=METADATA_PARTITION,
        error_code=error,
        current_leader=LeaderIdAndEpoch(leader_id=leader_id, leader_epoch=core.state.epoch),
        unaligned_records=b"",
    )


def _response(
    core: RaftCore, event: RequestReceived, topic_name: str, partition: PartitionSnapshot
) -> FetchSnapshotResponse:
    response = FetchSnapshotResponse(topics=[TopicSnapshot(name=topic_name, partitions=[partition])])
    name_leader_endpoint(core, event.listener_name, event.version, response)
    return response
