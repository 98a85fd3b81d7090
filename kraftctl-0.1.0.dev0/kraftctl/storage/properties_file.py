"""Reads a .properties file, such as server.properties or meta.properties."""

from __future__ import annotations

from pathlib import Path

from kraftctl.storage.errors import StorageError
from kraftctl_protocol.file_errors import file_error
from kraftctl_protocol.java_properties import PropertiesError, decode_properties
from kraftctl_security.small_files import read_once

NAMED_BY = "the name of the properties file"


def read_properties(path: Path) -> dict[str, str]:
    """Returns the properties in the file `path`. A later line wins over an earlier one with the same key.

    Raises StorageError when the file cannot be read, and PropertiesError when it cannot be parsed.
    """
    try:
        properties = find_properties(path)
    except OSError as error:
        raise StorageError(file_error("read", path, error, named_by=NAMED_BY)) from error
    if properties is None:
        raise StorageError(f"there is no file {path}. Next step: name the properties file")
    return properties


def find_properties(path: Path) -> dict[str, str] | None:
    """Returns the same, None without such a file. Raises OSError or PropertiesError."""
    try:
        data = read_once(path)
    except FileNotFoundError:
        return None
    try:
        return decode_properties(data)
    except PropertiesError as error:
        raise PropertiesError(f"{path}: {error}") from error
