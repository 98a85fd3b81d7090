"""What a reader of the metadata log promises, be the log on controllers or in a directory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from kraftctl_protocol.record_batch import RecordBatch


class ObserverError(Exception):
    """Reading cannot go on, and trying again would not help."""


class WrongClusterError(ObserverError):
    """This log belongs to another cluster than the offsets do."""


class OffsetsGoneError(ObserverError):
    """That part of the log has been deleted; only a snapshot is left."""


class LogChangedError(ObserverError):
    """What was committed once is not there any more: the log was truncated, restored or replaced."""


@dataclass(frozen=True)
class LogPosition:
    """What is known about a place in the log."""

    high_watermark: int
    """Exclusive: the end of what may be read."""
    leader_epoch: int
    """No committed record is of a later one."""
    snapshot: OffsetAndEpoch | None
    """Set when the place can no longer be read from the log."""


class LogReader(Protocol):
    """Reads what is committed. Not thread-safe. All but `close` may raise ObserverError."""

    def cluster_id(self) -> str: ...

    def position(self, offset: int, epoch: int) -> LogPosition:
        """What is known about `offset`, where `epoch` is that of the record before it, or a later one.

        LogChangedError if the log is not the one that was read up to there.
        """
        ...

    def epoch_of(self, offset: int) -> int | None:
        """Epoch of the record at a committed offset; None if that cannot be found out."""
        ...

    def read(self, start_offset: int, epoch: int, end_offset: int) -> Iterator[RecordBatch]:
        """Batches that cover [start_offset, end_offset); the outermost ones may reach beyond.

        Everything below `end_offset` must have been committed. `epoch` is as for `position`.
        OffsetsGoneError when the range is deleted.
        """
        ...

    def read_snapshot(self, snapshot: OffsetAndEpoch) -> Iterator[RecordBatch]:
        """All batches of a snapshot. OffsetsGoneError when it is deleted."""
        ...

    def close(self) -> None:
        """Never raises."""
        ...
