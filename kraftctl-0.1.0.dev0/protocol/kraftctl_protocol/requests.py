"""Whole requests and responses: header and body in one payload, without the frame's size."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from librt.strings import read_i16_be, read_i32_be

from kraftctl_protocol.decoding_limits import UNLIMITED
from kraftctl_protocol.generated.index import request_class, response_class
from kraftctl_protocol.generated.request_header import RequestHeader
from kraftctl_protocol.generated.response_header import ResponseHeader
from kraftctl_protocol.headers import request_header_version, response_header_version
from kraftctl_protocol.message import Message
from kraftctl_protocol.primitives import DecodeError, EncodeError, Reader, Writer
from kraftctl_protocol.unknown_acl_codes import names_unknown

REQUEST_START_BYTES: Final = 8
"""API key, version and correlation id are the part of a request header that never changes."""

HEADER_MEMORY_BYTES_MAX: Final = 256 * 1024
"""The memory limit of a header: the longest client id, and tagged fields that only newer versions know."""


class UnsupportedRequestError(DecodeError):
    """A request whose API or version has no codec; only the start of its header is decoded."""

    def __init__(self, api_key: int, version: int, correlation_id: int) -> None:
        super().__init__(f"API key {api_key} version {version} is not known")
        self.api_key = api_key
        self.version = version
        self.correlation_id = correlation_id


class ParsedRequest:
    """A request whose header and body are decoded."""

    def __init__(self, header: RequestHeader, api_key: int, version: int, body: Message) -> None:
        self.header = header
        self.api_key = api_key
        self.version = version
        self.body = body

    def __repr__(self) -> str:
        return f"ParsedRequest({self.header!r}, {self.body!r})"


class RequestHead:
    """A request whose header is decoded and whose body is not: refusing it costs no decoding of the body."""

    def __init__(
        self, header: RequestHeader, api_key: int, version: int, message: type[Message], reader: Reader
    ) -> None:
        self.header = header
        self.api_key = api_key
        self.version = version
        self._message = message
        self._reader = reader
        self._memory_bytes_max = 0

    @property
    def size_bytes(self) -> int:
        """The length of the whole request."""
        return self._reader.end

    def decode_body(
        self, memory_bytes_max: int = UNLIMITED, pause: Callable[[], object] | None = None
    ) -> Message:
        """The body; DecodeError if it is damaged, OverBudgetError if it would take more memory than allowed.

        Bytes behind it are ignored, as Kafka does. `pause` is called every few kilobytes. May be repeated,
        with another limit.
        """
        reader = self._reader
        reader.limit(memory_bytes_max, pause)
        self._memory_bytes_max = memory_bytes_max
        start = reader.position
        try:
            body = self._message.read(reader, self.version)
        finally:
            reader.position = start
        if names_unknown(body):
            raise DecodeError(f"{body.NAME} names the code 0 of a type, an operation or a permission")
        return body

    def empty_body(self) -> Message:
        """Returns a body with all defaults: enough for a refusal that repeats nothing of the request."""
        return self._message()

    @property
    def drawn_bytes(self) -> int:
        """The memory that the body takes, after it was decoded."""
        return self._memory_bytes_max - self._reader.budget_bytes

    def decode(self, memory_bytes_max: int = UNLIMITED) -> ParsedRequest:
        """Returns the whole request; raises what `decode_body` raises."""
        return ParsedRequest(self.header, self.api_key, self.version, self.decode_body(memory_bytes_max))


def decode_request(frame: bytes) -> ParsedRequest:
    """Returns the request in the payload of a frame; raises what `decode_request_head` raises."""
    return decode_request_head(frame).decode()


def decode_request_head(frame: bytes) -> RequestHead:
    """Returns the header of the request in the payload of a frame; DecodeError when it is damaged.

    UnsupportedRequestError carries enough of the header to answer ApiVersions in version 0.
    """
    if len(frame) < REQUEST_START_BYTES:
        raise DecodeError(f"request of {len(frame)} bytes has no room for a header")
    api_key = int(read_i16_be(frame, 0))
    version = int(read_i16_be(frame, 2))
    message = request_class(api_key)
    if message is None or version < message.LOWEST_VERSION or version > message.HIGHEST_VERSION:
        raise UnsupportedRequestError(api_key, version, int(read_i32_be(frame, 4)))
    reader = Reader(frame, 0, HEADER_MEMORY_BYTES_MAX)
    header = RequestHeader.read(reader, request_header_version(api_key, version))
    return RequestHead(header, api_key, version, message, reader)


def encode_request(header: RequestHeader, body: Message) -> bytes:
    """Returns the payload of a request frame; API key and version are those of `header`."""
    api_key = header.request_api_key
    version = header.request_api_version
    writer = Writer()
    header.write(writer, request_header_version(api_key, version))
    _write_body(writer, body, version)
    return writer.getvalue()


def encode_response(correlation_id: int, api_key: int, version: int, response: Message) -> bytes:
    """Returns the payload of a response frame."""
    writer = Writer()
    header = ResponseHeader(correlation_id=correlation_id)
    header.write(writer, response_header_version(api_key, version))
    _write_body(writer, response, version)
    return writer.getvalue()


def _write_body(writer: Writer, body: Message, version: int) -> None:
    try:
        body.write(writer, version)
    except (TypeError, ValueError, AttributeError, OverflowError) as error:
        raise EncodeError(f"{body.NAME} version {version}: {error}") from error


def decode_response(
    payload: bytes, api_key: int, version: int, memory_bytes_max: int = UNLIMITED
) -> tuple[int, Message]:
    """Correlation id and body of the response to a request of this API and version."""
    message = response_class(api_key)
    if message is None:
        raise DecodeError(f"unknown API key {api_key}")
    reader = Reader(payload, 0, memory_bytes_max)
    header = ResponseHeader.read(reader, response_header_version(api_key, version))
    body = message.read(reader, version)
    reader.expect_end()
    return header.correlation_id, body


def is_supported(api_key: int, version: int) -> bool:
    """Returns whether `decode_request` knows this API in this version."""
    message = request_class(api_key)
    return message is not None and message.LOWEST_VERSION <= version <= message.HIGHEST_VERSION
