"""CheckpointParts reads a checkpoint a part at a time, and checks each part."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from kraftctl.storage.checkpoint_reader import CheckpointReader


class CheckpointPart(NamedTuple):
    """A part of whole batches. `next_position` is the byte at which the next part begins; None after the
    last one.
    """

    data: bytes
    next_position: int | None


class CheckpointParts:
    """Keeps the file open between two parts. `position` is where the next one begins."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.position = 0
        self._batches = CheckpointReader(path).checked_batches()
        self._ahead: bytes | None = None

    def read_next(self, bytes_max: int) -> CheckpointPart:
        """Reads at most `bytes_max`, but at least one batch. Raises StorageError when the file is damaged."""
        batches: list[bytes] = []
        size_bytes = 0
        while (batch := self._take()) is not None:
            if batches and size_bytes + len(batch) > bytes_max:
                self._ahead = batch
                break
            batches.append(batch)
            size_bytes += len(batch)
        self.position += size_bytes
        return CheckpointPart(b"".join(batches), None if batch is None else self.position)

    def _take(self) -> bytes | None:
        ahead, self._ahead = self._ahead, None
        if ahead is not None:
            return ahead
        found = next(self._batches, None)
        return None if found is None else found[1]

    def close(self) -> None:
        self._batches.close()
