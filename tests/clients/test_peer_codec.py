"""A connection to another controller as bytes: versions first, then requests in the highest common one."""

from __future__ import annotations

import pytest

from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.api_versions_response import ApiVersion, ApiVersionsResponse
from kraftctl_protocol.generated.fetch_request import FetchRequest
from kraftctl_protocol.generated.vote_request import PartitionData, TopicData, VoteRequest
from kraftctl_protocol.generated.vote_response import VoteResponse
from kraftctl_protocol.message import Message
from kraftctl_protocol.primitives import DecodeError
from kraftctl_protocol.requests import ParsedRequest, decode_request_head, encode_response
from kraftctl_security.peer_codec import PeerCodec
from kraftctl_security.peer_versions import API_VERSIONS_VERSION, PeerVersions, unsupported

SOFTWARE = "kraftctl", "1"

VOTE = VoteRequest.API_KEY


def reported(low: int, high: int) -> ApiVersionsResponse:
    """Of a peer that knows these versions of Vote, and nothing else."""
    return ApiVersionsResponse(api_keys=[ApiVersion(api_key=VOTE, min_version=low, max_version=high)])


def answer(request: ParsedRequest, response: Message, *, late: int = 0) -> bytes:
    """Or the one to a request that is `late` requests older."""
    return encode_response(request.header.correlation_id - late, request.api_key, request.version, response)


def parsed(payload: bytes | None) -> ParsedRequest:
    assert payload is not None
    return decode_request_head(payload).decode()


def ready(high: int) -> PeerCodec:
    codec = PeerCodec("raft-client-1", SOFTWARE)
    asked = parsed(codec.encode_versions_request())
    codec.decode_versions(answer(asked, reported(0, high)))
    return codec


@pytest.mark.parametrize(
    ("low", "high", "version"),
    [
        pytest.param(0, 1, 1, id="an-older-peer"),
        pytest.param(0, 99, VoteRequest.HIGHEST_VERSION, id="a-newer-peer"),
        pytest.param(VoteRequest.HIGHEST_VERSION, 99, VoteRequest.HIGHEST_VERSION, id="one-in-common"),
        pytest.param(VoteRequest.HIGHEST_VERSION + 1, 99, None, id="only-newer-ones"),
        pytest.param(-2, -1, None, id="only-older-ones"),
    ],
)
def test_the_highest_common_version(low: int, high: int, version: int | None) -> None:
    versions = PeerVersions(reported(low, high))
    assert versions.version_of(VoteRequest()) == version
    assert versions.version_of(FetchRequest()) is None


def test_a_peer_that_reports_no_versions_is_of_no_use() -> None:
    codec = PeerCodec("raft-client-1", SOFTWARE)
    refusal = ApiVersionsResponse(error_code=Errors.UNSUPPORTED_VERSION)
    payload = answer(parsed(codec.encode_versions_request()), refusal)
    with pytest.raises(DecodeError, match="unusable response to ApiVersions"):
        codec.decode_versions(payload)


def test_requests_are_numbered_and_name_the_client() -> None:
    codec = PeerCodec("raft-client-1", SOFTWARE)
    asked = parsed(codec.encode_versions_request())
    assert (asked.header.correlation_id, asked.version) == (1, API_VERSIONS_VERSION)
    codec.decode_versions(answer(asked, reported(0, 2)))
    request = parsed(codec.encode(VoteRequest()))
    assert (request.header.correlation_id, request.version) == (2, 2)
    assert request.header.client_id == "raft-client-1"
    assert (asked.body.client_software_name, asked.body.client_software_version) == SOFTWARE
    assert codec.decode(answer(request, VoteResponse())) == VoteResponse()


def test_the_answer_to_another_request_is_refused() -> None:
    codec = ready(2)
    codec.encode(VoteRequest())
    request = parsed(codec.encode(VoteRequest()))
    with pytest.raises(DecodeError, match="response 2 to request 3"):
        codec.decode(answer(request, VoteResponse(), late=1))


def test_what_the_common_version_cannot_express_is_not_sent() -> None:
    """KIP-996: a pre-vote that is sent without the flag would be a vote."""
    codec = ready(1)
    pre_vote = VoteRequest(topics=[TopicData("__cluster_metadata", [PartitionData(pre_vote=True)])])
    assert codec.encode(pre_vote) is None
    assert codec.encode(VoteRequest()) is not None
    assert unsupported(VOTE) == VoteResponse(error_code=Errors.UNSUPPORTED_VERSION)
