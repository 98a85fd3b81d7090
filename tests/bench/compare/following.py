"""Observers: Fetch requests of version 18, as brokers of Kafka 4.3 send them, from offset to offset.

An observer reads of a response only what it needs: error codes, high watermark, headers of batches. Their
places are found once, by comparing encodings.
"""

from __future__ import annotations

import struct
import time
from array import array
from typing import Final

from kraftctl_protocol.generated.fetch_request import (
    FetchPartition,
    FetchRequest,
    FetchTopic,
    ReplicaState,
)
from kraftctl_protocol.generated.fetch_response import (
    FetchableTopicResponse,
    FetchResponse,
    PartitionData,
)
from kraftctl_protocol.uuids import ONE_UUID
from tests.bench.compare.frames import (
    REQUEST_CORRELATION_ID,
    UnexpectedResponseError,
    answer_frame,
    compact_bytes,
    decoded,
    first_difference,
    request_frame,
)
from tests.bench.compare.quorum_state import QuorumState
from tests.bench.compare.scripts import Frame, Notes
from tests.support.wire.controller_client import log_directory_of

VERSION: Final = 18
MAX_WAIT_MS: Final = 500
MAX_BYTES: Final = 1_048_576
"""Kafka's defaults: controller.quorum.fetch.max.bytes, and the wait of a raft client."""

INT64: Final = struct.Struct(">q")
INT32: Final = struct.Struct(">i")
BATCH_START: Final = struct.Struct(">qii")
"""Base offset, length of what follows, epoch."""
LENGTH_END: Final = 12
LAST_OFFSET_DELTA: Final = 23
HEADER_BYTES: Final = 61


class Follower:
    """The position of an observer: its request, and what it reads of a response."""

    def __init__(
        self, cluster_id: str, replica_id: int, quorum_epoch: int, max_wait_ms: int = MAX_WAIT_MS
    ) -> None:
        def encoded(offset: int, last_epoch: int, high_watermark: int) -> bytes:
            return _request(
                cluster_id, replica_id, quorum_epoch, offset, last_epoch, high_watermark, max_wait_ms
            )

        same = encoded(0, 0, 0)
        self._offset_at = first_difference(same, encoded(-1, 0, 0))
        self._epoch_at = first_difference(same, encoded(0, -1, 0))
        self._high_watermark_at = first_difference(same, encoded(0, 0, -1))
        self._layout = ResponseLayout()
        self.request = bytearray(same)
        self.offset = 0
        """The next one to fetch."""
        self.high_watermark = -1
        self.seek(0, 0)

    def seek(self, offset: int, last_epoch: int) -> None:
        """`last_epoch` is that of the record before `offset`."""
        self.offset = offset
        INT64.pack_into(self.request, self._offset_at, offset)
        INT32.pack_into(self.request, self._epoch_at, last_epoch)
        INT64.pack_into(self.request, self._high_watermark_at, self.high_watermark)

    def take(self, answer: Frame) -> tuple[int, int]:
        """Seeks behind the whole batches of `answer`; returns where these begin and end in it."""
        layout = self._layout
        layout.refuse_errors(answer)
        (self.high_watermark,) = INT64.unpack_from(answer, layout.high_watermark_at)
        begin, end = layout.records(answer)
        position, offset, epoch = begin, self.offset, -1
        while position + HEADER_BYTES <= end:
            base, length, batch_epoch = BATCH_START.unpack_from(answer, position)
            if position + LENGTH_END + length > end:
                break
            offset = base + INT32.unpack_from(answer, position + LAST_OFFSET_DELTA)[0] + 1
            epoch = batch_epoch
            position += LENGTH_END + length
        if position > begin:
            self.seek(offset, epoch)
        else:
            INT64.pack_into(self.request, self._high_watermark_at, self.high_watermark)
        return begin, position


class ResponseLayout:
    """Where a response has what an observer reads. All before the records has a fixed length."""

    def __init__(self) -> None:
        empty = _answer()
        self._error_at = first_difference(empty, _answer(error_code=-1))
        self._partition_error_at = first_difference(empty, _answer(partition_error_code=-1))
        self.high_watermark_at = first_difference(empty, _answer(high_watermark=-1))
        self._records_at = first_difference(empty, _answer(preferred_read_replica=-1)) + INT32.size

    def refuse_errors(self, answer: Frame) -> None:
        """Raises UnexpectedResponseError."""
        for at in (self._error_at, self._partition_error_at):
            if answer[at] or answer[at + 1]:
                raise UnexpectedResponseError(f"answered {decoded(answer, FetchRequest.API_KEY, VERSION)}")

    def records(self, answer: Frame) -> tuple[int, int]:
        """Begin and end; equal if there are none."""
        return compact_bytes(answer, self._records_at)


class Following:
    """An observer that has all that is committed, and fetches what is new as soon as it is there."""

    correlation_at = REQUEST_CORRELATION_ID
    interval_s = 0.0

    def __init__(
        self, cluster_id: str, replica_id: int, quorum: QuorumState, *, until_offset: int | None = None
    ) -> None:
        """Without `until_offset` for ever."""
        self._identity = cluster_id, replica_id, quorum.epoch
        self._begin_offset = quorum.high_watermark
        self._until_offset = until_offset
        self._follower: Follower | None = None
        self._seen: Notes = array("d")

    def frame(self) -> bytearray | None:
        if self._follower is None:
            self._follower = Follower(*self._identity)
            # An epoch begins with a record of its own, so that the last record is of the present one.
            self._follower.seek(self._begin_offset, self._identity[-1])
        if self._until_offset is not None and self._follower.offset >= self._until_offset:
            return None
        return self._follower.request

    def check(self, answer: Frame) -> None:
        assert self._follower is not None
        self._follower.take(answer)
        self._seen.append(min(self._follower.offset, self._follower.high_watermark))
        self._seen.append(time.monotonic())

    def finish(self) -> Notes:
        """In turn: the end of what was fetched and is committed (exclusive), and when."""
        noted, self._seen = self._seen, array("d")
        return noted


def _request(
    cluster_id: str,
    replica_id: int,
    quorum_epoch: int,
    offset: int,
    last_epoch: int,
    high_watermark: int,
    max_wait_ms: int,
) -> bytes:
    partition = FetchPartition(
        partition=0,
        current_leader_epoch=quorum_epoch,
        fetch_offset=offset,
        last_fetched_epoch=last_epoch,
        replica_directory_id=log_directory_of(replica_id),
        high_watermark=high_watermark,
    )
    request = FetchRequest(
        cluster_id=cluster_id,
        replica_state=ReplicaState(replica_id=replica_id),
        max_wait_ms=max_wait_ms,
        max_bytes=MAX_BYTES,
        topics=[FetchTopic(topic_id=ONE_UUID, partitions=[partition])],
    )
    return request_frame(request, VERSION)


def _answer(
    *,
    error_code: int = 0,
    partition_error_code: int = 0,
    high_watermark: int = 0,
    preferred_read_replica: int = 0,
) -> bytes:
    partition = PartitionData(
        error_code=partition_error_code,
        high_watermark=high_watermark,
        preferred_read_replica=preferred_read_replica,
        records=b"",
    )
    response = FetchResponse(
        error_code=error_code, responses=[FetchableTopicResponse(topic_id=ONE_UUID, partitions=[partition])]
    )
    return answer_frame(response, VERSION)
