"""Decoded records as rows: plain values, without Spark and Arrow.

Every offset gives exactly one row. A record that cannot be decoded keeps its raw bytes and has no message: a
newer controller may write records that this release does not know, and they must neither stop the export nor
get lost.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache

from kraftctl_protocol.control_record import (
    UnknownControlRecordError,
    decode_control_key,
    decode_control_value,
)
from kraftctl_protocol.generated.index import record_class
from kraftctl_protocol.generated.kraft_version_record import KRaftVersionRecord
from kraftctl_protocol.generated.leader_change_message import LeaderChangeMessage
from kraftctl_protocol.generated.snapshot_footer_record import SnapshotFooterRecord
from kraftctl_protocol.generated.snapshot_header_record import SnapshotHeaderRecord
from kraftctl_protocol.generated.voters_record import VotersRecord
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import FRAME_VERSION, UnknownRecordError, decode_metadata_record
from kraftctl_protocol.primitives import DecodeError, Reader
from kraftctl_protocol.record_batch import Record, RecordBatch
from kraftctl_protocol.record_columns import RecordsByKind, type_and_version
from kraftctl_protocol.secrets import TYPES_WITH_SECRETS
from kraftctl_spark.rows.new_fields import has_new_fields
from kraftctl_spark.rows.row_runs import RowRuns

RECORD_TYPE_IDS = range(256)
"""The range of record types; Kafka numbers them from 0."""

UNKNOWN_TYPE = "Unknown"
"""The `type` of a valid record whose type id this release does not know."""

UNDECODABLE_TYPE = "Undecodable"
"""The `type` of a record whose bytes are invalid."""

OFFSET_MAX = 2**63 - 1


def _data_record_classes() -> list[type[Message]]:
    classes = (record_class(type_id) for type_id in RECORD_TYPE_IDS)
    return [found for found in classes if found is not None]


CONTROL_RECORD_CLASSES: list[type[Message]] = [
    LeaderChangeMessage,
    SnapshotHeaderRecord,
    SnapshotFooterRecord,
    KRaftVersionRecord,
    VotersRecord,
]

TYPED_CLASSES: list[type[Message]] = [*_data_record_classes(), *CONTROL_RECORD_CLASSES]
"""All classes that have a struct of their own in a row; those without fields only have their `type`."""


class RecordKind:
    """Properties that many records share: type, version, and whether this release can decode them."""

    __slots__ = ("in_columns", "is_control", "message", "type", "type_id", "version")

    def __init__(
        self,
        type: str,
        type_id: int | None,
        version: int | None,
        *,
        is_control: bool,
        message: type[Message] | None = None,
        in_columns: bool = False,
    ) -> None:
        self.type = type
        self.type_id = type_id
        self.version = version
        self.is_control = is_control
        self.message = message
        """The class of the decoded records; None when they could not be decoded."""
        self.in_columns = in_columns
        """Whether their fields are in `MetadataRows.columns`, and not in messages."""

    def __repr__(self) -> str:
        return f"RecordKind({self.type}, type_id={self.type_id}, version={self.version})"


class _DataKinds(dict[tuple[type[Message], int], RecordKind]):
    """Kinds of decoded data records, by class and version."""

    def __missing__(self, key: tuple[type[Message], int]) -> RecordKind:
        message, version = key
        kind = self[key] = RecordKind(
            message.NAME, message.API_KEY, version, is_control=False, message=message
        )
        return kind


class _ColumnKinds(dict[int, RecordKind]):
    """Kinds of data records that were decoded into columns, by their number there."""

    def __missing__(self, number: int) -> RecordKind:
        type_id, version = type_and_version(number)
        message = record_class(type_id)
        assert message is not None
        kind = self[number] = RecordKind(
            message.NAME, type_id, version, is_control=False, message=message, in_columns=True
        )
        return kind


_DATA_KINDS = _DataKinds()
_COLUMN_KINDS = _ColumnKinds()
_CONTROL_CLASSES = {message.NAME: message for message in CONTROL_RECORD_CLASSES}
_KINDS_REMEMBERED = 1_000


def column_kind(number: int) -> RecordKind:
    """Returns the kind of the records that have this number in `MetadataRows.columns`."""
    return _COLUMN_KINDS[number]


@lru_cache(maxsize=_KINDS_REMEMBERED)
def _control_kind(name: str, type_id: int, version: int) -> RecordKind:
    return RecordKind(name, type_id, version, is_control=True, message=_CONTROL_CLASSES[name])


@lru_cache(maxsize=_KINDS_REMEMBERED)
def _not_understood(type: str, type_id: int | None, version: int | None, is_control: bool) -> RecordKind:
    return RecordKind(type, type_id, version, is_control=is_control)


class MetadataRows:
    """The rows of a log, or of one snapshot, in its order: a place per record, counted from 0."""

    def __init__(self, snapshot_end_offset: int | None = None) -> None:
        self.snapshot_end_offset = snapshot_end_offset
        """The first offset that the snapshot does not contain; None for rows of a log."""
        self.runs = RowRuns()
        """Offsets, epochs and timestamps. In a snapshot, whose records have no offset of their own, the
        offsets are positions in it."""
        self.columns = RecordsByKind(TYPES_WITH_SECRETS)
        """All raw values; fields of records decoded directly into columns, except of types with secrets,
        which may change."""
        self.other_kinds: dict[int, RecordKind] = {}
        """By place, the kinds of all rows that were not decoded into `columns`."""
        self.messages: dict[int, object] = {}
        """By place, messages of these rows, or objects with their attributes."""
        self.not_understood: dict[int, bytes] = {}
        """By place, the raw values of data records that have neither columns nor a message."""
        self.aborted: set[int] = set()
        """Places of rows in aborted transactions, set by `mark_aborted`."""
        self.redacted: dict[int, bytes | None] = {}
        """By place, what `redact` left of the raw values of rows with secrets."""
        self._newer = 0

    def __len__(self) -> int:
        return self.runs.rows

    @property
    def newer_fields(self) -> int:
        """The number of records with tagged fields that this release does not know: only payloads have
        these.
        """
        decoded = self.columns.by_kind.values()
        return self._newer + sum(int(columns.newer) for columns in decoded if columns is not None)

    def find(self, types: Collection[str]) -> list[tuple[int, str]]:
        """Places and types of all rows of some types, in no particular order. Meant for rare types."""
        found = [(place, kind.type) for place, kind in self.other_kinds.items() if kind.type in types]
        decoded = {number for number, columns in self.columns.by_kind.items() if columns is not None}
        wanted = {number for number in decoded if column_kind(number).type in types}
        if wanted:
            numbers = memoryview(self.columns.kinds.getvalue()).cast("i")
            found += [
                (place, column_kind(number).type) for place, number in enumerate(numbers) if number in wanted
            ]
        return found

    def add(self, batch: RecordBatch, first_offset: int = 0, end_offset: int = OFFSET_MAX) -> None:
        """Adds the records of a batch in [first_offset, end_offset)."""
        records = batch.records
        if batch.header.base_offset < first_offset or batch.header.last_offset >= end_offset:
            records = [record for record in records if first_offset <= record.offset < end_offset]
        if not records:
            return
        first = len(self)
        self.runs.add(batch.header, records)
        if batch.header.is_control:
            self.columns.leave_out(records)
            for place, record in enumerate(records, first):
                self._keep(place, *self._decoded_control(record))
            return
        for index in self.columns.add(records):
            value = records[index].value or b""
            kind, message = self._decoded(value)
            self._keep(first + index, kind, message)
            if message is None:
                self.not_understood[first + index] = value

    def _keep(self, place: int, kind: RecordKind, message: Message | None) -> None:
        self.other_kinds[place] = kind
        if message is not None:
            self.messages[place] = message

    def _decoded(self, value: bytes) -> tuple[RecordKind, Message | None]:
        message: Message | None = None
        try:
            decoded = decode_metadata_record(value)
            message = decoded.record
            self._newer += has_new_fields(message)
            kind = _DATA_KINDS[type(message), decoded.version]
        except UnknownRecordError as error:
            known = record_class(error.record_type)
            name = UNKNOWN_TYPE if known is None else known.NAME
            kind = _not_understood(name, error.record_type, error.version, False)
        except DecodeError:
            kind = _not_understood(UNDECODABLE_TYPE, *_in_frame(value), False)
        return kind, message

    def _decoded_control(self, record: Record) -> tuple[RecordKind, Message | None]:
        type_id: int | None = None
        message: Message | None = None
        try:
            type_id = decode_control_key(record.key)
            message = decode_control_value(type_id, record.value)
            self._newer += has_new_fields(message)
            kind = _control_kind(message.NAME, type_id, _own_version(message))
        except UnknownControlRecordError:
            kind = _not_understood(UNKNOWN_TYPE, type_id, None, True)
        except DecodeError:
            kind = _not_understood(UNDECODABLE_TYPE, type_id, None, True)
        return kind, message


def _in_frame(value: bytes) -> tuple[int | None, int | None]:
    """Returns the type and the version in the frame of a damaged record, None where that is damaged, too."""
    reader = Reader(value)
    try:
        if reader.read_uvarint() == FRAME_VERSION:
            return int(reader.read_uvarint()), int(reader.read_uvarint())
    except DecodeError:
        pass
    return None, None


def _own_version(message: Message) -> int:
    """Returns the version of a control record, which has it in a field because it has no frame."""
    version = getattr(message, "version", 0)
    assert isinstance(version, int)
    return version
