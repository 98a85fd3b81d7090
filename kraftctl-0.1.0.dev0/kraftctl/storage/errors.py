"""The errors of storage when a file cannot be trusted, read or written."""

from __future__ import annotations

from kraftctl.storage.replacing_a_replica import REPLACE_THIS_REPLICA
from kraftctl_protocol.control_record import NewerReleaseError
from kraftctl_protocol.file_errors import file_error

FOUND_CHARACTERS_MAX = 200
"""An error quotes at most this much of a file's content: it is one line for an operator."""


def shortened(found: str) -> str:
    """Returns what was found in a file, cut where it becomes unreadable."""
    return found if len(found) <= FOUND_CHARACTERS_MAX else f"{found[:FOUND_CHARACTERS_MAX]}..."


class StorageError(Exception):
    """The directory cannot be used as it is; the text names the file, what is wrong and what to do next."""


def of_newer_release(where: str, error: NewerReleaseError) -> StorageError:
    """Returns an error to raise `from error`. `where` is the file, and the place in it."""
    return StorageError(
        f"{where}: {error}: a newer release wrote it. Next step: start a controller of that release on this"
        " directory instead."
    )


def cannot(action: str, path: object, error: OSError, note: str = "") -> StorageError:
    """Returns an error to raise `from error`. `action` is a verb, `note` whole sentences about the
    consequences.
    """
    return StorageError(file_error(action, path, error, note=note))


class CorruptLogError(StorageError):
    """Bytes in the middle of the metadata log are not what was written.

    `position` is the byte in `file` where the damage begins, `offset` the first record offset that is lost.
    """

    def __init__(self, file: str, position: int, offset: int, reason: str) -> None:
        super().__init__(
            f"{file} is corrupt at byte {position} (record offset {offset}): {reason}. It is no torn"
            " write at the log's end, so cutting the file here could drop committed metadata."
            f" {REPLACE_THIS_REPLICA}"
        )
        self.file = file
        self.position = position
        self.offset = offset
        self.reason = reason
