"""The connections over which voters fetch: of those whose answers are not read, they are closed last.

A voter whose connection is closed fetches later, and commits wait for it. Without an authorizer any client
can say that it is a voter, so each voter has one such connection: the one that fetched last.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final, Generic, TypeVar

from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.fetch_request import FetchRequest
from kraftctl_protocol.generated.fetch_response import FetchResponse
from kraftctl_protocol.generated.fetch_snapshot_request import FetchSnapshotRequest
from kraftctl_protocol.generated.fetch_snapshot_response import FetchSnapshotResponse
from kraftctl_protocol.message import Message
from kraftctl_protocol.shared_response import unshared

NO_REPLICA: Final = -1

H = TypeVar("H")


class VoterConnections(Generic[H]):
    """At most one per voter."""

    def __init__(self) -> None:
        self._by_voter: dict[int, H] = {}

    def note(self, voter_id: int, connection: H) -> None:
        """A Fetch of this voter is answered over `connection`."""
        self._by_voter[voter_id] = connection

    def forget(self, connection: H) -> None:
        """It is gone."""
        for voter_id in [each for each, held in self._by_voter.items() if held is connection]:
            del self._by_voter[voter_id]

    def connections(self) -> Collection[H]:
        return self._by_voter.values()


def fetching_replica(request: Message) -> int:
    """The replica id in a Fetch, which has it in one of two places, or FetchSnapshot; else NO_REPLICA."""
    if isinstance(request, FetchRequest):
        return max(request.replica_id, request.replica_state.replica_id)
    if isinstance(request, FetchSnapshotRequest):
        return request.replica_id
    return NO_REPLICA


def is_served(response: Message) -> bool:
    """Whether an answer to Fetch or FetchSnapshot has no error: the right on the cluster was there."""
    response = unshared(response)
    if isinstance(response, FetchResponse):
        partitions = [partition for topic in response.responses for partition in topic.partitions]
        codes = [partition.error_code for partition in partitions]
    elif isinstance(response, FetchSnapshotResponse):
        codes = [partition.error_code for topic in response.topics for partition in topic.partitions]
    else:
        return False
    return response.error_code == Errors.NONE and codes == [Errors.NONE]
