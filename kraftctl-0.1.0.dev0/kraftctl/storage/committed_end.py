"""Checks at start whether the log still has what the recovery point says was committed.

An offset and the epoch of the record before it name everything before them (LogMatching). So the log has what
was committed exactly when it has that record in that epoch, or a snapshot of everything before: also after
another controller has used the directory.
"""

from __future__ import annotations

from kraftctl.storage.metadata_log import MetadataLog
from kraftctl.storage.recovery_point import RecoveryPoint
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch


def has_committed(log: MetadataLog, latest_snapshot: OffsetAndEpoch, point: RecoveryPoint) -> bool:
    """Returns whether nothing that `point` says was committed is missing, or replaced."""
    end = point.committed_end
    if end <= max(log.start_offset, latest_snapshot.offset):
        return True
    return end <= log.end_offset and log.epoch_at(end - 1) == point.committed_epoch


def what_was_replaced(log: MetadataLog, point: RecoveryPoint, path: object) -> str:
    """Returns the beginning of a line for the operator, where it has not."""
    end = point.committed_end
    found = (
        f"ends at offset {log.end_offset}"
        if end > log.end_offset
        else f"has the record before it in epoch {log.epoch_at(end - 1)}"
    )
    return (
        f"{path} says that everything up to offset {end} in epoch {point.committed_epoch} was committed, but"
        f" {log.directory} {found}"
    )
