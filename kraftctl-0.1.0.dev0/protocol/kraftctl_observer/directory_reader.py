"""Reads the metadata log of a controller's directory, even while the controller runs (KIP-595, KIP-630).

It only reads, without a lock or files of its own. No file contains the high watermark, so it returns what is
certainly committed: the records in the newest checkpoint, or all records if the directory belongs to the only
voter. The rest is held back, unless the user declares it committed.
"""

from __future__ import annotations

import logging
import os
from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TypeVar

from kraftctl_observer.log_reader import (
    LogChangedError,
    LogPosition,
    ObserverError,
    OffsetsGoneError,
    WrongClusterError,
)
from kraftctl_observer.log_tail import LogTail
from kraftctl_observer.metadata_directory import LogFiles, MetadataDirectory
from kraftctl_observer.reading import reading
from kraftctl_observer.segment_file import SegmentFile, batches_of_file
from kraftctl_protocol.batch_framing import BatchPlace
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from kraftctl_protocol.primitives import DecodeError
from kraftctl_protocol.record_batch import RecordBatch
from kraftctl_protocol.uuids import ZERO_UUID

ATTEMPTS = 5
"""The number of attempts when files are deleted between listing and opening."""

Answer = TypeVar("Answer")

log = logging.getLogger(__name__)


class DamagedLogError(ObserverError):
    """The directory contains bytes that differ from what was written."""


