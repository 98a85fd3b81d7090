"""The download of a snapshot into a temporary file (KIP-630)."""

from __future__ import annotations

import os
from typing import IO

from kraftctl_observer.log_reader import ObserverError
from kraftctl_protocol.generated.fetch_snapshot_response import PartitionSnapshot
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from kraftctl_protocol.peer_limits import has_room
from kraftctl_protocol.primitives import DecodeError
from kraftctl_protocol.snapshot_progress import SnapshotProgress

STARTS_MAX = 5
"""This many times a download may begin: each new leader has another file."""


def free_bytes_of(file: IO[bytes]) -> int:
    """Returns the room on the disk of this file; it may be one in memory."""
    disk = os.fstatvfs(file.fileno())
    return disk.f_bavail * disk.f_frsize


class SavedSnapshot:
    """All of it is from one leader: each controller writes its own snapshots, with the same records in other
    positions.
    """

    def __init__(self, snapshot_id: OffsetAndEpoch, file: IO[bytes]) -> None:
        self.progress = SnapshotProgress(snapshot_id)
        self._file = file
        self._leader_epoch = -1
        self._starts_count = 0

    def follow(self, leader_epoch: int) -> None:
        """Starts again when another leader is used."""
        if leader_epoch != self._leader_epoch:
            self._leader_epoch = leader_epoch
            self._start_over(f"there is a leader of epoch {leader_epoch}")

    def add(self, piece: PartitionSnapshot, asked_bytes: int) -> None:
        """Writes the next piece. Raises DecodeError when it is not that; then all begins again. Raises
        ObserverError when that has happened often.
        """
        reason = self.progress.why_unusable(piece, asked_bytes) or self._why_no_room(piece.size)
        if reason is None and not piece.unaligned_records:
            raise DecodeError("FetchSnapshot was answered without any bytes of the snapshot")
        if reason is not None:
            self._start_over(reason)
            raise DecodeError(reason)
        self._file.write(self.progress.take(piece))

    def _why_no_room(self, size_bytes: int) -> str | None:
        if self.progress.position > 0:
            return None
        free_bytes = free_bytes_of(self._file)
        if has_room(size_bytes, free_bytes):
            return None
        return (
            f"Snapshot {self.progress.snapshot_id} is announced with {size_bytes} bytes, and the directory of"
            f" temporary files has room for {free_bytes}: if it has that size on other controllers, set"
            " TMPDIR to a larger one"
        )

    def _start_over(self, reason: str) -> None:
        self._starts_count += 1
        if self._starts_count > STARTS_MAX:
            raise ObserverError(
                f"the download of snapshot {self.progress.snapshot_id} began {STARTS_MAX} times, and has"
                f" ended again: {reason}"
            )
        self.progress.start_over()
        self._file.seek(0)
        self._file.truncate()
