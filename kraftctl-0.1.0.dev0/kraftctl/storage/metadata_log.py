"""The metadata log `__cluster_metadata-0` on disk, as Kafka lays it out (KIP-595, KIP-630).

Bytes become durable in two steps: `append` keeps them in memory, without any system call, and `flush`
writes them, forces them to the disk and says how far. Three threads may share a log: one appends and reads
what is in memory (`append`, `read_recent`, `epoch_at`), one flushes, and one reads files (`read`) or cuts
the log (`truncate_to`, `truncate_fully_and_start_at`, `delete_segments_before`), never during an append.

After a failed write or fsync the kernel may have dropped the very pages it failed to write, so the log
refuses all further work: only a restart, which reads what really is on disk, can continue.
"""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections.abc import Callable
from operator import itemgetter
from pathlib import Path

from kraftctl.storage.durable_files import create_directory, fsync_directory
from kraftctl.storage.errors import CorruptLogError, StorageError
from kraftctl.storage.index_file import INDEX_BYTES_MAX
from kraftctl.storage.leader_epoch_checkpoint import write_leader_epochs
from kraftctl.storage.partition_metadata import ensure_partition_metadata
from kraftctl.storage.recent_batches import PlacedBatch, RecentBatches
from kraftctl.storage.recovery import (
    DurableEnd,
    RecoveryReport,
    recover_segments,
    remove_leftovers,
    segment_base_offsets,
)
from kraftctl.storage.segment import Segment
from kraftctl_protocol.batch_framing import BatchPlace, InvalidBatchError, places_of
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from kraftctl_protocol.record_batch import batches_before

SEGMENT_BYTES = 1024 * 1024 * 1024
"""The size of Kafka's metadata.log.segment.bytes."""

SEGMENT_MS = 7 * 24 * 60 * 60 * 1000
"""The time of Kafka's metadata.log.segment.ms, measured between batch timestamps."""

UNWRITTEN_BYTES_MAX = 256 * 1024 * 1024
"""The limit of appends while the disk accepts no writes. Beyond it another replica should lead."""

OFFSET_MAX = 2**63 - 1

_start_offset_of = itemgetter(1)


