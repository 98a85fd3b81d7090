"""SCRAM on the side of a listener (RFC 5802, KIP-84): the client proves that it knows a password.

The server keeps no password, and the client sends none; each signs what both have said, nonces included.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Callable
from typing import Protocol

from kraftctl_protocol.principal import USER_TYPE, KafkaPrincipal
from kraftctl_protocol.scram import HASHES, ITERATIONS_MIN, MECHANISM_NAMES, ScramCredential
from kraftctl_security.sasl.mechanism import Authenticated, SaslAuthenticationError
from kraftctl_security.sasl.scram_messages import (
    ClientFinal,
    ClientFirst,
    ScramFormatError,
    parse_client_final,
    parse_client_first,
    server_first,
)
from kraftctl_security.sasl.scram_salts import Examples, unknown_credential


class TokenCredential(Protocol):
    """A delegation token: its HMAC as a credential, its owner, and when it expires in wall-clock time."""

    credential: ScramCredential
    owner: KafkaPrincipal
    expires_at_ms: int


class ScramCredentials(Protocol):
    """The users and tokens that a listener knows. An exception of `user` or `token` ends the connection."""

    unknown_secret: bytes
    """The salts of users that do not exist are made of this and the name."""

    def examples(self, mechanism: int) -> Examples:
        """Returns some users, which those that do not exist have to resemble; none if there are none yet."""
        ...

    def user(self, mechanism: int, name: str) -> ScramCredential | None:
        """Returns a user's credential; `mechanism` is the number of the log."""
        ...

    def token(self, mechanism: int, token_id: str) -> TokenCredential | None: ...


class ScramServer:
    """Authenticates once. `nonce` is printable ASCII without commas, and has not been used before.

    An unknown user gets a salt, too, always the same one for a name, and is refused like one with a wrong
    password. Kafka refuses at the first message, which reveals the existing users.
    """

    def __init__(self, mechanism: int, credentials: ScramCredentials, *, nonce: str) -> None:
        self.authenticated: Authenticated | None = None
        self._mechanism = mechanism
        self._hash = HASHES[mechanism]
        self._credentials = credentials
        self._nonce = nonce
        self._answer: Callable[[bytes, int], bytes] = self._answer_first
        self._first: ClientFirst | None = None
        self._server_first = ""
        self._credential: ScramCredential | None = None
        self._principal: KafkaPrincipal | None = None
        self._expires_at_ms: int | None = None

    def evaluate(self, token: bytes, wall_ms: int) -> bytes:
        """Returns the next message. Raises SaslAuthenticationError, which does not say to the client what
        was wrong.
        """
        answer = self._answer
        self._answer = self._answer_nothing
        return answer(token, wall_ms)

    def _answer_first(self, token: bytes, wall_ms: int) -> bytes:
        try:
            first = parse_client_first(token)
        except ScramFormatError as error:
            raise self._refused(str(error)) from None
        if first.authorization_id and not first.authorization_id == first.sasl_name == first.name:
            # CVE-2017-12610: no client acts in the name of another user. As in Kafka, without escapes.
            raise SaslAuthenticationError("Authentication failed: the authorization id is not the user name")
        # Made for each name, so that it takes the same time for those that are known.
        unknown = self._unknown(first)
        credential = self._look_up(first) or unknown
        if credential.iterations < ITERATIONS_MIN:
            raise self._refused(f"the credential has fewer than {ITERATIONS_MIN} iterations")
        self._first = first
        self._credential = credential
        self._nonce = first.nonce + self._nonce
        self._server_first = server_first(self._nonce, credential.salt, credential.iterations)
        self._answer = self._answer_final
        return self._server_first.encode()

    def _unknown(self, first: ClientFirst) -> ScramCredential:
        known = self._credentials
        return unknown_credential(
            known.unknown_secret,
            self._mechanism,
            first.name,
            {} if first.token_auth else known.examples(self._mechanism),
            token_auth=first.token_auth,
        )

    def _look_up(self, first: ClientFirst) -> ScramCredential | None:
        """Leaves the principal None when the user or the token is not known."""
        if not first.token_auth:
            credential = self._credentials.user(self._mechanism, first.name)
            self._principal = None if credential is None else KafkaPrincipal(USER_TYPE, first.name)
            return credential
        token = self._credentials.token(self._mechanism, first.name)
        if token is None:
            return None
        self._principal = KafkaPrincipal(token.owner.type, token.owner.name, token_authenticated=True)
        self._expires_at_ms = token.expires_at_ms
        return token.credential

    def _answer_final(self, token: bytes, wall_ms: int) -> bytes:
        try:
            final = parse_client_final(token)
        except ScramFormatError as error:
            raise self._refused(str(error)) from None
        first, credential = self._first, self._credential
        assert first is not None
        assert credential is not None
        if not hmac.compare_digest(final.nonce, self._nonce):
            # CVE-2024-56128: without this, a recorded proof may be sent again.
            raise self._refused("the nonce is not the one of this authentication")
        if final.channel_binding != first.gs2_header.encode():
            raise self._refused("the channel binding is not the one of the first message")
        signed = f"{first.bare},{self._server_first},{final.without_proof}".encode()
        if not self._is_proven(credential, final, signed) or self._principal is None:
            raise self._refused("user or token are not known, or the password is wrong")
        if self._expires_at_ms is not None and self._expires_at_ms <= wall_ms:
            raise self._refused("the delegation token has expired")
        self.authenticated = Authenticated(self._principal, expires_at_ms=self._expires_at_ms)
        return b"v=" + base64.b64encode(hmac.digest(credential.server_key, signed, self._hash))

    def _is_proven(self, credential: ScramCredential, final: ClientFinal, signed: bytes) -> bool:
        signature = hmac.digest(credential.stored_key, signed, self._hash)
        if len(final.proof) != len(signature):
            return False
        client_key = bytes(proof ^ other for proof, other in zip(final.proof, signature, strict=True))
        return hmac.compare_digest(hashlib.new(self._hash, client_key).digest(), credential.stored_key)

    def _answer_nothing(self, token: bytes, wall_ms: int) -> bytes:
        raise self._refused("a message after the last")

    def _refused(self, reason: str) -> SaslAuthenticationError:
        text = "Authentication failed: invalid credentials for"
        return SaslAuthenticationError(f"{text} {MECHANISM_NAMES[self._mechanism]}", reason=reason)
