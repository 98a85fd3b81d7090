"""What a place for files promises: names have slashes; a file is there completely or not at all."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Protocol


class Store(Protocol):
    """A place for files. What cannot be done is an OSError that names the file."""

    def create(self, name: str, data: bytes) -> bool:
        """Creates a file, durable when this returns; returns False if one of that name exists.

        Of several that race for a name, exactly one gets True.
        """
        ...

    def put_file(self, name: str, source: Path) -> None:
        """Stores a local file under a name, durable when this returns, and replaces what was there.

        The source belongs to the store, and may be gone afterwards.
        """
        ...

    def put(self, name: str, data: bytes) -> None:
        """Writes a file, durable when this returns, and replaces what was there."""
        ...

    def read(self, name: str) -> bytes:
        """Returns the content; FileNotFoundError for a missing one."""
        ...

    def size(self, name: str) -> int | None:
        """Returns the size in bytes, None for a missing one."""
        ...

    def names(self, prefix: str, after: str = "") -> list[str]:
        """Returns the names below a directory, of all levels, sorted; only those that sort behind `after`.

        With an empty prefix, all of them. What is not completely written is not listed.
        """
        ...

    def delete(self, names: Iterable[str]) -> None:
        """Deletes files; it does not matter if some are missing."""
        ...

    def fetch_to(self, name: str, target: Path) -> None:
        """Writes the content to a local file; FileNotFoundError for a missing one."""
        ...
