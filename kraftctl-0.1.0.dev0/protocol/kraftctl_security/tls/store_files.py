"""Detects changes in the files of keystores and truststores without reading them."""

from __future__ import annotations

import os
from typing import TypeAlias

from kraftctl_security.small_files import mode_against_others
from kraftctl_security.tls.ssl_config import SslConfig

FileState: TypeAlias = tuple[int, int, int, int] | None
"""Device, inode, size in bytes and time of change in ns of a link's target; None without a file.

A replaced file has another inode, also behind the links of a Kubernetes secret."""


def store_states(config: SslConfig) -> list[FileState]:
    """Returns the states of keystore and truststore, as far as they are files."""
    stores = (config.keystore, config.truststore)
    return [_state(each.location) for each in stores if each is not None and each.location is not None]


def readable_keystore(config: SslConfig) -> tuple[str, str] | None:
    """Returns the file and the mode that chmod needs, if other accounts may use its private key.

    A password does not help for long against who has the file.
    """
    location = None if config.keystore is None else config.keystore.location
    if location is None:
        return None
    try:
        mode = mode_against_others(os.stat(location))
    except OSError:
        return None
    return None if mode is None else (location, mode)


def _state(location: str) -> FileState:
    try:
        found = os.stat(location)
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
