"""The pause before a snapshot is fetched again that arrived damaged (KIP-630)."""

from __future__ import annotations

from kraftctl.raft.raft_config import DAMAGED_DOWNLOAD_PAUSE_MS, DAMAGED_DOWNLOAD_PAUSE_MS_MAX


class DamagedDownloads:
    """Counts how many downloads in a row were damaged."""

    def __init__(self) -> None:
        self.count = 0
        self._next_download_ms = 0

    def is_pausing(self, now_ms: int) -> bool:
        return now_ms < self._next_download_ms

    def add(self, now_ms: int) -> int:
        """Returns the pause before the next download."""
        pause_ms = min(DAMAGED_DOWNLOAD_PAUSE_MS << self.count, DAMAGED_DOWNLOAD_PAUSE_MS_MAX)
        self.count += 1
        self._next_download_ms = now_ms + pause_ms
        return pause_ms

    def pause(self, now_ms: int) -> None:
        """Pauses after a slice that is not the next one, as after the first damaged download."""
        self._next_download_ms = now_ms + DAMAGED_DOWNLOAD_PAUSE_MS

    def reset(self) -> None:
        """Notes that a download was complete and undamaged."""
        self.count = 0
