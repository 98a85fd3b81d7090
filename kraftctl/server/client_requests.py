"""A client's request and its answer as bytes, without the socket between them."""

from __future__ import annotations

from collections.abc import Callable

from kraftctl.apis.api import Api
from kraftctl.apis.api_table import API_TABLE, served_api
from kraftctl.controller.request_context import RequestContext
from kraftctl_protocol.api_keys import ApiKey
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.api_versions_request import ApiVersionsRequest
from kraftctl_protocol.generated.api_versions_response import ApiVersionsResponse
from kraftctl_protocol.generated.request_header import RequestHeader
from kraftctl_protocol.message import Message
from kraftctl_protocol.primitives import DecodeError
from kraftctl_protocol.principal import ANONYMOUS
from kraftctl_protocol.requests import (
    ParsedRequest,
    UnsupportedRequestError,
    decode_request_head,
    encode_response,
)

Respond = Callable[[Message | None], None]
"""Takes the answer, or None when the connection has to be closed instead."""


class ReceivedRequest:
    """A request in a version that its row of `API_TABLE` serves.

    `is_from_the_future`: an ApiVersions request in an unknown version, read as version 0 (KIP-511).
    """

    __slots__ = ("api", "is_from_the_future", "parsed")

    def __init__(self, api: Api, parsed: ParsedRequest, *, is_from_the_future: bool = False) -> None:
        self.api = api
        self.parsed = parsed
        self.is_from_the_future = is_from_the_future

    def context(self, listener_name: str, client_address: bytes) -> RequestContext:
        return RequestContext(
            api=self.api,
            version=self.parsed.version,
            client_id=self.parsed.header.client_id,
            principal=ANONYMOUS,
            listener=listener_name,
            client_address=client_address,
        )

    def encode_answer(self, response: Message) -> bytes:
        """The payload of the answer. Raises EncodeError, or anything else for a field of the wrong type."""
        if self.is_from_the_future and isinstance(response, ApiVersionsResponse):
            response.error_code = response.error_code or int(Errors.UNSUPPORTED_VERSION)
        parsed = self.parsed
        return encode_response(parsed.header.correlation_id, parsed.api_key, parsed.version, response)


def receive_request(frame: bytes) -> ReceivedRequest | str:
    """What the frame contains, or why the connection has to be closed."""
    try:
        head = decode_request_head(frame)
        api = served_api(head.api_key, head.version)
        if api is None:
            return f"API key {head.api_key} version {head.version} is not served here"
        return ReceivedRequest(api, head.decode())
    except UnsupportedRequestError as error:
        if error.api_key != ApiKey.API_VERSIONS:
            return str(error)
        return ReceivedRequest(API_TABLE[ApiKey.API_VERSIONS], _as_version_0(error), is_from_the_future=True)
    except DecodeError as error:
        return f"malformed request: {error}"


def _as_version_0(error: UnsupportedRequestError) -> ParsedRequest:
    header = RequestHeader(request_api_key=error.api_key, correlation_id=error.correlation_id)
    return ParsedRequest(header, error.api_key, 0, ApiVersionsRequest())
