"""Control records: what the raft layer writes to its own log (KIP-595, KIP-630, KIP-853).

The key is an int16 version (0) and an int16 type; the value is a message without a frame, whose
first field is its version.
"""

from __future__ import annotations

from enum import IntEnum

from librt.strings import read_i16_be

from kraftctl_protocol.generated.kraft_version_record import KRaftVersionRecord
from kraftctl_protocol.generated.leader_change_message import LeaderChangeMessage
from kraftctl_protocol.generated.snapshot_footer_record import SnapshotFooterRecord
from kraftctl_protocol.generated.snapshot_header_record import SnapshotHeaderRecord
from kraftctl_protocol.generated.voters_record import VotersRecord
from kraftctl_protocol.message import Message
from kraftctl_protocol.primitives import DecodeError, EncodeError

KEY_BYTES = 4
CURRENT_KEY_VERSION = 0


class ControlRecordType(IntEnum):
    """The control record types in a metadata log or a snapshot."""

    LEADER_CHANGE = 2
    SNAPSHOT_HEADER = 3
    SNAPSHOT_FOOTER = 4
    KRAFT_VERSION = 5
    KRAFT_VOTERS = 6


class NewerReleaseError(DecodeError):
    """A control record in a version, or with a level, that only a newer release knows: it is not damaged."""


class UnknownControlRecordError(NewerReleaseError):
    """A well-formed key of an unknown type."""

    def __init__(self, control_type: int) -> None:
        super().__init__(f"unknown control record type {control_type}")
        self.control_type = control_type


class ControlRecord:
    """A decoded control record."""

    def __init__(self, control_type: ControlRecordType, message: Message) -> None:
        self.control_type = control_type
        self.message = message

    def __repr__(self) -> str:
        return f"ControlRecord({self.control_type.name}, {self.message!r})"


def encode_control_key(control_type: int) -> bytes:
    """Returns the key of a control record of this type."""
    return CURRENT_KEY_VERSION.to_bytes(2, "big") + int(control_type).to_bytes(2, "big")


def decode_control_key(key: bytes | None) -> int:
    """Returns the type in the key, known or not; DecodeError when it is too short.

    Newer versions of the key may only add bytes after the type.
    """
    if key is None or len(key) < KEY_BYTES:
        raise DecodeError("control record without a key of four bytes")
    version = int(read_i16_be(key, 0))
    if version < CURRENT_KEY_VERSION:
        raise DecodeError(f"control record key of version {version}")
    return int(read_i16_be(key, 2))


def encode_control_value(message: Message) -> bytes:
    """Returns the value of a control record; `message.version` says in which version to write it."""
    if isinstance(message, LeaderChangeMessage):
        return message.encode(message.version)
    if isinstance(message, SnapshotHeaderRecord):
        return message.encode(message.version)
    if isinstance(message, SnapshotFooterRecord):
        return message.encode(message.version)
    if isinstance(message, KRaftVersionRecord):
        return message.encode(message.version)
    if isinstance(message, VotersRecord):
        return message.encode(message.version)
    raise EncodeError(f"{type(message).__name__} is not a control record")


def decode_control_value(control_type: int, value: bytes | None) -> Message:
    """Returns the message in the value of a control record of this type."""
    if value is None or len(value) < 2:
        raise DecodeError("control record without a value")
    version = int(read_i16_be(value, 0))
    if control_type == 2:
        return LeaderChangeMessage.decode(value, _checked(version, LeaderChangeMessage.HIGHEST_VERSION))
    if control_type == 3:
        return SnapshotHeaderRecord.decode(value, _checked(version, SnapshotHeaderRecord.HIGHEST_VERSION))
    if control_type == 4:
        return SnapshotFooterRecord.decode(value, _checked(version, SnapshotFooterRecord.HIGHEST_VERSION))
    if control_type == 5:
        return KRaftVersionRecord.decode(value, _checked(version, KRaftVersionRecord.HIGHEST_VERSION))
    if control_type == 6:
        return VotersRecord.decode(value, _checked(version, VotersRecord.HIGHEST_VERSION))
    raise UnknownControlRecordError(control_type)


def _checked(version: int, highest: int) -> int:
    if version < 0:
        raise DecodeError(f"control record of version {version}")
    if version > highest:
        raise NewerReleaseError(f"control record of version {version}; the highest known is {highest}")
    return version


def control_type_of(message: Message) -> ControlRecordType:
    """Returns the type to write a message under."""
    if isinstance(message, LeaderChangeMessage):
        return ControlRecordType.LEADER_CHANGE
    if isinstance(message, SnapshotHeaderRecord):
        return ControlRecordType.SNAPSHOT_HEADER
    if isinstance(message, SnapshotFooterRecord):
        return ControlRecordType.SNAPSHOT_FOOTER
    if isinstance(message, KRaftVersionRecord):
        return ControlRecordType.KRAFT_VERSION
    if isinstance(message, VotersRecord):
        return ControlRecordType.KRAFT_VOTERS
    raise EncodeError(f"{type(message).__name__} is not a control record")


def encode_control_record(message: Message) -> tuple[int, bytes]:
    """Returns type and value, as `record_batch.encode_control_batch` takes them."""
    return int(control_type_of(message)), encode_control_value(message)


def decode_control_record(key: bytes | None, value: bytes | None) -> ControlRecord:
    """Decodes both halves of a control record; UnknownControlRecordError when the type is not known."""
    control_type = decode_control_key(key)
    message = decode_control_value(control_type, value)
    return ControlRecord(ControlRecordType(control_type), message)
