"""One SASL authentication of a connection: which requests a client may send in which order, and the
responses.

It is like Kafka's SaslServerAuthenticator. Before it is complete, a client may send ApiVersions (KIP-511),
then SaslHandshake (KIP-43), then tokens: as they are after SaslHandshake version 0, in SaslAuthenticate
after version 1 (KIP-152). An authentication may follow later on the same connection, by the same mechanism
and with the same principal (KIP-368).
"""

from __future__ import annotations

from enum import Enum, auto
from typing import Final, Protocol

from kraftctl.apis.api_table import API_TABLE
from kraftctl.apis.request_size import TOKEN
from kraftctl.controller.cluster_control.api_versions import is_valid
from kraftctl.controller.results.error_responses import error_response
from kraftctl.controller.results.failures import shortened
from kraftctl.server.loop.client_requests import ReceivedRequest, receive_request
from kraftctl_protocol.api_keys import ApiKey
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.api_versions_request import ApiVersionsRequest
from kraftctl_protocol.generated.request_header import RequestHeader
from kraftctl_protocol.generated.sasl_authenticate_request import SaslAuthenticateRequest
from kraftctl_protocol.generated.sasl_authenticate_response import SaslAuthenticateResponse
from kraftctl_protocol.generated.sasl_handshake_request import SaslHandshakeRequest
from kraftctl_protocol.generated.sasl_handshake_response import SaslHandshakeResponse
from kraftctl_protocol.message import Message
from kraftctl_protocol.primitives import DecodeError
from kraftctl_protocol.principal import KafkaPrincipal
from kraftctl_protocol.requests import ParsedRequest
from kraftctl_security.sasl.mechanism import Authenticated, SaslAuthenticationError, SaslServer

WITH_HEADERS_VERSION: Final = 1
"""From this version of SaslHandshake on, tokens come in SaslAuthenticate."""

REAUTHENTICATION_VERSION: Final = 1
"""From this version of SaslAuthenticate on, the response has the lifetime of a session."""

HEADER_BYTES_MAX: Final = 4 * 1024
"""The limit of a request without a token, and of what a request has besides its token: a client id, and the
name and version of its software."""

TEXT_LENGTH_MAX: Final = 1_000
"""The limit of a failure's text: names of principals are in some texts, and may be long."""

NO_SASL: Final = (
    "it does not begin with a request of Kafka that may come before authentication. Next step: check the"
    " client's security.protocol"
)

NO_AUTHENTICATION: Final = (
    "it does not authenticate. Next step: check the client's security.protocol and sasl.mechanism"
)


class SaslServers(Protocol):
    """The mechanisms of a listener."""

    @property
    def mechanisms(self) -> list[str]:
        """Returns the mechanisms' names, as clients see them."""
        ...

    def server(self, mechanism: str) -> SaslServer:
        """Returns a server for one authentication by an enabled mechanism."""
        ...

    def token_bytes_max(self, mechanism: str) -> int:
        """Returns the limit of one token of a client."""
        ...

    def session_ms_max(self, mechanism: str) -> int:
        """Returns `connections.max.reauth.ms`: how long a session lasts at most; 0 without a limit."""
        ...


class Session:
    """A completed authentication. `lifetime_ms` is None without an end, and counts from its completion."""

    def __init__(
        self, principal: KafkaPrincipal, mechanism: str, lifetime_ms: int | None, *, is_renewable: bool
    ) -> None:
        self.principal = principal
        self.mechanism = mechanism
        self.lifetime_ms = lifetime_ms
        self.is_renewable = is_renewable
        """Whether the client knows how long it lasts."""
        self.ends_at: float | None = None

    def begin(self, now: float) -> None:
        """Begins the session, at the response that completes the authentication."""
        self.ends_at = None if self.lifetime_ms is None else now + self.lifetime_ms / 1000

    def has_expired(self, now: float) -> bool:
        """Returns whether a request at this time comes too late."""
        return self.ends_at is not None and now > self.ends_at


class Outcome:
    """The result of a request: a response, if there is one; then the connection ends if there is a
    `failure`.
    """

    def __init__(
        self, response: Message | None, *, failure: str | None = None, session: Session | None = None
    ) -> None:
        self.response = response
        self.failure = failure
        self.session = session


class RawToken(ReceivedRequest):
    """A token without a request around it; the response has the same form."""

    def __init__(self, token: bytes) -> None:
        body = SaslAuthenticateRequest(auth_bytes=token)
        parsed = ParsedRequest(RequestHeader(), ApiKey.SASL_AUTHENTICATE, 0, body)
        super().__init__(API_TABLE[ApiKey.SASL_AUTHENTICATE], parsed)

    def encode_response(self, response: Message) -> bytes:
        assert isinstance(response, SaslAuthenticateResponse)
        return response.auth_bytes


