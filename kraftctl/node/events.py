"""The events and effects of a controller node, in addition to raft's."""

from __future__ import annotations

from kraftctl.controller.request_context import RequestContext
from kraftctl.raft.effects import (
    AppendBatch,
    FinishSnapshot,
    FlushLog,
    Halt,
    NoteRecovered,
    Notice,
    Respond,
    RespondFetch,
    RespondFetchSnapshot,
    SaveSnapshotSlice,
    SendRequest,
    StartOver,
    TruncateLog,
    WriteQuorumState,
)
from kraftctl.raft.events import (
    DeadlineReached,
    LogFlushed,
    LogStartChanged,
    RequestCancelled,
    ResignRequested,
    ResponseReceived,
    ShutdownRequested,
    SnapshotCreated,
    SnapshotDownloaded,
    Started,
)
from kraftctl.raft.value import Value
from kraftctl_protocol.message import Message
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from kraftctl_protocol.record_batch import RecordBatch


class ClientRequest(Value):
    """A decoded request of a broker or a tool. `request_id` is unique while unanswered."""

    def __init__(self, request_id: int, context: RequestContext, request: Message) -> None:
        self.request_id = request_id
        self.context = context
        self.request = request


class LogRead(Value):
    """The answer to `ReadLog`: whole batches of `file`, the first of which contains the offset asked for."""

    def __init__(self, batches: list[RecordBatch], file: str) -> None:
        self.batches = batches
        self.file = file


class SnapshotRead(Value):
    """The answer to `ReadSnapshot`: the record batches of the whole checkpoint file."""

    def __init__(self, snapshot_id: OffsetAndEpoch, batches: list[RecordBatch]) -> None:
        self.snapshot_id = snapshot_id
        self.batches = batches


class ReadLog(Value):
    """Read whole batches from `offset` up to `end_offset` (exclusive), at most `max_bytes` but at least one;
    answer `LogRead`.

    Answered in a separate turn of the loop, so that a long load does not starve connections. Other events
    may come before the answer. So all of it must be committed when this is emitted: otherwise it could be
    truncated, and other records committed in its place, before the answer.
    """

    def __init__(self, offset: int, end_offset: int, max_bytes: int) -> None:
        self.offset = offset
        self.end_offset = end_offset
        self.max_bytes = max_bytes


class ReadSnapshot(Value):
    """Read this checkpoint; answer `SnapshotRead`."""

    def __init__(self, snapshot_id: OffsetAndEpoch) -> None:
        self.snapshot_id = snapshot_id


class WriteSnapshot(Value):
    """Write these batches as the checkpoint `snapshot_id`, on another thread; answer `SnapshotCreated`."""

    def __init__(self, snapshot_id: OffsetAndEpoch, batches: list[bytes]) -> None:
        self.snapshot_id = snapshot_id
        self.batches = batches


class CloseConnection(Value):
    """Close the connection of this request: it can neither be answered nor refused."""

    def __init__(self, request_id: int) -> None:
        self.request_id = request_id


class RequestFailed(Value):
    """An ERROR line that clients can provoke repeatedly, so it is logged at a limited rate. `source` as in
    Notice.
    """

    def __init__(self, source: str, text: str) -> None:
        self.source = source
        self.text = text


class TakeTurn(Value):
    """Let the connections be served, then answer `TurnTaken`: the node continues long work in slices."""


class TurnTaken(Value):
    """The answer to `TakeTurn`."""


NodeEvent = (
    ClientRequest
    | LogRead
    | SnapshotRead
    | TurnTaken
    | Started
    | DeadlineReached
    | RequestCancelled
    | ResponseReceived
    | LogFlushed
    | SnapshotCreated
    | SnapshotDownloaded
    | LogStartChanged
    | ResignRequested
    | ShutdownRequested
)

NodeEffect = (
    ReadLog
    | ReadSnapshot
    | WriteSnapshot
    | CloseConnection
    | RequestFailed
    | TakeTurn
    | WriteQuorumState
    | AppendBatch
    | FlushLog
    | TruncateLog
    | SaveSnapshotSlice
    | FinishSnapshot
    | StartOver
    | Respond
    | RespondFetch
    | RespondFetchSnapshot
    | SendRequest
    | NoteRecovered
    | Halt
    | Notice
)
