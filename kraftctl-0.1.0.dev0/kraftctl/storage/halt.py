"""The file `metadata-halted`: this replica has stopped, because its leader lacks committed records.

Its log may be the last one that has these records. A supervisor starts it again within seconds; so the halt
is on the disk, and each start ends immediately and says since when and why, until an operator runs
`kraftctl end-halt`. Neither Kafka nor an earlier release knows the file, and both leave it where it is.
"""

from __future__ import annotations

import datetime
from pathlib import Path

from kraftctl.storage.directory_entries import exists, names_in, remove, rename
from kraftctl.storage.durable_files import fsync_directory, replace_file
from kraftctl.storage.errors import StorageError, cannot
from kraftctl.storage.metadata_evidence import shows_partition
from kraftctl_protocol.uuids import uuid_to_string

FILE_NAME = "metadata-halted"

GIVEN_UP = "given-up-log-"
"""The beginning of the name of a log that an operator has given up to end a halt."""

UNKNOWN_TIME = "an unknown time"
UNREADABLE_REASON = (
    "the file has no reason that can be read. Next step: look for a line of that time in the log of this"
    " controller, then kraftctl end-halt --help"
)


class HaltedError(StorageError):
    """The replica must not run before an operator has decided; the text says since when and why."""


class HaltFile:
    """The file in `log_dir`, of the replica `directory_id`."""

    def __init__(self, log_dir: Path, directory_id: bytes) -> None:
        self.path = log_dir / FILE_NAME
        self._log_dir = log_dir
        self._directory_id = uuid_to_string(directory_id)

    def write(self, reason: str, wall_ms: int) -> HaltedError:
        """Writes it durably, and returns the error that ends the process: in any case."""
        since = _time_text(wall_ms)
        content = f"version=1\nsince={since}\ndirectory.id={self._directory_id}\nreason={reason}\n"
        try:
            replace_file(self.path, content.encode(errors="backslashreplace"))
        except StorageError as not_written:
            return HaltedError(
                f"This controller halts: {reason} The halt could not be written down: {not_written} Do not"
                " let it start again before you have decided."
            )
        return HaltedError(f"This controller halts, and each start will end here ({self.path}): {reason}")

    def refuse(self) -> list[str]:
        """Raises HaltedError while the file is there; returns a line if it has put one aside.

        One of another replica does not count once its log is gone, too: the directory was formatted again. It
        is renamed, or it would count once this replica has a log.
        """
        if not exists(self.path):
            return []
        try:
            content = self.path.read_bytes().decode(errors="backslashreplace")
        except OSError as error:
            raise cannot("read", self.path, error, "This controller has halted.") from error
        owner = _value(content, "directory.id")
        if owner not in ("", self._directory_id) and not shows_partition(self._log_dir):
            former = self.path.with_name(f"{FILE_NAME}.former")
            rename(self.path, former)
            fsync_directory(self._log_dir)
            return [f"{self.path} is of an earlier replica, directory.id {owner}: renamed to {former.name}"]
        raise HaltedError(
            f"This controller has halted since {_value(content, 'since') or UNKNOWN_TIME} ({self.path}):"
            f" {_value(content, 'reason') or UNREADABLE_REASON}"
        )

    def remove(self) -> None:
        """Ends the halt, durably. Raises StorageError."""
        remove(self.path)
        fsync_directory(self._log_dir)


def has_given_up(log_dir: Path) -> bool:
    """Returns whether the directory still has a log that was given up. Raises StorageError."""
    return any(name.startswith(GIVEN_UP) for name in names_in(log_dir))


def _value(content: str, key: str) -> str:
    found = [line.partition("=")[2].strip() for line in content.splitlines() if line.startswith(f"{key}=")]
    return found[0] if found else ""


def _time_text(wall_ms: int) -> str:
    moment = datetime.datetime.fromtimestamp(wall_ms / 1000, datetime.UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
