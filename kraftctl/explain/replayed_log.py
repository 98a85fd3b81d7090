"""ReplayedLog: the image of a committed metadata log, the marks of its records, and the quorum in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from kraftctl.explain.mark import Mark
from kraftctl.explain.record_marks import RecordMarks
from kraftctl.image.metadata_image import MetadataImage
from kraftctl.image.replay import replay
from kraftctl.metadata.features import KRAFT_VERSION
from kraftctl_protocol.control_record import decode_control_key, decode_control_value
from kraftctl_protocol.counted_text import counted, one_or_many
from kraftctl_protocol.generated.abort_transaction_record import AbortTransactionRecord
from kraftctl_protocol.generated.begin_transaction_record import BeginTransactionRecord
from kraftctl_protocol.generated.end_transaction_record import EndTransactionRecord
from kraftctl_protocol.generated.kraft_version_record import KRaftVersionRecord
from kraftctl_protocol.generated.leader_change_message import LeaderChangeMessage
from kraftctl_protocol.generated.snapshot_header_record import SnapshotHeaderRecord
from kraftctl_protocol.generated.voters_record import VotersRecord
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import UnknownRecordError, decode_metadata_record
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from kraftctl_protocol.primitives import DecodeError
from kraftctl_protocol.record_batch import Record, RecordBatch
from kraftctl_protocol.uuids import Uuid


class ReplayedLog:
    """The state after all records replayed so far; `end_offset` is exclusive.

    `leader_id` and `leader_epoch` are what the log says: the quorum may have another leader already, of
    which nothing is committed yet. `voters` maps ids to directory ids.
    """

    def __init__(self, is_watched: Callable[[str], bool] = lambda _: True) -> None:
        self.image = MetadataImage()
        self.image.journal.enabled = False
        self.marks = RecordMarks(is_watched)
        self.end_offset = 0
        self.is_assumed = False
        """Whether records were read that are only assumed to be committed."""
        self.held_back = ""
        """How many records were not read, as they may not be committed, and why; empty for none."""
        self.snapshot: OffsetAndEpoch | None = None
        """The snapshot that was read before the log."""
        self.snapshot_ms = 0
        """The time of the newest record in that snapshot."""
        self.last_timestamp_ms = 0
        """The time of the newest batch."""
        self.leader_id = -1
        self.leader_epoch = -1
        self.leader_mark: Mark | None = None
        self.voters: dict[int, Uuid] = {}
        self.has_dynamic_voters = False
        """Whether a VotersRecord names them (KIP-853)."""
        self.kraft_version = 0
        self.unknown_records: Counter[int] = Counter()
        """The number of records by types that only a newer release knows."""
        self.open_transaction_offset: int | None = None
        """The offset at which a transaction begins that has not ended: nothing of it has an effect yet."""
        self._in_transaction: list[tuple[Message, Mark]] = []

    def replay_snapshot(self, batches: Iterable[RecordBatch], snapshot: OffsetAndEpoch) -> None:
        """Replays all batches of a snapshot into the empty image. Raises DecodeError."""
        timestamp_ms: int | None = None
        for batch in batches:
            if timestamp_ms is None:
                timestamp_ms = _contained_timestamp(batch)
            mark = Mark(snapshot.offset - 1, timestamp_ms, is_latest_possible=True)
            for record in batch.records:
                if batch.header.is_control:
                    self._take_control(record, mark, snapshot.epoch)
                else:
                    self._take(record.value, mark)
        self.snapshot = snapshot
        self.snapshot_ms = timestamp_ms or 0
        self.end_offset = snapshot.offset
        self.last_timestamp_ms = max(self.last_timestamp_ms, timestamp_ms or 0)

    def replay_batches(self, batches: Iterable[RecordBatch], end_offset: int) -> None:
        """Replays the records from `self.end_offset` to `end_offset`, which are committed."""
        for batch in batches:
            for record in batch.records:
                if not self.end_offset <= record.offset < end_offset:
                    continue
                mark = Mark(record.offset, record.timestamp_ms)
                if batch.header.is_control:
                    self._take_control(record, mark, batch.header.partition_leader_epoch)
                else:
                    self._take(record.value, mark)
                self.end_offset = record.offset + 1
                self.last_timestamp_ms = max(self.last_timestamp_ms, record.timestamp_ms)

    def apply(self, record: Message, mark: Mark) -> None:
        """Replays one record that is not part of a transaction."""
        self.marks.note(self.image, record, mark)
        replay(self.image, record, mark.offset)

    def _take(self, value: bytes | None, mark: Mark) -> None:
        """Takes a record; those of a metadata transaction (KIP-868) have an effect when it ends."""
        try:
            record = decode_metadata_record(value or b"").record
        except UnknownRecordError as error:
            self.unknown_records[error.record_type] += 1
            return
        if isinstance(record, BeginTransactionRecord):
            self.open_transaction_offset, self._in_transaction = mark.offset, []
        elif isinstance(record, AbortTransactionRecord):
            self.open_transaction_offset, self._in_transaction = None, []
        elif isinstance(record, EndTransactionRecord):
            held, self._in_transaction = self._in_transaction, []
            self.open_transaction_offset = None
            for each, its_mark in held:
                self.apply(each, its_mark)
        elif self.open_transaction_offset is not None:
            self._in_transaction.append((record, mark))
        else:
            self.apply(record, mark)

    def _take_control(self, record: Record, mark: Mark, epoch: int) -> None:
        try:
            message = decode_control_value(decode_control_key(record.key), record.value)
        except DecodeError:
            return
        if isinstance(message, LeaderChangeMessage):
            if epoch != self.leader_epoch:
                self.leader_mark = mark
            self.leader_id, self.leader_epoch = message.leader_id, epoch
            if not self.has_dynamic_voters:
                self.voters = {voter.voter_id: voter.voter_directory_id for voter in message.voters}
        elif isinstance(message, VotersRecord):
            self.has_dynamic_voters = True
            self.voters = {voter.voter_id: voter.voter_directory_id for voter in message.voters}
        elif isinstance(message, KRaftVersionRecord):
            self.kraft_version = message.kraft_version
            self.marks.features[KRAFT_VERSION] = mark


def left_out_text(records: Counter[int], types_max: int | None = None) -> str:
    """Returns that records of a newer release are left out; an empty text if there are none."""
    if not records:
        return ""
    are = one_or_many(records.total(), "is", "are")
    types = sorted(records)[:types_max]
    return (
        f"{counted(records.total(), 'record')} of types {types}, which a newer release wrote, {are} left out"
    )


def _contained_timestamp(first: RecordBatch) -> int:
    """Returns the time of the last record that a snapshot contains, from its header."""
    for record in first.records if first.header.is_control else []:
        try:
            message = decode_control_value(decode_control_key(record.key), record.value)
        except DecodeError:
            continue
        if isinstance(message, SnapshotHeaderRecord):
            return message.last_contained_log_timestamp
    return first.header.max_timestamp_ms
