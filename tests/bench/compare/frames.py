"""Whole frames of requests and of the responses that are expected, encoded before anything is measured."""

from __future__ import annotations

from typing import Final

from kraftctl_protocol.frames import encode_frame
from kraftctl_protocol.generated.request_header import RequestHeader
from kraftctl_protocol.message import Message
from kraftctl_protocol.requests import decode_response, encode_request, encode_response

SIZE_BYTES: Final = 4
ANSWER_BODY: Final = 8
"""Position in a frame: after its size and the correlation id."""

REQUEST_CORRELATION_ID: Final = 8
"""Position in a frame of a request: after its size, API key and version."""

CLIENT_ID: Final = "bench"


class UnexpectedResponseError(Exception):
    """A response differs from what the request demands; the text has both."""


def request_frame(request: Message, version: int) -> bytes:
    """With correlation id 0, which the load generator overwrites."""
    header = RequestHeader(
        request_api_key=request.API_KEY,
        request_api_version=version,
        correlation_id=0,
        client_id=CLIENT_ID,
    )
    return encode_frame(encode_request(header, request))


def answer_frame(answer: Message, version: int) -> bytes:
    """With correlation id 0."""
    return encode_frame(encode_response(0, answer.API_KEY, version, answer))


def decoded(frame: bytes | bytearray, api_key: int, version: int) -> Message:
    """The response in a frame."""
    return decode_response(bytes(frame[SIZE_BYTES:]), api_key, version)[1]


def refuse_other(answer: bytes | bytearray, expected: bytes | bytearray, api_key: int, version: int) -> None:
    """Raises UnexpectedResponseError unless the frames are equal behind their correlation ids."""
    if answer[ANSWER_BODY:] != expected[ANSWER_BODY:]:
        raise UnexpectedResponseError(
            f"answered {decoded(answer, api_key, version)}, expected {decoded(expected, api_key, version)}"
        )


def first_difference(one: bytes, other: bytes) -> int:
    """The position of the first byte that differs."""
    return next(at for at, (left, right) in enumerate(zip(one, other, strict=True)) if left != right)


def compact_bytes(frame: bytes | bytearray, at: int) -> tuple[int, int]:
    """Begin and end of the value of a field of type compact bytes; equal if it is empty or null."""
    length, shift = 0, 0
    while frame[at] & 0x80:
        length |= (frame[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
    length |= frame[at] << shift
    return at + 1, at + max(length, 1)
