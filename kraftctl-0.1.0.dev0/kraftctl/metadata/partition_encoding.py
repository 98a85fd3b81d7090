"""PartitionEncoder encodes a partition as its PartitionRecord, without making the record.

A snapshot of two million partitions consists mostly of that. A few thousand distinct lists of replicas
appear in all of them, so their bytes are kept.
"""

from __future__ import annotations

from typing import Final

from librt.strings import write_i32_be

from kraftctl.metadata import features
from kraftctl.metadata.partition_registration import PartitionRegistration
from kraftctl_protocol.generated.partition_record import PartitionRecord
from kraftctl_protocol.metadata_record import FRAME_VERSION, encode_metadata_record
from kraftctl_protocol.primitives import Writer, write_uuid, write_uvarint
from kraftctl_protocol.uuids import Uuid

LISTS_MAX: Final = 65_536
"""The number of lists whose bytes are kept before the table starts over, as in InternedTuples."""


class PartitionEncoder:
    """Encodes for one metadata.version, and with or without the fields of KIP-966."""

    def __init__(self, metadata_version: int, *, elr_enabled: bool) -> None:
        self._metadata_version = metadata_version
        self._elr_enabled = elr_enabled
        self._has_directories = features.is_directory_assignment_supported(metadata_version)
        frame = Writer()
        write_uvarint(frame, FRAME_VERSION)
        write_uvarint(frame, PartitionRecord.API_KEY)
        write_uvarint(frame, features.partition_record_version(metadata_version))
        self._frame = frame.getvalue()
        self._brokers: dict[tuple[int, ...], bytes] = {}

    def encode(self, topic_id: Uuid, index: int, partition: PartitionRegistration) -> bytes:
        """Encodes like `encode_metadata_record` would with its record."""
        if partition.leader_recovery_state != 0 or partition.elr or partition.last_known_elr:
            entry = partition.to_record(
                topic_id, index, metadata_version=self._metadata_version, elr_enabled=self._elr_enabled
            )
            return encode_metadata_record(entry.record, entry.version)
        writer = Writer()
        writer.write(self._frame)
        write_i32_be(writer, index)
        write_uuid(writer, topic_id)
        writer.write(self._of_brokers(partition.replicas))
        writer.write(self._of_brokers(partition.isr))
        writer.write(self._of_brokers(partition.removing_replicas))
        writer.write(self._of_brokers(partition.adding_replicas))
        write_i32_be(writer, partition.leader)
        write_i32_be(writer, partition.leader_epoch)
        write_i32_be(writer, partition.partition_epoch)
        if self._has_directories:
            _write_directories(writer, partition)
        writer.append(0)  # no tagged fields
        return writer.getvalue()

    def _of_brokers(self, ids: tuple[int, ...]) -> bytes:
        encoded = self._brokers.get(ids)
        if encoded is None:
            writer = Writer()
            write_uvarint(writer, len(ids) + 1)
            for broker_id in ids:
                write_i32_be(writer, broker_id)
            encoded = writer.getvalue()
            if len(self._brokers) >= LISTS_MAX:
                self._brokers.clear()
            self._brokers[ids] = encoded
        return encoded


def _write_directories(writer: Writer, partition: PartitionRegistration) -> None:
    """Writes packed ones one by one: a tuple of them, made for this alone, takes longer."""
    shared = partition.shared
    write_uvarint(writer, len(partition.replicas) + 1)
    if shared.directories is not None:
        for directory in shared.directories:
            write_uuid(writer, directory)
        return
    known, packed = shared.broker_directories, partition.packed_directories
    for position, replica in enumerate(partition.replicas):
        write_uuid(writer, known.directory(replica, position, packed))
