"""The metadata log `__cluster_metadata-0` on disk, as Kafka lays it out (KIP-595, KIP-630).

Bytes become durable in two steps: `append` hands them to the operating system, `flush` forces them to the
disk and says how far. `flush` may run in another thread beside everything else; all other methods belong to
one thread. After a failed fsync the kernel may have dropped the very pages it failed to write, so the log
refuses all further work: only a restart, which reads what really is on disk, can continue.
"""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections.abc import Callable
from pathlib import Path

from kraftctl.raft.offset_and_epoch import OffsetAndEpoch
from kraftctl.storage.batch_scan import BatchPlace, InvalidBatchError, scan_batches
from kraftctl.storage.durable_files import create_directory, fsync_directory
from kraftctl.storage.errors import StorageError
from kraftctl.storage.leader_epoch_checkpoint import write_leader_epochs
from kraftctl.storage.offset_index import INDEX_BYTES_MAX
from kraftctl.storage.partition_metadata import ensure_partition_metadata
from kraftctl.storage.recovery import (
    DurableEnd,
    RecoveryReport,
    recover_segments,
    remove_leftovers,
    segment_base_offsets,
)
from kraftctl.storage.segment import Segment

SEGMENT_BYTES = 1024 * 1024 * 1024
"""Kafka's metadata.log.segment.bytes."""

SEGMENT_MS = 7 * 24 * 60 * 60 * 1000
"""Kafka's metadata.log.segment.ms, measured between batch timestamps."""


