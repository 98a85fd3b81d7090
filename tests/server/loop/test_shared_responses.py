"""Observers that stand at the same offset share one read and one encoding; each answer is its own."""

from __future__ import annotations

import pytest

from kraftctl.apis.api_table import API_TABLE
from kraftctl.raft.effects import Respond, RespondFetch
from kraftctl.server.loop.client_requests import ReceivedRequest
from kraftctl.server.loop.fetching_replica import is_served
from kraftctl.server.loop.long_responses import RECORDS_BYTES_MIN, encode_pieces
from kraftctl_protocol.api_keys import ApiKey
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.fetch_request import FetchRequest
from kraftctl_protocol.generated.fetch_response import (
    FetchableTopicResponse,
    FetchResponse,
    PartitionData,
)
from kraftctl_protocol.generated.request_header import RequestHeader
from kraftctl_protocol.message import Message
from kraftctl_protocol.requests import ParsedRequest
from kraftctl_protocol.shared_response import SharedResponse, encoded_once
from tests.server.executing import World

FETCH = API_TABLE[ApiKey.FETCH]
VERSIONS = range(FETCH.lowest, FETCH.highest + 1)
GONE = 2


def request(correlation_id: int, version: int = FETCH.highest) -> ReceivedRequest:
    header = RequestHeader(
        request_api_key=ApiKey.FETCH, request_api_version=version, correlation_id=correlation_id
    )
    return ReceivedRequest(FETCH, ParsedRequest(header, ApiKey.FETCH, version, FetchRequest()))


def response(records: bytes | None = None, error: Errors = Errors.NONE) -> FetchResponse:
    partition = PartitionData(error_code=error, high_watermark=7, records=records)
    return FetchResponse(responses=[FetchableTopicResponse(partitions=[partition])])


class Sending(World):
    """Answers are encoded as a connection does it; the request id is the correlation id."""

    def __init__(self, recent: bytes | None) -> None:
        super().__init__()
        self.sent: dict[int, bytes] = {}
        self.reads = 0
        self._recent = recent

    def awaits(self, request_id: int) -> bool:
        return request_id != GONE and request_id not in self.sent

    def read_recent(self, *wanted: int) -> bytes | None:  # type: ignore[override]
        self.reads += 1
        return self._recent

    def respond(self, request_id: int, response: Message | None) -> None:
        assert self.awaits(request_id)
        assert response is not None
        self.sent[request_id] = b"".join(encode_pieces(request(request_id), response))


@pytest.mark.parametrize("version", VERSIONS)
def test_each_answer_has_the_correlation_id_of_its_request(version: int) -> None:
    shared = SharedResponse(response(b"records"))
    for correlation_id in (7, -1, 8):
        one = request(correlation_id, version)
        assert one.encode_response(shared) == one.encode_response(response(b"records"))


def test_it_is_encoded_once_in_a_version() -> None:
    content = response(b"first")
    shared = SharedResponse(content)
    latest, older = request(1), request(1, FETCH.lowest)
    first = latest.encode_response(shared)
    content.throttle_time_ms = 77
    assert latest.encode_response(shared) == first
    assert older.encode_response(shared) == older.encode_response(content)


def test_what_was_encoded_before_the_append_is_sent() -> None:
    content = response(b"records")
    world = Sending(None)
    world.executor.execute(Respond(1, content, encoded_once(content, FETCH.highest)))
    content.throttle_time_ms = 77
    world.executor.execute(Respond(3, content))
    assert world.sent == {
        1: request(1).encode_response(response(b"records")),
        3: request(3).encode_response(content),
    }


@pytest.mark.parametrize("size_bytes", [0, 100, RECORDS_BYTES_MIN, 1 << 20])
def test_all_that_wait_are_answered_with_what_was_read_once(size_bytes: int) -> None:
    records = b"r" * size_bytes
    world = Sending(records)
    world.executor.execute(RespondFetch([1, GONE, 3, 4], response(), 100, 200, 1 << 20))
    assert world.reads == 1
    assert world.sent == {
        request_id: request(request_id).encode_response(response(records)) for request_id in (1, 3, 4)
    }


def test_what_is_read_from_a_file_is_read_for_each() -> None:
    """Each in its turn: addresses take turns, and answers that are not read yet are few."""
    world = Sending(None)
    world.executor.execute(RespondFetch([1, GONE, 3], response(), 100, 200, 1 << 20))
    world.run_all()
    assert world.sent == {
        request_id: request(request_id).encode_response(response(b"records")) for request_id in (1, 3)
    }
    assert len(world.calls) == 2


def test_nothing_is_read_for_clients_that_are_gone() -> None:
    world = Sending(b"records")
    world.executor.execute(RespondFetch([GONE], response(), 100, 200, 1 << 20))
    assert (world.reads, world.sent) == (0, {})


@pytest.mark.parametrize("error", [Errors.NONE, Errors.NOT_LEADER_OR_FOLLOWER])
def test_a_shared_answer_is_served_if_the_response_is(error: Errors) -> None:
    """As for any other, the connection of a voter's id is noted."""
    assert is_served(SharedResponse(response(error=error))) is (error == Errors.NONE)
