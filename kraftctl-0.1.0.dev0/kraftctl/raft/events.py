"""Everything that can happen to a raft node (KIP-595); the time of it is an argument of `RaftNode.step`."""

from __future__ import annotations

from kraftctl.raft.peer_failures import PeerFailure
from kraftctl.raft.value import Value
from kraftctl_protocol.generated.voters_record import VotersRecord
from kraftctl_protocol.message import Message
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch


class Started(Value):
    """This is the first event: storage is recovered, listeners may accept."""


class DeadlineReached(Value):
    """The time named by `RaftNode.next_deadline_ms` has come; early or late calls are harmless.

    Nothing times out in other events. What has come in time is handled before this one: a replica that was
    suspended for longer than its timeouts first handles the requests and responses that waited meanwhile.
    """


class RequestReceived(Value):
    """A decoded raft request; `listener_name` decides which endpoint of the leader the response names.

    `request_id` is ours and unique among requests without a response, `connection_id` among connections.
    `client_address` is for lines of the log.
    """

    def __init__(
        self,
        request_id: int,
        listener_name: str,
        api_key: int,
        version: int,
        request: Message,
        client_address: bytes = b"",
        connection_id: int = 0,
    ) -> None:
        self.request_id = request_id
        self.listener_name = listener_name
        self.api_key = api_key
        self.version = version
        self.request = request
        self.client_address = client_address
        self.connection_id = connection_id


class RequestCancelled(Value):
    """The connection of this request closed: it needs no response."""

    def __init__(self, request_id: int) -> None:
        self.request_id = request_id


class ResponseReceived(Value):
    """A peer has responded to the `SendRequest` of this `send_id`; `response` is None if it never will.

    `refused` says that a new connection was refused, or closed before the peer sent anything. A connection
    that breaks later is not refused, nor is one that takes too long. `failure` is the reason for a missing
    response.
    """

    def __init__(
        self,
        send_id: int,
        response: Message | None,
        *,
        refused: bool = False,
        failure: PeerFailure | None = None,
    ) -> None:
        self.send_id = send_id
        self.response = response
        self.refused = refused
        self.failure = failure


class LogFlushed(Value):
    """Everything below `end_offset` (exclusive) is on disk, as `FlushLog` asked."""

    def __init__(self, end_offset: int) -> None:
        self.end_offset = end_offset


class SnapshotCreated(Value):
    """A checkpoint file got its final name; fetch responses may name it from now on."""

    def __init__(self, snapshot_id: OffsetAndEpoch, size_bytes: int) -> None:
        self.snapshot_id = snapshot_id
        self.size_bytes = size_bytes


class SnapshotDownloaded(Value):
    """The file of `FinishSnapshot` has its name, with the values of its header; `size_bytes` 0: it was
    damaged.
    """

    def __init__(
        self,
        snapshot_id: OffsetAndEpoch,
        size_bytes: int,
        kraft_version: int = 0,
        voters: VotersRecord | None = None,
    ) -> None:
        self.snapshot_id = snapshot_id
        self.size_bytes = size_bytes
        self.kraft_version = kraft_version
        self.voters = voters


class LogStartChanged(Value):
    """Retention removed the log and the snapshots below `start_offset` (inclusive), and those `deleted`.

    Those `deleted` may end anywhere.
    """

    def __init__(self, start_offset: int, deleted: list[OffsetAndEpoch] | None = None) -> None:
        self.start_offset = start_offset
        self.deleted = [] if deleted is None else deleted


class LoadingChanged(Value):
    """The node begins to load metadata that is committed, or has loaded it."""

    def __init__(self, is_loading: bool) -> None:
        self.is_loading = is_loading


class ResignRequested(Value):
    """The controller failed in this epoch and renounces it; ignored when the epoch has passed."""

    def __init__(self, epoch: int) -> None:
        self.epoch = epoch


class ShutdownRequested(Value):
    """The process will stop soon: refuse new work, respond to parked requests, transfer leadership."""


RaftEvent = (
    Started
    | DeadlineReached
    | RequestReceived
    | RequestCancelled
    | ResponseReceived
    | LogFlushed
    | SnapshotCreated
    | SnapshotDownloaded
    | LogStartChanged
    | LoadingChanged
    | ResignRequested
    | ShutdownRequested
)
