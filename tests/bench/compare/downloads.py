"""Observers that read a whole log or snapshot again and again. Every byte is compared with the file."""

from __future__ import annotations

import struct
from functools import cache
from pathlib import Path
from typing import Final

from kraftctl_protocol.generated import fetch_snapshot_response
from kraftctl_protocol.generated.fetch_snapshot_request import (
    FetchSnapshotRequest,
    PartitionSnapshot,
    SnapshotId,
    TopicSnapshot,
)
from kraftctl_protocol.generated.fetch_snapshot_response import FetchSnapshotResponse
from kraftctl_protocol.metadata_topic import METADATA_TOPIC
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from tests.bench.compare.following import MAX_BYTES, Follower
from tests.bench.compare.frames import (
    REQUEST_CORRELATION_ID,
    UnexpectedResponseError,
    answer_frame,
    compact_bytes,
    decoded,
    first_difference,
    request_frame,
)
from tests.bench.compare.scripts import NOTHING, Frame, Notes
from tests.support.wire.controller_client import log_directory_of

SNAPSHOT_VERSION: Final = 1
INT64: Final = struct.Struct(">q")


@cache
def contents(path: Path) -> bytes:
    """Read once in each process."""
    return path.read_bytes()


class ReadingTheLog:
    """From offset 0 to `end_offset`, which is that of the whole of `file`: the only segment."""

    correlation_at = REQUEST_CORRELATION_ID
    interval_s = 0.0

    def __init__(
        self, cluster_id: str, replica_id: int, quorum_epoch: int, *, file: Path, end_offset: int
    ) -> None:
        self._identity = cluster_id, replica_id, quorum_epoch
        self._file = file
        self._end_offset = end_offset
        self._position = 0
        self._follower: Follower | None = None

    def frame(self) -> bytearray:
        if self._follower is None:
            self._follower = Follower(*self._identity)
        return self._follower.request

    def check(self, answer: Frame) -> None:
        assert self._follower is not None
        begin, end = self._follower.take(answer)
        self._position = expect(contents(self._file), self._position, memoryview(answer)[begin:end])
        if self._follower.offset >= self._end_offset:
            self._position = 0
            self._follower.seek(0, 0)

    def finish(self) -> Notes:
        """Nothing: all answers are checked already."""
        return NOTHING


class ReadingASnapshot:
    """From its first byte to its last, `MAX_BYTES` at a time."""

    correlation_at = REQUEST_CORRELATION_ID
    interval_s = 0.0

    def __init__(
        self, cluster_id: str, replica_id: int, quorum_epoch: int, *, file: Path, snapshot_id: OffsetAndEpoch
    ) -> None:
        def encoded(position: int) -> bytes:
            return _request(cluster_id, replica_id, quorum_epoch, snapshot_id, position)

        self._file = file
        self._request = bytearray(encoded(0))
        self._position_at = first_difference(encoded(0), encoded(-1))
        empty = _answer(snapshot_id)
        self._error_at = first_difference(empty, _answer(snapshot_id, error_code=-1))
        self._partition_error_at = first_difference(empty, _answer(snapshot_id, partition_error_code=-1))
        self._records_at = first_difference(empty, _answer(snapshot_id, position=-1)) + INT64.size
        self._position = 0

    def frame(self) -> bytearray:
        INT64.pack_into(self._request, self._position_at, self._position)
        return self._request

    def check(self, answer: Frame) -> None:
        for at in (self._error_at, self._partition_error_at):
            if answer[at] or answer[at + 1]:
                what = decoded(answer, FetchSnapshotRequest.API_KEY, SNAPSHOT_VERSION)
                raise UnexpectedResponseError(f"answered {what}")
        begin, end = compact_bytes(answer, self._records_at)
        self._position = expect(contents(self._file), self._position, memoryview(answer)[begin:end])
        if self._position == len(contents(self._file)):
            self._position = 0

    def finish(self) -> Notes:
        """Nothing: all answers are checked already."""
        return NOTHING


def expect(whole: bytes, position: int, part: Frame | memoryview) -> int:
    """The position behind `part`. Raises UnexpectedResponseError unless `whole` has it at `position`."""
    end = position + len(part)
    # Without a copy of either: an observer that is slower than the controller hides what is measured.
    if not part or not whole.startswith(part, position):
        raise UnexpectedResponseError(f"{len(part)} bytes at position {position} are not those of the file")
    return end


def _request(
    cluster_id: str, replica_id: int, quorum_epoch: int, snapshot_id: OffsetAndEpoch, position: int
) -> bytes:
    partition = PartitionSnapshot(
        partition=0,
        current_leader_epoch=quorum_epoch,
        snapshot_id=SnapshotId(end_offset=snapshot_id.offset, epoch=snapshot_id.epoch),
        position=position,
        replica_directory_id=log_directory_of(replica_id),
    )
    request = FetchSnapshotRequest(
        cluster_id=cluster_id,
        replica_id=replica_id,
        max_bytes=MAX_BYTES,
        topics=[TopicSnapshot(name=METADATA_TOPIC, partitions=[partition])],
    )
    return request_frame(request, SNAPSHOT_VERSION)


def _answer(
    snapshot_id: OffsetAndEpoch, *, error_code: int = 0, partition_error_code: int = 0, position: int = 0
) -> bytes:
    # Kafka names the leader in a tagged field, which is encoded behind the records.
    partition = fetch_snapshot_response.PartitionSnapshot(
        index=0,
        error_code=partition_error_code,
        snapshot_id=fetch_snapshot_response.SnapshotId(
            end_offset=snapshot_id.offset, epoch=snapshot_id.epoch
        ),
        position=position,
        unaligned_records=b"",
    )
    topic = fetch_snapshot_response.TopicSnapshot(name=METADATA_TOPIC, partitions=[partition])
    return answer_frame(FetchSnapshotResponse(error_code=error_code, topics=[topic]), SNAPSHOT_VERSION)
