"""Remembers the end and the voters of a log on disk, so that only new batches have to be read.

It starts at the newest checkpoint, which contains everything older. The last batch shows whether the log was
truncated or replaced since the last call.
"""

from __future__ import annotations

from kraftctl_observer.metadata_directory import LogFiles, MetadataDirectory
from kraftctl_observer.reading import reading
from kraftctl_observer.segment_file import SegmentFile, batches_of_file
from kraftctl_protocol.batch_framing import HEADER_BYTES
from kraftctl_protocol.control_record import decode_control_key, decode_control_value
from kraftctl_protocol.generated.voters_record import VotersRecord
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from kraftctl_protocol.primitives import DecodeError
from kraftctl_protocol.record_batch import RecordBatch


class LogTail:
    """The state of the log's end after `advance`."""

    def __init__(self, directory: MetadataDirectory) -> None:
        self._directory = directory
        self.end_offset = 0
        """The end of the last complete and valid batch, exclusive."""
        self.last_epoch = 0
        self.voters: VotersRecord | None = None
        """The newest VotersRecord of checkpoint or log; None in a quorum of static voters (KIP-853)."""
        self.reaches_checkpoint = False
        """Whether the log continues where the newest checkpoint ends; otherwise that replaces it."""
        self._segment: int | None = None
        self._position = 0
        self._last: tuple[int, bytes] | None = None
        """The position and the header of the last batch."""

    def advance(self, files: LogFiles) -> None:
        """Reads new batches in `files` since the last call. FileNotFoundError when one was deleted."""
        if self._segment not in files.segments or not self._is_unchanged():
            self._start_over(files)
        self._walk(files)
        newest = files.snapshots[-1].offset if files.snapshots else 0
        self.reaches_checkpoint = self._segment is not None and self.end_offset >= newest

    def _walk(self, files: LogFiles) -> None:
        while self._segment is not None:
            with SegmentFile(self._directory.partition, self._segment) as segment:
                last = None
                for place in segment.places(self._position, check_crc=True, next_offset=self.end_offset):
                    if place.epoch < self.last_epoch:
                        break
                    if place.is_control:
                        self._note_voters(segment.batch(place))
                    self.end_offset, self.last_epoch, last = place.last_offset + 1, place.epoch, place
                if last is not None:
                    self._last = last.position, segment.bytes_at(last.position, HEADER_BYTES)
                    self._position = last.position + last.size_bytes
            if self._segment == self.end_offset or self.end_offset not in files.segments:
                return
            self._segment, self._position, self._last = self.end_offset, 0, None

    def _is_unchanged(self) -> bool:
        """Returns whether the log is unchanged; an empty segment proves nothing, as its writer may have
        truncated others.
        """
        if self._last is None or self._segment is None:
            return False
        position, header = self._last
        with SegmentFile(self._directory.partition, self._segment) as segment:
            return segment.bytes_at(position, HEADER_BYTES) == header

    def _start_over(self, files: LogFiles) -> None:
        self._segment, self._position, self._last, self.voters = None, 0, None, None
        checkpoint = files.checkpoints[-1] if files.checkpoints else OffsetAndEpoch(0, 0)
        self.end_offset, self.last_epoch = checkpoint.offset, checkpoint.epoch
        if files.checkpoints:
            self._note_voters(self._first_batch(checkpoint))
        self._begin_behind(checkpoint, files)

    def _begin_behind(self, checkpoint: OffsetAndEpoch, files: LogFiles) -> None:
        """Starts at the last batch of the checkpoint, unless that is not in the log, or not yet.

        If another batch is at that offset, a follower will replace this log with the snapshot it fetched.
        """
        base = max((base for base in files.segments if base < checkpoint.offset), default=None)
        place = None
        if base is not None:
            with SegmentFile(self._directory.partition, base) as segment:
                place = segment.find(checkpoint.offset - 1)
        if place is not None and place.epoch != checkpoint.epoch:
            return
        if checkpoint.offset in files.segments:
            self._segment = checkpoint.offset
        elif base is None:
            self._begin_without_checkpoint(files)
        elif place is not None:
            self._segment, self._position = base, place.position
            self.end_offset, self.last_epoch = place.base_offset, place.epoch

    def _begin_without_checkpoint(self, files: LogFiles) -> None:
        """Starts in a log whose start was deleted along with all checkpoints; earlier voters are unknown."""
        if files.segments and not files.snapshots:
            self._segment = self.end_offset = files.segments[0]
            self.last_epoch = 0

    def _note_voters(self, batch: RecordBatch | None) -> None:
        if batch is None or not batch.header.is_control:
            return
        for record in batch.records:
            try:
                message = decode_control_value(decode_control_key(record.key), record.value)
            except DecodeError:
                continue
            if isinstance(message, VotersRecord):
                self.voters = message

    def _first_batch(self, checkpoint: OffsetAndEpoch) -> RecordBatch | None:
        path = self._directory.checkpoint_path(checkpoint)
        with reading(path), open(path, "rb") as file:
            return next(batches_of_file(file.fileno()), None)
