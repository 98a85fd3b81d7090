"""The connections over which voters fetch: of those whose answers are not read, they are closed last.

A voter whose connection is closed fetches later, and commits wait for it. Without an authorizer any client
can say that it is a voter, so each voter has one such connection: the one that fetched last.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Generic, TypeVar

H = TypeVar("H")


class VoterConnections(Generic[H]):
    """At most one per voter."""

    def __init__(self) -> None:
        self._by_voter: dict[int, H] = {}

    def note(self, voter_id: int, connection: H) -> None:
        """A Fetch of this voter is answered over `connection`."""
        self._by_voter[voter_id] = connection

    def forget(self, connection: H) -> None:
        """Removes a connection that is closed."""
        for voter_id in [each for each, held in self._by_voter.items() if held is connection]:
            del self._by_voter[voter_id]

    def connections(self) -> Collection[H]:
        return self._by_voter.values()
