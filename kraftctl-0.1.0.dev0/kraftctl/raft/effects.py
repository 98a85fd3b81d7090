"""Everything a raft node can ask for (KIP-595). Effects run in list order: that order is the protocol."""

from __future__ import annotations

from typing import Final

from kraftctl.raft.election_state import ElectionState
from kraftctl.raft.value import Value
from kraftctl_protocol.generated.fetch_response import FetchResponse
from kraftctl_protocol.generated.fetch_snapshot_response import FetchSnapshotResponse
from kraftctl_protocol.message import Message
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from kraftctl_protocol.shared_response import SharedResponse

ANY_EPOCH: Final = -1
"""The epoch of a request that is right in each."""


class WriteQuorumState(Value):
    """Replace the quorum-state file and fsync it *before* the next effect: a vote is a promise."""

    def __init__(self, state: ElectionState) -> None:
        self.state = state


class AppendBatch(Value):
    """Append one encoded record batch to the log (not yet flushed). Offsets are both inclusive.

    Replay skips control batches but counts their offsets.
    """

    def __init__(
        self, base_offset: int, last_offset: int, epoch: int, batch: bytes, is_control: bool
    ) -> None:
        self.base_offset = base_offset
        self.last_offset = last_offset
        self.epoch = epoch
        self.batch = batch
        self.is_control = is_control


class FlushLog(Value):
    """Fsync the log up to `end_offset` off the loop, then report `LogFlushed`.

    At most one is in progress: appends that arrive meanwhile share the next flush.
    """

    def __init__(self, end_offset: int) -> None:
        self.end_offset = end_offset


class TruncateLog(Value):
    """Drop every record at or above `end_offset`; uncommitted by contract."""

    def __init__(self, end_offset: int) -> None:
        self.end_offset = end_offset


class SaveSnapshotSlice(Value):
    """Write `data` at `position` of a checkpoint that is being downloaded; position 0 restarts it.

    At most one download is in progress: another one ends this one. `size_bytes` is what the leader says that
    the whole file has. If there is no room for that, nothing is written: report `SnapshotDownloaded` of 0
    bytes.
    """

    def __init__(self, snapshot_id: OffsetAndEpoch, position: int, data: bytes, size_bytes: int) -> None:
        self.snapshot_id = snapshot_id
        self.position = position
        self.data = data
        self.size_bytes = size_bytes


class FinishSnapshot(Value):
    """The download is complete: check it, fsync it, give it its name, and report `SnapshotDownloaded`.

    The report comes before any other event.
    """

    def __init__(self, snapshot_id: OffsetAndEpoch) -> None:
        self.snapshot_id = snapshot_id


class StartOver(Value):
    """Drop the whole log and all older snapshots: the log continues, empty, where `snapshot_id` ends."""

    def __init__(self, snapshot_id: OffsetAndEpoch) -> None:
        self.snapshot_id = snapshot_id


class Respond(Value):
    """Send this response. `encoded`, if there is one, is the same response."""

    def __init__(self, request_id: int, response: Message, encoded: SharedResponse | None = None) -> None:
        self.request_id = request_id
        self.response = response
        self.encoded = encoded


class RespondFetch(Value):
    """Read whole batches from `read_offset` up to `end_offset` (exclusive, always between two
    batches), and send `response_with` them, to each of several requests if they want the same.

    At most `max_bytes`, yet always at least one batch. Voters are sent what is not committed
    yet. Observers are not, so they never have to truncate it.
    """

    def __init__(
        self,
        request_ids: list[int],
        response: FetchResponse,
        read_offset: int,
        end_offset: int,
        max_bytes: int,
    ) -> None:
        self.request_ids = request_ids
        self.response = response
        self.read_offset = read_offset
        self.end_offset = end_offset
        self.max_bytes = max_bytes

    def response_with(self, records: bytes) -> FetchResponse:
        """Returns the response with the records of its only partition."""
        self.response.responses[0].partitions[0].records = records
        return self.response


