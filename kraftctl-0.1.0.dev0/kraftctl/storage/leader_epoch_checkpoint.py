"""The `leader-epoch-checkpoint` file: which epoch starts at which offset (KIP-101, KIP-595).

Text: a version line `0`, the number of entries, then `<epoch> <start offset>` per line, both rising.
Recovery derives the same list from the batches and compares; Java reads the file first.
"""

from __future__ import annotations

from pathlib import Path

from kraftctl.storage.durable_files import replace_file
from kraftctl.storage.errors import StorageError, cannot, shortened

FILE_NAME = "leader-epoch-checkpoint"


def write_leader_epochs(directory: Path, epochs: list[tuple[int, int]]) -> None:
    """Replaces the file; raises StorageError."""
    lines = ["0", str(len(epochs))] + [f"{epoch} {start_offset}" for epoch, start_offset in epochs]
    replace_file(directory / FILE_NAME, ("\n".join(lines) + "\n").encode())


def read_leader_epochs(directory: Path) -> list[tuple[int, int]] | None:
    """Returns (epoch, start offset) pairs, None when there is no file. Raises StorageError."""
    path = directory / FILE_NAME
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        version, count = int(lines[0]), int(lines[1])
        entries = [line.split() for line in lines[2:]]
        epochs = [(int(epoch), int(start_offset)) for epoch, start_offset in entries]
    except FileNotFoundError:
        return None
    except OSError as unreadable:
        raise cannot("read", path, unreadable) from unreadable
    except IndexError as short:
        raise _malformed(path, "it has no version and number of entries") from short
    except ValueError as error:
        raise _malformed(path, str(error)) from error
    if version != 0:
        raise _malformed(path, f"version {version} is not supported, 0 is")
    if count != len(epochs) or epochs != sorted(set(epochs)):
        raise _malformed(path, f"{count} rising entries were announced, found {epochs}")
    return epochs


def _malformed(path: Path, reason: str) -> StorageError:
    return StorageError(
        f"{path} is malformed: {shortened(reason)}. Next step: move the file to another place; it is"
        " rebuilt from the log at start."
    )
