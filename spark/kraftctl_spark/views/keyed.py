"""State that one record sets or removes as a whole under a key: the versions have it as it is shown."""

from __future__ import annotations

from collections.abc import Callable

from kraftctl_spark.history.versions.kinds import (
    BROKERS,
    CONFIGS,
    KINDS,
    PARTITIONS,
    QUORUM,
    TOPICS,
    Kind,
)
from kraftctl_spark.views.log import LogHistory


def _state(kind: Kind) -> Callable[[LogHistory], str]:
    columns = ", ".join((*kind.key, *kind.values))
    return lambda log: f"SELECT {columns} FROM {log.versions(kind)}"


_BY_HAND = (TOPICS, PARTITIONS, BROKERS, CONFIGS, QUORUM)
"""The kinds with a view of their own. That of the quorum shows its changes: the leader is not metadata."""

KEYED = {kind.name: _state(kind) for kind in KINDS if kind not in _BY_HAND}
"""The views by name."""
