"""Reads a .properties file, such as server.properties or meta.properties."""

from __future__ import annotations

from pathlib import Path

from kraftctl_protocol.java_properties import PropertiesError, decode_properties
from kraftctl_security.small_files import read_once


def read_properties(path: Path) -> dict[str, str]:
    """The properties in the file `path`. A later line wins over an earlier one with the same key.

    Raises OSError when the file cannot be read, with a next step if it does not exist, and PropertiesError
    when it cannot be parsed.
    """
    try:
        data = read_once(path)
    except FileNotFoundError as error:
        raise FileNotFoundError(f"there is no file {path}. Next step: name the properties file") from error
    try:
        return decode_properties(data)
    except PropertiesError as error:
        raise PropertiesError(f"{path}: {error}") from error
