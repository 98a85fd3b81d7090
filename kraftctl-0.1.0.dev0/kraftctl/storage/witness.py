"""A file in __cluster_metadata-0 that shows that no other controller has opened the log since kraftctl did.

Every release of Kafka's controller, before it reads the log and so before it votes, deletes all files there
whose names end in `.deleted` (LogLoader.removeTempFilesAndCollectSwapFiles); so do releases of kraftctl
that do not know this one. A bare vote of Kafka's leaves no other trace once quorum-state is deleted. What
Kafka's controller deletes here cannot come back after a power failure either: it forces this directory to the
disk before it answers with a vote (docs/adr/0006).

The content is the same for as long as the replica lives: no time and no inode, which a copy would change.
"""

from __future__ import annotations

import re
from pathlib import Path

from kraftctl.storage.durable_files import replace_file
from kraftctl.storage.errors import cannot
from kraftctl_protocol.uuids import uuid_to_string

FILE_NAME = "last-opened-by-kraftctl.deleted"


class Witness:
    """Belongs to the replica with this directory id, and lies in the `directory` of its log."""

    def __init__(self, directory: Path, directory_id: bytes) -> None:
        self.path = directory / FILE_NAME
        self._content = (
            f"directory.id={uuid_to_string(directory_id)}\n"
            "kraftctl was the last controller that opened this log. Kafka's controller deletes this file.\n"
        ).encode()

    def is_there(self) -> bool:
        """Returns whether only kraftctl has opened the log since `leave`. Raises StorageError."""
        return self._read() == self._content

    def former_id(self) -> str | None:
        """Returns the directory id of another replica, if one left the file: the log is a copy of its log,
        or meta.properties has another directory.id than it had. Raises StorageError.
        """
        found = re.match(rb"directory\.id=([\w-]{22})\n", self._read())
        return None if found is None or self._content.startswith(found.group(0)) else found.group(1).decode()

    def _read(self) -> bytes:
        try:
            return self.path.read_bytes()
        except FileNotFoundError:
            return b""
        except OSError as error:
            raise cannot("read", self.path, error) from error

    def leave(self) -> None:
        """Leaves the file, durably. The recovery point is current already, and is kept current. Raises
        StorageError.
        """
        if not self.is_there():
            replace_file(self.path, self._content)
