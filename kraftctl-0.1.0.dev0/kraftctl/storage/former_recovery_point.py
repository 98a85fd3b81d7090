"""The file `metadata-recovery-point.former`: what the recovery point said of a log before it was found gone.

With it, and with the log as it was moved away, the replica votes. The recovery point that takes its place
says that the log is lost, whatever is in the directory later (docs/operations/lost-disk.md).
"""

from __future__ import annotations

from pathlib import Path

from kraftctl.storage.durable_files import replace_file
from kraftctl.storage.errors import cannot


def keep_former(path: Path) -> None:
    """Copies the recovery point `path`, durably, before it is replaced. Raises StorageError."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise cannot("read", path, error) from error
    replace_file(path.with_name(f"{path.name}.former"), content)
