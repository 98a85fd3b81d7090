"""A client's request and its response as bytes, without the socket between them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from mypy_extensions import mypyc_attr

from kraftctl.apis.api import Api, Owner
from kraftctl.apis.api_table import API_TABLE, served_api
from kraftctl.apis.request_size import DECODED_ON_LOOP_BYTES_MAX, SMALL
from kraftctl.controller.pending_request import NO_PARTITIONS
from kraftctl.controller.quorum_controller import QuorumController
from kraftctl.controller.results.request_context import RequestContext
from kraftctl.node.events import ClientRequest, UndecodedRequest
from kraftctl.node.request_outcomes import Answer
from kraftctl.server.loop.connected_client import ConnectedClient
from kraftctl.server.loop.request_turns import URGENT, RequestTurns
from kraftctl_protocol.api_keys import ApiKey
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.alter_partition_request import AlterPartitionRequest
from kraftctl_protocol.generated.api_versions_request import ApiVersionsRequest
from kraftctl_protocol.generated.api_versions_response import ApiVersionsResponse
from kraftctl_protocol.generated.request_header import RequestHeader
from kraftctl_protocol.message import Message
from kraftctl_protocol.primitives import DecodeError
from kraftctl_protocol.requests import (
    ParsedRequest,
    RequestHead,
    UnsupportedRequestError,
    decode_request_head,
    encode_response,
)

Respond = Callable[[Answer], None]
"""Takes the response to one request, or the order to close its connection."""

NOT_SUBMITTED: Final = -1
"""The id of a request that no handler has."""

API_KEYS: Final = frozenset(int(key) for key in ApiKey)

REFUSED_BYTES_MAX: Final = 1024 * 1024
"""A request whose sender has no right to it is answered up to this size; a longer one is not received."""


@mypyc_attr(allow_interpreted_subclasses=True)
class ReceivedRequest:
    """A request in a version that its row of `API_TABLE` serves.

    `undecoded` is not None for a long one: its body is decoded later, beside the loop, and `parsed` has an
    empty one. `decoded_bytes` is the memory of a body that is decoded.
    `is_from_the_future`: an ApiVersions request in an unknown version, read as version 0. Its response lists
    the versions of ApiVersions alone (KIP-511).
    """

    def __init__(
        self,
        api: Api,
        parsed: ParsedRequest,
        *,
        undecoded: RequestHead | None = None,
        decoded_bytes: int = 0,
        is_from_the_future: bool = False,
    ) -> None:
        self.api = api
        self.parsed = parsed
        self.undecoded = undecoded
        self.decoded_bytes = decoded_bytes
        self.is_from_the_future = is_from_the_future
        self.id = NOT_SUBMITTED
        """What `RequestHandler.submit` has returned."""
        self.frame_bytes = 0
        self.started_at = 0.0

    def take_content(self) -> Message | RequestHead:
        """The body, or the request whose body is not decoded yet; only once.

        The partitions of an AlterPartition are not kept here, as in `PendingRequest.forget_partitions`.
        """
        undecoded, self.undecoded = self.undecoded, None
        if undecoded is not None:
            return undecoded
        body = self.parsed.body
        if type(body) is AlterPartitionRequest:
            self.parsed.body = NO_PARTITIONS
        return body

    def context(self, client: ConnectedClient, received_ms: int | None = None) -> RequestContext:
        """Returns what is known besides the body; without the time at which it was received, that is now."""
        header = self.parsed.header
        return client.context(
            self.api, self.parsed.version, header.client_id, header.correlation_id, received_ms
        )

    def encode_response(self, response: Message) -> bytes:
        """The payload of the response. Raises EncodeError, or anything else for a field of the wrong type."""
        if self.is_from_the_future and isinstance(response, ApiVersionsResponse):
            response.error_code = response.error_code or int(Errors.UNSUPPORTED_VERSION)
            response.api_keys = [api for api in response.api_keys if api.api_key == ApiKey.API_VERSIONS]
        parsed = self.parsed
        return encode_response(parsed.header.correlation_id, parsed.api_key, parsed.version, response)


@mypyc_attr(allow_interpreted_subclasses=True)
class RequestHandler:
    """Answers requests, and says when there is time for them.

    A class and no protocol: compiled code calls those by name.

    `submit` gets the body, or a long request whose body is not decoded. It returns a token
    for `cancel` and calls `respond` exactly once, maybe before it returns. After `cancel`,
    which is for connections that are gone, it does not call it.
    """

    turns: RequestTurns
    """The time of SSL and SASL, which is that of requests."""

    def begin(self, frame: bytes) -> int:
        """Returns when the request in `frame` begins, which `end` takes; URGENT if nothing has to call `end`.

        MUST_WAIT: this turn of the loop has no time for it; `begin_later` says when to ask again, and for
        URGENT_MUST_WAIT `begin_soon`.
        """
        return URGENT

    def end(self, address: bytes, began_ns: int) -> None:
        """Charges the time since `began_ns` to this turn of the loop."""

    def begin_later(self, address: bytes, call: Callable[[], None]) -> None:
        """Calls `call` when requests from `address` have time; no request has to wait again within it."""
        raise AssertionError("a subclass defines this")

    def begin_soon(self, address: bytes, call: Callable[[], None]) -> None:
        """Calls `call` when urgent requests from `address` have time."""
        raise AssertionError("a subclass defines this")

    def must_respond_later(self, api_key: int) -> bool:
        """Returns whether this turn has no time left to send a response to this API."""
        return False

    def respond_later(self, address: bytes, call: Callable[[], None]) -> None:
        """Calls `call`, which sends a response to `address`, in another turn."""
        raise AssertionError("a subclass defines this")

    def has_waiting(self) -> bool:
        """Returns whether requests or responses wait for the next turn: it begins before responses leave."""
        return False

    def submit(
        self,
        context: RequestContext,
        content: Message | RequestHead,
        respond: Respond,
        decoded_bytes: int = 0,
    ) -> int:
        raise AssertionError("a subclass defines this")

    def cancel(self, request_id: int) -> None:
        raise AssertionError("a subclass defines this")

    def lacks_right(self, context: RequestContext) -> bool:
        """Whether the right on the cluster is denied that every request of this API needs."""
        raise AssertionError("a subclass defines this")

    def is_voter(self, replica_id: int) -> bool:
        """Whether a voter of the quorum has this id."""
        raise AssertionError("a subclass defines this")


def frame_limit(kind: bytes) -> int:
    """How long a request may be that begins with this API key and version."""
    api = API_TABLE.get(int.from_bytes(kind[:2], "big", signed=True))
    return SMALL.frame_bytes_max if api is None else api.size.frame_bytes_max


class FrameLimits:
    """How long the requests of one client may be, by their first bytes.

    Has no reference to its connection, which would be a cycle otherwise.
    """

    def __init__(self, client: ConnectedClient, lacks_right: Callable[[RequestContext], bool]) -> None:
        self._client = client
        self._lacks_right = lacks_right

    def __call__(self, kind: bytes) -> int:
        limit = frame_limit(kind)
        if limit > REFUSED_BYTES_MAX and self._lacks_right(self._context(kind)):
            return REFUSED_BYTES_MAX
        return limit

    def _context(self, kind: bytes) -> RequestContext:
        api = API_TABLE[int.from_bytes(kind[:2], "big", signed=True)]
        return self._client.context(api, int.from_bytes(kind[2:], "big", signed=True))


def lacks_right(controller: QuorumController, context: RequestContext) -> bool:
    """Returns whether the right on the cluster that the API needs is denied; False while not known."""
    error = controller.why_refused(context, logs_grant=False, logs_denial=False)
    return error is not None and error.error == Errors.CLUSTER_AUTHORIZATION_FAILED


def receive_request(frame: bytes) -> ReceivedRequest | str:
    """Returns the request in the frame, or, as text, why the connection has to be closed."""
    try:
        head = decode_request_head(frame)
        api = served_api(head.api_key, head.version)
        if api is None:
            return _why_not_served(head.api_key, head.version)
        if len(frame) <= DECODED_ON_LOOP_BYTES_MAX or api.owner == Owner.NODE:
            # The body of an envelope is bytes; what is in them is decoded later.
            parsed = head.decode(api.size.memory_bytes_max)
            return ReceivedRequest(api, parsed, decoded_bytes=head.drawn_bytes)
        if len(frame) > api.size.frame_bytes_max:
            return f"request of {len(frame)} bytes, more than the {api.size.frame_bytes_max} of its API"
        parsed = ParsedRequest(head.header, head.api_key, head.version, head.empty_body())
        return ReceivedRequest(api, parsed, undecoded=head)
    except UnsupportedRequestError as error:
        if error.api_key != ApiKey.API_VERSIONS:
            return _why_not_served(error.api_key, error.version)
        return ReceivedRequest(API_TABLE[ApiKey.API_VERSIONS], _as_version_0(error), is_from_the_future=True)
    except DecodeError as damage:  # a name of its own: see docs/adr/0008
        return f"malformed request: {damage}"


def _why_not_served(api_key: int, version: int) -> str:
    """A client of brokers that does not ask which APIs are served, or another protocol."""
    if api_key not in API_KEYS:
        return f"API key {api_key} version {version} is not known"
    name = ApiKey(api_key).name
    if api_key in API_TABLE:
        return f"API key {api_key} version {version} is not served here, other versions of {name} are"
    return (
        f"API key {api_key} version {version} is not served here: {name} is for brokers, and this is a"
        " listener of a controller. Next step: give the client the address of a broker"
    )


def client_event(
    request_id: int, context: RequestContext, content: Message | RequestHead
) -> ClientRequest | UndecodedRequest:
    """The node's event for it."""
    if isinstance(content, RequestHead):
        return UndecodedRequest(request_id, context, content)
    return ClientRequest(request_id, context, content)


def _as_version_0(error: UnsupportedRequestError) -> ParsedRequest:
    header = RequestHeader(request_api_key=error.api_key, correlation_id=error.correlation_id)
    return ParsedRequest(header, error.api_key, 0, ApiVersionsRequest())
