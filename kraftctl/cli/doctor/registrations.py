"""Reads from the files of a metadata log what registered nodes support, and the finalized levels.

It opens files for reading only and takes no lock, so the controller may be running. The end of the log may
not be committed yet.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kraftctl.storage.checkpoint_reader import CheckpointReader
from kraftctl.storage.directory_entries import names_in
from kraftctl.storage.recovery import scan_file
from kraftctl_protocol.batch_framing import InvalidBatchError
from kraftctl_protocol.generated.abort_transaction_record import AbortTransactionRecord
from kraftctl_protocol.generated.begin_transaction_record import BeginTransactionRecord
from kraftctl_protocol.generated.end_transaction_record import EndTransactionRecord
from kraftctl_protocol.generated.feature_level_record import FeatureLevelRecord
from kraftctl_protocol.generated.register_broker_record import BrokerFeature, RegisterBrokerRecord
from kraftctl_protocol.generated.register_controller_record import (
    ControllerFeature,
    RegisterControllerRecord,
)
from kraftctl_protocol.generated.unregister_broker_record import UnregisterBrokerRecord
from kraftctl_protocol.generated.unregister_controller_record import UnregisterControllerRecord
from kraftctl_protocol.log_file_names import (
    PARTITION_DIRECTORY,
    parse_checkpoint_file_name,
    parse_segment_file_name,
)
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import decode_metadata_record
from kraftctl_protocol.record_batch import read_batch

Ranges = dict[str, tuple[int, int]]


@dataclass
class Registrations:
    """What a metadata log says of features."""

    levels: dict[str, int] = field(default_factory=dict)
    brokers: dict[int, Ranges] = field(default_factory=dict)
    controllers: dict[int, Ranges] = field(default_factory=dict)

    in_transaction: list[Message] | None = field(default=None, compare=False)
    """The records of a metadata transaction (KIP-868) that has not ended; None outside of one."""

    def replay(self, record: Message) -> None:
        """Applies a record, or a transaction with its last one; most types say nothing of features."""
        if isinstance(record, BeginTransactionRecord):
            self.in_transaction = []
        elif isinstance(record, AbortTransactionRecord):
            self.in_transaction = None
        elif isinstance(record, EndTransactionRecord):
            held, self.in_transaction = self.in_transaction or [], None
            for each in held:
                self.replay(each)
        elif self.in_transaction is not None:
            self.in_transaction.append(record)
        else:
            self._apply(record)

    def _apply(self, record: Message) -> None:
        match record:
            case FeatureLevelRecord():
                self.levels[record.name] = record.feature_level
            case RegisterBrokerRecord():
                self.brokers[record.broker_id] = _ranges(record.features)
            case UnregisterBrokerRecord():
                self.brokers.pop(record.broker_id, None)
            case RegisterControllerRecord():
                self.controllers[record.controller_id] = _ranges(record.features)
            case UnregisterControllerRecord():
                self.controllers.pop(record.controller_id, None)


def read_registrations(log_dir: Path) -> Registrations:
    """Reads the latest snapshot and the segments after it.

    Raises StorageError, InvalidBatchError, DecodeError, or OSError when a file has been removed meanwhile.
    """
    directory = log_dir / PARTITION_DIRECTORY
    found = Registrations()
    names = names_in(directory)
    snapshots = [(each, name) for name in names if (each := parse_checkpoint_file_name(name)) is not None]
    start = 0
    if snapshots:
        snapshot_id, name = max(snapshots, key=lambda each: (each[0].offset, each[0].epoch))
        start = snapshot_id.offset
        for decoded in CheckpointReader(directory / name).records():
            found.replay(decoded.record)
    bases = sorted((base, name) for name in names if (base := parse_segment_file_name(name)) is not None)
    for index, (base, name) in enumerate(bases):
        if index + 1 < len(bases) and bases[index + 1][0] <= start:
            continue
        for offset, record in _records(directory / name, base, is_last=index + 1 == len(bases)):
            if offset >= start:
                found.replay(record)
    return found


def _records(path: Path, base_offset: int, *, is_last: bool) -> Iterator[tuple[int, Message]]:
    """Yields the records; a running controller may be writing the end of the last segment."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        for place in scan_file(descriptor, base_offset, 0):
            batch = read_batch(os.pread(descriptor, place.size_bytes, place.position), 0, verify_crc=False)
            for record in () if batch.header.is_control else batch.records:
                yield record.offset, decode_metadata_record(record.value or b"").record
    except InvalidBatchError:
        if not is_last:
            raise
    finally:
        os.close(descriptor)


def _ranges(features: Sequence[BrokerFeature] | Sequence[ControllerFeature]) -> Ranges:
    return {each.name: (each.min_supported_version, each.max_supported_version) for each in features}
