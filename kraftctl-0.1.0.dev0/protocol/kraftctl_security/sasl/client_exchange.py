"""The client's side of a SASL authentication over Kafka's protocol (KIP-43, KIP-152), without its socket.

SaslHandshake names the mechanism; each SaslAuthenticate carries a token of the client, each response one of
the server. The exchange is over when the mechanism is complete and the server has responded to all that was
sent: a server that reports success before a mechanism has verified it is not accepted.
"""

from __future__ import annotations

from typing import Final

from kraftctl_protocol.errors import Errors, error_of
from kraftctl_protocol.generated.sasl_authenticate_request import SaslAuthenticateRequest
from kraftctl_protocol.generated.sasl_authenticate_response import SaslAuthenticateResponse
from kraftctl_protocol.generated.sasl_handshake_request import SaslHandshakeRequest
from kraftctl_protocol.generated.sasl_handshake_response import SaslHandshakeResponse
from kraftctl_protocol.message import Message
from kraftctl_protocol.primitives import DecodeError
from kraftctl_security.authentication_failures import (
    SECURITY_PROTOCOL,
    AuthenticationFailedError,
    plain_text,
)
from kraftctl_security.peer_codec import PeerCodec
from kraftctl_security.sasl.mechanism import NewSaslClient, SaslAuthenticationError, SaslClient

HANDSHAKE_VERSION_MIN: Final = 1
"""Tokens follow version 0 without a header (KIP-152); every release with a KRaft controller has version 1."""

SASL_MECHANISM: Final = "sasl.mechanism"
SASL_JAAS_CONFIG: Final = "sasl.jaas.config"

SESSION_PART: Final = 0.85
"""Kafka's clients authenticate again after this part of a session's lifetime (KIP-368)."""

SESSION_SECONDS_MIN: Final = 1.1
"""A server refuses another authentication within a second."""


class ClientExchange:
    """One authentication, from the handshake to the last response, over a connection whose versions are
    known.

    `session_lifetime_ms` is 0 without an end; the client has to authenticate again before it ends.
    """

    def __init__(self, codec: PeerCodec, new_client: NewSaslClient) -> None:
        self._codec = codec
        self._new_client = new_client
        self._client: SaslClient | None = None
        self._sent: type[Message] | None = None
        self.session_lifetime_ms = 0

    @property
    def renewed_after_seconds(self) -> float | None:
        """The time from the end of this exchange to the next authentication; None if there is none."""
        if self.session_lifetime_ms <= 0:
            return None
        return max(SESSION_SECONDS_MIN, SESSION_PART * self.session_lifetime_ms / 1000)

    def advance(self, answer: bytes | None) -> bytes | None:
        """Takes a response, None at first, and returns the next request; None when the client is
        authenticated.

        It may take the time of a mechanism, such as thousands of hashes. Raises AuthenticationFailedError or
        DecodeError.
        """
        try:
            return self._advance(answer)
        except SaslAuthenticationError as error:
            raise AuthenticationFailedError(f"SASL: {plain_text(str(error))}", SASL_JAAS_CONFIG) from error

    def _advance(self, answer: bytes | None) -> bytes | None:
        client = self._client
        if client is None:
            self._client = self._new_client()
            return self._request(SaslHandshakeRequest(mechanism=self._client.mechanism))
        assert answer is not None
        if self._sent is SaslHandshakeRequest:
            self._check_handshake(self._codec.decode(answer), client.mechanism)
            return self._token(client, b"")
        challenge = self._check_authenticate(self._codec.decode(answer), client.mechanism)
        # The last response repeats nothing that a complete mechanism has to see.
        return None if client.is_complete else self._token(client, challenge)

    def _token(self, client: SaslClient, challenge: bytes) -> bytes | None:
        token = client.evaluate(challenge)
        if token is not None:
            return self._request(SaslAuthenticateRequest(auth_bytes=token))
        if not client.is_complete:
            raise SaslAuthenticationError(f"the node has ended {client.mechanism} before it was complete")
        return None

    def _request(self, request: Message) -> bytes:
        lowest = HANDSHAKE_VERSION_MIN if isinstance(request, SaslHandshakeRequest) else 0
        payload = self._codec.encode(request, lowest)
        if payload is None:
            raise AuthenticationFailedError(
                f"the node does not serve {request.NAME}: SASL is not for this listener", SECURITY_PROTOCOL
            )
        self._sent = type(request)
        return payload

    def _check_handshake(self, response: Message, mechanism: str) -> None:
        if not isinstance(response, SaslHandshakeResponse):
            raise DecodeError(f"{response.NAME} instead of a response to SaslHandshake")
        error = error_of(response.error_code)
        if error == Errors.NONE:
            return
        if error == Errors.UNSUPPORTED_SASL_MECHANISM:
            enabled = plain_text(", ".join(response.mechanisms)) or "none"
            raise AuthenticationFailedError(
                f"SASL {mechanism} is not enabled there, {enabled} is", SASL_MECHANISM
            )
        if error == Errors.ILLEGAL_SASL_STATE:
            raise AuthenticationFailedError("the listener does not use SASL", SECURITY_PROTOCOL)
        raise AuthenticationFailedError(f"SaslHandshake was answered with {error.name}", SASL_MECHANISM)

    def _check_authenticate(self, response: Message, mechanism: str) -> bytes:
        if not isinstance(response, SaslAuthenticateResponse):
            raise DecodeError(f"{response.NAME} instead of a response to SaslAuthenticate")
        error = error_of(response.error_code)
        if error != Errors.NONE:
            reason = plain_text(response.error_message or error.message)
            raise AuthenticationFailedError(
                f"SASL {mechanism} was refused with {error.name}: {reason}", SASL_JAAS_CONFIG
            )
        self.session_lifetime_ms = response.session_lifetime_ms
        return response.auth_bytes
