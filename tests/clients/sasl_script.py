"""A mechanism of two messages, and a node that authenticates with it: the exchange without a real one."""

from __future__ import annotations

from collections.abc import Callable

from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.sasl_authenticate_request import SaslAuthenticateRequest
from kraftctl_protocol.generated.sasl_authenticate_response import SaslAuthenticateResponse
from kraftctl_protocol.generated.sasl_handshake_request import SaslHandshakeRequest
from kraftctl_protocol.generated.sasl_handshake_response import SaslHandshakeResponse
from kraftctl_protocol.message import Message
from kraftctl_security.sasl.mechanism import SaslAuthenticationError

MECHANISM = "TWO-STEPS"
SECRET = "open-sesame"


class TwoSteps:
    """Sends a name, expects a challenge, answers with the secret, and expects a proof of the server."""

    mechanism = MECHANISM

    def __init__(self, secret: str = SECRET) -> None:
        self._secret = secret
        self._steps = 0
        self.is_complete = False

    def evaluate(self, challenge: bytes) -> bytes | None:
        self._steps += 1
        if self._steps == 1:
            return b"ada"
        if self._steps == 2:
            if challenge != b"who?":
                raise SaslAuthenticationError("an unexpected challenge")
            return self._secret.encode()
        if challenge != b"proof":
            raise SaslAuthenticationError("the server has not proved who it is")
        self.is_complete = True
        return None


class OneStep:
    """As PLAIN: complete when its only message is sent."""

    mechanism = MECHANISM

    def __init__(self) -> None:
        self.is_complete = False

    def evaluate(self, challenge: bytes) -> bytes | None:
        assert challenge == b""
        self.is_complete = True
        return SECRET.encode()


Script = dict[type[Message], Callable[[Message], Message | None]]


def sasl_script(*, lifetime_ms: int = 0, proof: bytes = b"proof") -> Script:
    """Answers of a node that knows one user."""

    def handshake(request: Message) -> Message:
        assert isinstance(request, SaslHandshakeRequest)
        if request.mechanism != MECHANISM:
            return SaslHandshakeResponse(Errors.UNSUPPORTED_SASL_MECHANISM, [MECHANISM, "OTHER"])
        return SaslHandshakeResponse(Errors.NONE, [MECHANISM])

    def authenticate(request: Message) -> Message:
        assert isinstance(request, SaslAuthenticateRequest)
        if request.auth_bytes == b"ada":
            return SaslAuthenticateResponse(auth_bytes=b"who?", error_message=None)
        if request.auth_bytes != SECRET.encode():
            return SaslAuthenticateResponse(Errors.SASL_AUTHENTICATION_FAILED, "Authentication\nfailed")
        return SaslAuthenticateResponse(auth_bytes=proof, session_lifetime_ms=lifetime_ms, error_message=None)

    return {SaslHandshakeRequest: handshake, SaslAuthenticateRequest: authenticate}
