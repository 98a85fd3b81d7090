"""Each exception of a connection to another controller: which kind of failure it is, and in which words."""

from __future__ import annotations

import errno
import socket
import ssl

import pytest

from kraftctl.raft.peer_failures import (
    CLOSES,
    NEXT_STEPS,
    NO_ADDRESS,
    NO_RESPONSE,
    NOT_KAFKA,
    REFUSED,
    SASL_FAILED,
    SSL_FAILED,
    UNREACHABLE,
)
from kraftctl.server.peers.connecting import RefusedError
from kraftctl.server.peers.peer_failure_reasons import failure_of
from kraftctl_protocol.frames import FrameError
from kraftctl_protocol.primitives import DecodeError
from kraftctl_security.authentication_failures import MESSAGE_CHARACTERS_MAX, AuthenticationFailedError

KEYS = "ssl.truststore.*"
REFUSED_HERE = "[Errno 111] Connect call failed ('127.0.0.1', 9093)"
OF_TWO = f"10.0.0.1: {REFUSED_HERE}; 10.0.0.2: {REFUSED_HERE}"
CLOSED = "closed before a response"

CASES = [
    (RefusedError(REFUSED_HERE), REFUSED, "connection refused"),
    (RefusedError(OF_TWO), REFUSED, OF_TWO),
    (RefusedError(CLOSED), CLOSES, "it closes the connection without a response"),
    (EOFError(), CLOSES, "it closes the connection without a response"),
    (
        ConnectionResetError(errno.ECONNRESET, "reset by peer"),
        CLOSES,
        "it closes the connection without a response",
    ),
    (BrokenPipeError(errno.EPIPE, "Broken pipe"), CLOSES, "it closes the connection without a response"),
    (
        socket.gaierror(socket.EAI_NONAME, "Name or service not known"),
        NO_ADDRESS,
        "DNS: Name or service not known",
    ),
    (
        socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution"),
        NO_ADDRESS,
        "DNS: Temporary failure in name resolution",
    ),
    (UnicodeError("label empty or too long"), NO_ADDRESS, "DNS: this is no host name"),
    (
        AuthenticationFailedError("SSL: certificate verify failed: self-signed", KEYS),
        SSL_FAILED,
        "SSL: certificate verify failed: self-signed",
    ),
    (
        AuthenticationFailedError("the node answers with SSL", KEYS),
        SSL_FAILED,
        "the node answers with SSL",
    ),
    (
        AuthenticationFailedError("SASL PLAIN: Authentication failed", KEYS),
        SASL_FAILED,
        "SASL PLAIN: Authentication failed",
    ),
    (ssl.SSLError(1, "wrong version number"), SSL_FAILED, "SSL: wrong version number"),
    (TimeoutError(), NO_RESPONSE, "no response in time"),
    (
        DecodeError("a response of 9 bytes"),
        NOT_KAFKA,
        "it does not answer as Kafka does: a response of 9 bytes",
    ),
    (
        FrameError("a frame of -1 bytes", b""),
        NOT_KAFKA,
        "it does not answer as Kafka does: a frame of -1 bytes",
    ),
    (OSError(errno.EHOSTUNREACH, "No route to host"), UNREACHABLE, "No route to host"),
    (OSError(errno.ENETUNREACH, "Network is unreachable"), UNREACHABLE, "Network is unreachable"),
    (OSError(errno.EMFILE, "Too many open files"), UNREACHABLE, "Too many open files"),
    (OSError("without a number"), UNREACHABLE, "without a number"),
    (RuntimeError("planted"), NO_RESPONSE, "RuntimeError"),
]


@pytest.mark.parametrize(("error", "kind", "text"), CASES, ids=lambda value: type(value).__name__)
def test_kind_and_words(error: Exception, kind: str, text: str) -> None:
    found = failure_of(error)
    assert (found.kind, found.text) == (kind, text)


def test_every_kind_has_a_case() -> None:
    assert {kind for _, kind, _ in CASES} == set(NEXT_STEPS)


def test_what_has_not_come_in_time_is_said() -> None:
    assert failure_of(TimeoutError(), "ApiVersions was not answered").text == "ApiVersions was not answered"


@pytest.mark.parametrize(
    "made", [DecodeError, RefusedError, lambda text: AuthenticationFailedError(text, KEYS)]
)
def test_a_message_of_the_other_side_is_one_short_line(made: type[Exception]) -> None:
    text = failure_of(made("a\r\nb\x1b[31m\x00" + "x" * 10_000)).text
    assert text.isprintable()
    assert len(text) <= MESSAGE_CHARACTERS_MAX + 40