class RespondFetchSnapshot(Value):
    """Read `size_bytes` of the checkpoint file from `position`, and send `response_with` them."""

    def __init__(
        self,
        request_id: int,
        response: FetchSnapshotResponse,
        snapshot_id: OffsetAndEpoch,
        position: int,
        size_bytes: int,
    ) -> None:
        self.request_id = request_id
        self.response = response
        self.snapshot_id = snapshot_id
        self.position = position
        self.size_bytes = size_bytes

    def response_with(self, data: bytes) -> FetchSnapshotResponse:
        """Returns the response with the bytes of its only snapshot."""
        self.response.topics[0].partitions[0].unaligned_records = data
        return self.response


class HighWatermarkUpdated(Value):
    """Everything below `offset` (exclusive) is committed. It never decreases, even across epochs."""

    def __init__(self, offset: int) -> None:
        self.offset = offset


class BecameLeader(Value):
    """This node leads `epoch`. Its LeaderChange record sits at `epoch_start_offset`, appended already.

    The controller becomes active once the high watermark has passed `epoch_start_offset`: only
    then is every record of earlier epochs known to be committed (KAFKA-16286).
    """

    def __init__(self, epoch: int, epoch_start_offset: int) -> None:
        self.epoch = epoch
        self.epoch_start_offset = epoch_start_offset


class LeadershipConfirmed(Value):
    """A majority has confirmed that this node led when `round`, or an earlier one, was asked for."""

    def __init__(self, round: int) -> None:
        self.round = round


class LeadershipLost(Value):
    """This node does not lead `epoch` any longer: what is not committed may be truncated."""

    def __init__(self, epoch: int) -> None:
        self.epoch = epoch


class LeaderChanged(Value):
    """The leader of `epoch` became known (`leader_id` -1: unknown), even if it is this node."""

    def __init__(self, leader_id: int, epoch: int) -> None:
        self.leader_id = leader_id
        self.epoch = epoch


class SendRequest(Value):
    """Send `request` to a peer in the highest version both know; report `ResponseReceived`.

    `destination_id` is negative for a bootstrap server whose id is not known yet. A request of an `epoch`
    must not be sent once this replica knows a later one, however long it waited for its turn: the receiver
    concludes that there was none (`leadership_rounds`).
    """

    def __init__(
        self,
        send_id: int,
        destination_id: int,
        host: str,
        port: int,
        api_key: int,
        request: Message,
        epoch: int = ANY_EPOCH,
    ) -> None:
        self.send_id = send_id
        self.destination_id = destination_id
        self.host = host
        self.port = port
        self.api_key = api_key
        self.request = request
        self.epoch = epoch

    def is_outdated(self, epoch: int) -> bool:
        """Returns whether it is of an earlier epoch than this one."""
        return ANY_EPOCH < self.epoch < epoch


class NoteRecovered(Value):
    """Note durably that this replica has recovered its log: it votes from now on."""


class Halt(Value):
    """End the process: to continue could lose committed records. `text` has the reason and the next step.

    `is_lasting`: each start ends immediately, until an operator has decided.
    """

    def __init__(self, text: str, *, is_lasting: bool = False) -> None:
        self.text = text
        self.is_lasting = is_lasting


DEBUG: Final = "DEBUG"
INFO: Final = "INFO"
WARN: Final = "WARN"
ERROR: Final = "ERROR"

RAFT: Final = "raft"
"""The source of every notice of raft; the node adds its own."""


class Notice(Value):
    """A line for the log, in Kafka's terms.

    `source` names the part that reports it, `level` is DEBUG, INFO, WARN or ERROR.
    """

    def __init__(self, source: str, level: str, text: str) -> None:
        self.source = source
        self.level = level
        self.text = text


RaftEffect = (
    WriteQuorumState
    | AppendBatch
    | FlushLog
    | TruncateLog
    | SaveSnapshotSlice
    | FinishSnapshot
    | StartOver
    | Respond
    | RespondFetch
    | RespondFetchSnapshot
    | HighWatermarkUpdated
    | BecameLeader
    | LeadershipConfirmed
    | LeadershipLost
    | LeaderChanged
    | SendRequest
    | NoteRecovered
    | Halt
    | Notice
)
