"""A range of the log that one task reads, and how a planned batch is cut into such ranges."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kraftctl_observer.log_reader import LogReader, ObserverError
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from kraftctl_protocol.record_batch import RecordBatch

OFFSETS_PER_RANGE = 50_000
"""The size is fixed: if it were an option, a batch repeated after a change would be cut in other places."""

RANGES_MAX = 100_000
"""A plan has no more: a controller may call any offset committed."""


@dataclass(frozen=True)
class LogRange:
    """The offsets [start, end) of the log, or the snapshot that ends at `end` instead of them."""

    start: int
    end: int
    epoch: int
    """The epoch of the record before `start` or a later one; for a snapshot its own."""
    snapshot: bool = False


def cut_into_ranges(*, start: int, end: int, epoch: int, end_epoch: int) -> list[LogRange]:
    """Cuts a range so that the result depends only on arguments, and offsets only on `start` and `end`.

    `epoch` is that of the record before `start`, `end_epoch` a later one: all ranges but the first have it.
    """
    if end - start > RANGES_MAX * OFFSETS_PER_RANGE:
        raise ObserverError(
            f"offsets {start} to {end} are more than one batch may have, {RANGES_MAX * OFFSETS_PER_RANGE}: if"
            " the log has that many, read parts of it, with startingOffset and endingOffset"
        )
    return [
        LogRange(first, min(first + OFFSETS_PER_RANGE, end), epoch if first == start else end_epoch)
        for first in range(start, end, OFFSETS_PER_RANGE)
    ]


def read_range(reader: LogReader, wanted: LogRange) -> Iterator[RecordBatch]:
    """Yields the batches of a range; those of the log may extend beyond it."""
    if wanted.snapshot:
        return reader.read_snapshot(OffsetAndEpoch(wanted.end, wanted.epoch))
    return reader.read(wanted.start, wanted.epoch, wanted.end)
