"""The files that config providers may read, and their content."""

from __future__ import annotations

import os
import re
from typing import Final

from kraftctl_protocol.file_errors import file_error
from kraftctl_security.config_providers.no_value import NoValueError
from kraftctl_security.small_files import read_small_file

FILE_BYTES_MAX: Final = 1024 * 1024
"""A secret of Kubernetes may have as many bytes."""

ABSOLUTE: Final = "/"

NEXT_STEP: Final = "Next step: check the path, and whether the user of this process may read it"


class AllowedPaths:
    """KIP-993: allowed.paths, as in Kafka absolute paths, with which others are compared as texts."""

    def __init__(self, key: str, value: str | None) -> None:
        """`key` is that of the parameter. Raises ValueError with the reason; None or empty allows all."""
        self._key = key
        self._allowed: list[str] | None = None
        if value:
            self._allowed = [_allowed_path(name) for name in _split_as_java(value)]

    def path(self, text: str) -> str:
        """Returns the path to read for the path in a variable; NoValueError if it is not allowed."""
        if "\0" in text:
            raise NoValueError("a path cannot contain the character NUL")
        path = java_path(text)
        if self._allowed is None:
            return path
        path = normalized(path)
        if not any(_is_within(path, allowed) for allowed in self._allowed):
            raise NoValueError(f"{self._key} does not allow {path}. Next step: add its directory there")
        return path


def java_path(text: str) -> str:
    """Returns the path as Java's Path shows it: without repeated slashes, and without one at the end."""
    path = re.sub("/+", "/", text)
    return path if path == "/" else path.removesuffix("/")


def normalized(path: str) -> str:
    """Normalizes as Java's Path.normalize does: `.` and `..` are removed from the text alone."""
    kept: list[str] = []
    is_absolute = path.startswith("/")
    for name in path.split("/"):
        if name in ("", "."):
            continue
        if name == ".." and kept and kept[-1] != "..":
            kept.pop()
        elif name != ".." or not is_absolute:
            kept.append(name)
    return ("/" if is_absolute else "") + "/".join(kept)


def read_text(path: str) -> str:
    """Returns the content of a regular file of UTF-8; NoValueError otherwise. A FIFO is not waited for."""
    try:
        return read_small_file(path, FILE_BYTES_MAX).decode("utf-8")
    except OSError as error:
        raise NoValueError(file_error("read", path, error).rstrip(".")) from None
    except UnicodeDecodeError:
        raise NoValueError(f"cannot read {path}: it is not UTF-8. {NEXT_STEP}") from None


def has_regular_file(directory: str, name: str) -> bool:
    """Returns whether it is listed in the directory; NoValueError if that cannot be listed."""
    try:
        return name in os.listdir(directory) and os.path.isfile(f"{directory}/{name}")
    except OSError as error:
        raise NoValueError(file_error("list", directory, error).rstrip(".")) from None


def _split_as_java(value: str) -> list[str]:
    """Splits as String.split does: empty parts at the end do not count, blanks do."""
    parts = value.split(",")
    while parts and not parts[-1]:
        parts.pop()
    return parts


def _allowed_path(name: str) -> str:
    if "\0" in name:
        raise ValueError("a path cannot contain the character NUL")
    path = normalized(java_path(name))
    if not path.startswith(ABSOLUTE):
        raise ValueError(f"Path {path} is not absolute")
    if not os.path.exists(path):
        raise ValueError(f"Path {path} does not exist")
    return path


def _is_within(path: str, allowed: str) -> bool:
    return path == allowed or path.startswith(allowed if allowed == "/" else f"{allowed}/")
