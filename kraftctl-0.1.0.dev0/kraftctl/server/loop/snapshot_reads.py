"""Which snapshots replicas and brokers are fetching, so that retention leaves them what they need (KIP-630).

Kafka deletes a snapshot as soon as it is due, and a replica that is fetching it starts over. With a new
snapshot every half minute, and one that takes longer to fetch, that never ends.
"""

from __future__ import annotations

from typing import Final

from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch

READING_MS: Final = 15_000
"""A snapshot is being fetched as long as slices follow each other in that time. Requests of voters and of
brokers expire after 2 s (controller.quorum.request.timeout.ms)."""

HELD_MS_MAX: Final = 600_000
"""The log behind the snapshot grows meanwhile. 250 MB take seven minutes at 600 kB/s."""


class SnapshotReads:
    """Times are monotonic, in ms."""

    def __init__(self) -> None:
        self._last_read_ms: dict[OffsetAndEpoch, int] = {}
        self._held_since_ms: dict[OffsetAndEpoch, int] = {}

    def note(self, snapshot_id: OffsetAndEpoch, now_ms: int) -> None:
        """A slice of it is asked for."""
        self._last_read_ms[snapshot_id] = now_ms

    def held(self, now_ms: int) -> frozenset[OffsetAndEpoch]:
        """Those that retention may not delete now: not for longer than HELD_MS_MAX after it first asked."""
        for snapshot_id, last_ms in list(self._last_read_ms.items()):
            if now_ms - last_ms > READING_MS:
                del self._last_read_ms[snapshot_id]
                self._held_since_ms.pop(snapshot_id, None)
        return frozenset(
            snapshot_id
            for snapshot_id in self._last_read_ms
            if now_ms - self._held_since_ms.setdefault(snapshot_id, now_ms) < HELD_MS_MAX
        )
