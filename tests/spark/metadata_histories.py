"""Generated histories of a metadata log: all record types, aborted transactions, deleted parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from kraftctl.image.image_writer import ImageWriter
from kraftctl.image.metadata_image import MetadataImage
from kraftctl.image.replay import replay
from kraftctl.metadata import features
from kraftctl_protocol.control_record import (
    ControlRecordType,
    decode_control_key,
    decode_control_value,
    encode_control_value,
)
from kraftctl_protocol.generated.abort_transaction_record import AbortTransactionRecord
from kraftctl_protocol.generated.begin_transaction_record import BeginTransactionRecord
from kraftctl_protocol.generated.feature_level_record import FeatureLevelRecord
from kraftctl_protocol.generated.fence_broker_record import FenceBrokerRecord
from kraftctl_protocol.generated.leader_change_message import LeaderChangeMessage
from kraftctl_protocol.generated.snapshot_footer_record import SnapshotFooterRecord
from kraftctl_protocol.generated.snapshot_header_record import SnapshotHeaderRecord
from kraftctl_protocol.generated.unfence_broker_record import UnfenceBrokerRecord
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import decode_metadata_record, encode_metadata_record
from kraftctl_protocol.record_batch import encode_batch, encode_control_batch, read_batch_header, read_batches
from kraftctl_protocol.uuids import uuid_to_string
from tests.spark.history_truth import Event
from tests.support.record_sequences import RecordSequence

START_MS = 1_795_251_600_000
"""2026-11-21T09:00:00Z: the documentation's examples are in the hours after it."""
MS_PER_OFFSET = 40_000
RECORDS_PER_BATCH_MAX = 9
EPOCH = 1
FEATURES = {
    features.METADATA_VERSION: features.LATEST_PRODUCTION,
    features.ELIGIBLE_LEADER_REPLICAS_VERSION: 1,
}


def time_of(offset: int) -> int:
    return START_MS + offset * MS_PER_OFFSET


@dataclass
class History:
    """Batches as a leader has them, and the records in them that have an effect."""

    batches: list[bytes] = field(default_factory=list)
    values: dict[int, bytes] = field(default_factory=dict)
    """By offset, data records that have an effect."""
    aborted: set[int] = field(default_factory=set)
    snapshots: dict[int, bytes] = field(default_factory=dict)
    """By their end offset."""
    times: dict[int, int] = field(default_factory=dict)
    """By offset, timestamps in ms: a batch has that of its last record."""
    end: int = 0

    def events(self) -> Iterator[Event]:
        """All records that have an effect, decoded."""
        for batch in read_batches(b"".join(self.batches)):
            for record in batch.records:
                if record.offset in self.aborted:
                    continue
                if batch.header.is_control:
                    message = decode_control_value(decode_control_key(record.key), record.value)
                else:
                    message = decode_metadata_record(record.value or b"").record
                table = type(message).__module__.rsplit(".", 1)[-1]
                yield Event(record.offset, record.timestamp_ms, EPOCH, table, _plain(message))

    def batches_from(self, offset: int) -> list[bytes]:
        return [batch for batch in self.batches if read_batch_header(batch, 0).base_offset >= offset]


class Generator:
    """Appends random batches to a history, and replays them as kraftctl does."""

    def __init__(self, seed: int, clock: Callable[[int], int] = time_of) -> None:
        self.history = History()
        self._clock = clock
        self._image = MetadataImage()
        self._sequence = RecordSequence(seed, self._image)
        self._pending: dict[int, bytes] = {}
        """Records of the open transaction."""
        self.history.batches.append(
            _control(0, ControlRecordType.LEADER_CHANGE, LeaderChangeMessage(leader_id=1))
        )
        self.history.times[0] = clock(0)
        self.history.end = 1
        self._append(
            [FeatureLevelRecord(name=features.METADATA_VERSION, feature_level=features.LATEST_PRODUCTION)]
        )
        self._append([FeatureLevelRecord(name=features.ELIGIBLE_LEADER_REPLICAS_VERSION, feature_level=1)])

    @property
    def in_transaction(self) -> bool:
        return self._image.journal.transaction_start is not None

    def append_random(self) -> None:
        """A batch of some records."""
        self._append([None] * self._sequence.rng.randint(1, RECORDS_PER_BATCH_MAX))

    def append_snapshot(self) -> None:
        """A snapshot of the current state; not within a transaction."""
        end = self.history.end
        writer = ImageWriter(self._image, end)
        values = writer.next_values(1_000_000)
        writer.close()
        header = SnapshotHeaderRecord(last_contained_log_timestamp=self._clock(end - 1))
        self.history.snapshots[end] = (
            _control(0, ControlRecordType.SNAPSHOT_HEADER, header)
            + encode_batch(1, EPOCH, self._clock(end), values)
            + _control(len(values) + 1, ControlRecordType.SNAPSHOT_FOOTER, SnapshotFooterRecord())
        )

    def _append(self, records: Sequence[Message | None]) -> None:
        """Draws the missing records, each for the image that the previous ones have made."""
        start = self.history.end
        values = [self._replayed(record or self._next()) for record in records]
        end = self.history.end
        self.history.batches.append(encode_batch(start, EPOCH, self._clock(end - 1), values))
        self.history.times |= dict.fromkeys(range(start, end), self._clock(end - 1))

    def _next(self) -> Message:
        brokers = self._image.cluster.brokers
        if brokers and self._sequence.rng.random() < 0.02:
            broker_id = self._sequence.rng.choice(sorted(brokers))
            kind = self._sequence.rng.choice([FenceBrokerRecord, UnfenceBrokerRecord])
            return kind(id=broker_id, epoch=brokers[broker_id].epoch)
        return self._sequence.next()

    def _replayed(self, record: Message) -> bytes:
        """Replays the record and returns its bytes."""
        offset = self.history.end
        value = encode_metadata_record(record, record.HIGHEST_VERSION)
        replay(self._image, decode_metadata_record(value).record, offset)
        self.history.end += 1
        if isinstance(record, AbortTransactionRecord):
            self.history.aborted |= set(self._pending)
            self._pending = {}
        elif self.in_transaction and not isinstance(record, BeginTransactionRecord):
            self._pending[offset] = value
        elif not isinstance(record, BeginTransactionRecord):
            self.history.values |= {**self._pending, offset: value}
            self._pending = {}
        return value


def generate(
    seed: int, count: int, snapshots: Sequence[int], clock: Callable[[int], int] = time_of
) -> History:
    """About `count` records, with a snapshot at or soon after each of these offsets; no open transaction.

    `clock` gives the time in ms of each offset.
    """
    generator = Generator(seed, clock)
    for goal in (*snapshots, count):
        while generator.history.end < goal or generator.in_transaction:
            generator.append_random()
        if goal != count:
            generator.append_snapshot()
    return generator.history


def _control(offset: int, control_type: ControlRecordType, message: Message) -> bytes:
    return encode_control_batch(
        offset, EPOCH, time_of(offset), [(control_type, encode_control_value(message))]
    )


def _plain(message: Message) -> dict[str, Any]:
    """A message's fields as the tables have them."""
    return {
        field.name.rstrip("_"): _value(field.type, getattr(message, field.name)) for field in message.FIELDS
    }


def _value(kind: str, value: Any) -> Any:
    if value is None:
        return None
    if kind.startswith("[]"):
        return [_value(kind.removeprefix("[]"), element) for element in value]
    if isinstance(value, Message):
        return _plain(value)
    return uuid_to_string(value) if kind == "uuid" else value
