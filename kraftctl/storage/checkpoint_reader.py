"""Reads a checkpoint file: a snapshot, the 0-0 checkpoint or bootstrap.checkpoint (KIP-630, KIP-853)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from kraftctl.storage.errors import StorageError
from kraftctl.storage.recovery import scan_file
from kraftctl.storage.replacing_a_replica import REPLACE_THIS_REPLICA
from kraftctl_protocol.batch_framing import InvalidBatchError
from kraftctl_protocol.control_record import decode_control_record
from kraftctl_protocol.generated.kraft_version_record import KRaftVersionRecord
from kraftctl_protocol.generated.snapshot_footer_record import SnapshotFooterRecord
from kraftctl_protocol.generated.snapshot_header_record import SnapshotHeaderRecord
from kraftctl_protocol.generated.voters_record import VotersRecord
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import RecordAndVersion, UnknownRecordError, decode_metadata_record
from kraftctl_protocol.primitives import DecodeError
from kraftctl_protocol.record_batch import RecordBatch, read_batch


class CheckpointReader:
    """Every method reads the file from its start, a few MiB at a time, and checks all of it.

    All raise StorageError, naming the file and the byte, when the file is damaged or not complete: it must
    begin with a SnapshotHeader and end with a SnapshotFooter.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def raw_batches(self) -> Iterator[bytes]:
        try:
            descriptor = os.open(self.path, os.O_RDONLY)
        except OSError as error:
            raise StorageError(f"cannot read {self.path}: {error}. Next step: check the disk.") from error
        try:
            for place in scan_file(descriptor, 0, 0):
                yield os.pread(descriptor, place.size_bytes, place.position)
        except InvalidBatchError as error:
            raise self._damaged(str(error)) from error
        finally:
            os.close(descriptor)

    def batches(self) -> Iterator[RecordBatch]:
        """Control and data batches in the order of the file."""
        first = True
        ended = False
        for raw in self.raw_batches():
            try:
                batch = read_batch(raw, 0, verify_crc=False)
                controls = _control_messages(batch)
            except DecodeError as error:
                raise self._damaged(str(error)) from error
            if first and not any(isinstance(message, SnapshotHeaderRecord) for message in controls):
                raise self._damaged("it does not begin with a SnapshotHeader")
            first = False
            ended = any(isinstance(message, SnapshotFooterRecord) for message in controls)
            yield batch
        if not ended:
            raise self._damaged("it does not end with a SnapshotFooter")

    def records(self) -> Iterator[RecordAndVersion]:
        """The metadata records, decoded."""
        for batch in self.batches():
            if batch.header.is_control:
                continue
            for record in batch.records:
                try:
                    yield decode_metadata_record(record.value or b"")
                except UnknownRecordError as error:
                    raise self._unknown(record.offset, error) from error
                except DecodeError as error:
                    raise self._damaged(f"record {record.offset}: {error}") from error

    def header(self) -> CheckpointHeader:
        """What the first batch says; the rest of the file is not read."""
        for batch in self.batches():
            return CheckpointHeader(_control_messages(batch))
        raise self._damaged("it is empty")

    def _unknown(self, offset: int, error: UnknownRecordError) -> StorageError:
        return StorageError(
            f"{self.path}: record {offset} is of type {error.record_type} in version {error.version}, which"
            " kraftctl does not know: a newer release wrote it. Next step: start a controller of that"
            " release on this directory instead."
        )

    def _damaged(self, reason: str) -> StorageError:
        return StorageError(f"{self.path} is damaged: {reason}. {REPLACE_THIS_REPLICA}")


class CheckpointHeader:
    """The control records of the first batch. `voters` is None below kraft.version 1."""

    def __init__(self, messages: list[Message]) -> None:
        self.last_contained_log_timestamp_ms = -1
        self.kraft_version = 0
        self.voters: VotersRecord | None = None
        for message in messages:
            if isinstance(message, SnapshotHeaderRecord):
                self.last_contained_log_timestamp_ms = message.last_contained_log_timestamp
            elif isinstance(message, KRaftVersionRecord):
                self.kraft_version = message.kraft_version
            elif isinstance(message, VotersRecord):
                self.voters = message


def _control_messages(batch: RecordBatch) -> list[Message]:
    if not batch.header.is_control:
        return []
    return [decode_control_record(record.key, record.value).message for record in batch.records]
