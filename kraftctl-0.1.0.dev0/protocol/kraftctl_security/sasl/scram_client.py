"""SCRAM on the side that opens the connection (RFC 5802, KIP-84).

The server, too, has to prove that it has the user's credential.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Callable

from kraftctl_protocol.scram import (
    HASHES,
    ITERATIONS_MAX,
    ITERATIONS_MIN,
    MECHANISM_NAMES,
    salt_password,
)
from kraftctl_security.sasl.mechanism import SaslAuthenticationError
from kraftctl_security.sasl.scram_messages import (
    CHANNEL_BINDING,
    GS2_HEADER,
    ScramFormatError,
    client_first_bare,
    parse_server_final,
    parse_server_first,
)


class ScramClient:
    """Authenticates once. `nonce` is printable ASCII without commas, and has not been used before.

    The second step takes milliseconds of processor time: 16,384 iterations of a hash at most.
    """

    def __init__(self, mechanism: int, name: str, password: str, *, nonce: str, token_auth: bool) -> None:
        self.mechanism = MECHANISM_NAMES[mechanism]
        self.is_complete = False
        self._number = mechanism
        self._hash = HASHES[mechanism]
        self._password = password.encode(errors="replace")
        self._nonce = nonce
        self._first_bare = client_first_bare(name, nonce, token_auth=token_auth)
        self._server_signature = b""
        self._answer: Callable[[bytes], bytes | None] = self._answer_begin

    def evaluate(self, challenge: bytes) -> bytes | None:
        """Returns the next message. Raises SaslAuthenticationError."""
        answer = self._answer
        self._answer = self._answer_nothing
        try:
            return answer(challenge)
        except ScramFormatError as error:
            raise SaslAuthenticationError(f"{self.mechanism}: {error}") from None

    def _answer_begin(self, challenge: bytes) -> bytes:
        if challenge:
            raise SaslAuthenticationError(f"{self.mechanism}: the server asks before the client begins")
        self._answer = self._answer_first
        return (GS2_HEADER + self._first_bare).encode(errors="replace")

    def _answer_first(self, challenge: bytes) -> bytes:
        first = parse_server_first(challenge)
        if not first.nonce.startswith(self._nonce) or first.nonce == self._nonce:
            raise SaslAuthenticationError(
                f"{self.mechanism}: the server's nonce does not continue the client's"
            )
        if not ITERATIONS_MIN <= first.iterations <= ITERATIONS_MAX:
            raise SaslAuthenticationError(
                f"{self.mechanism}: the server demands {first.iterations} iterations, allowed are"
                f" {ITERATIONS_MIN} to {ITERATIONS_MAX}. Next step: set the user's password again"
            )
        salted = salt_password(self._number, self._password, first.salt, first.iterations)
        without_proof = f"c={CHANNEL_BINDING},r={first.nonce}"
        signed = f"{self._first_bare},{first.text},{without_proof}".encode(errors="replace")
        client_key = hmac.digest(salted, b"Client Key", self._hash)
        stored_key = hashlib.new(self._hash, client_key).digest()
        signature = hmac.digest(stored_key, signed, self._hash)
        proof = bytes(key ^ other for key, other in zip(client_key, signature, strict=True))
        server_key = hmac.digest(salted, b"Server Key", self._hash)
        self._server_signature = hmac.digest(server_key, signed, self._hash)
        self._answer = self._answer_final
        return f"{without_proof},p={base64.b64encode(proof).decode()}".encode()

    def _answer_final(self, challenge: bytes) -> None:
        if not hmac.compare_digest(parse_server_final(challenge), self._server_signature):
            raise SaslAuthenticationError(
                f"{self.mechanism}: the server has not proven that it knows the user. Next step: check its"
                " address"
            )
        self.is_complete = True

    def _answer_nothing(self, challenge: bytes) -> None:
        raise SaslAuthenticationError(f"{self.mechanism}: a message after the last")