class MetadataLog:
    """`start_offset` is inclusive, `end_offset` exclusive. Make one with `MetadataLog.open`."""

    def __init__(self, directory: Path, segment_bytes: int, segment_ms: int, index_bytes_max: int) -> None:
        self.directory = directory
        self.recovery = RecoveryReport()
        self.start_offset = 0
        self.end_offset = 0
        self.durable_end_offset = 0
        self.epochs: list[tuple[int, int]] = []
        """(epoch, start offset) of every epoch in the log, rising: the leader-epoch-checkpoint."""
        self._start_epoch = 0
        self._segment_bytes = segment_bytes
        self._segment_ms = segment_ms
        self._index_bytes_max = index_bytes_max
        self._segments: list[Segment] = []
        self._base_offsets: list[int] = []
        self._files_lock = threading.Lock()
        self._directory_changed = False
        self._epochs_changed = False
        self._failure: str | None = None

    @classmethod
    def open(
        cls,
        directory: Path,
        *,
        segment_bytes: int = SEGMENT_BYTES,
        segment_ms: int = SEGMENT_MS,
        index_bytes_max: int = INDEX_BYTES_MAX,
        start_epoch: int = 0,
        durable_end: DurableEnd | None = None,
        epoch_max: int | None = None,
        judge: Callable[[MetadataLog], None] | None = None,
    ) -> MetadataLog:
        """Open or create the log in `directory`; everything it then reports is on disk.

        `start_epoch` is the epoch of the snapshot that ends where the log starts: what `last_epoch` says
        while the log is empty. `durable_end` and `epoch_max` are as in `recover_segments`; `judge` may refuse
        the log that was read, before other files are brought in line with it. Raises CorruptLogError,
        StorageError, OSError, or what `judge` raises. `recovery` tells what was repaired.
        """
        create_directory(directory)
        log = cls(directory, segment_bytes, segment_ms, index_bytes_max)
        log._start_epoch = start_epoch
        ensure_partition_metadata(directory)
        log._recover(durable_end, epoch_max)
        if judge is not None:
            log._judged_by(judge)
        log._write_what_was_recovered()
        return log

    def _recover(self, durable_end: DurableEnd | None, epoch_max: int | None) -> None:
        remove_leftovers(self.directory, self.recovery)
        opened = [self._open_segment(base) for base in segment_base_offsets(self.directory)]
        try:
            kept = recover_segments(opened, self.recovery, self._learn_epoch, durable_end, epoch_max)
        except StorageError:
            for segment in opened:
                segment.close()
            raise
        self._set_segments(kept or [self._open_segment(0)])
        self.start_offset = self._segments[0].base_offset
        self.end_offset = self._segments[-1].end_offset

    def _judged_by(self, judge: Callable[[MetadataLog], None]) -> None:
        accepted = False
        try:
            judge(self)
            accepted = True
        finally:
            if not accepted:
                for segment in self._segments:
                    segment.close()

    def _write_what_was_recovered(self) -> None:
        for segment in self._segments:
            segment.write_indexes(active=segment is self._segments[-1])
            segment.needs_flush = True  # a killed process may have left bytes that never reached the disk
        self._epochs_changed = True
        self._directory_changed = True
        self.flush()

    def _learn_epoch(self, place: BatchPlace) -> None:
        if not self.epochs or self.epochs[-1][0] < place.epoch:
            self.epochs.append((place.epoch, place.base_offset))

    @property
    def last_epoch(self) -> int:
        """The epoch of the last batch; of the snapshot in front of an empty log; 0 in a new log."""
        return self.epochs[-1][0] if self.epochs else self._start_epoch

    @property
    def is_in_service(self) -> bool:
        """Not closed, and nothing failed: what it says of itself is true of the disk."""
        return self._failure is None

    @property
    def last_segment_path(self) -> Path:
        return self._segments[-1].path

    @property
    def size_bytes(self) -> int:
        """The length of all segments, without indexes."""
        return sum(segment.size_bytes for segment in self._segments)

    def append(self, batches: bytes) -> int:
        """Hand whole record batches to the operating system, not yet to the disk; returns the end offset.

        Raises StorageError, with nothing appended, when `batches` is empty, damaged, or does not continue
        the log (next offset, epoch not falling), and when the disk is full.
        """
        self._refuse_after_failure()
        try:
            places = list(scan_batches(batches, self.end_offset, self.last_epoch))
        except InvalidBatchError as error:
            raise StorageError(
                f"refused to append to {self.directory} at offset {self.end_offset}: {error}"
            ) from error
        if not places:
            raise StorageError(f"refused to append nothing to {self.directory}")
        segment = self._segments[-1]
        try:
            if not segment.has_room_for(places, self._segment_bytes, self._segment_ms):
                segment = self._roll()
            segment.append(batches, places)
        except OSError as error:
            self._undo_partial_write(segment)
            raise StorageError(f"cannot write to {segment.path}: {error}") from error
        for place in places:
            if not self.epochs or self.epochs[-1][0] < place.epoch:
                self.epochs = [*self.epochs, (place.epoch, place.base_offset)]
                self._epochs_changed = True
        self.end_offset = segment.end_offset  # last: `flush` reads it first
        return self.end_offset

    def _roll(self) -> Segment:
        """Start a new segment at the end offset, after the old one is on disk.

        Only the last segment may then have a torn tail, and a gap between segments is never a crash's doing.
        """
        with self._files_lock:
            try:
                self._segments[-1].flush()
            except OSError as error:
                self._failure = f"fsync failed in {self.directory}: {error}"
                raise self._failure_error() from error
        segment = self._open_segment(self.end_offset)
        segment.write_indexes(active=True)
        self._segments[-1].seal()
        self._set_segments([*self._segments, segment])
        self._directory_changed = True
        return segment

    def _undo_partial_write(self, segment: Segment) -> None:
        try:
            segment.cut_back()
        except OSError as error:
            self._failure = f"could not undo a partial write to {segment.path}: {error}"

    def flush(self) -> int:
        """Force everything appended so far to the disk; returns the end offset that is now durable.

        Raises StorageError when the disk does not confirm; the log then refuses all further work.
        """
        with self._files_lock:
            self._refuse_after_failure()
            end_offset = self.end_offset
            try:
                self._force()
            except OSError as error:
                self._failure = f"fsync failed in {self.directory}: {error}"
                raise self._failure_error() from error
            self.durable_end_offset = max(self.durable_end_offset, end_offset)
            return end_offset

    def _force(self) -> None:
        for segment in self._segments:
            segment.flush()
        if self._epochs_changed:
            self._epochs_changed = False
            write_leader_epochs(self.directory, self.epochs)
        if self._directory_changed:
            self._directory_changed = False
            fsync_directory(self.directory)

    def read(self, offset: int, max_bytes: int) -> bytes:
        """Whole batches, the first of which contains `offset`: at most `max_bytes`, but at least one batch.

        Empty at the end of the log. Stops at the end of a segment. Raises ValueError outside the log.
        """
        self._refuse_after_failure()
        if offset == self.end_offset:
            return b""
        self._check_range(offset)
        return self._segment_of(offset).read(offset, max_bytes)

    def epoch_at(self, offset: int) -> int:
        """The epoch in which the record at `offset` was written; of the snapshot below the log's start."""
        epoch = self._start_epoch
        for candidate, start_offset in self.epochs:
            if start_offset <= offset:
                epoch = candidate
        return epoch

    def truncate_to(self, offset: int) -> int:
        """Drop every batch that holds `offset` or more, durably; returns the new end offset.

        Nothing happens at or beyond the end. Raises ValueError below the start of the log.
        """
        self._refuse_after_failure()
        if offset >= self.end_offset:
            return self.end_offset
        self._check_range(offset)
        with self._files_lock:
            keep = bisect_right(self._base_offsets, offset)
            try:
                for segment in reversed(self._segments[keep:]):
                    segment.delete()
                if keep < len(self._segments):
                    fsync_directory(self.directory)  # or a crash could bring them back behind a gap
                self._set_segments(self._segments[:keep])
                last = self._segments[-1]
                last.truncate_to(offset)
                last.write_indexes(active=True)
                self.end_offset = last.end_offset
                self.durable_end_offset = min(self.durable_end_offset, self.end_offset)
                self.epochs = [entry for entry in self.epochs if entry[1] < self.end_offset]
                self._epochs_changed = True
                self._directory_changed = True
                self._force()
            except OSError as error:
                self._failure = f"truncating {self.directory} to offset {offset} failed: {error}"
                raise self._failure_error() from error
        return self.end_offset

    def truncate_fully_and_start_at(self, snapshot_id: OffsetAndEpoch) -> None:
        """Drop everything; the log is then empty and continues where the snapshot ends (KIP-630)."""
        self._refuse_after_failure()
        with self._files_lock:
            try:
                for segment in self._segments:
                    segment.delete()
                fsync_directory(self.directory)
                self._set_segments([self._open_segment(snapshot_id.offset)])
                self._segments[0].write_indexes(active=True)
                self.start_offset = self.end_offset = self.durable_end_offset = snapshot_id.offset
                self.epochs = []
                self._start_epoch = snapshot_id.epoch
                self._epochs_changed = True
                self._directory_changed = True
                self._force()
            except OSError as error:
                self._failure = f"starting {self.directory} over at {snapshot_id} failed: {error}"
                raise self._failure_error() from error

    def delete_segments_before(self, offset: int) -> int:
        """Move the start of the log up to `offset` and delete segments wholly below it; returns how many.

        `offset` must be covered by a durable snapshot. The active segment always stays.
        """
        self._refuse_after_failure()
        if offset <= self.start_offset:
            return 0
        self._check_range(min(offset, self.end_offset - 1))
        with self._files_lock:
            start_epoch = self.epoch_at(offset)
            doomed = [segment for segment in self._segments[:-1] if segment.end_offset <= offset]
            try:
                for segment in doomed:
                    segment.delete()
                self._set_segments(self._segments[len(doomed) :])
                self.start_offset = offset
                later = [entry for entry in self.epochs if entry[1] > offset]
                self.epochs = later if offset == self.end_offset else [(start_epoch, offset), *later]
                self._start_epoch = start_epoch
                self._epochs_changed = True
                self._directory_changed = True
                self._force()
            except OSError as error:
                self._failure = f"deleting segments of {self.directory} failed: {error}"
                raise self._failure_error() from error
        return len(doomed)

    def close(self) -> None:
        """Flush, trim the index files as Kafka does, and close. After a failure only close."""
        try:
            if self._failure is None and self._segments:
                self.flush()
                self._segments[-1].seal()
        finally:
            segments = self._segments
            self._set_segments([])
            self._failure = self._failure or f"{self.directory} was closed"
            for segment in segments:
                segment.close()

    def _open_segment(self, base_offset: int) -> Segment:
        return Segment(self.directory, base_offset, self._index_bytes_max)

    def _set_segments(self, segments: list[Segment]) -> None:
        self._segments = segments
        self._base_offsets = [segment.base_offset for segment in segments]

    def _segment_of(self, offset: int) -> Segment:
        return self._segments[bisect_right(self._base_offsets, offset) - 1]

    def _check_range(self, offset: int) -> None:
        if not self.start_offset <= offset < self.end_offset:
            raise ValueError(
                f"offset {offset} is not in the log, which goes from {self.start_offset} to {self.end_offset}"
            )

    def _refuse_after_failure(self) -> None:
        if self._failure is not None:
            raise self._failure_error()

    def _failure_error(self) -> StorageError:
        return StorageError(
            f"the metadata log is out of service: {self._failure}. Next step: check the disk, then restart;"
            " recovery reads what really reached it."
        )
