"""The facts about log and snapshots that the core needs to respond without reading them (KIP-595,
KIP-630).
"""

from __future__ import annotations

from typing import Final

from kraftctl.raft.leader_epochs import LeaderEpochs
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch

VALID: Final = 0
DIVERGING: Final = 1
SNAPSHOT: Final = 2


class SnapshotInfo:
    """A finished checkpoint file: its id (offset exclusive) and its length."""

    def __init__(self, snapshot_id: OffsetAndEpoch, size_bytes: int) -> None:
        self.snapshot_id = snapshot_id
        self.size_bytes = size_bytes


class LogState:
    """The metadata log: as recovered at start, then as the emitted effects change it.

    `start_offset` is inclusive, `end_offset` and `flushed_offset` exclusive. `epochs` lists
    (epoch, start offset) in rising order, as the leader-epoch-checkpoint does. `snapshots` is in
    rising order of offset and may begin with the 0-0 checkpoint of a formatted dynamic quorum.
    Everything handed in must be on disk: recovery flushes before it reports.
    """

    def __init__(
        self,
        *,
        start_offset: int = 0,
        end_offset: int = 0,
        epochs: list[tuple[int, int]] | None = None,
        snapshots: list[SnapshotInfo] | None = None,
    ) -> None:
        assert 0 <= start_offset <= end_offset
        self.start_offset = start_offset
        self.end_offset = end_offset
        self.flushed_offset = end_offset
        self._flush_in_flight = False
        self._flush_is_stale = False
        self.epochs = LeaderEpochs([] if epochs is None else epochs)
        self.snapshots: list[SnapshotInfo] = [] if snapshots is None else list(snapshots)
        # KAFKA-14240: without its snapshot a log that starts later than 0 has lost its past.
        assert start_offset == 0 or self._has_snapshot_at(start_offset), (
            f"the log starts at {start_offset} but no snapshot ends there"
        )

    def _has_snapshot_at(self, offset: int) -> bool:
        return any(info.snapshot_id.offset >= offset for info in self.snapshots)

    def last_epoch(self) -> int:
        """Returns the epoch of the last record; of the newest snapshot when the log is empty; else 0."""
        epoch = self.epochs.last_epoch()
        if epoch is not None:
            return epoch
        return self.snapshots[-1].snapshot_id.epoch if self.snapshots else 0

    def end(self) -> OffsetAndEpoch:
        """Returns where the log ends and the epoch of its last record: the same in logs that are the same."""
        return OffsetAndEpoch(self.end_offset, self.last_epoch())

    def flushed_end(self) -> OffsetAndEpoch:
        """Returns where the log ends on disk and the epoch of its last record there."""
        if self.flushed_offset == self.end_offset:
            return self.end()
        epoch = self.epochs.epoch_at(self.flushed_offset - 1)
        if epoch is None:
            snapshot_ids = [info.snapshot_id for info in self.snapshots]
            epoch = max((id_.epoch for id_ in snapshot_ids if id_.offset <= self.flushed_offset), default=0)
        return OffsetAndEpoch(self.flushed_offset, epoch)

    def earliest_snapshot_id(self) -> OffsetAndEpoch | None:
        return self.snapshots[0].snapshot_id if self.snapshots else None

    def latest_snapshot_id(self) -> OffsetAndEpoch | None:
        return self.snapshots[-1].snapshot_id if self.snapshots else None

    def snapshot(self, snapshot_id: OffsetAndEpoch) -> SnapshotInfo | None:
        for info in reversed(self.snapshots):
            if info.snapshot_id == snapshot_id:
                return info
        return None

    def add_snapshot(self, info: SnapshotInfo) -> None:
        if self.snapshot(info.snapshot_id) is None:
            self.snapshots.append(info)
            self.snapshots.sort(key=_offset_of)

    def remove_snapshots(self, ids: list[OffsetAndEpoch]) -> None:
        """Removes deleted snapshots, never the newest one."""
        self.snapshots = [info for info in self.snapshots if info.snapshot_id not in ids]

    def append(self, record_count: int) -> int:
        """Adds records of the current epoch; returns their base offset."""
        base_offset = self.end_offset
        self.end_offset += record_count
        return base_offset

    def wants_flush(self) -> bool:
        """Returns whether to flush. At most one flush is in progress; it is the group commit of all
        appends before it.
        """
        return self.flushed_offset < self.end_offset and not self._flush_in_flight

    def begin_flush(self) -> None:
        self._flush_in_flight = True

    def flushed(self, end_offset: int) -> None:
        """Notes a flush, which says nothing about records that were appended after a later truncation."""
        self._flush_in_flight = False
        if self._flush_is_stale:
            self._flush_is_stale = False
            return
        assert end_offset <= self.end_offset
        self.flushed_offset = max(self.flushed_offset, end_offset)

    def truncate_to(self, end_offset: int) -> None:
        assert self.start_offset <= end_offset <= self.end_offset
        self.end_offset = end_offset
        self.flushed_offset = min(self.flushed_offset, end_offset)
        self._flush_is_stale = self._flush_in_flight
        self.epochs.truncate_to(end_offset)

    def truncate_fully_to(self, snapshot_id: OffsetAndEpoch) -> None:
        """Empties the log, which continues from a downloaded snapshot (KIP-630)."""
        self.start_offset = snapshot_id.offset
        self.end_offset = snapshot_id.offset
        self.flushed_offset = snapshot_id.offset
        self._flush_is_stale = self._flush_in_flight
        self.epochs = LeaderEpochs([])
        self.start_at(snapshot_id.offset)

    def start_at(self, start_offset: int) -> None:
        """Notes that retention removed everything below `start_offset`, including snapshots.

        A durable snapshot has all of that, also what this replica knew to be committed before its own flush.
        """
        self.start_offset = max(self.start_offset, start_offset)
        self.flushed_offset = max(self.flushed_offset, self.start_offset)
        self.epochs.start_at(self.start_offset)
        self.snapshots = [info for info in self.snapshots if info.snapshot_id.offset >= self.start_offset]

    def end_offset_for_epoch(self, epoch: int) -> OffsetAndEpoch:
        """Returns the largest epoch of this log not above `epoch`, with its end offset (exclusive)."""
        end = self.epochs.end_offset_for(epoch, self.end_offset)
        if end is None:
            return OffsetAndEpoch(self.end_offset, self.last_epoch())
        earliest = self.earliest_snapshot_id()
        if earliest is not None and end.offset == earliest.offset and end.epoch == epoch:
            return earliest
        return end

    def validate(self, offset: int, epoch: int) -> tuple[int, OffsetAndEpoch]:
        """Compares a replica's log, ending at `offset` in `epoch`, with ours.

        VALID: ours continues it. DIVERGING: it must truncate to the end of the returned epoch. SNAPSHOT:
        what it misses is only in the returned snapshot.
        """
        if offset == 0 and self.start_offset == 0:
            return VALID, OffsetAndEpoch(0, 0)
        earliest = self.earliest_snapshot_id()
        if earliest is not None and (
            offset < self.start_offset
            or (offset == self.start_offset and epoch != earliest.epoch)
            or epoch < earliest.epoch
        ):
            return SNAPSHOT, self.snapshots[-1].snapshot_id
        end = self.end_offset_for_epoch(epoch)
        if end.epoch != epoch or end.offset < offset:
            return DIVERGING, end
        return VALID, OffsetAndEpoch(offset, epoch)


def _offset_of(info: SnapshotInfo) -> int:
    return info.snapshot_id.offset
