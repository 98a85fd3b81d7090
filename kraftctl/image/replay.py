"""Replays each metadata record into the image; a test checks that no record type is missing.

A record that does not fit the state is a bug of its writer, or a damaged log: assertions and KeyErrors from
here must stop the process, never be swallowed (KAFKA-14275).
"""

from __future__ import annotations

from kraftctl.image.metadata_image import MetadataImage
from kraftctl_protocol.generated.abort_transaction_record import AbortTransactionRecord
from kraftctl_protocol.generated.begin_transaction_record import BeginTransactionRecord
from kraftctl_protocol.generated.end_transaction_record import EndTransactionRecord
from kraftctl_protocol.generated.partition_change_record import PartitionChangeRecord
from kraftctl_protocol.generated.partition_record import PartitionRecord
from kraftctl_protocol.generated.remove_topic_record import RemoveTopicRecord
from kraftctl_protocol.message import Message
from kraftctl_protocol.record_types import NOTHING, RECORD_TYPES_BY_NAME


def replay(image: MetadataImage, record: Message, offset: int) -> None:
    """Applies `record`, which has `offset` in the metadata log (in a snapshot: its last contained offset)."""
    image.journal.start_record(offset)
    if type(record) is PartitionChangeRecord:  # not isinstance: see ADR 8
        image.topics.replay_partition_change(record)
    elif type(record) is PartitionRecord:
        image.topics.replay_partition(record)
    elif type(record) is RemoveTopicRecord:
        image.configurations.replay_topic_removed(image.topics.replay_remove_topic(record.topic_id))
    else:
        part = image.parts_by_record_type.get(record.API_KEY)
        if part is None:
            _replay_without_part(image, record)
        else:
            part.replay(record, offset)


def _replay_without_part(image: MetadataImage, record: Message) -> None:
    """Handles the limits of metadata transactions (KIP-868), and records without effect."""
    if isinstance(record, BeginTransactionRecord):
        image.journal.begin_transaction()
    elif isinstance(record, EndTransactionRecord):
        image.journal.end_transaction()
    elif isinstance(record, AbortTransactionRecord):
        image.journal.abort_transaction()
    else:
        row = RECORD_TYPES_BY_NAME.get(record.NAME)
        assert row is not None, f"{record.NAME} is unknown here"
        assert row.effect == NOTHING, f"{record.NAME} changes a part of the image that is not there"
