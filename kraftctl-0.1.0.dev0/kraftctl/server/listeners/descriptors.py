"""File descriptors: the number of connections that the limit of open files (`ulimit -n`) allows.

Without a descriptor, storage cannot write a vote, a snapshot or the next segment, and the process has to
end. So connections get what storage and the requests to other controllers do not need.
"""

from __future__ import annotations

import logging
import os
import resource
from pathlib import Path
from typing import Final

from kraftctl_security.config_values import INT_MAX

logger = logging.getLogger("kraftctl.server.connections")

RESERVED_DESCRIPTORS: Final = 64
"""The descriptors for storage and for other controllers, beyond those that are open when the listeners open.

Quorum-state, recovery point, checkpoints and their directory need two each while they are written, a new
segment three, a snapshot one while it is written, fetched or read. Other controllers are reached by two
connections each, and resolving a name takes a few. That is about 40 with five controllers, and 56 while
each connection is raced over three addresses of a name."""

CONNECTIONS_MIN: Final = 16
"""This many are always served: a quorum of five and its brokers need more, but an admin can still connect."""

OPEN_DESCRIPTORS: Final = Path("/dev/fd")


def raise_limit() -> None:
    """Raises the limit of open files to the hard limit, as a JVM does."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == hard:
        return
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    except (OSError, ValueError) as error:
        logger.warning("Cannot raise the limit of open files from %d to %d: %s", soft, hard, error)


def open_files_limit() -> int:
    """Returns the limit that is in force."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return INT_MAX if soft == resource.RLIM_INFINITY else soft


def connections_max(limit: int, other_count: int, pending_max: int) -> int:
    """Returns how many connections `limit` allows beside `other_count` other open descriptors.

    `pending_max` connections may be accepted beyond it, until they are counted.
    """
    return max(CONNECTIONS_MIN, limit - other_count - RESERVED_DESCRIPTORS - pending_max)


def open_count() -> int:
    """Returns the number of open descriptors of this process."""
    return len(os.listdir(OPEN_DESCRIPTORS)) - 1
