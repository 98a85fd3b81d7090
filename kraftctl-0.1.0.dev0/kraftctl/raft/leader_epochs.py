"""Maps epochs to parts of the log, to find where a replica's log diverges from ours (KIP-595)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch


class LeaderEpochs:
    """Epochs in rising order, each with the offset (inclusive) at which it began."""

    def __init__(self, entries: list[tuple[int, int]]) -> None:
        self.epochs: list[int] = []
        self.start_offsets: list[int] = []
        for epoch, start_offset in entries:
            self.assign(epoch, start_offset)

    def entries(self) -> list[tuple[int, int]]:
        return list(zip(self.epochs, self.start_offsets, strict=True))

    def last_epoch(self) -> int | None:
        return self.epochs[-1] if self.epochs else None

    def epoch_at(self, offset: int) -> int | None:
        """Returns the epoch of the record at `offset`; None below everything known."""
        index = bisect_right(self.start_offsets, offset) - 1
        return self.epochs[index] if index >= 0 else None

    def assign(self, epoch: int, start_offset: int) -> None:
        """Notes that records from `start_offset` on belong to `epoch`, which must be newer than all known."""
        if self.epochs:
            assert epoch > self.epochs[-1], f"epoch {epoch} after {self.epochs[-1]}"
            assert start_offset >= self.start_offsets[-1], f"offset {start_offset} out of order"
            if start_offset == self.start_offsets[-1]:
                self.epochs.pop()
                self.start_offsets.pop()
        self.epochs.append(epoch)
        self.start_offsets.append(start_offset)

    def end_offset_for(self, epoch: int, log_end_offset: int) -> OffsetAndEpoch | None:
        """Returns the largest known epoch not above `epoch`, and the offset (exclusive) where it ended.

        It returns None when `epoch` is newer than everything here, and an epoch older than everything here
        together with the offset where our oldest epoch began.
        """
        if not self.epochs or epoch > self.epochs[-1]:
            return None
        if epoch == self.epochs[-1]:
            return OffsetAndEpoch(log_end_offset, epoch)
        index = bisect_right(self.epochs, epoch)
        end_offset = self.start_offsets[index]
        return OffsetAndEpoch(end_offset, epoch if index == 0 else self.epochs[index - 1])

    def truncate_to(self, end_offset: int) -> None:
        """Forgets epochs that began at or above `end_offset`: their records are gone."""
        keep = bisect_left(self.start_offsets, end_offset)
        del self.epochs[keep:]
        del self.start_offsets[keep:]

    def start_at(self, start_offset: int) -> None:
        """Forgets epochs that ended at or below `start_offset`; the one it falls into begins there now."""
        drop = bisect_right(self.start_offsets, start_offset) - 1
        if drop >= 0:
            del self.epochs[:drop]
            del self.start_offsets[:drop]
            self.start_offsets[0] = start_offset
