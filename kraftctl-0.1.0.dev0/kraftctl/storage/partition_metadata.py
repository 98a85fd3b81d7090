"""The `partition.metadata` file marks a directory of the metadata topic (KIP-516)."""

from __future__ import annotations

from pathlib import Path

from kraftctl.storage.durable_files import replace_file
from kraftctl.storage.errors import StorageError, cannot, shortened
from kraftctl_protocol.uuids import ONE_UUID, uuid_to_string

FILE_NAME = "partition.metadata"


def ensure_partition_metadata(directory: Path) -> None:
    """Creates the file, or checks that the one there names the metadata topic. Raises StorageError."""
    path = directory / FILE_NAME
    topic_id = uuid_to_string(ONE_UUID)
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        replace_file(path, f"version: 0\ntopic_id: {topic_id}".encode())
        return
    except OSError as error:
        raise cannot("read", path, error) from error
    fields = dict(line.split(": ", 1) for line in text.splitlines() if ": " in line)
    if fields.get("version") != "0" or fields.get("topic_id") != topic_id:
        raise StorageError(
            f"{path} does not name the metadata topic (version 0, topic id {topic_id}) but says"
            f" {shortened(repr(text))}."
            " Next step: check that metadata.log.dir points at the right directory."
        )
