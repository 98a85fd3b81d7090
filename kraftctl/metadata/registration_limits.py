"""The limits of a registration: its record is in the memory of every node, and in every snapshot.

Kafka has no such limits, except that a string of a record has at most 32,767 bytes. These are far above what
nodes have, and a registration within them has less than 128 KiB.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final

from kraftctl_protocol.java_values import trim
from kraftctl_protocol.peer_limits import HOST_BYTES_MAX

LISTENERS_MAX: Final = 64
"""The number of listeners of one node."""

FEATURES_MAX: Final = 256
"""The number of features of one node; Kafka 4.3 has seven."""

DIRECTORIES_MAX: Final = 1_000
"""The number of directories of one broker, one for each of its disks."""

NAME_BYTES_MAX: Final = 249
"""The name of a listener or a feature may be as long as that of a topic."""

SECURITY_PROTOCOLS: Final = (0, 1, 2, 3)
"""Kafka's ids of PLAINTEXT, SSL, SASL_PLAINTEXT and SASL_SSL."""

RACK_BYTES_MAX: Final = 1_024
"""Operators choose the names of racks; some put a path in them."""


def why_listeners_too_large(listeners: Collection[tuple[str, str]]) -> str | None:
    """Returns why a node may not have these listeners, pairs of name and host; None if it may."""
    if len(listeners) > LISTENERS_MAX:
        return f"{len(listeners)} listeners are more than {LISTENERS_MAX}"
    for name, host in listeners:
        if _is_longer(name, NAME_BYTES_MAX):
            return f"the name of a listener is longer than {NAME_BYTES_MAX} bytes"
        if _is_longer(host, HOST_BYTES_MAX):
            return f"the host of a listener is longer than {HOST_BYTES_MAX} bytes"
    return None


def why_listener_unusable(*, name: str, host: str, port: int, security_protocol: int) -> str | None:
    """Returns why other nodes cannot read the registration of this listener; None if they can.

    Kafka's controller resigns or ends when it registers one without name, host, port or a known protocol.
    """
    if not name:
        return "a listener has no name"
    if not trim(host):
        return f"listener {name} has no host"
    if port == 0:
        return f"listener {name} has port 0"
    if security_protocol not in SECURITY_PROTOCOLS:
        return f"listener {name} has an unknown security protocol, {security_protocol}"
    return None


def why_features_too_large(count: int, names: Iterable[str]) -> str | None:
    """Returns why a node may not have features of these names; None if it may."""
    if count > FEATURES_MAX:
        return f"{count} features are more than {FEATURES_MAX}"
    if any(_is_longer(name, NAME_BYTES_MAX) for name in names):
        return f"the name of a feature is longer than {NAME_BYTES_MAX} bytes"
    return None


def why_rack_too_long(rack: str | None) -> str | None:
    """Returns why a broker may not be in this rack; None if it may."""
    if rack is None or not _is_longer(rack, RACK_BYTES_MAX):
        return None
    return f"the name of the rack is longer than {RACK_BYTES_MAX} bytes"


def why_directories_too_many(count: int) -> str | None:
    """Returns None if a broker may have that many log directories."""
    return None if count <= DIRECTORIES_MAX else f"{count} log directories are more than {DIRECTORIES_MAX}"


def _is_longer(text: str, bytes_max: int) -> bool:
    return len(text) > bytes_max or len(text.encode()) > bytes_max