class _Expects(Enum):
    HANDSHAKE_OR_VERSIONS = auto()
    HANDSHAKE = auto()
    RAW_TOKEN = auto()
    TOKEN = auto()
    NOTHING_AFTER_WRONG_MECHANISM = auto()
    NOTHING = auto()


class SaslExchange:
    """Call `receive` with a frame, then `answer`, until the outcome is a session or a failure.

    The node responds to ApiVersions, unless `expects_tokens`. `previous` is the session that is to be
    renewed.
    """

    def __init__(self, servers: SaslServers, previous: Session | None = None) -> None:
        self._servers = servers
        self._previous = previous
        self._expects = _Expects.HANDSHAKE_OR_VERSIONS if previous is None else _Expects.HANDSHAKE
        self._is_first = previous is None
        self._is_renewable = False
        self._mechanism = ""
        self._server: SaslServer

    @property
    def is_renewal(self) -> bool:
        return self._previous is not None

    @property
    def expects_tokens(self) -> bool:
        """Whether the next request is to be handled here, whatever it is."""
        return self._expects not in (_Expects.HANDSHAKE_OR_VERSIONS, _Expects.HANDSHAKE)

    @property
    def frame_bytes_max(self) -> int:
        """The limit of the next frame."""
        if self._expects == _Expects.RAW_TOKEN:
            return self._servers.token_bytes_max(self._mechanism)
        if self._expects == _Expects.TOKEN:
            return self._servers.token_bytes_max(self._mechanism) + HEADER_BYTES_MAX
        return HEADER_BYTES_MAX

    @property
    def received_bytes_max(self) -> int:
        """The limit of what is to be received: a token may follow before its mechanism is answered."""
        if self.expects_tokens:
            return self.frame_bytes_max
        of_tokens = [self._servers.token_bytes_max(each) for each in self._servers.mechanisms]
        return max(of_tokens, default=0) + HEADER_BYTES_MAX

    def receive(self, frame: bytes) -> ReceivedRequest | str:
        """Returns the request to handle, or why the connection has to be closed.

        Nothing is parsed of a frame that is too long: a client that has not been authenticated pays first.
        """
        if len(frame) > self.frame_bytes_max:
            excess = f"frame of {len(frame)} bytes, more than the {self.frame_bytes_max} that are allowed"
            return f"{excess}: {NO_SASL}" if self._is_first else excess
        if self._expects in (_Expects.RAW_TOKEN, _Expects.NOTHING_AFTER_WRONG_MECHANISM):
            return RawToken(frame)
        is_first, self._is_first = self._is_first, False
        received = receive_request(frame)
        if isinstance(received, str):
            return f"{received}: {NO_SASL}" if is_first else received
        api_key = received.api.key
        if self._expects == _Expects.TOKEN:
            return _complete(received, self._servers.token_bytes_max(self._mechanism))
        if api_key not in (ApiKey.API_VERSIONS, ApiKey.SASL_HANDSHAKE) or received.undecoded is not None:
            unexpected = f"unexpected request of type {_name(received)} before SASL authentication"
            if is_first:
                return f"{unexpected}: {NO_SASL}"
            return unexpected if api_key == ApiKey.SASL_AUTHENTICATE else f"{unexpected}: {NO_AUTHENTICATION}"
        if api_key == ApiKey.API_VERSIONS:
            if self._expects != _Expects.HANDSHAKE_OR_VERSIONS:
                return "unexpected request of type ApiVersionsRequest where SaslHandshake has to follow"
            if _is_answered(received):
                self._expects = _Expects.HANDSHAKE
        return received

    def answer(self, request: ReceivedRequest, wall_ms: int) -> Outcome:
        """Returns the outcome. Exceptions of a mechanism other than SaslAuthenticationError pass,
        without a response.
        """
        expects, self._expects = self._expects, _Expects.NOTHING
        body = request.parsed.body
        if isinstance(body, SaslHandshakeRequest) and expects not in (_Expects.TOKEN, _Expects.NOTHING):
            return self._handshake(body, request.parsed.version)
        if expects == _Expects.NOTHING_AFTER_WRONG_MECHANISM:
            assert self._previous is not None, "the first authentication may choose its mechanism"
            return Outcome(
                None,
                failure=f"the client began with {self._previous.mechanism}, and authenticates again with"
                f" {self._mechanism}",
            )
        if isinstance(body, SaslAuthenticateRequest) and expects in (_Expects.TOKEN, _Expects.RAW_TOKEN):
            return self._token(body.auth_bytes, expects, request.parsed.version, wall_ms)
        text = f"{_name(request)} came before the client had authenticated"
        api_key, version = request.parsed.api_key, request.parsed.version
        refusal = error_response(api_key, body, version, Errors.ILLEGAL_SASL_STATE, text)
        return Outcome(refusal, failure=text)

    def _handshake(self, request: SaslHandshakeRequest, version: int) -> Outcome:
        mechanism, mechanisms = request.mechanism, self._servers.mechanisms
        if mechanism not in mechanisms:
            refusal = SaslHandshakeResponse(int(Errors.UNSUPPORTED_SASL_MECHANISM), mechanisms)
            failure = f"Unsupported SASL mechanism {shortened(mechanism)!r}"
            # As in Kafka, where the exception of a renewal's first request is not answered.
            return Outcome(None if self.is_renewal else refusal, failure=failure)
        self._mechanism = mechanism
        if self._previous is not None and mechanism != self._previous.mechanism:
            self._expects = _Expects.NOTHING_AFTER_WRONG_MECHANISM
        else:
            self._server = self._servers.server(mechanism)
            self._expects = _Expects.TOKEN if version >= WITH_HEADERS_VERSION else _Expects.RAW_TOKEN
        return Outcome(SaslHandshakeResponse(mechanisms=mechanisms))

    def _token(self, token: bytes, expects: _Expects, version: int, wall_ms: int) -> Outcome:
        if expects == _Expects.TOKEN and version >= REAUTHENTICATION_VERSION:
            self._is_renewable = True
        try:
            challenge = self._server.evaluate(token, wall_ms)
            authenticated = self._server.authenticated
            if authenticated is not None:
                self._require_same_principal(authenticated.principal)
        except SaslAuthenticationError as error:
            text = shortened(str(error), TEXT_LENGTH_MAX)
            if self.is_renewal:
                text = text.replace("during authentication", "during re-authentication", 1)
            refusal = SaslAuthenticateResponse(int(Errors.SASL_AUTHENTICATION_FAILED), text)
            return Outcome(None if expects == _Expects.RAW_TOKEN else refusal, failure=error.reason)
        if authenticated is None:
            self._expects = expects
            return Outcome(SaslAuthenticateResponse(auth_bytes=challenge))
        lifetime_ms = self._lifetime_ms(authenticated, wall_ms)
        session = Session(
            authenticated.principal, self._mechanism, lifetime_ms, is_renewable=self._is_renewable
        )
        response = SaslAuthenticateResponse(auth_bytes=challenge, session_lifetime_ms=lifetime_ms or 0)
        return Outcome(response, session=session)

    def _require_same_principal(self, principal: KafkaPrincipal) -> None:
        if self._previous is None or self._previous.principal == principal:
            return
        before = self._previous.principal
        raise SaslAuthenticationError(
            f"the client was {before.type}:{before.name}, and authenticates again as"
            f" {principal.type}:{principal.name}"
        )

    def _lifetime_ms(self, authenticated: Authenticated, wall_ms: int) -> int | None:
        """Returns the time until the credential expires, but not more than the configured maximum."""
        limits = []
        session_ms_max = self._servers.session_ms_max(self._mechanism)
        if session_ms_max > 0:
            limits.append(session_ms_max)
        if authenticated.expires_at_ms is not None:
            limits.append(max(0, authenticated.expires_at_ms - wall_ms))
        return min(limits, default=None)


def _complete(received: ReceivedRequest, token_bytes_max: int) -> ReceivedRequest | str:
    """Decodes a request with a long token, which is one field. Nothing else is that long before
    authentication.
    """
    head = received.undecoded
    if head is not None:
        if received.api.key != ApiKey.SASL_AUTHENTICATE:
            return f"unexpected request of type {_name(received)}, of {head.size_bytes} bytes"
        try:
            received = ReceivedRequest(received.api, head.decode(TOKEN.memory_bytes_max))
        except DecodeError as error:
            return f"malformed request: {error}"
    body = received.parsed.body
    if isinstance(body, SaslAuthenticateRequest) and len(body.auth_bytes) > token_bytes_max:
        return f"token of {len(body.auth_bytes)} bytes, more than the {token_bytes_max} of its mechanism"
    return received


def _is_answered(received: ReceivedRequest) -> bool:
    """Returns whether this ApiVersions gets a response without an error; otherwise another one may follow."""
    body, version = received.parsed.body, received.parsed.version
    assert isinstance(body, ApiVersionsRequest)
    return not received.is_from_the_future and is_valid(body, version)


def _name(request: ReceivedRequest) -> str:
    return request.parsed.body.NAME
