"""Controllers that answer this one with any bytes: the connection ends, and nothing large is received."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from kraftctl.raft.events import ResponseReceived
from kraftctl_protocol.generated.api_versions_request import ApiVersionsRequest
from kraftctl_protocol.generated.api_versions_response import ApiVersion, ApiVersionsResponse
from kraftctl_protocol.generated.fetch_request import FetchRequest
from kraftctl_protocol.generated.fetch_response import FetchableTopicResponse, FetchResponse, PartitionData
from kraftctl_protocol.generated.vote_request import VoteRequest
from kraftctl_protocol.generated.vote_response import VoteResponse
from kraftctl_protocol.message import Message
from kraftctl_protocol.peer_limits import BATCH_BYTES_MAX, RESPONSE_BYTES_MAX
from kraftctl_protocol.requests import ParsedRequest
from tests.server.peers.test_peers import LONG_MS, Asker, vote
from tests.server.serving import both_loops
from tests.support.wire.hostile_node import HostileNode, Reply, framed

FETCH = FetchRequest(max_bytes=1000)
RECEIVED_BYTES_MAX = 16 * 1024 * 1024
"""What the buffers of both sockets take in, of a response that is not read."""

Hostile = Callable[[ParsedRequest], Reply]


def of_size(size_bytes: int) -> Hostile:
    def reply(request: ParsedRequest) -> Iterator[bytes]:
        yield size_bytes.to_bytes(4, "big", signed=True)
        for _ in range(max(0, size_bytes) >> 16):
            yield bytes(1 << 16)

    return reply


def with_records(size_bytes: int) -> Hostile:
    def reply(request: ParsedRequest) -> Message:
        partition = PartitionData(records=bytes(size_bytes))
        return FetchResponse(responses=[FetchableTopicResponse(partitions=[partition])])

    return reply


def to_another_request(request: ParsedRequest) -> bytes:
    return framed(request, VoteResponse(), late=1)


def bytes_behind(request: ParsedRequest) -> bytes:
    return framed(request, VoteResponse(), added=bytes(8))


def topics_without_end(request: ParsedRequest) -> bytes:
    body = request.header.correlation_id.to_bytes(4, "big") + b"\0\0\0\xff\xff\xff\xff\x07"
    return len(body).to_bytes(4, "big") + body


def versions_without_end(request: ParsedRequest) -> Reply:
    if isinstance(request.body, ApiVersionsRequest):
        return ApiVersionsResponse(api_keys=[ApiVersion(api_key=1)] * 200_000)
    return VoteResponse()


LARGEST = RESPONSE_BYTES_MAX + BATCH_BYTES_MAX + FETCH.max_bytes

KINDS = [
    pytest.param(vote(pre_vote=True), of_size(31_000_000), "may have 1048576", id="31-MB-to-a-vote"),
    pytest.param(FETCH, of_size(31_000_000), f"may have {LARGEST}", id="31-MB-to-a-fetch"),
    pytest.param(FETCH, of_size((1 << 31) - 1), f"may have {LARGEST}", id="2-GB"),
    pytest.param(FETCH, of_size(-1), "a response of -1 bytes to FetchRequest", id="a-size-below-zero"),
    pytest.param(FETCH, with_records(LARGEST), f"may have {LARGEST}", id="records-beyond-a-batch"),
    pytest.param(vote(pre_vote=True), to_another_request, "to request 2", id="to-another-request"),
    pytest.param(vote(pre_vote=True), bytes_behind, "", id="bytes-behind-it"),
    pytest.param(vote(pre_vote=True), topics_without_end, "", id="topics-without-end"),
    pytest.param(vote(pre_vote=True), versions_without_end, "may have 1048576", id="versions-without-end"),
]


class Failures(Asker):
    """Keeps the reasons why there was no response."""

    def __init__(self, port: int) -> None:
        self.reasons: list[str] = []
        super().__init__(port, timeout_ms=LONG_MS)

    def take(self, event: ResponseReceived) -> None:
        if event.failure is not None:
            self.reasons.append(event.failure.text)
        super().take(event)


@both_loops
@pytest.mark.parametrize(("request_", "hostile", "reason"), KINDS)
async def test_a_response_that_no_honest_controller_sends(
    request_: FetchRequest | VoteRequest, hostile: Hostile, reason: str
) -> None:
    with HostileNode(hostile, to_versions=hostile is versions_without_end) as node:
        asker = Failures(node.endpoint[1])
        asker.ask(1, request_)
        assert await asker.answer_to(1) is None
        await asker.peers.stop()
        assert any(reason in each for each in asker.reasons), asker.reasons
        assert node.sent_bytes < RECEIVED_BYTES_MAX


@both_loops
async def test_a_batch_of_the_largest_size_is_received() -> None:
    with HostileNode(with_records(BATCH_BYTES_MAX)) as node:
        asker = Failures(node.endpoint[1])
        asker.ask(1, FETCH)
        response = await asker.answer_to(1)
        await asker.peers.stop()
        assert isinstance(response, FetchResponse)
        assert len(response.responses[0].partitions[0].records or b"") == BATCH_BYTES_MAX