class MetadataLog:
    """The log; `start_offset` is inclusive, `end_offset` exclusive. Create it with `MetadataLog.open`."""

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
        self._recent = RecentBatches()
        self._lock = threading.Lock()
        """Guards `_recent`, `_segments` and the offsets; never held during a system call."""
        self._files_lock = threading.Lock()
        """Guards the written files; taken before `_lock`. An append never waits for it."""
        self._directory_changed = False
        self._written_epochs: list[tuple[int, int]] | None = None
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
        """Opens or creates the log in `directory`; everything it reports after that is on disk.

        `start_epoch` is the epoch of the snapshot that ends where the log starts: `last_epoch` while the log
        is empty. `durable_end` and `epoch_max` are as in `recover_segments`; `judge` may refuse the log that
        was read, before other files are brought in line with it. Raises CorruptLogError, StorageError,
        OSError, or what `judge` raises. `recovery` lists the repairs.
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
        self._directory_changed = True
        self.flush()

    def _learn_epoch(self, place: BatchPlace) -> None:
        if not self.epochs or self.epochs[-1][0] < place.epoch:
            self.epochs.append((place.epoch, place.base_offset))

    @property
    def last_epoch(self) -> int:
        """The epoch of the last batch; of the snapshot before an empty log; 0 in a new log."""
        return self.epochs[-1][0] if self.epochs else self._start_epoch

    @property
    def is_in_service(self) -> bool:
        """Whether it is open and without failures: its offsets describe the disk."""
        return self._failure is None

    @property
    def last_segment_path(self) -> Path:
        return self._segments[-1].path

    @property
    def size_bytes(self) -> int:
        """The length of all segments, without indexes, and of what is not written yet."""
        with self._lock:
            return sum(segment.size_bytes for segment in self._segments) + self._recent.unwritten_bytes

    def append(self, batches: bytes) -> int:
        """Takes whole record batches, for the next `flush` to write; returns the end offset.

        A leader has just made them, and a follower has compared their checksums before it decoded them: that
        is not done again. Raises StorageError, with nothing appended, when `batches` is empty, cut short, or
        does not continue the log (next offset, epoch not falling), and when the disk has accepted no writes
        for too long.
        """
        self._refuse_after_failure()
        try:
            places = places_of(batches, self.end_offset, self.last_epoch)
        except InvalidBatchError as error:
            raise StorageError(
                f"refused to append to {self.directory} at offset {self.end_offset}: {error}"
            ) from error
        if not places:
            raise StorageError(f"refused to append nothing to {self.directory}")
        self._refuse_beyond_limit()
        for place in places:
            if not self.epochs or self.epochs[-1][0] < place.epoch:
                self.epochs = [*self.epochs, (place.epoch, place.base_offset)]
        with self._lock:
            self._recent.append(places, batches)
            self.end_offset = places[-1].last_offset + 1
        return self.end_offset

    def _refuse_beyond_limit(self) -> None:
        if self._recent.unwritten_bytes >= UNWRITTEN_BYTES_MAX:
            raise StorageError(
                f"{self._recent.unwritten_bytes} bytes wait to be written to {self.directory}: the disk"
                " accepts no writes. Next step: check the disk, then restart; the acknowledged records are on"
                " the disks of the other voters."
            )

    def flush(self) -> int:
        """Writes and forces to the disk what was appended so far; returns the end offset that is now
        durable.

        Raises StorageError when the disk does not accept or confirm it; the log then refuses further work.
        """
        with self._files_lock:
            self._refuse_after_failure()
            end_offset = self._write()
            try:
                self._force(end_offset)
            except StorageError as error:
                raise self._out_of_service(f"fsync failed: {error}") from error
            self.durable_end_offset = max(self.durable_end_offset, end_offset)
            return end_offset

    def _write(self) -> int:
        """Writes to the operating system, in as few writes as segments allow; returns where that ends.

        The caller holds `_files_lock`.
        """
        with self._lock:
            unwritten = self._recent.unwritten()
        run: list[PlacedBatch] = []
        run_bytes = 0
        for placed in unwritten:
            place = placed[0]
            if run and not self._has_room_for(place, run[0][0], run_bytes):
                self._write_run(run)
                run, run_bytes = [], 0
            if not run and not self._has_room_for(place, place, 0):
                self._roll()
            run.append(placed)
            run_bytes += place.size_bytes
        if run:
            self._write_run(run)
        return self._segments[-1].end_offset

    def _has_room_for(self, place: BatchPlace, first_ahead: BatchPlace, ahead_bytes: int) -> bool:
        segment = self._segments[-1]
        return segment.has_room_for(place, self._segment_bytes, self._segment_ms, first_ahead, ahead_bytes)

    def _write_run(self, run: list[PlacedBatch]) -> None:
        segment = self._segments[-1]
        try:
            segment.append(run)
        except StorageError as error:
            reason = f"{error}"
            try:
                segment.cut_back()
            except StorageError as second:
                reason += f" What was written of it could not be undone: {second}"
            raise self._out_of_service(reason) from error
        with self._lock:
            self._recent.written(len(run))

    def _roll(self) -> None:
        """Starts a new segment where the last one ends, after that is on disk.

        Only the last segment may then have a torn tail, and a crash never causes a gap between segments.
        """
        last = self._segments[-1]
        try:
            last.flush()
            segment = self._open_segment(last.end_offset)
            segment.write_indexes(active=True)
            last.seal()
        except StorageError as error:
            raise self._out_of_service(f"{error}") from error
        self._set_segments([*self._segments, segment])
        self._directory_changed = True

    def _force(self, end_offset: int) -> None:
        """Forces the files up to `end_offset`, where they end: epochs that begin later are not in them."""
        for segment in self._segments:
            segment.flush()
        epochs = self.epochs
        if epochs and epochs[-1][1] >= end_offset:
            epochs = [entry for entry in epochs if entry[1] < end_offset]
        if epochs is not self._written_epochs and epochs != self._written_epochs:
            write_leader_epochs(self.directory, epochs)
            self._written_epochs = epochs
        if self._directory_changed:
            self._directory_changed = False
            fsync_directory(self.directory)

    def read(self, offset: int, max_bytes: int, end_offset: int = OFFSET_MAX) -> bytes:
        """Reads whole batches, the first of which contains `offset`: at most `max_bytes`, but at least one.

        It reads nothing from `end_offset` on, which is where a batch begins. Empty at the end of the log. It
        may stop at the end of a segment. Raises ValueError outside the log, StorageError when the disk
        cannot read it, and CorruptLogError when the disk returns other bytes than were written.
        """
        found = self.read_recent(offset, max_bytes, end_offset)
        if found is not None:
            return found
        with self._lock:
            segment = self._segment_of(offset)
        return batches_before(segment.read(offset, max_bytes, self.epoch_at), end_offset)

    def read_recent(self, offset: int, max_bytes: int, end_offset: int = OFFSET_MAX) -> bytes | None:
        """Reads like `read`, but returns None if the disk would have to be read."""
        self._refuse_after_failure()
        with self._lock:
            if offset == self.end_offset:
                return b""
            self._check_range(offset)
            return b"" if offset >= end_offset else self._recent.read(offset, max_bytes, end_offset)

    def corrupt_at(self, offset: int, reason: str) -> CorruptLogError:
        """Returns the error of a whole batch, with `offset` in it, that no controller writes."""
        segment = self._segment_of(offset)
        return CorruptLogError(str(segment.path), segment.position_of(offset), offset, reason)

    def place_of(self, offset: int) -> str:
        """Returns where the batch begins that contains `offset`, for an error."""
        segment = self._segment_of(offset)
        return f"{segment.path}: the batch at byte {segment.position_of(offset)} (record offset {offset})"

    def file_of(self, offset: int) -> str:
        """Returns the segment that holds `offset`, or will when it is written."""
        return str(self._segment_of(offset).path)

    def epoch_at(self, offset: int) -> int:
        """Returns the epoch of the record at `offset`; of the snapshot below the log's start."""
        epochs = self.epochs
        at = bisect_right(epochs, offset, key=_start_offset_of) - 1
        return epochs[at][0] if at >= 0 else self._start_epoch

    def truncate_to(self, offset: int) -> int:
        """Drops every batch that holds `offset` or more, durably; returns the new end offset.

        Nothing happens at or beyond the end. Raises ValueError below the start of the log.
        """
        self._refuse_after_failure()
        if offset >= self.end_offset:
            return self.end_offset
        self._check_range(offset)
        with self._files_lock:
            with self._lock:
                end_offset = self._recent.truncate_to(offset)
                self.end_offset = self.end_offset if end_offset is None else end_offset
            if end_offset is None or end_offset < self._segments[-1].end_offset:
                try:
                    end_offset = self._cut_files(offset)
                except StorageError as error:
                    raise self._out_of_service(f"truncating it to offset {offset} failed: {error}") from error
            # Otherwise the truncated batches were never in a file.
            with self._lock:
                self.end_offset = end_offset
                self.epochs = [entry for entry in self.epochs if entry[1] < end_offset]
                self.durable_end_offset = min(self.durable_end_offset, end_offset)
        return self.end_offset

    def _cut_files(self, offset: int) -> int:
        keep = bisect_right(self._base_offsets, offset)
        for segment in reversed(self._segments[keep:]):
            segment.delete()
        if keep < len(self._segments):
            fsync_directory(self.directory)  # or a crash could restore them after a gap
        self._set_segments(self._segments[:keep])
        last = self._segments[-1]
        last.truncate_to(offset)
        last.write_indexes(active=True)
        self._directory_changed = True
        self._force(last.end_offset)
        return last.end_offset

    def truncate_fully_and_start_at(self, snapshot_id: OffsetAndEpoch) -> None:
        """Drops everything; the log is then empty and continues where the snapshot ends (KIP-630)."""
        self._refuse_after_failure()
        with self._files_lock:
            try:
                for segment in self._segments:
                    segment.delete()
                fsync_directory(self.directory)
                self._set_segments([self._open_segment(snapshot_id.offset)])
                self._segments[0].write_indexes(active=True)
                with self._lock:
                    self._recent.clear()
                    self.start_offset = self.end_offset = self.durable_end_offset = snapshot_id.offset
                    self.epochs = []
                    self._start_epoch = snapshot_id.epoch
                self._directory_changed = True
                self._force(snapshot_id.offset)
            except StorageError as error:
                raise self._out_of_service(f"starting it over at {snapshot_id} failed: {error}") from error

    def delete_segments_before(self, offset: int) -> int:
        """Moves the log's start up to `offset`, deletes segments wholly below it; returns how many.

        `offset` must be covered by a durable snapshot. The active segment always stays.
        """
        self._refuse_after_failure()
        if offset <= self.start_offset:
            return 0
        self._check_range(min(offset, self.end_offset - 1))
        with self._files_lock:
            end_offset = self._write()
            first_epoch = self.epoch_at(offset)
            start_epoch = self.epoch_at(offset - 1)
            doomed = [segment for segment in self._segments[:-1] if segment.end_offset <= offset]
            try:
                for segment in doomed:
                    segment.delete()
                self._set_segments(self._segments[len(doomed) :])
                with self._lock:
                    self.start_offset = offset
                    later = [entry for entry in self.epochs if entry[1] > offset]
                    self.epochs = later if offset == self.end_offset else [(first_epoch, offset), *later]
                    self._start_epoch = start_epoch
                self._directory_changed = True
                self._force(end_offset)
            except StorageError as error:
                raise self._out_of_service(f"removing its oldest segments failed: {error}") from error
        return len(doomed)

    def close(self) -> None:
        """Flushes, trims the index files as Kafka does, and closes. After a failure it only closes."""
        try:
            if self._failure is None and self._segments:
                self.flush()
                self._segments[-1].seal()
        finally:
            segments = self._segments
            self._set_segments([])
            self._failure = self._failure or "it was closed."
            for segment in segments:
                segment.close()

    def _open_segment(self, base_offset: int) -> Segment:
        return Segment(self.directory, base_offset, self._index_bytes_max)

    def _set_segments(self, segments: list[Segment]) -> None:
        with self._lock:
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

    def _out_of_service(self, failure: str) -> StorageError:
        self._failure = failure
        return self._failure_error()

    def _failure_error(self) -> StorageError:
        return StorageError(
            f"the metadata log in {self.directory} is out of service: {self._failure} Then start this node"
            " again: it reads what really reached the disk."
        )
