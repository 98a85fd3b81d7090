"""The events and effects of a controller node, in addition to raft's."""

from __future__ import annotations

from typing import Final

from kraftctl.controller.audit.audit_trail import AuditEntry
from kraftctl.controller.results.noted_refusal import NotedRefusal
from kraftctl.controller.results.request_context import RequestContext
from kraftctl.controller.state.authorizer_log import AuthorizerLine
from kraftctl.raft.effects import (
    AppendBatch,
    FinishSnapshot,
    FlushLog,
    Halt,
    HighWatermarkUpdated,
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
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.message import Message
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from kraftctl_protocol.requests import RequestHead

END_OF_SNAPSHOT: Final = -1
"""`next_position` of the last part of a snapshot."""


class ClientRequest(Value):
    """A decoded request of a broker or a tool. `request_id` is unique while unanswered."""

    def __init__(self, request_id: int, context: RequestContext, request: Message) -> None:
        self.request_id = request_id
        self.context = context
        self.request = request


class UndecodedRequest(Value):
    """A request that is too long to be decoded before it is known whether it is refused."""

    def __init__(self, request_id: int, context: RequestContext, head: RequestHead) -> None:
        self.request_id = request_id
        self.context = context
        self.head = head

    @property
    def request(self) -> Message:
        """What is known of it: a body of its kind with all defaults."""
        return self.head.empty_body()


class DecodeBody(Value):
    """Decode the body of this request beside the loop, within the memory that its API may take; answer
    `ClientRequest` or `BodyRefused`. Those of one node are decoded one after the other.
    """

    def __init__(self, request_id: int, context: RequestContext, head: RequestHead) -> None:
        self.request_id = request_id
        self.context = context
        self.head = head


class BodyRefused(Value):
    """The body is damaged, or would take too much memory. `error` is for an envelope around it."""

    def __init__(self, request_id: int, error: Errors, reason: str) -> None:
        self.request_id = request_id
        self.error = error
        self.reason = reason


class LogRead(Value):
    """The response to `ReadLog`: whole batches of `file`, the first of which contains the offset asked for.

    Their checksums match; whether they are made of records is not known yet.
    """

    def __init__(self, data: bytes, file: str) -> None:
        self.data = data
        self.file = file


class SnapshotRead(Value):
    """The response to `ReadSnapshot`: whole batches of the checkpoint file from byte `position` on.

    They are as in `LogRead`. `next_position` is that of the next part, or END_OF_SNAPSHOT.
    """

    def __init__(self, snapshot_id: OffsetAndEpoch, position: int, data: bytes, next_position: int) -> None:
        self.snapshot_id = snapshot_id
        self.position = position
        self.data = data
        self.next_position = next_position


class ReadLog(Value):
    """Read whole batches from `offset` up to `end_offset` (exclusive), at most `max_bytes` but at least one;
    answer `LogRead`.

    Answered in a separate turn of the loop, so that a long load does not starve connections. Other events
    may come before the response. So all of it must be committed when this is emitted: otherwise it could be
    truncated, and other records committed in its place, before the response.
    """

    def __init__(self, offset: int, end_offset: int, max_bytes: int) -> None:
        self.offset = offset
        self.end_offset = end_offset
        self.max_bytes = max_bytes


class ReadSnapshot(Value):
    """Read a part of this checkpoint; answer `SnapshotRead`: whole batches from byte `position` on, at most
    `max_bytes` but at least one.

    `position` is 0, or where the part before ended. The checkpoint must be there when this is emitted. Other
    events may come before the response.
    """

    def __init__(self, snapshot_id: OffsetAndEpoch, position: int, max_bytes: int) -> None:
        self.snapshot_id = snapshot_id
        self.position = position
        self.max_bytes = max_bytes


class WriteSnapshotPart(Value):
    """Write these batches of the checkpoint `snapshot_id` from byte `position` on, on another thread.

    Position 0 begins a checkpoint; `WriteSnapshot` has its last part, or `AbandonSnapshot` ends it. Until
    then there is a temporary file only.
    """

    def __init__(self, snapshot_id: OffsetAndEpoch, batches: list[bytes], position: int) -> None:
        self.snapshot_id = snapshot_id
        self.batches = batches
        self.position = position


class WriteSnapshot(Value):
    """Write these batches as the last part of the checkpoint `snapshot_id`, or as the whole, if `position`
    is 0, and complete it. On another thread; answer `SnapshotCreated`."""

    def __init__(self, snapshot_id: OffsetAndEpoch, batches: list[bytes], position: int = 0) -> None:
        self.snapshot_id = snapshot_id
        self.batches = batches
        self.position = position


class AbandonSnapshot(Value):
    """Remove what was written of a checkpoint that has no last part."""

    def __init__(self, snapshot_id: OffsetAndEpoch) -> None:
        self.snapshot_id = snapshot_id


class CloseConnection(Value):
    """Close the connection of this request: it can neither be answered nor refused."""

    def __init__(self, request_id: int, reason: str = "") -> None:
        self.request_id = request_id
        self.reason = reason


class RequestFailed(Value):
    """An ERROR line that clients can provoke repeatedly, so it is logged at a limited rate. `source` as in
    Notice.
    """

    def __init__(self, source: str, text: str) -> None:
        self.source = source
        self.text = text


class RefusalNoted(Value):
    """A line about a refusal, which is logged at a limited rate."""

    def __init__(self, refusal: NotedRefusal) -> None:
        self.refusal = refusal


class TakeTurn(Value):
    """Let the connections be served, then answer `TurnTaken`: the node continues long `work` in slices.

    `spent` is how many units the turn did that asks for the next one, 0 for the first. Of each kind of work
    one turn is asked for at a time.
    """

    def __init__(self, work: str, spent: int) -> None:
        self.work = work
        self.spent = spent


class TurnTaken(Value):
    """The response to `TakeTurn`: do `units` of the work."""

    def __init__(self, work: str, units: int) -> None:
        self.work = work
        self.units = units


class Audited(Value):
    """A line for the audit log: a request for a change, and its result."""

    def __init__(self, entry: AuditEntry) -> None:
        self.entry = entry


class AuthorizerLines(Value):
    """Lines of the authorizer; `left_out_count` more were left out of this step."""

    def __init__(self, lines: list[AuthorizerLine], left_out_count: int) -> None:
        self.lines = lines
        self.left_out_count = left_out_count


class NodeConfigsChanged(Value):
    """These dynamic broker configs are committed: of this node, and the cluster's default. Obey them."""

    def __init__(self, own: dict[str, str], cluster: dict[str, str]) -> None:
        self.own = own
        self.cluster = cluster


class LogLevelsChanged(Value):
    """Give the loggers of this process these levels; None removes a logger's own."""

    def __init__(self, levels: dict[str, str | None]) -> None:
        self.levels = levels


NodeEvent = (
    ClientRequest
    | UndecodedRequest
    | BodyRefused
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
    DecodeBody
    | ReadLog
    | ReadSnapshot
    | WriteSnapshotPart
    | WriteSnapshot
    | AbandonSnapshot
    | CloseConnection
    | RequestFailed
    | RefusalNoted
    | Audited
    | AuthorizerLines
    | NodeConfigsChanged
    | LogLevelsChanged
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
    | HighWatermarkUpdated
    | Halt
    | Notice
)
