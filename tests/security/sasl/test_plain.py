"""PLAIN (RFC 4616): who is refused, and in which words; no client acts in the name of another."""

from __future__ import annotations

import pytest

from kraftctl_security.sasl.mechanism import SaslAuthenticationError
from kraftctl_security.sasl.plain import PlainClient, PlainServer, PlainUsers

USERS = PlainUsers(
    {"username": "admin", "password": "x", "user_alice": "alice-secret", "user_": "y", "user_é": "ß"}
)
WRONG = "Authentication failed: wrong user name or password"


def evaluated(token: bytes) -> PlainServer:
    server = PlainServer(USERS)
    assert server.authenticated is None
    assert server.evaluate(token, 0) == b""
    return server


@pytest.mark.parametrize(
    ("token", "name"),
    [
        pytest.param(b"\0alice\0alice-secret", "alice", id="no-authorization-id"),
        pytest.param(b"alice\0alice\0alice-secret", "alice", id="the-same-authorization-id"),
        pytest.param("\0é\0ß".encode(), "é", id="unicode"),
    ],
)
def test_a_user_with_the_password_is_authenticated(token: bytes, name: str) -> None:
    authenticated = evaluated(token).authenticated
    assert authenticated is not None
    assert str(authenticated.principal) == f"User:{name}"
    assert not authenticated.token_authenticated
    assert authenticated.expires_at_ms is None


@pytest.mark.parametrize(
    ("token", "text"),
    [
        pytest.param(b"\0alice\0Alice-secret", WRONG, id="wrong-password"),
        pytest.param(b"\0alice\0alice-secre", WRONG, id="shorter"),
        pytest.param(b"\0alice\0alice-secret1", WRONG, id="longer"),
        pytest.param(b"\0bob\0alice-secret", WRONG, id="unknown-user"),
        pytest.param(b"\0username\0admin", WRONG, id="an-option-that-is-no-user"),
        pytest.param(b"\0\0y", "Authentication failed: no user name", id="no-user"),
        pytest.param(b"\0alice\0", "Authentication failed: no password", id="no-password"),
        pytest.param(
            b"admin\0alice\0alice-secret",
            "Authentication failed: the authorization id is not the user name",
            id="cve-2017-12610",
        ),
        pytest.param(b"admin\0alice\0wrong", WRONG, id="another-authorization-id-and-a-wrong-password"),
        pytest.param(b"", "Invalid SASL/PLAIN response: it has 1 parts, not 3", id="empty"),
        pytest.param(b"alice\0alice-secret", "Invalid SASL/PLAIN response: it has 2 parts, not 3", id="two"),
        pytest.param(b"\0a\0b\0", "Invalid SASL/PLAIN response: it has 4 parts, not 3", id="four"),
        pytest.param(b"\0a\0b\0\0\0", "Invalid SASL/PLAIN response: it has 4 parts, not 3", id="more"),
        pytest.param(b"\0alice\0\xff", "Invalid SASL/PLAIN response: it is not UTF-8", id="not-utf-8"),
    ],
)
def test_all_others_are_refused(token: bytes, text: str) -> None:
    server = PlainServer(USERS)
    with pytest.raises(SaslAuthenticationError) as caught:
        server.evaluate(token, 0)
    assert str(caught.value) == text
    assert server.authenticated is None


def test_a_user_without_a_password_cannot_log_in() -> None:
    """`user_x=""` is left of a variable that is not set; as in Kafka, such a user cannot log in."""
    for token in (b"\0x\0", b"x\0x\0", b"\0x\0\0", b"\0x\0 "):
        server = PlainServer(PlainUsers({"user_x": ""}))
        with pytest.raises(SaslAuthenticationError):
            server.evaluate(token, 0)
        assert server.authenticated is None


def test_a_client_sends_one_token() -> None:
    client = PlainClient("alice", "alice-secret")
    token = client.evaluate(b"")
    assert token == b"\0alice\0alice-secret"
    assert client.is_complete
    evaluated(token)
    with pytest.raises(SaslAuthenticationError, match="one token"):
        client.evaluate(b"")


def test_a_client_does_not_answer_a_challenge() -> None:
    with pytest.raises(SaslAuthenticationError, match="one token"):
        PlainClient("alice", "alice-secret").evaluate(b"your password?")


def test_a_password_is_in_no_repr() -> None:
    assert "alice-secret" not in repr(vars(USERS)) + repr(PlainClient("alice", "alice-secret"))
