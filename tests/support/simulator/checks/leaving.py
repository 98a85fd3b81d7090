"""What a controller has begun to take out of ISRs, in slices: the log says so only in the end."""

from __future__ import annotations

from typing import Any, NamedTuple


class Leaving(NamedTuple):
    """Ids of brokers, and of directories. To requests in between, these brokers count as fenced already."""

    brokers: frozenset[int]
    directories: frozenset[bytes]

    def union(self, other: Leaving) -> Leaving:
        return Leaving(self.brokers | other.brokers, self.directories | other.directories)


NOTHING_LEAVES = Leaving(frozenset(), frozenset())


def leaving_of(controller: Any) -> Leaving:
    """At present. Scripted controllers have no such work."""
    state = getattr(controller, "state", None)
    if state is None:
        return NOTHING_LEAVES
    found = state.heartbeats.leaving
    return Leaving(frozenset(found._epochs), frozenset(found._directories))
