"""Controllers as an observer sees them: a log, a high watermark, possibly a snapshot, and a leader."""

from __future__ import annotations

import socket
import threading

from kraftctl_protocol.api_keys import ApiKey
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.frames import FrameDecoder, encode_frame
from kraftctl_protocol.generated.api_versions_response import ApiVersion, ApiVersionsResponse
from kraftctl_protocol.generated.describe_cluster_response import DescribeClusterResponse
from kraftctl_protocol.generated.fetch_request import FetchRequest
from kraftctl_protocol.generated.fetch_response import (
    EpochEndOffset,
    FetchableTopicResponse,
    FetchResponse,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionData,
    SnapshotId,
)
from kraftctl_protocol.generated.fetch_snapshot_request import FetchSnapshotRequest
from kraftctl_protocol.generated.fetch_snapshot_response import (
    FetchSnapshotResponse,
    PartitionSnapshot,
    TopicSnapshot,
)
from kraftctl_protocol.generated.fetch_snapshot_response import LeaderIdAndEpoch as SnapshotLeader
from kraftctl_protocol.generated.fetch_snapshot_response import NodeEndpoint as SnapshotEndpoint
from kraftctl_protocol.generated.fetch_snapshot_response import SnapshotId as SliceOf
from kraftctl_protocol.message import Message
from kraftctl_protocol.record_batch import read_batch_header
from kraftctl_protocol.requests import ParsedRequest, decode_request, encode_response
from kraftctl_protocol.uuids import ONE_UUID

CLUSTER_ID = "c0ffeec0ffeec0ffeec0ff"


class FakeQuorum:
    """State that all fake controllers of a test share. Tests change it while observers read."""

    def __init__(self) -> None:
        self.cluster_id = CLUSTER_ID
        self.leader_id = 1
        self.epoch = 1
        self.batches: list[bytes] = []
        self.high_watermark = -1
        self.log_start_offset = 0
        self.snapshot: tuple[int, int] | None = None
        self.snapshot_bytes: bytes | dict[int, bytes] = b""
        """The snapshots of all nodes, or by node: each controller writes its own."""
        self.new_leader_from_byte: int | None = None
        """Node 2 becomes leader as soon as a snapshot is read from this position."""
        self.diverging: tuple[int, int] | None = None
        self.endpoints: dict[int, tuple[str, int]] = {}
        self.requests: list[tuple[int, Message]] = []
        """(id of the node, request), in order."""
        self.bytes_max = 1_000_000
        self.fails_without_records = False
        """Like Java, which fails when it has to answer FetchSnapshot with an error."""

    def append(self, *batches: bytes, commit: bool = True) -> None:
        """Appends encoded batches; with `commit` they are below the high watermark."""
        self.batches += batches
        if commit:
            self.high_watermark = self.end_offset

    @property
    def end_offset(self) -> int:
        if not self.batches:
            return self.log_start_offset
        return read_batch_header(self.batches[-1], 0).last_offset + 1

    def snapshot_instead_of(self, offset: int, epoch: int) -> tuple[int, int] | None:
        """As in Kafka 4.3: even when nothing is deleted, but `epoch` is before that of the oldest snapshot.

        There is only one here, so it is the oldest one and the newest.
        """
        if self.snapshot is None:
            return None
        end_offset, its_epoch = self.snapshot
        at_its_end = offset == end_offset == self.log_start_offset
        if offset < max(1, self.log_start_offset) or epoch < its_epoch or (at_its_end and epoch != its_epoch):
            return self.snapshot
        return None

    def records_from(self, offset: int) -> bytes:
        """Cuts at the byte limit like Java: inside a batch, but never inside the first."""
        wanted = [batch for batch in self.batches if read_batch_header(batch, 0).last_offset >= offset]
        if not wanted:
            return b""
        return b"".join(wanted)[: max(len(wanted[0]), self.bytes_max)]


