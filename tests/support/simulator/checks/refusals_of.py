"""The refusals in a response, each with what it refuses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from kraftctl_protocol.generated.alter_partition_reassignments_response import (
    AlterPartitionReassignmentsResponse,
)
from kraftctl_protocol.generated.alter_partition_response import AlterPartitionResponse
from kraftctl_protocol.generated.elect_leaders_response import ElectLeadersResponse
from kraftctl_protocol.message import Message

LISTS = ("topics", "responses", "results", "entries", "filter_results", "directories")
"""Fields of responses that have an entry, with an error code, for each part of the request."""

NAMES = ("name", "topic_id", "user", "resource_name", "resource_type", "feature")


def refusals_of(request: Message, response: Message) -> Iterator[tuple[int, Any]]:
    """Codes; with None for all of the request, (topic, partition), or the part of the request itself."""
    code = getattr(response, "error_code", 0)
    if code:
        yield code, None
        return
    if isinstance(response, AlterPartitionResponse):
        yield from _of_partitions(response.topics)
    elif isinstance(response, AlterPartitionReassignmentsResponse):
        yield from _of_partitions(response.responses)
    elif isinstance(response, ElectLeadersResponse):
        for topic in response.replica_election_results:
            for result in topic.partition_result:
                if result.error_code:
                    yield result.error_code, (topic.topic, result.partition_id)
    else:
        parts = Parts(request)
        for name in LISTS:
            for entry in getattr(response, name, ()):
                if getattr(entry, "error_code", 0):
                    yield entry.error_code, parts.of(entry)


def _of_partitions(topics: Iterable[Any]) -> Iterator[tuple[int, tuple[Any, int]]]:
    for topic in topics:
        names = (getattr(topic, field, "") for field in ("name", "topic_name", "topic_id"))
        name = next((one for one in names if one), "")
        for partition in topic.partitions:
            if partition.error_code:
                yield partition.error_code, (name, partition.partition_index)


class Parts:
    """The parts of a request by their names; there may be thousands, and as many entries of the response."""

    def __init__(self, request: Message) -> None:
        lists = [getattr(request, field.name) for field in request.FIELDS]
        self._all = [part for listed in lists if isinstance(listed, list) for part in listed]
        self._by_names: dict[tuple[str, ...], dict[tuple[Any, ...], Any]] = {}

    def of(self, entry: Any) -> Any:
        """The part that has the same names as the entry; the entry itself if there is none."""
        names = tuple(name for name in NAMES if getattr(entry, name, None) not in (None, "", bytes(16)))
        if not names:
            return entry
        if names not in self._by_names:
            self._by_names[names] = {_values(part, names): part for part in reversed(self._all)}
        return self._by_names[names].get(_values(entry, names), entry)


def _values(part: Any, names: tuple[str, ...]) -> tuple[Any, ...]:
    return tuple(getattr(part, name, None) for name in names)
