"""Reading the metadata log at start: every batch is checked; a torn tail is cut, other damage is refused.

A crash in the middle of a write leaves bytes at the end of the log that are not a batch. They were never
flushed, so never acknowledged, and are cut. A power failure may lose one of several unflushed pages and keep
those after it; everything after the recovery point is cut as well, since it was never acknowledged either.
Batches before the recovery point may be committed: dropping them could break the promise of this voter
(KIP-595 Durability), so damage there is refused. Without a recovery point, damage with intact batches after
it is refused: that costs a refetch from the other voters, cutting could cost data.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from kraftctl.storage.directory_entries import names_in, remove
from kraftctl.storage.errors import CorruptLogError, StorageError, cannot
from kraftctl.storage.replacing_a_replica import REPLACE_THIS_REPLICA
from kraftctl.storage.segment import Segment
from kraftctl.storage.witness import FILE_NAME as WITNESS
from kraftctl_protocol.batch_framing import (
    BatchPlace,
    InvalidBatchError,
    find_intact_batch,
    is_intact_batch,
    scan_pieces,
)
from kraftctl_protocol.log_file_names import (
    CHECKPOINT_SUFFIX,
    DELETED_SUFFIX,
    INDEX_SUFFIX,
    LOG_SUFFIX,
    TIME_INDEX_SUFFIX,
    parse_segment_file_name,
)
from kraftctl_protocol.record_batch import read_batch_header

OFFSET_MAX = (1 << 63) - 1

SCAN_BYTES = 4 * 1024 * 1024
"""The read size of the scan keeps the disk busy and fits the CPU's cache."""


class DurableEnd(NamedTuple):
    """The log was flushed up to `offset` (exclusive). `is_exact`: everything after it may be dropped.

    That holds unless another program has written since, which an intact batch of an epoch after `epoch_max`
    shows; None if nothing suggests that.
    """

    offset: int
    is_exact: bool
    epoch_max: int | None = None


class CutTail:
    """`lost_bytes` were dropped from `file` at byte `position`; the log now ends at `offset` (exclusive)."""

    def __init__(self, *, file: str, position: int, lost_bytes: int, offset: int, reason: str) -> None:
        self.file = file
        self.position = position
        self.lost_bytes = lost_bytes
        self.offset = offset
        self.reason = reason

    def __str__(self) -> str:
        return (
            f"cut {self.lost_bytes} bytes of an unfinished write from {self.file} at byte {self.position}"
            f" ({self.reason}); the log ends at offset {self.offset}"
        )


class RecoveryReport:
    """The result of recovery. `removed_files` were left over from an interrupted deletion or roll.
    `last_epoch` is that of the last good batch.
    """

    def __init__(self) -> None:
        self.segments_count = 0
        self.last_epoch = 0
        self.scanned_bytes = 0
        self.cut_tail: CutTail | None = None
        self.removed_files: list[str] = []

    def warnings(self) -> list[str]:
        """Returns lines that an operator must know; empty after a clean stop."""
        return [] if self.cut_tail is None else [str(self.cut_tail)]

    def notices(self) -> list[str]:
        """Returns lines about repairs without loss; empty after a clean stop."""
        return [f"removed leftover {file}" for file in self.removed_files]


def segment_base_offsets(directory: Path) -> list[int]:
    """Returns the base offsets of the `.log` files, rising."""
    offsets = []
    for name in names_in(directory):
        if name.endswith(LOG_SUFFIX):
            base_offset = parse_segment_file_name(name)
            if base_offset is None or base_offset > OFFSET_MAX:
                raise StorageError(
                    f"{directory / name} is not the name of a log segment (20 digits, an offset, expected)."
                    " Next step: move the file out of the directory; neither kraftctl nor Kafka writes"
                    " files of that name."
                )
            offsets.append(base_offset)
    return sorted(offsets)


def remove_leftovers(directory: Path, report: RecoveryReport) -> None:
    """Finishes deletions that a crash interrupted: renamed files, and indexes whose segment is gone."""
    names = names_in(directory)
    for path in map(directory.joinpath, names):
        is_index = path.name.endswith((INDEX_SUFFIX, TIME_INDEX_SUFFIX))
        is_orphan = is_index and path.with_suffix(LOG_SUFFIX).name not in names
        is_deleted = path.name.endswith(DELETED_SUFFIX) and path.name != WITNESS
        if is_orphan or (is_deleted and CHECKPOINT_SUFFIX not in path.name):
            remove(path)
            report.removed_files.append(str(path))


