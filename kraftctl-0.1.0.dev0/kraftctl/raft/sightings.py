"""Tracks the directory ids of each replica id: when they take turns, two processes have the same id."""

from __future__ import annotations

from typing import Final

TURNS_MS_MAX: Final = 60_000
"""A replica whose directory changed once has a new disk, or was restored. It does not change back so soon."""

KEPT_MAX: Final = 64
"""Ids come off the wire, so the one that was met first is forgotten first."""


class Sighting:
    """The directory with which one id was met last, and until when it had the one before."""

    def __init__(self, directory_id: bytes) -> None:
        self.directory_id = directory_id
        self.former_directory_id = b""
        self.former_until_ms = 0


class Sightings:
    """The sightings of all replica ids. The times may not go back."""

    def __init__(self) -> None:
        self._by_id: dict[int, Sighting] = {}

    def other_process(self, replica_id: int, directory_id: bytes, now_ms: int) -> bytes | None:
        """Returns the other directory if two processes take turns with this id; None otherwise."""
        found = self._by_id.get(replica_id)
        if found is None:
            if len(self._by_id) >= KEPT_MAX:
                self._by_id.pop(next(iter(self._by_id)))
            self._by_id[replica_id] = Sighting(directory_id)
            return None
        former, latest = found.former_directory_id, found.directory_id
        if directory_id == latest:
            return None
        is_back = directory_id == former and now_ms - found.former_until_ms <= TURNS_MS_MAX
        found.former_directory_id, found.directory_id = latest, directory_id
        found.former_until_ms = now_ms
        return latest if is_back else None
