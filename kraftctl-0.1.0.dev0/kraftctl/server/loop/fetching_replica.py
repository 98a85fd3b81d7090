"""A Fetch or FetchSnapshot names the replica that fetches, and its response says whether that was served."""

from __future__ import annotations

from typing import Final

from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.fetch_request import FetchRequest
from kraftctl_protocol.generated.fetch_response import FetchResponse
from kraftctl_protocol.generated.fetch_snapshot_request import FetchSnapshotRequest
from kraftctl_protocol.generated.fetch_snapshot_response import FetchSnapshotResponse
from kraftctl_protocol.message import Message
from kraftctl_protocol.shared_response import unshared

NO_REPLICA: Final = -1


def fetching_replica(request: Message) -> int:
    """The replica id in a Fetch, which has it in one of two places, or FetchSnapshot; else NO_REPLICA."""
    if isinstance(request, FetchRequest):
        return max(request.replica_id, request.replica_state.replica_id)
    if isinstance(request, FetchSnapshotRequest):
        return request.replica_id
    return NO_REPLICA


def is_served(response: Message) -> bool:
    """Whether a response to Fetch or FetchSnapshot has no error: the right on the cluster was there."""
    response = unshared(response)
    if isinstance(response, FetchResponse):
        partitions = [partition for topic in response.responses for partition in topic.partitions]
        codes = [partition.error_code for partition in partitions]
    elif isinstance(response, FetchSnapshotResponse):
        codes = [partition.error_code for topic in response.topics for partition in topic.partitions]
    else:
        return False
    return response.error_code == Errors.NONE and codes == [Errors.NONE]
