"""A broker's copy of the metadata: every record of the log, decoded and replayed onto an image of its own."""

from __future__ import annotations

from collections.abc import Callable

from kraftctl.image.metadata_image import MetadataImage
from kraftctl.image.replay import replay
from kraftctl.metadata.partition_registration import PartitionRegistration
from kraftctl_protocol.batch_framing import base_offset_at, batch_size
from kraftctl_protocol.control_record import decode_control_record
from kraftctl_protocol.generated.clear_elr_record import ClearElrRecord
from kraftctl_protocol.generated.partition_change_record import PartitionChangeRecord
from kraftctl_protocol.generated.partition_record import PartitionRecord
from kraftctl_protocol.generated.register_broker_record import RegisterBrokerRecord
from kraftctl_protocol.generated.remove_topic_record import RemoveTopicRecord
from kraftctl_protocol.generated.voters_record import VotersRecord
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import decode_metadata_record
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from kraftctl_protocol.record_batch import RecordBatch, read_batch, read_batches
from kraftctl_protocol.uuids import Uuid

PartitionKey = tuple[Uuid, int]

ReplicaElected = Callable[[PartitionKey, PartitionRegistration, int], None]
"""(partition, its state after the record, offset of the record): a record changed the partition."""


class DecodedBatch:
    """A batch of the metadata log and its records; without any if it is a control batch."""

    __slots__ = ("batch", "data", "records", "voter_ids")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.batch = read_batch(data, 0)
        self.records: list[tuple[int, Message]] = []
        self.voter_ids: list[int] | None = None
        """If a control record has changed the voter set (KIP-853)."""
        if self.batch.header.is_control:
            self.voter_ids = voter_ids_in(self.batch)
        else:
            for record in self.batch.records:
                assert record.value is not None, f"the record at offset {record.offset} has no value"
                self.records.append((record.offset, decode_metadata_record(record.value).record))


def voter_ids_in(batch: RecordBatch) -> list[int] | None:
    """The newest voter set of a control batch, None without one."""
    found: list[int] | None = None
    for record in batch.records:
        message = decode_control_record(record.key, record.value).message
        if isinstance(message, VotersRecord):
            found = [voter.voter_id for voter in message.voters]
    return found


class DecodedBatches:
    """What was decoded for one broker need not be decoded again for the next, if the bytes are the same."""

    def __init__(self) -> None:
        self._batches: dict[int, DecodedBatch] = {}

    def decode(self, records: bytes) -> list[DecodedBatch]:
        """The batches of a Fetch response. DecodeError if one is damaged."""
        found: list[DecodedBatch] = []
        position, end = 0, len(records)
        while position < end:
            size = batch_size(records, position)
            data = records[position : position + size]
            base_offset = base_offset_at(records, position)
            known = self._batches.get(base_offset)
            if known is None or known.data != data:
                known = self._batches[base_offset] = DecodedBatch(data)
            found.append(known)
            position += size
        return found


class BrokerImage:
    """`end_offset` and `epoch` are those of the copy of the log: what the next Fetch begins with.

    `published_offset` is the last offset that the rest of the broker sees (inclusive, -1 for none): not what
    an open metadata transaction hides.
    """

    def __init__(self, broker_id: int, changed: ReplicaElected) -> None:
        self._broker_id = broker_id
        self._changed = changed
        self.start_anew()

    def start_anew(self) -> None:
        """The copy of the log is lost."""
        self._clear(OffsetAndEpoch(0, 0))
        self.published_offset = -1

    def _clear(self, start: OffsetAndEpoch) -> None:
        self.image = MetadataImage()
        self.image.journal.enabled = False
        self.end_offset = start.offset
        self.epoch = start.epoch
        self.voter_ids: list[int] = []
        """Empty until the log has a voter set."""
        self.changed_partitions: list[PartitionKey] = []
        self.all_changed = True
        self._incarnation_id = b""
        self.elr_at_registration = False
        """Whether KIP-966 was in force where the log has the first registration of this incarnation: only
        then a controller looks for an unclean shutdown. False if that is in a snapshot.
        """

    def apply(self, decoded: DecodedBatch) -> None:
        """Replay the next batch."""
        header = decoded.batch.header
        assert header.base_offset == self.end_offset, (
            f"broker {self._broker_id} fetched from {self.end_offset} and was given {header!r}"
        )
        assert header.partition_leader_epoch >= self.epoch, f"epochs fall: {self.epoch}, then {header!r}"
        for offset, record in decoded.records:
            self._replay(record, offset)
        if decoded.voter_ids is not None:
            self.voter_ids = decoded.voter_ids
        self.end_offset = header.last_offset + 1
        self.epoch = header.partition_leader_epoch
        if self.image.journal.transaction_start is None:
            self.published_offset = header.last_offset

    def _replay(self, record: Message, offset: int) -> None:
        replay(self.image, record, offset)
        if isinstance(record, PartitionChangeRecord | PartitionRecord):
            key = (record.topic_id, record.partition_id)
            self.changed_partitions.append(key)
            partition = self.image.topics.partition(*key)
            assert partition is not None
            self._changed(key, partition, offset)
        elif isinstance(record, RemoveTopicRecord | ClearElrRecord):
            self.all_changed = True
        elif isinstance(record, RegisterBrokerRecord) and record.broker_id == self._broker_id:
            self._registered(record.incarnation_id)

    def _registered(self, incarnation_id: Uuid) -> None:
        if incarnation_id != self._incarnation_id:
            self._incarnation_id = incarnation_id
            self.elr_at_registration = self.image.features.elr_enabled

    def load(self, snapshot_id: OffsetAndEpoch, data: bytes) -> None:
        """Replace everything by a snapshot. DecodeError if it is damaged: then everything stays."""
        records: list[Message] = []
        voter_ids: list[int] = []
        for batch in read_batches(data):
            if batch.header.is_control:
                voter_ids = voter_ids_in(batch) or voter_ids
            else:
                records += [decode_metadata_record(record.value or b"").record for record in batch.records]
        before = self._incarnation_id, self.elr_at_registration
        self._clear(snapshot_id)
        self.voter_ids = voter_ids
        last_offset = snapshot_id.offset - 1
        for message in records:
            replay(self.image, message, last_offset)
        self.published_offset = last_offset
        known = self.image.cluster.brokers.get(self._broker_id)
        if known is not None:
            self._incarnation_id = known.incarnation_id
            self.elr_at_registration = before == (known.incarnation_id, True)

    def partitions(self) -> list[tuple[PartitionKey, PartitionRegistration]]:
        """All partitions, by topic id."""
        topics = self.image.topics.topics
        return [
            ((topic_id, index), partition)
            for topic_id in sorted(topics)
            for index, partition in topics[topic_id].partitions.items()
        ]
