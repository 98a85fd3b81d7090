"""Names the kind of failure of an exception of a connection to another controller, and describes it."""

from __future__ import annotations

import socket
import ssl
from typing import Final

from kraftctl.raft.peer_failures import (
    CLOSES,
    NO_ADDRESS,
    NO_RESPONSE,
    NOT_KAFKA,
    REFUSED,
    SASL_FAILED,
    SSL_FAILED,
    UNREACHABLE,
    PeerFailure,
)
from kraftctl.server.peers.connecting import RefusedError
from kraftctl_protocol.primitives import DecodeError
from kraftctl_security.authentication_failures import AuthenticationFailedError, plain_text

CLOSED_TEXT: Final = "closed before a response"
"""The text of a RefusedError where the connection was made."""


def failure_of(error: Exception, missing: str = "") -> PeerFailure:
    """Returns the failure, without secrets: the other side's messages are shortened, and in one line.

    `missing` names the step that has not finished in time.
    """
    if isinstance(error, AuthenticationFailedError):
        is_ssl = "SSL" in str(error)
        return PeerFailure(SSL_FAILED if is_ssl else SASL_FAILED, _words(error))
    if isinstance(error, RefusedError) and CLOSED_TEXT not in str(error):
        return PeerFailure(REFUSED, _refusal(_words(error)))
    if isinstance(error, socket.gaierror):
        return PeerFailure(NO_ADDRESS, f"DNS: {error.strerror or error}")
    if isinstance(error, UnicodeError):
        return PeerFailure(NO_ADDRESS, "DNS: this is no host name")
    if isinstance(error, ssl.SSLError):
        return PeerFailure(SSL_FAILED, f"SSL: {_words(error)}")
    if isinstance(error, TimeoutError):
        return PeerFailure(NO_RESPONSE, missing or "no response in time")
    if isinstance(error, (EOFError, ConnectionError, RefusedError)):
        return PeerFailure(CLOSES, "it closes the connection without a response")
    if isinstance(error, DecodeError):
        return PeerFailure(NOT_KAFKA, f"it does not answer as Kafka does: {_words(error)}")
    if isinstance(error, OSError):
        return PeerFailure(UNREACHABLE, plain_text(error.strerror or str(error)))
    return PeerFailure(NO_RESPONSE, type(error).__name__)


def _refusal(words: str) -> str:
    """Describes a refusal; where there is one address, number of the error and address are left out."""
    return "connection refused" if words.startswith("[Errno") and ";" not in words else words


def _words(error: Exception) -> str:
    return plain_text(str(error)) or type(error).__name__
