"""The interface of a reader of the metadata log, on controllers or in a directory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from kraftctl_protocol.record_batch import RecordBatch


class ObserverError(Exception):
    """Reading cannot continue, and retrying would not help."""


class WrongClusterError(ObserverError):
    """The log belongs to another cluster than the offsets."""


class OffsetsGoneError(ObserverError):
    """This part of the log has been deleted; only a snapshot is left."""


class LogChangedError(ObserverError):
    """Committed records are missing: the log was truncated, restored or replaced."""


@dataclass(frozen=True)
class LogPosition:
    """The state of the log at an offset."""

    high_watermark: int
    """The end of what can be read, exclusive."""
    leader_epoch: int
    """No committed record has a later epoch."""
    snapshot: OffsetAndEpoch | None
    """The snapshot, when the offset can no longer be read from the log."""


class LogReader(Protocol):
    """Reads committed records. Not thread-safe. All methods except `close` may raise ObserverError."""

    def cluster_id(self) -> str: ...

    def position(self, offset: int, epoch: int) -> LogPosition:
        """Returns the state of the log at `offset`. `epoch` is that of the record before it, or a later one.

        LogChangedError if the log is not the one that was read up to that offset.
        """
        ...

    def epoch_of(self, offset: int) -> int | None:
        """Returns the epoch of the record at a committed offset; None if it is unknown."""
        ...

    def read(self, start_offset: int, epoch: int, end_offset: int) -> Iterator[RecordBatch]:
        """Yields batches that cover [start_offset, end_offset); the first and last may extend beyond.

        Everything below `end_offset` must have been committed. `epoch` is as for `position`.
        OffsetsGoneError when the range is deleted.
        """
        ...

    def read_snapshot(self, snapshot: OffsetAndEpoch) -> Iterator[RecordBatch]:
        """Yields all batches of a snapshot. OffsetsGoneError when it is deleted."""
        ...

    def close(self) -> None:
        """Closes the reader and never raises."""
        ...
