"""Requests and responses with their headers, against frames recorded between Kafka's own nodes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kraftctl_protocol.api_keys import ApiKey
from kraftctl_protocol.generated.request_header import RequestHeader
from kraftctl_protocol.headers import request_header_version, response_header_version
from kraftctl_protocol.primitives import DecodeError
from kraftctl_protocol.requests import (
    UnsupportedRequestError,
    decode_request,
    decode_response,
    encode_request,
    encode_response,
    is_supported,
)

FRAMES = Path(__file__).parents[1] / "data" / "kafka-4.3.1" / "broker-controller-frames.jsonl"


def _recorded() -> list[dict[str, str]]:
    return [json.loads(line) for line in FRAMES.read_text().splitlines()]


def test_recorded_requests_are_read_and_written_again_byte_for_byte() -> None:
    for recorded in _recorded():
        frame = bytes.fromhex(recorded["req"])
        request = decode_request(frame)
        assert (request.api_key, request.version) == (recorded["api"], recorded["v"])
        assert request.header.client_id == recorded["client"]
        assert encode_request(request.header, request.body) == frame


def test_recorded_responses_are_read_and_written_again_byte_for_byte() -> None:
    for recorded in _recorded():
        request = decode_request(bytes.fromhex(recorded["req"]))
        payload = bytes.fromhex(recorded["rsp"])
        correlation_id, response = decode_response(payload, request.api_key, request.version)
        assert correlation_id == request.header.correlation_id
        assert encode_response(correlation_id, request.api_key, request.version, response) == payload


@pytest.mark.parametrize(
    ("api_key", "version", "request_header", "response_header"),
    [
        pytest.param(18, 0, 1, 0, id="api-versions-v0"),
        pytest.param(18, 4, 2, 0, id="api-versions-is-always-answered-with-0"),
        pytest.param(1, 11, 1, 0, id="fetch-before-flexible"),
        pytest.param(1, 12, 2, 1, id="fetch-flexible"),
        pytest.param(17, 1, 1, 0, id="sasl-handshake-never-flexible"),
        pytest.param(56, 2, 2, 1, id="alter-partition"),
        pytest.param(52, 0, 2, 1, id="vote-flexible-from-the-start"),
        pytest.param(53, 0, 1, 0, id="begin-quorum-epoch-v0"),
    ],
)
def test_header_versions(api_key: int, version: int, request_header: int, response_header: int) -> None:
    assert request_header_version(api_key, version) == request_header
    assert response_header_version(api_key, version) == response_header


@pytest.mark.parametrize("function", [request_header_version, response_header_version])
def test_unknown_api_has_no_header_version(function) -> None:
    with pytest.raises(DecodeError):
        function(9999, 0)


@pytest.mark.parametrize(
    ("api_key", "version"),
    [
        pytest.param(18, 99, id="version-too-new"),
        pytest.param(5, 0, id="an-api-that-is-gone"),
        pytest.param(-1, 0, id="negative-key"),
        pytest.param(56, -1, id="negative-version"),
    ],
)
def test_unsupported_requests_keep_the_correlation_id(api_key: int, version: int) -> None:
    frame = (
        api_key.to_bytes(2, "big", signed=True) + version.to_bytes(2, "big", signed=True) + b"\0\0\0\7rest"
    )
    with pytest.raises(UnsupportedRequestError) as raised:
        decode_request(frame)
    error = raised.value
    assert (error.api_key, error.version, error.correlation_id) == (api_key, version, 7)
    assert not is_supported(api_key, version)


def test_every_cut_of_a_recorded_request_is_a_decode_error() -> None:
    shortest = {recorded["api"]: bytes.fromhex(recorded["req"]) for recorded in _recorded()}
    for frame in shortest.values():
        for end in range(len(frame)):
            with pytest.raises(DecodeError):
                decode_request(frame[:end])


def test_client_id_may_be_missing() -> None:
    header = RequestHeader(
        request_api_key=ApiKey.API_VERSIONS, request_api_version=0, correlation_id=2147483640, client_id=None
    )
    first = bytes.fromhex("00120000 7ffffff8 ffff".replace(" ", ""))
    request = decode_request(first)
    assert request.header == header
    assert encode_request(header, request.body) == first