class DirectoryReader:
    """A `LogReader` of a directory. Keeps no file open between two calls."""

    def __init__(self, path: Path, cluster_id: str | None = None, *, assume_committed: bool = False) -> None:
        self._directory = MetadataDirectory(path)
        self._meta = self._directory.meta_properties()
        self._cluster_id = cluster_id or self._meta.cluster_id
        self._assume_committed = assume_committed
        self._tail = LogTail(self._directory)
        self._logged_reason = ""
        self.held_back = ""
        """What the newest `position` has held back, and why; otherwise empty."""
        if self._cluster_id is None:
            raise ObserverError(
                f"{self._directory.path} has no meta.properties that names its cluster: restore the file, "
                "or give the cluster id"
            )
        if self._meta.cluster_id not in (None, self._cluster_id):
            raise WrongClusterError(
                f"{self._directory.path} belongs to cluster {self._meta.cluster_id}, not to cluster "
                f"{self._cluster_id}"
            )

    def close(self) -> None:
        """Does nothing, because no file is open."""

    def cluster_id(self) -> str:
        """Returns the given id, otherwise that of meta.properties."""
        assert self._cluster_id is not None
        return self._cluster_id

    def position(self, offset: int, epoch: int) -> LogPosition:
        """Returns the state. Records that were read before count as committed, besides those that
        certainly are.
        """
        return self._retrying(partial(self._position, offset, epoch))

    def _position(self, offset: int, epoch: int) -> LogPosition:
        files = self._directory.files()
        self._tail.advance(files)
        safe_end = self._safe_end(files)
        snapshot = self._instead_of(offset, files)
        if snapshot is None:
            self._check_epoch(offset, epoch)
            if offset == self._tail.end_offset and self._tail.reaches_checkpoint:
                self._check_end(files)
        high_watermark = max(safe_end.offset, offset if snapshot is None else snapshot.offset)
        return LogPosition(high_watermark, safe_end.epoch, snapshot)

    def epoch_of(self, offset: int) -> int | None:
        """Returns None below the first segment."""
        place = self._retrying(partial(self._find, offset))
        return None if place is None else place[1].epoch

    def read(self, start_offset: int, epoch: int, end_offset: int) -> Iterator[RecordBatch]:
        """Reads even records that `position` would hold back: the caller has called it."""
        position = start_offset
        self._retrying(partial(self._check_not_rewritten, position, epoch))
        while position < end_offset:
            with self._retrying(partial(self._segment_of, position)) as segment:
                for batch in self._batches(segment, position):
                    yield batch
                    position = batch.header.last_offset + 1
                    if position >= end_offset:
                        return

    def read_snapshot(self, snapshot: OffsetAndEpoch) -> Iterator[RecordBatch]:
        """Yields all batches of a checkpoint."""
        path = self._directory.checkpoint_path(snapshot)
        position = 0
        try:
            with reading(path), path.open("rb") as file:
                for batch in batches_of_file(file.fileno()):
                    position += batch.header.size_bytes
                    yield batch
                size_bytes = os.fstat(file.fileno()).st_size
        except FileNotFoundError as error:
            raise OffsetsGoneError(f"{path} has been deleted") from error
        except DecodeError as error:
            raise self._damaged(path, position, str(error)) from error
        if position != size_bytes or position == 0:
            raise self._damaged(path, position, "it ends within a batch")

    def _safe_end(self, files: LogFiles) -> OffsetAndEpoch:
        """Returns the end of certainly committed records; logs a changed reason for holding back others."""
        tail = self._tail
        newest = files.snapshots[-1] if files.snapshots else OffsetAndEpoch(0, 0)
        reason = "" if self._assume_committed else self._why_not_committed()
        if not reason:
            self.held_back = ""
            return max(newest, OffsetAndEpoch(tail.end_offset, tail.last_epoch))
        held_back = tail.end_offset - newest.offset
        self.held_back = f"{held_back} offsets from {newest.offset} on: {reason}" if held_back > 0 else ""
        if held_back > 0 and self._logged_reason != reason:
            log.warning(
                "%s: %d offsets from %d on are held back: %s. They follow with the next checkpoint; when "
                "this is a restored copy or the controller is stopped, --assume-committed reads them",
                self._directory.path,
                held_back,
                newest.offset,
                reason,
            )
            self._logged_reason = reason
        return newest

    def _why_not_committed(self) -> str:
        """Returns why the log's end may not be committed; empty when the directory's owner is the only
        voter.
        """
        record = self._tail.voters
        if record is not None:
            voters = [(voter.voter_id, voter.voter_directory_id) for voter in record.voters]
        else:
            static = self._directory.static_voters()
            if static is None:
                return "the voters are not known"
            voters = [(voter_id, ZERO_UUID) for voter_id in static]
        if len(voters) != 1:
            return f"there are {len(voters)} voters, and one alone does not know what is committed"
        voter_id, directory_id = voters[0]
        if voter_id != self._meta.node_id:
            return f"node {voter_id} is the voter, and this is the directory of node {self._meta.node_id}"
        named = {directory_id, self._meta.directory_id} - {ZERO_UUID, None}
        if len(named) > 1:
            return f"node {voter_id} is a voter with another directory"
        return ""

    def _instead_of(self, offset: int, files: LogFiles) -> OffsetAndEpoch | None:
        """Returns the snapshot when `offset` is not in the log: the oldest one that the log continues."""
        first = files.segments[0] if files.segments else None
        if first is None or not self._tail.reaches_checkpoint:
            newest = files.snapshots[-1] if files.snapshots else None
            return newest if newest is not None and newest.offset > offset else None
        if first <= offset:
            return None
        for snapshot in files.snapshots:
            if snapshot.offset >= first:
                return snapshot
        raise OffsetsGoneError(
            f"{self._directory.partition} starts at offset {first} and has no checkpoint of the "
            f"records before: offset {offset} cannot be read"
        )

    def _check_end(self, files: LogFiles) -> None:
        """Raises DamagedLogError for batches after the log's end, unless it was truncated meanwhile."""
        end_offset = self._tail.end_offset
        behind = [base for base in files.segments if base > end_offset]
        if behind and set(behind) <= set(self._directory.files().segments):
            raise DamagedLogError(
                f"the log in {self._directory.partition} is damaged after offset {end_offset - 1}: it "
                f"continues at offset {behind[-1]}. Read another controller's directory, or the quorum"
            )

    def _check_epoch(self, offset: int, epoch: int) -> None:
        """Raises LogChangedError unless the log up to `offset` is the one that was read before."""
        end_offset = self._tail.end_offset
        if offset > end_offset:
            raise LogChangedError(
                f"the log in {self._directory.partition} ends at {end_offset}, but was read up to {offset}: "
                "it lost its end, or an older copy was restored"
            )
        before = self._check_not_rewritten(offset, epoch)
        if before is not None and before < epoch and not self._has_epoch(offset, epoch):
            raise self._rewritten(offset, before, epoch)

    def _check_not_rewritten(self, offset: int, epoch: int) -> int | None:
        """Returns the epoch of the record before `offset`; None when that is not in the log."""
        found = self._find(offset - 1) if offset > 0 else None
        if found is None:
            return None
        if found[1].epoch > epoch:
            raise self._rewritten(offset, found[1].epoch, epoch)
        return found[1].epoch

    def _has_epoch(self, offset: int, epoch: int) -> bool:
        """Returns whether any record from `offset` on has `epoch`."""
        if self._tail.last_epoch <= epoch:
            return self._tail.last_epoch == epoch
        found = self._find(offset)
        while found is not None:
            base, first = found
            last = first
            with SegmentFile(self._directory.partition, base) as segment:
                for last in segment.places(first.position, check_crc=False):
                    if last.epoch >= epoch:
                        return last.epoch == epoch
            found = self._find(last.last_offset + 1)
        return False

    def _rewritten(self, offset: int, found: int, epoch: int) -> LogChangedError:
        return LogChangedError(
            f"the log in {self._directory.partition} up to offset {offset} is not the one that was read "
            f"before: it has epoch {found} there, not epoch {epoch}"
        )

    def _find(self, offset: int) -> tuple[int, BatchPlace] | None:
        """Returns segment and position of the batch that contains `offset`."""
        files = self._directory.files()
        at = bisect_right(files.segments, offset)
        if at == 0:
            return None
        base = files.segments[at - 1]
        with SegmentFile(self._directory.partition, base) as segment:
            place = segment.find(offset)
        return None if place is None else (base, place)

    def _segment_of(self, offset: int) -> SegmentFile:
        """Returns the segment, open; OffsetsGoneError when the log starts after `offset`."""
        files = self._directory.files()
        at = bisect_right(files.segments, offset)
        if at == 0:
            raise OffsetsGoneError(f"offset {offset} has been deleted from {self._directory.partition}")
        return SegmentFile(self._directory.partition, files.segments[at - 1])

    def _batches(self, segment: SegmentFile, offset: int) -> Iterator[RecordBatch]:
        """Yields batches from the one that contains `offset` to the end of the segment; at least one."""
        place = segment.find(offset)
        expected, position = offset, 0 if place is None else place.position
        try:
            for batch in segment.batches(position):
                position += batch.header.size_bytes
                if batch.header.last_offset < offset:
                    continue
                if batch.header.base_offset > expected:
                    break
                yield batch
                expected = batch.header.last_offset + 1
        except DecodeError as error:
            raise self._damaged(segment.path, position, str(error)) from error
        if expected == offset:
            raise LogChangedError(
                f"{segment.path} was expected to hold offset {offset}, but does not: the log was truncated, "
                "or a segment is missing"
            )

    def _damaged(self, path: Path, position: int, reason: str) -> DamagedLogError:
        return DamagedLogError(
            f"{path} is damaged at byte {position}: {reason}. Read another controller's directory, or "
            "the quorum"
        )

    def _retrying(self, attempt: Callable[[], Answer]) -> Answer:
        """Retries with the present files, because segments and checkpoints may be deleted at any time."""
        for _ in range(ATTEMPTS):
            try:
                return attempt()
            except FileNotFoundError as error:
                missing = error
        raise ObserverError(f"files in {self._directory.partition} are deleted during reading: {missing}")
