"""KIP-630: what has come of a snapshot that is fetched in slices, and whether a slice is the next one."""

from __future__ import annotations

from typing import Final

from kraftctl_protocol.generated.fetch_snapshot_response import PartitionSnapshot
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from kraftctl_protocol.peer_limits import SNAPSHOT_BYTES_MAX

SHORT_SLICES_MAX: Final = 50
"""This many slices may be short, beside one for each KiB, or for what was asked for if that is less: 8 GiB in
slices of a byte would take weeks."""


class SnapshotProgress:
    """A snapshot has the size that its leader announces with the first slice: more of it is not taken.

    `size_bytes` is 0 until then; `position` is where the next slice begins.
    """

    def __init__(self, snapshot_id: OffsetAndEpoch) -> None:
        self.snapshot_id = snapshot_id
        self.size_bytes = 0
        self.position = 0
        self._slices_count = 0

    @property
    def is_whole(self) -> bool:
        """Whether the last slice was taken."""
        return 0 < self.size_bytes <= self.position

    def why_unusable(self, slice_: PartitionSnapshot, asked_bytes: int) -> str | None:
        """Returns None for the next slice, of which `asked_bytes` were asked for; then call `take` with it.

        A slice without bytes is usable: a leader that is busy with its files sends one.
        """
        got_bytes = len(slice_.unaligned_records or b"")
        got_id = OffsetAndEpoch(slice_.snapshot_id.end_offset, slice_.snapshot_id.epoch)
        size_bytes = self.size_bytes if self.position > 0 else slice_.size
        is_next = got_id == self.snapshot_id and slice_.position == self.position
        expected_bytes = min(asked_bytes, size_bytes - self.position)
        is_next = is_next and slice_.size == size_bytes > self.position
        if not is_next or got_bytes > expected_bytes:
            return (
                f"Expected byte {self.position} of snapshot {self.snapshot_id} of {size_bytes} bytes, got"
                f" {got_bytes} bytes from {slice_.position} of {got_id} of {slice_.size}"
            )
        if size_bytes > SNAPSHOT_BYTES_MAX:
            return (
                f"Snapshot {self.snapshot_id} is announced with {size_bytes} bytes, more than the"
                f" {SNAPSHOT_BYTES_MAX} that are fetched"
            )
        if self._slices_count > SHORT_SLICES_MAX + self.position // max(1, min(asked_bytes, 1024)):
            return f"Snapshot {self.snapshot_id} comes in slices of {got_bytes} bytes"
        return None

    def take(self, slice_: PartitionSnapshot) -> bytes:
        """Returns the bytes of a usable slice, and moves `position` behind them."""
        data = slice_.unaligned_records or b""
        self.size_bytes = slice_.size
        self.position += len(data)
        self._slices_count += 1 if data else 0
        return data

    def start_over(self) -> None:
        """Forgets what has come: another leader has another file."""
        self.size_bytes = self.position = self._slices_count = 0
