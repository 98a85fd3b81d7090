"""Answers to Fetch and FetchSnapshot are encoded around their records, which are not copied into them."""

from __future__ import annotations

from typing import Final

from kraftctl.server.loop.client_requests import ReceivedRequest
from kraftctl_protocol.generated.fetch_response import FetchResponse
from kraftctl_protocol.generated.fetch_snapshot_response import FetchSnapshotResponse
from kraftctl_protocol.message import Message
from kraftctl_protocol.primitives import Writer, write_uvarint

RECORDS_BYTES_MIN: Final = 64 * 1024
"""As GATHERED_BYTES_MIN of a connection: fewer are copied in less time than two more buffers take."""

PLACEHOLDER: Final = bytes(range(0xE0, 0xF0))
"""Encoded in place of the records. Nothing in front of them looks like it: offsets and small numbers."""

PLACEHOLDER_LENGTH: Final = len(PLACEHOLDER) + 1
"""As compact bytes have it, in one byte."""


def encode_pieces(request: ReceivedRequest, response: Message) -> list[bytes]:
    """The payload of the response, whose pieces are to be sent one after the other.

    Raises what `encode_response` raises.
    """
    if isinstance(response, FetchSnapshotResponse):
        return _around_slice(request, response)
    if isinstance(response, FetchResponse) and request.parsed.version >= response.FIRST_FLEXIBLE_VERSION:
        return _around_records(request, response)
    return [request.encode_response(response)]


def _around_slice(request: ReceivedRequest, response: FetchSnapshotResponse) -> list[bytes]:
    for topic in response.topics:
        for partition in topic.partitions:
            records = partition.unaligned_records
            if records is not None and len(records) >= RECORDS_BYTES_MIN:
                partition.unaligned_records = PLACEHOLDER
                return _around(request.encode_response(response), records)
    return [request.encode_response(response)]


def _around_records(request: ReceivedRequest, response: FetchResponse) -> list[bytes]:
    for topic in response.responses:
        for partition in topic.partitions:
            records = partition.records
            if records is not None and len(records) >= RECORDS_BYTES_MIN:
                partition.records = PLACEHOLDER
                return _around(request.encode_response(response), records)
    return [request.encode_response(response)]


def _around(payload: bytes, records: bytes) -> list[bytes]:
    head, _, tail = payload.partition(PLACEHOLDER)
    assert head[-1] == PLACEHOLDER_LENGTH, "the placeholder is in the response as compact bytes"
    length = Writer()
    write_uvarint(length, len(records) + 1)
    return [head[:-1] + length.getvalue(), records, tail]
