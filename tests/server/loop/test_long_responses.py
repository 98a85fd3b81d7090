"""Answers with many records: the same bytes as any encoding of them, without a copy of the records."""

from __future__ import annotations

import pytest

from kraftctl.apis.api_table import API_TABLE
from kraftctl.server.loop.client_requests import ReceivedRequest
from kraftctl.server.loop.long_responses import PLACEHOLDER, RECORDS_BYTES_MIN, encode_pieces
from kraftctl_protocol.api_keys import ApiKey
from kraftctl_protocol.generated import fetch_response, fetch_snapshot_response
from kraftctl_protocol.generated.fetch_request import FetchRequest
from kraftctl_protocol.generated.fetch_snapshot_request import FetchSnapshotRequest
from kraftctl_protocol.generated.request_header import RequestHeader
from kraftctl_protocol.message import Message
from kraftctl_protocol.requests import ParsedRequest

FIRST_FLEXIBLE_FETCH = fetch_response.FetchResponse.FIRST_FLEXIBLE_VERSION
FETCH_VERSIONS = range(API_TABLE[ApiKey.FETCH].lowest, API_TABLE[ApiKey.FETCH].highest + 1)
SNAPSHOT_VERSIONS = range(2)


def received(body: Message, version: int) -> ReceivedRequest:
    header = RequestHeader(
        request_api_key=body.API_KEY, request_api_version=version, correlation_id=0x7FE0E1E2, client_id="c"
    )
    return ReceivedRequest(API_TABLE[body.API_KEY], ParsedRequest(header, body.API_KEY, version, body))


def fetched(records: bytes | None) -> fetch_response.FetchResponse:
    """The offsets are the largest there are: the bytes in front of the records look like any others."""
    partition = fetch_response.PartitionData(
        high_watermark=2**63 - 1, last_stable_offset=2**63 - 1, log_start_offset=2**63 - 1, records=records
    )
    topic = fetch_response.FetchableTopicResponse(partitions=[partition])
    return fetch_response.FetchResponse(responses=[topic])


def fetched_slice(records: bytes) -> fetch_snapshot_response.FetchSnapshotResponse:
    partition = fetch_snapshot_response.PartitionSnapshot(
        snapshot_id=fetch_snapshot_response.SnapshotId(end_offset=2**63 - 1, epoch=2**31 - 1),
        current_leader=fetch_snapshot_response.LeaderIdAndEpoch(leader_id=3000, leader_epoch=7),
        size=2**40,
        position=2**39,
        unaligned_records=records,
    )
    topic = fetch_snapshot_response.TopicSnapshot(name="__cluster_metadata", partitions=[partition])
    return fetch_snapshot_response.FetchSnapshotResponse(topics=[topic])


def records_of(size_bytes: int) -> bytes:
    """With the placeholder in them, which is found in front of them only."""
    return (PLACEHOLDER * (size_bytes // len(PLACEHOLDER) + 1))[:size_bytes]


@pytest.mark.parametrize("size_bytes", [RECORDS_BYTES_MIN, 2**21 - 2, 2**21 - 1, 8 << 20])
@pytest.mark.parametrize("version", SNAPSHOT_VERSIONS)
def test_a_slice_of_a_snapshot_is_sent_as_it_was_read(version: int, size_bytes: int) -> None:
    request, records = received(FetchSnapshotRequest(), version), records_of(size_bytes)
    expected = request.encode_response(fetched_slice(records))
    pieces = encode_pieces(request, fetched_slice(records))
    assert b"".join(pieces) == expected
    assert [piece is records for piece in pieces] == [False, True, False]


@pytest.mark.parametrize("version", FETCH_VERSIONS)
def test_records_of_the_log_are_sent_as_they_were_read(version: int) -> None:
    request, records = received(FetchRequest(), version), records_of(100_000)
    expected = request.encode_response(fetched(records))
    pieces = encode_pieces(request, fetched(records))
    assert b"".join(pieces) == expected
    assert [piece is records for piece in pieces].count(True) == (version >= FIRST_FLEXIBLE_FETCH)


@pytest.mark.parametrize("records", [None, b"", records_of(RECORDS_BYTES_MIN - 1)], ids=["none", "no", "few"])
def test_few_records_are_sent_in_one_piece(records: bytes | None) -> None:
    request = received(FetchRequest(), 17)
    assert encode_pieces(request, fetched(records)) == [request.encode_response(fetched(records))]
    if records is not None:
        request = received(FetchSnapshotRequest(), 1)
        assert encode_pieces(request, fetched_slice(records)) == [
            request.encode_response(fetched_slice(records))
        ]
