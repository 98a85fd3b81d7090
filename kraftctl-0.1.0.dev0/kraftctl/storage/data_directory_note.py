"""The `metadata-log-dir` file names the directory of the metadata log in the other directories of a node.

Only a directory that is still in log.dirs can be checked. This note, which each start keeps current,
remembers the one that was removed from the list. A note without a version is of an earlier release.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final, NamedTuple

from kraftctl.storage.durable_files import replace_file
from kraftctl.storage.errors import StorageError, cannot, shortened
from kraftctl.storage.properties_file import find_properties
from kraftctl_protocol.java_properties import PropertiesError, format_properties
from kraftctl_protocol.uuids import uuid_from_string, uuid_to_string

FILE_NAME: Final = "metadata-log-dir"
VERSION: Final = "1"
COMMENT: Final = "The metadata log of this node was here when it last started."


class DamagedNoteError(StorageError):
    """The note says nothing that any release could use, so that a start replaces it."""


class DataDirectoryNote(NamedTuple):
    """The directory with the metadata log as the configuration named it, and its id."""

    path: Path
    metadata_log_dir: str
    directory_id: bytes


def read_data_directory_note(log_dir: Path) -> DataDirectoryNote | None:
    """Returns None without a note. Raises StorageError when it cannot be read."""
    path = log_dir / FILE_NAME
    try:
        properties = find_properties(path)
        if properties is None:
            return None
        version = properties.get("version", VERSION)
        if version != VERSION:
            raise StorageError(_unusable(path, f"it is of version {version}, {VERSION} is supported"))
        directory_id = uuid_from_string(properties["directory.id"])
        return DataDirectoryNote(path, properties["metadata.log.dir"], directory_id)
    except OSError as error:
        raise cannot("read", path, error) from error
    except (PropertiesError, KeyError, ValueError) as damage:
        raise DamagedNoteError(_unusable(path, str(damage))) from damage


def _unusable(path: Path, reason: str) -> str:
    return (
        f"{path} cannot be used: {shortened(reason)}. It names the directory that held the metadata log of"
        " this node. Next step: see that metadata.log.dir is that directory, and that its file system is"
        " mounted; if its disk is lost, docs/operations/lost-disk.md says what to do."
    )


def write_data_directory_note(log_dir: Path, metadata_log_dir: Path, directory_id: bytes) -> None:
    """Writes the note durably, unless it is current already. Raises StorageError, also when there is one
    that another release may be able to use: it stays as it is.
    """
    try:
        note = read_data_directory_note(log_dir)
    except DamagedNoteError:
        note = None
    name = str(metadata_log_dir.absolute())
    if note is None or (note.metadata_log_dir, note.directory_id) != (name, directory_id):
        content = {"version": VERSION, "metadata.log.dir": name, "directory.id": uuid_to_string(directory_id)}
        replace_file(log_dir / FILE_NAME, format_properties(content, [COMMENT]).encode())