class FakeController:
    """One node; serves each connection in its own thread."""

    def __init__(self, quorum: FakeQuorum, node_id: int) -> None:
        self.quorum = quorum
        self.node_id = node_id
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._connections: list[socket.socket] = []
        self.endpoint = ("127.0.0.1", int(self._listener.getsockname()[1]))
        quorum.endpoints[node_id] = self.endpoint
        self.api_versions = {
            ApiKey.FETCH: (0, 18),
            ApiKey.FETCH_SNAPSHOT: (0, 1),
            ApiKey.DESCRIBE_CLUSTER: (0, 2),
        }
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """As if the process had died."""
        self._listener.close()
        for connection in self._connections:
            connection.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self._connections.append(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        decoder = FrameDecoder()
        try:
            while data := connection.recv(65536):
                for frame in decoder.feed(data):
                    request = decode_request(frame)
                    self.quorum.requests.append((self.node_id, request.body))
                    payload = encode_response(
                        request.header.correlation_id, request.api_key, request.version, self._answer(request)
                    )
                    connection.sendall(encode_frame(payload))
        except OSError:
            return

    def _answer(self, request: ParsedRequest) -> Message:
        body = request.body
        if isinstance(body, FetchRequest):
            return self._fetch(body)
        if isinstance(body, FetchSnapshotRequest):
            return self._fetch_snapshot(body)
        if request.api_key == ApiKey.DESCRIBE_CLUSTER:
            return DescribeClusterResponse(cluster_id=self.quorum.cluster_id, endpoint_type=2)
        keys = [
            ApiVersion(api_key=key, min_version=low, max_version=high) for key, (low, high) in self._apis()
        ]
        return ApiVersionsResponse(api_keys=keys)

    def _apis(self) -> list[tuple[int, tuple[int, int]]]:
        return [(int(key), versions) for key, versions in self.api_versions.items()]

    def _fetch(self, request: FetchRequest) -> FetchResponse:
        quorum = self.quorum
        if request.cluster_id not in (None, quorum.cluster_id):
            return FetchResponse(error_code=Errors.INCONSISTENT_CLUSTER_ID)
        wanted = request.topics[0].partitions[0]
        assert request.topics[0].topic_id == ONE_UUID
        assert request.replica_state.replica_id == -1
        data = PartitionData(
            error_code=self._error(wanted.current_leader_epoch),
            high_watermark=-1,
            current_leader=LeaderIdAndEpoch(leader_id=quorum.leader_id, leader_epoch=quorum.epoch),
            records=b"",
        )
        if data.error_code == Errors.NONE:
            data.high_watermark = quorum.high_watermark
            data.log_start_offset = quorum.log_start_offset
            snapshot = quorum.snapshot_instead_of(wanted.fetch_offset, wanted.last_fetched_epoch)
            if snapshot is not None:
                data.snapshot_id = SnapshotId(end_offset=snapshot[0], epoch=snapshot[1])
            elif quorum.diverging is not None:
                epoch, end_offset = quorum.diverging
                data.diverging_epoch = EpochEndOffset(epoch=epoch, end_offset=end_offset)
            else:
                data.records = quorum.records_from(wanted.fetch_offset)
        topic = FetchableTopicResponse(topic_id=ONE_UUID, partitions=[data])
        return FetchResponse(responses=[topic], node_endpoints=self._leader_endpoints())

    def _error(self, epoch: int) -> int:
        if epoch < self.quorum.epoch:
            return Errors.FENCED_LEADER_EPOCH
        if epoch > self.quorum.epoch:
            return Errors.UNKNOWN_LEADER_EPOCH
        return Errors.NONE if self.node_id == self.quorum.leader_id else Errors.NOT_LEADER_OR_FOLLOWER

    def _leader_endpoints(self) -> list[NodeEndpoint]:
        endpoint = self.quorum.endpoints.get(self.quorum.leader_id)
        if endpoint is None:
            return []
        return [NodeEndpoint(node_id=self.quorum.leader_id, host=endpoint[0], port=endpoint[1])]

    def _fetch_snapshot(self, request: FetchSnapshotRequest) -> FetchSnapshotResponse:
        wanted = request.topics[0].partitions[0]
        self._perhaps_step_down(wanted.position)
        snapshot_id = SliceOf(end_offset=wanted.snapshot_id.end_offset, epoch=wanted.snapshot_id.epoch)
        answer = PartitionSnapshot(snapshot_id=snapshot_id, unaligned_records=b"")
        answer.current_leader = SnapshotLeader(
            leader_id=self.quorum.leader_id, leader_epoch=self.quorum.epoch
        )
        answer.error_code = self._error(wanted.current_leader_epoch)
        if self.quorum.snapshot != (wanted.snapshot_id.end_offset, wanted.snapshot_id.epoch):
            answer.error_code = answer.error_code or Errors.SNAPSHOT_NOT_FOUND
        if answer.error_code and self.quorum.fails_without_records:
            return FetchSnapshotResponse(error_code=Errors.UNKNOWN_SERVER_ERROR)
        if not answer.error_code:
            data = self.quorum.snapshot_bytes
            data = data if isinstance(data, bytes) else data[self.node_id]
            answer.size = len(data)
            answer.position = wanted.position
            end = wanted.position + min(request.max_bytes, self.quorum.bytes_max)
            answer.unaligned_records = data[wanted.position : end]
        topic = TopicSnapshot(name="__cluster_metadata", partitions=[answer])
        endpoints = [
            SnapshotEndpoint(node_id=node.node_id, host=node.host, port=node.port)
            for node in self._leader_endpoints()
        ]
        return FetchSnapshotResponse(topics=[topic], node_endpoints=endpoints)

    def _perhaps_step_down(self, position: int) -> None:
        quorum = self.quorum
        if quorum.new_leader_from_byte is not None and position >= quorum.new_leader_from_byte:
            quorum.leader_id, quorum.epoch, quorum.new_leader_from_byte = 2, quorum.epoch + 1, None
