"""Checks of every record before it is appended: a bad record stays on the disk of every broker.

A broker halts on a record it cannot decode, and again at each restart. So the bytes are decoded again before
the append, and a record type or version that the finalized metadata.version lacks is a bug on our side.

Of topics, and of partitions that are new or change, of which one request may write 10,000, the length is
compared instead: all their fields have fixed sizes, but for a name in ASCII, and the codec refuses values
that do not fit, so that bytes of the right length can be decoded.
"""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64, mypyc_attr

from kraftctl.metadata.leader_recovery_state import NO_CHANGE
from kraftctl.metadata.partition_registration import NO_LEADER_CHANGE
from kraftctl_protocol.generated.partition_change_record import PartitionChangeRecord
from kraftctl_protocol.generated.partition_record import PartitionRecord
from kraftctl_protocol.generated.topic_record import TopicRecord
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import (
    RecordAndVersion,
    decode_metadata_record,
    encode_framed,
    frame_of,
)
from kraftctl_protocol.primitives import Writer
from kraftctl_protocol.record_types import RECORD_TYPES
from kraftctl_protocol.uuids import UUID_SIZE

SHORT_LIST_MAX: Final = 126
"""The length of a list is written as an unsigned varint, one higher: so far it is one byte."""

SHORT_TAG_MAX: Final = 31
"""This many replicas make a tagged field whose size is written as one byte."""

NO_TAGS_BYTES: Final = 3 + UUID_SIZE + 4 + 1
"""A PartitionChangeRecord in which nothing changes: frame, topic, partition, number of tagged fields."""

UNKNOWN_SIZE: Final = -1
"""The size is unknown until the record is decoded."""

LONG_TAG: Final = 1 << 16
"""More than a record of short lists takes."""

ALLOWED_SINCE: Final[dict[str, tuple[int, ...]]] = {
    row.message.NAME: row.since for row in RECORD_TYPES if row.since
}
"""Record -> for each of its versions, from 0 on, the metadata.version that allows it."""


@mypyc_attr(acyclic=True)
class EncodedRecord(RecordAndVersion):
    """A record whose `value` a `RecordEncoder` has made and checked before it is appended with others."""

    def __init__(self, record: Message, version: int, value: bytes) -> None:
        super().__init__(record, version)
        self.value = value


class RecordEncoder:
    """Encodes and checks records in the order in which they are appended.

    `metadata_version` is the level that is finalized when the next one is. Whether it allows a type and
    version is looked up once for each.
    """

    def __init__(self, metadata_version: int) -> None:
        self._metadata_version = metadata_version
        self._kind: type[Message] | None = None
        self._version = -1
        self._frame = b""
        self._frames: dict[tuple[type[Message], int], bytes] = {}
        self._writer = Writer()

    def follow_level(self, metadata_version: int) -> None:
        """The record before sets it, up or down."""
        self._metadata_version = metadata_version
        self._kind = None
        self._frames.clear()

    def encode(self, entry: RecordAndVersion) -> bytes:
        """The encoded record. Raises what encoding raises, and AssertionError for a bug."""
        if isinstance(entry, EncodedRecord):
            return entry.value
        record = entry.record
        version = entry.version
        kind = type(record)
        if kind is not self._kind or version != self._version:
            self._begin_run(record, version)
        value = encode_framed(self._writer, self._frame, record, version)
        size: i64 = UNKNOWN_SIZE
        if type(record) is PartitionChangeRecord:
            size = _size_of_change(record)
        elif type(record) is PartitionRecord:
            size = _size_of_partition(record, version)
        elif type(record) is TopicRecord:
            size = _size_of_topic(record)
        if size == UNKNOWN_SIZE:
            _check_decoded(record, version, value)
        else:
            assert len(value) == size, (
                f"{record.NAME} does not survive encoding: {len(value)} bytes, not {size}"
            )
        return value

    def _begin_run(self, record: Message, version: int) -> None:
        kind = type(record)
        frame = self._frames.get((kind, version))
        if frame is None:
            frame = self._allowed_frame(record, version)
            self._frames[(kind, version)] = frame
        self._kind = kind
        self._version = version
        self._frame = frame

    def _allowed_frame(self, record: Message, version: int) -> bytes:
        name = record.NAME
        since = ALLOWED_SINCE.get(name)
        assert since is not None, f"{name} is never written"
        assert 0 <= version < len(since), f"{name} has no version {version}"
        assert self._metadata_version >= since[version], (
            f"{name} version {version} is not for metadata.version {self._metadata_version}"
        )
        return frame_of(record.API_KEY, version)


