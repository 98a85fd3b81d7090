"""Where the next batch ends: the same for each engine, so that its files are the same."""

from __future__ import annotations

from dataclasses import dataclass

from kraftctl_observer.log_reader import LogChangedError, LogReader


@dataclass(frozen=True)
class BatchEnd:
    """The end of the next batch, exclusive, and the state of the log when it was planned."""

    offset: int
    epoch: int
    """The epoch of the record before `offset`, or a later one in which that record was known to be
    committed."""
    is_new: bool
    """Whether there is something to read before it."""
    snapshot: bool
    """Whether the batch reads the snapshot that ends here, instead of the log."""
    high_watermark: int
    leader_epoch: int


def batch_end(
    reader: LogReader, offset: int, epoch: int, *, offsets_max: int, target: int | None
) -> BatchEnd:
    """Plans a batch behind `offset`, with at most `offsets_max` offsets, and none from `target` on.

    `epoch` is that of the record before `offset`, or a later one. LogChangedError if the log has lost its
    end.
    """
    place = reader.position(offset, epoch)
    latest = (place.high_watermark, place.leader_epoch)
    if place.snapshot is not None:
        return BatchEnd(place.snapshot.offset, place.snapshot.epoch, True, True, *latest)
    if place.high_watermark < offset:
        raise LogChangedError(
            f"the committed log ends at {place.high_watermark}, but was read up to {offset} before"
        )
    end = place.high_watermark if target is None else min(place.high_watermark, target)
    end = min(end, offset + offsets_max)
    if end <= offset:
        return BatchEnd(offset, epoch, False, False, *latest)
    known = reader.epoch_of(end - 1)
    return BatchEnd(end, place.leader_epoch if known is None else known, True, False, *latest)
