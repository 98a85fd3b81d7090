"""Reads a checkpoint file: a snapshot, the 0-0 checkpoint or bootstrap.checkpoint (KIP-630, KIP-853)."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from pathlib import Path

from kraftctl.raft.control_records import control_changes
from kraftctl.storage.errors import StorageError, cannot, of_newer_release
from kraftctl.storage.recovery import scan_file
from kraftctl.storage.replacing_a_replica import REPLACE_THIS_REPLICA
from kraftctl_protocol.batch_framing import InvalidBatchError
from kraftctl_protocol.control_record import NewerReleaseError, decode_control_record
from kraftctl_protocol.generated.kraft_version_record import KRaftVersionRecord
from kraftctl_protocol.generated.snapshot_footer_record import SnapshotFooterRecord
from kraftctl_protocol.generated.snapshot_header_record import SnapshotHeaderRecord
from kraftctl_protocol.generated.voters_record import VotersRecord
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import RecordAndVersion, UnknownRecordError, decode_metadata_record
from kraftctl_protocol.primitives import DecodeError
from kraftctl_protocol.record_batch import RecordBatch, read_batch, read_batch_header


class CheckpointReader:
    """Every method reads the file from its start, a few MiB at a time, and checks all of it.

    All raise StorageError, naming the file and the byte, when the file is damaged or not complete: it must
    begin with a SnapshotHeader and end with a SnapshotFooter, have neither in between, and name voters that
    can be a quorum.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def _placed_batches(self) -> Iterator[tuple[int, bytes]]:
        """Yields each batch with the byte at which it begins."""
        try:
            descriptor = os.open(self.path, os.O_RDONLY)
        except OSError as error:
            raise cannot("read", self.path, error) from error
        try:
            for place in scan_file(descriptor, 0, 0):
                yield place.position, os.pread(descriptor, place.size_bytes, place.position)
        except InvalidBatchError as damage:
            raise self._damaged(str(damage)) from damage
        except OSError as error:
            raise cannot("read", self.path, error) from error
        finally:
            os.close(descriptor)

    def batches(self) -> Iterator[RecordBatch]:
        """Yields control and data batches in the order of the file."""
        for position, raw in self.checked_batches():
            try:
                yield read_batch(raw, 0, verify_crc=False)
            except DecodeError as error:
                raise self._damaged(f"at byte {position}: {error}") from error

    def checked_batches(self) -> Generator[tuple[int, bytes], None, None]:
        """All batches, each with its position. Whether data batches are made of records is not checked."""
        first = True
        ended = False
        for position, raw in self._placed_batches():
            try:
                controls = _control_messages(raw)
            except NewerReleaseError as newer:
                raise of_newer_release(f"{self.path}: at byte {position}", newer) from newer
            except DecodeError as error:
                raise self._damaged(f"at byte {position}: {error}") from error
            if ended:
                raise self._damaged(f"at byte {position}: there is something after the SnapshotFooter")
            if any(isinstance(message, SnapshotHeaderRecord) for message in controls) is not first:
                where = "it does not begin with a" if first else f"at byte {position}: there is another"
                raise self._damaged(f"{where} SnapshotHeader")
            first = False
            ended = any(isinstance(message, SnapshotFooterRecord) for message in controls)
            yield position, raw
        if not ended:
            raise self._damaged("it does not end with a SnapshotFooter")

    def records(self) -> Iterator[RecordAndVersion]:
        """Yields the metadata records, decoded."""
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
        """Returns what the first batch says; the rest of the file is not read."""
        for _, raw in self.checked_batches():
            return CheckpointHeader(_control_messages(raw))
        raise self._damaged("it is empty")

    def snapshot_header(self) -> CheckpointHeader:
        """Returns the `header` of a snapshot that contains a part of the log: from kraft.version 1 on, it
        has voters.

        The 0-0 checkpoint has none when a controller joins a quorum that exists already.
        """
        header = self.header()
        if header.kraft_version > 0 and header.voters is None:
            raise self._damaged("at byte 0: kraft.version 1 without a voter set")
        return header

    def verify_snapshot(self, *, decodes_records: bool = True) -> CheckpointHeader:
        """Returns `snapshot_header` after reading the whole file, comparing checksums and decoding every
        record.

        Without `decodes_records`, the caller has decoded the records of batches with the same checksums.
        """
        for _ in self.records() if decodes_records else self.checked_batches():
            pass
        return self.snapshot_header()

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


def _control_messages(raw: bytes) -> list[Message]:
    """Returns the checked records. Only the batch with the header has voters and kraft.version."""
    if not read_batch_header(raw, 0).is_control:
        return []
    batch = read_batch(raw, 0, verify_crc=False)
    control_changes(batch, 0)
    return [decode_control_record(record.key, record.value).message for record in batch.records]