def encode_checked(entry: RecordAndVersion, metadata_version: int) -> bytes:
    """One encoded record. `metadata_version` is the level that is finalized when it is appended."""
    return RecordEncoder(metadata_version).encode(entry)


def _check_decoded(record: Message, version: int, value: bytes) -> None:
    decoded = decode_metadata_record(value)
    assert decoded.version == version, f"{record.NAME} does not survive encoding"
    assert decoded.record.API_KEY == record.API_KEY, f"{record.NAME} does not survive encoding"


def _size_of_change(record: PartitionChangeRecord) -> i64:
    """The frame, a UUID, an integer, tagged fields; UNKNOWN_SIZE with directories, or a long list."""
    if record.directories is not None or record.unknown_tagged_fields is not None:
        return UNKNOWN_SIZE
    size: i64 = NO_TAGS_BYTES
    if record.leader != NO_LEADER_CHANGE:
        size += 2 + 4
    if record.leader_recovery_state != NO_CHANGE:
        size += 2 + 1
    size += _size_of_tag(record.isr)
    size += _size_of_tag(record.replicas)
    size += _size_of_tag(record.removing_replicas)
    size += _size_of_tag(record.adding_replicas)
    size += _size_of_tag(record.eligible_leader_replicas)
    size += _size_of_tag(record.last_known_elr)
    return size if size < LONG_TAG else UNKNOWN_SIZE


def _size_of_tag(replicas: list[int] | None) -> i64:
    if replicas is None:
        return 0
    count: i64 = len(replicas)
    return 3 + 4 * count if count <= SHORT_TAG_MAX else LONG_TAG


def _size_of_topic(record: TopicRecord) -> i64:
    """The frame, a name, a UUID, no tags; UNKNOWN_SIZE with a name that is long or not in ASCII."""
    length: i64 = len(record.name)
    if length > SHORT_LIST_MAX or record.unknown_tagged_fields is not None or not record.name.isascii():
        return UNKNOWN_SIZE
    return 3 + 1 + length + UUID_SIZE + 1


def _size_of_partition(record: PartitionRecord, version: int) -> i64:
    """The frame, a UUID, four integers, four lists of integers, no tags; from version 1 on, directories.

    UNKNOWN_SIZE with a tagged field, or a long list.
    """
    if (
        record.leader_recovery_state != 0
        or record.eligible_leader_replicas is not None
        or record.last_known_elr is not None
        or record.unknown_tagged_fields is not None
    ):
        return UNKNOWN_SIZE
    replicas: i64 = len(record.replicas)
    isr: i64 = len(record.isr)
    removing: i64 = len(record.removing_replicas)
    adding: i64 = len(record.adding_replicas)
    directories: i64 = len(record.directories)
    if replicas > SHORT_LIST_MAX or isr > SHORT_LIST_MAX or directories > SHORT_LIST_MAX:
        return UNKNOWN_SIZE
    if removing > SHORT_LIST_MAX or adding > SHORT_LIST_MAX:
        return UNKNOWN_SIZE
    size: i64 = 3 + UUID_SIZE + 4 * 4 + 4 + 4 * (replicas + isr + removing + adding) + 1
    return size if version == 0 else size + 1 + UUID_SIZE * directories
