"""Loads the metadata of a snapshot, of a segment of the log, or of a directory. It changes nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from kraftctl.image.metadata_image import MetadataImage
from kraftctl.image.replay import replay
from kraftctl.storage.checkpoint_reader import CheckpointReader
from kraftctl.storage.directory_entries import names_in
from kraftctl.storage.errors import StorageError, cannot
from kraftctl.storage.recovery import scan_file
from kraftctl_protocol.batch_framing import InvalidBatchError
from kraftctl_protocol.generated.abort_transaction_record import AbortTransactionRecord
from kraftctl_protocol.generated.begin_transaction_record import BeginTransactionRecord
from kraftctl_protocol.generated.end_transaction_record import EndTransactionRecord
from kraftctl_protocol.log_file_names import (
    CHECKPOINT_SUFFIX,
    PARTITION_DIRECTORY,
    parse_checkpoint_file_name,
    parse_segment_file_name,
)
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import decode_metadata_record
from kraftctl_protocol.primitives import DecodeError
from kraftctl_protocol.record_batch import RecordBatch, read_batch


class LoadedMetadata:
    """The image after the last record, which `last_offset`, `last_epoch` and `time_ms` describe."""

    def __init__(self) -> None:
        self.image = MetadataImage()
        self.image.journal.enabled = False
        self.last_offset = -1
        self.last_epoch = -1
        self.time_ms = 0
        self.cut: str | None = None
        """A warning when the log ends with an unfinished write: a running controller may be writing it."""
        self.open_transaction_offset: int | None = None
        """The begin of a metadata transaction (KIP-868) that has not ended."""

    def load_snapshot(self, path: Path) -> None:
        """Applies all of it to an empty image. Raises StorageError."""
        snapshot_id = parse_checkpoint_file_name(path.name)
        reader = CheckpointReader(path)
        self.last_offset = -1 if snapshot_id is None else snapshot_id.offset - 1
        self.last_epoch = -1 if snapshot_id is None else snapshot_id.epoch
        self.time_ms = max(0, reader.header().last_contained_log_timestamp_ms)
        for entry in reader.records():
            self._replay(path, entry.record, self.last_offset)

    def load_segment(self, path: Path) -> None:
        """Applies what follows the last record. Raises StorageError."""
        base_offset = parse_segment_file_name(path.name)
        if base_offset is None:
            raise StorageError(
                f"{path}: the name of a segment is its base offset in 20 digits and .log, and that of a"
                " snapshot ends with .checkpoint. Next step: give a copied file its name back."
            )
        if base_offset > self.last_offset + 1:
            raise StorageError(
                f"{path} begins at offset {base_offset}, and what precedes it ends at {self.last_offset}."
                " Next step: name the directory, or the newest snapshot."
            )
        try:
            for batch in _batches(path, base_offset):
                self._apply(path, batch)
        except InvalidBatchError as damage:
            self.cut = f"{path}: {damage}. What follows is not shown."
        except DecodeError as error:
            raise StorageError(
                f"{path}: after offset {self.last_offset}: {error}. Next step: use the release that wrote it,"
                " if it is newer."
            ) from error

    def _apply(self, path: Path, batch: RecordBatch) -> None:
        for record in batch.records:
            if record.offset <= self.last_offset:
                continue
            if not batch.header.is_control:
                self._replay(path, decode_metadata_record(record.value or b"").record, record.offset)
            self.last_offset = record.offset
        self.last_epoch = batch.header.partition_leader_epoch
        self.time_ms = batch.header.max_timestamp_ms

    def _replay(self, path: Path, record: Message, offset: int) -> None:
        if isinstance(record, BeginTransactionRecord):
            self.open_transaction_offset = offset
        elif isinstance(record, EndTransactionRecord | AbortTransactionRecord):
            self.open_transaction_offset = None
        try:
            replay(self.image, record, offset)
        except (AssertionError, KeyError) as error:
            raise StorageError(
                f"{path}: the {record.NAME} at offset {offset} does not fit what precedes it ({error}). Next"
                " step: look at it with kraftctl dump; compare the copy of another controller."
            ) from error

    def leave_out_open_transaction(self) -> str:
        """Undoes what may still be aborted, after the last record; returns a warning, or an empty text."""
        if self.open_transaction_offset is None:
            return ""
        self.image.journal.abort_transaction()
        return (
            f"The transaction that begins at offset {self.open_transaction_offset} has not ended: nothing of"
            " it is shown."
        )


def load_metadata(path: Path) -> LoadedMetadata:
    """Loads a file; of a directory, the newest snapshot and the log after it. Raises StorageError."""
    loaded = LoadedMetadata()
    if path.is_dir():
        _load_directory(loaded, path)
    elif path.name.endswith(CHECKPOINT_SUFFIX):
        loaded.load_snapshot(path)
    else:
        loaded.load_segment(path)
    return loaded


def _load_directory(loaded: LoadedMetadata, path: Path) -> None:
    directory = path / PARTITION_DIRECTORY if (path / PARTITION_DIRECTORY).is_dir() else path
    names = names_in(directory)
    snapshots = [found for name in names if (found := parse_checkpoint_file_name(name)) is not None]
    segments = sorted(name for name in names if parse_segment_file_name(name) is not None)
    if not snapshots and not segments:
        raise StorageError(
            f"{directory} has neither a snapshot nor a segment of the metadata log. Next step: name the"
            " directory of a controller, or a file."
        )
    if snapshots:
        newest = max(snapshots)
        name = next(name for name in names if parse_checkpoint_file_name(name) == newest)
        loaded.load_snapshot(directory / name)
    for position, name in enumerate(segments):
        following = segments[position + 1 : position + 2]
        if following and (parse_segment_file_name(following[0]) or 0) <= loaded.last_offset + 1:
            continue
        loaded.load_segment(directory / name)
        if loaded.cut is not None:
            break


def _batches(path: Path, base_offset: int) -> Iterator[RecordBatch]:
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError as error:
        raise cannot("read", path, error) from error
    try:
        for place in scan_file(descriptor, base_offset, 0):
            yield read_batch(os.pread(descriptor, place.size_bytes, place.position), 0, verify_crc=False)
    finally:
        os.close(descriptor)
