"""Decode committed records, and refuse those that only a newer Kafka knows.

A controller that skips a record, or applies a metadata.version whose rules it does not have, has wrong state
from then on without noticing. Kafka's controllers stop as well, when they replay the record.
"""

from __future__ import annotations

from kraftctl.metadata import features
from kraftctl.metadata.endpoint import VersionRange
from kraftctl_protocol.generated.feature_level_record import FeatureLevelRecord
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import UnknownRecordError, decode_metadata_record
from kraftctl_protocol.record_batch import RecordBatch


class UnsupportedRecordError(Exception):
    """This node cannot be a controller of the cluster; the text says why, and what to do next."""


def decode_committed(batch: RecordBatch, source: str, supported: dict[str, VersionRange]) -> list[Message]:
    """The records of a data batch. `source` says where it is from. Raises UnsupportedRecordError."""
    messages: list[Message] = []
    for record in batch.records:
        try:
            message = decode_metadata_record(record.value or b"").record
        except UnknownRecordError as error:
            what = f"of type {error.record_type} in version {error.version}, which kraftctl does not know"
            raise _unsupported(source, record.offset, what) from error
        if isinstance(message, FeatureLevelRecord):
            reason = features.why_level_unsupported(message.name, message.feature_level, supported)
            if reason is not None:
                raise _unsupported(source, record.offset, f"for {reason}")
        messages.append(message)
    return messages


def _unsupported(source: str, offset: int, what: str) -> UnsupportedRecordError:
    return UnsupportedRecordError(
        f"{source}: the record at offset {offset} is {what}. A newer release has written it. Next"
        " step: start a controller of that release on this directory instead."
    )