def recover_segments(
    segments: list[Segment],
    report: RecoveryReport,
    visit: Callable[[BatchPlace], None],
    durable_end: DurableEnd | None = None,
    epoch_max: int | None = None,
) -> list[Segment]:
    """Scans `segments` (rising) and returns those that remain; `visit` sees every good batch in order.

    Raises CorruptLogError or StorageError when the directory must not be used. `epoch_max` is the epoch of
    quorum-state; None means unknown.
    """
    for at, segment in enumerate(segments):
        report.segments_count = at
        if at > 0 and segment.base_offset != segments[at - 1].end_offset:
            if _drop(segments[at:], segments[at - 1].end_offset, report, durable_end):
                return segments[:at]
            raise StorageError(
                f"{segment.path} starts at offset {segment.base_offset}, but the segment before it ends at"
                f" {segments[at - 1].end_offset}: a segment is missing. {REPLACE_THIS_REPLICA}"
            )
        try:
            _scan_segment(segment, report, visit, epoch_max)
        except InvalidBatchError as damage:
            _cut_torn_tail(segment, segments[at + 1 :], damage, report, durable_end)
            report.scanned_bytes += segment.size_bytes
            report.segments_count = at + 1
            return segments[: at + 1]
        report.scanned_bytes += segment.size_bytes
    report.segments_count = len(segments)
    return segments


def _scan_segment(
    segment: Segment, report: RecoveryReport, visit: Callable[[BatchPlace], None], epoch_max: int | None
) -> None:
    """Remembers every batch of the file."""
    for place in _places(segment, report.last_epoch):
        if epoch_max is not None and place.epoch > epoch_max:
            raise StorageError(
                f"{segment.path}: the batch at byte {place.position} (record offset {place.base_offset}) is"
                f" of epoch {place.epoch}, but quorum-state of epoch {epoch_max}: an epoch is in quorum-state"
                " before its first batch is written, so the log was changed or quorum-state is an older copy."
                f" {REPLACE_THIS_REPLICA}"
            )
        segment.remember(place)
        visit(place)
        report.last_epoch = place.epoch


def _places(segment: Segment, last_epoch: int) -> Iterator[BatchPlace]:
    try:
        yield from scan_file(segment.descriptor, segment.base_offset, last_epoch)
    except OSError as error:
        raise cannot("read", segment.path, error) from error


def scan_file(descriptor: int, base_offset: int, last_epoch: int) -> Iterator[BatchPlace]:
    """Scans an open file like scan_batches, reading it in pieces. Raises OSError."""

    def read(position: int, size_bytes: int) -> bytes:
        return os.pread(descriptor, size_bytes, position)

    return scan_pieces(
        read,
        0,
        os.fstat(descriptor).st_size,
        next_offset=base_offset,
        last_epoch=last_epoch,
        piece_bytes=SCAN_BYTES,
    )


def _cut_torn_tail(
    segment: Segment,
    later: list[Segment],
    damage: InvalidBatchError,
    report: RecoveryReport,
    durable_end: DurableEnd | None,
) -> None:
    """Cuts `segment` at the damage and drops everything after it, unless that could lose committed
    records.
    """
    rest = segment.content(damage.position)
    offset = segment.end_offset
    if not _was_never_durable(offset, chain([rest], map(Segment.content, later)), report, durable_end):
        reason = damage.reason
        if durable_end is not None and durable_end.epoch_max is None and offset < durable_end.offset:
            reason += f", although everything below offset {durable_end.offset} was forced to the disk"
            raise CorruptLogError(str(segment.path), damage.position, offset, reason)
        if is_intact_batch(rest, 0) or find_intact_batch(rest, offset, start=1) is not None:
            raise CorruptLogError(str(segment.path), damage.position, offset, reason)
    if not _drop(later, offset, report, durable_end):
        raise CorruptLogError(str(segment.path), damage.position, offset, damage.reason)
    segment.cut_back()
    report.cut_tail = CutTail(
        file=str(segment.path),
        position=damage.position,
        lost_bytes=len(rest),
        offset=offset,
        reason=damage.reason,
    )


def _was_never_durable(
    offset: int, rests: Iterable[bytes], report: RecoveryReport, durable_end: DurableEnd | None
) -> bool:
    """Returns whether everything from `offset` on may be dropped. `rests` has all bytes after the last
    good batch.
    """
    if durable_end is None or not durable_end.is_exact or offset < durable_end.offset:
        return False
    if durable_end.epoch_max is None:
        return True
    last_epoch = report.last_epoch
    for data in rests:
        for epoch in _epochs_of_intact_batches(data, offset):
            last_epoch = max(last_epoch, epoch)
    return last_epoch <= durable_end.epoch_max


def _epochs_of_intact_batches(data: bytes, next_offset: int) -> Iterator[int]:
    position = find_intact_batch(data, next_offset)
    while position is not None:
        yield read_batch_header(data, position).partition_leader_epoch
        position = find_intact_batch(data, next_offset, start=position + 1)


def _drop(
    later: list[Segment], next_offset: int, report: RecoveryReport, durable_end: DurableEnd | None
) -> bool:
    """Drops the `later` segments, begun just before the crash; none, and False, if one has a valid batch."""
    if not _was_never_durable(next_offset, map(Segment.content, later), report, durable_end):
        for segment in later:
            if find_intact_batch(segment.content(), next_offset) is not None:
                return False
    for segment in reversed(later):
        report.removed_files.append(str(segment.path))
        segment.delete()
    return True
