"""Decodes committed records, and refuses those that this controller cannot apply.

A controller that skips a record, or applies a metadata.version whose rules it does not have, has wrong state
from then on without noticing. Kafka's controllers stop as well, when they replay the record.
"""

from __future__ import annotations

from typing import Final

from kraftctl.metadata import features
from kraftctl.metadata.endpoint import VersionRange
from kraftctl_protocol.generated.feature_level_record import FeatureLevelRecord
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import UnknownRecordError, decode_metadata_record
from kraftctl_protocol.primitives import DecodeError
from kraftctl_protocol.uuids import uuid_to_string

DOES_NOT_FIT: Final = (AssertionError, LookupError, ArithmeticError, ValueError)
"""The exceptions of `replay` for a record that does not fit the records before it."""

NEWER_RELEASE: Final = (
    "A newer release has written it. Next step: start a controller of that release on this directory instead."
)

OLDER_RELEASE: Final = (
    "No release that kraftctl can replace has written it. Next step: if the cluster is that old, upgrade it"
    " with Kafka's controllers first; otherwise replace this replica (docs/operations/lost-disk.md)."
)

NO_RELEASE: Final = (
    "No release writes this, although the checksum is right; Kafka's controllers stop at it, too. Next step:"
    " if the other controllers run, replace this replica (docs/operations/lost-disk.md); if all of them stop"
    " here, keep a copy of the directory, restore a backup, and report it."
)


class UnusableRecordError(Exception):
    """This node cannot be a controller of the cluster; the text says why, and what to do next."""


def decode_committed(
    key: bytes | None, value: bytes | None, offset: int, file: str, supported: dict[str, VersionRange]
) -> Message:
    """Returns the record of a data batch that is at `offset` of `file`. Raises UnusableRecordError."""
    if key is not None:
        raise _unusable(file, offset, "has a key, as no metadata record", NO_RELEASE)
    try:
        message = decode_metadata_record(value or b"").record
    except UnknownRecordError as unknown:  # another name: compiled, one has one type (ADR 8)
        what = f"is of type {unknown.record_type} in version {unknown.version}, which kraftctl does not know"
        raise _unusable(file, offset, what, NEWER_RELEASE) from unknown
    except DecodeError as error:
        raise _unusable(file, offset, f"cannot be decoded: {error}", NO_RELEASE) from error
    if isinstance(message, FeatureLevelRecord):
        _check_level(message, offset, file, supported)
    return message


def _check_level(
    record: FeatureLevelRecord, offset: int, file: str, supported: dict[str, VersionRange]
) -> None:
    reason = features.why_level_unsupported(record.name, record.feature_level, supported)
    if reason is not None:
        offered = supported.get(record.name)
        is_older = offered is not None and record.feature_level < offered.min
        raise _unusable(file, offset, f"is for {reason}", OLDER_RELEASE if is_older else NEWER_RELEASE)


def undecodable_batch(file: str, base_offset: int, error: DecodeError) -> UnusableRecordError:
    """Returns the error of a whole batch at `base_offset` of `file` that is not made of records."""
    return UnusableRecordError(
        f"{file}: the batch at offset {base_offset} cannot be decoded: {error}. {NO_RELEASE}"
    )


def does_not_fit(file: str, offset: int, record: Message, error: Exception) -> UnusableRecordError:
    """Returns the error of `record`, at `offset` of `file`, that could not be applied because of `error`."""
    what = f"is a {record.NAME} that does not fit what is before it: {why_not_applied(error)}"
    return _unusable(file, offset, what, NO_RELEASE)


def why_not_applied(error: Exception) -> str:
    """Returns the meaning of an exception of `replay` in words."""
    if isinstance(error, KeyError):
        key = error.args[0]
        return f"it names {uuid_to_string(key) if isinstance(key, bytes) else key}, which does not exist"
    return str(error) or type(error).__name__


def _unusable(file: str, offset: int, what: str, next_step: str) -> UnusableRecordError:
    return UnusableRecordError(f"{file}: the record at offset {offset} {what}. {next_step}")
