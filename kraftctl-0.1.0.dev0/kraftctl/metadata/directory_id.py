"""KIP-858: log directory ids, and which of them count as online."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from kraftctl_protocol.uuids import Uuid

MIGRATING: Final[bytes] = bytes(16)
"""The replica's directory is unknown because its record predates directory assignment."""

UNASSIGNED: Final[bytes] = bytes(15) + b"\x01"
"""The broker has several directories and has not chosen one yet."""

LOST: Final[bytes] = bytes(15) + b"\x02"
"""The directory is known to be gone."""

RESERVED_COUNT: Final = 100
"""The ids 0 to 99 never name a real directory."""

_RESERVED_PREFIX: Final[bytes] = bytes(15)


def is_reserved(directory_id: Uuid) -> bool:
    """Returns True for ids that never name a real directory."""
    return directory_id[:15] == _RESERVED_PREFIX and directory_id[15] < RESERVED_COUNT


def is_online(directory_id: Uuid, online_directories: Sequence[Uuid]) -> bool:
    """Returns whether a replica in `directory_id` can serve, given what its broker registered.

    A broker that registered no directories predates KIP-858: everything it has counts as online.
    """
    if directory_id == UNASSIGNED or directory_id == MIGRATING:
        return True
    if directory_id == LOST:
        return False
    return len(online_directories) == 0 or directory_id in online_directories


def default_directory(online_directories: Sequence[Uuid] | None) -> Uuid:
    """Returns the directory of a new replica on a broker; None means the broker is not registered."""
    if online_directories is None:
        return UNASSIGNED
    if len(online_directories) == 0:
        return MIGRATING
    if len(online_directories) == 1:
        return online_directories[0]
    return UNASSIGNED
