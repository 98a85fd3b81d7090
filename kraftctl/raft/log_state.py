"""What the core must know of the log and the snapshots on disk to answer without reading them (KIP-595, KIP-630)."""

from __future__ import annotations

from kraftctl.raft.offset_and_epoch import OffsetAndEpoch


class SnapshotInfo:
    """A finished checkpoint file: its id (offset exclusive) and its length."""

    def __init__(self, snapshot_id: OffsetAndEpoch, size_bytes: int) -> None:
        self.snapshot_id = snapshot_id
        self.size_bytes = size_bytes


class LogState:
    """The metadata log as recovered at start.

    `start_offset` is inclusive, `end_offset` exclusive. `epochs` lists (epoch, start offset) in
    rising order, as the leader-epoch-checkpoint does. `snapshots` is in rising order of offset and
    may begin with the 0-0 checkpoint of a formatted dynamic quorum.
    Everything in here must be on disk: recovery flushes before it reports.
    """

    def __init__(
        self,
        *,
        start_offset: int = 0,
        end_offset: int = 0,
        epochs: list[tuple[int, int]] | None = None,
        snapshots: list[SnapshotInfo] | None = None,
    ) -> None:
        self.start_offset = start_offset
        self.end_offset = end_offset
        self.epochs: list[tuple[int, int]] = [] if epochs is None else epochs
        self.snapshots: list[SnapshotInfo] = [] if snapshots is None else snapshots
