"""SCRAM (RFC 5802, KIP-84): each check of the server and of the client, with messages as they are sent."""

from __future__ import annotations

import base64
import hashlib
import hmac

import pytest

from kraftctl_protocol.scram import credential, salt_password
from kraftctl_security.sasl.mechanism import SaslAuthenticationError
from kraftctl_security.sasl.scram_client import ScramClient
from kraftctl_security.sasl.scram_messages import ScramFormatError, parse_client_first
from kraftctl_security.sasl.scram_server import ScramServer
from tests.security.sasl.known_users import (
    SALT,
    SHA_256,
    SHA_512,
    WALL_MS,
    KnownUsers,
    made,
    refusal,
    server,
)

REFUSED = "Authentication failed: invalid credentials for SCRAM-SHA-256"

# RFC 7677, section 3.
NONCE, SERVERS_NONCE = "rOprNGfwEbeRWgbNEkqO", "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
PROOF = "dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
SIGNATURE = "6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="
SALT_OF_RFC = "W22ZaJ0SNY7soEsUEjb6gQ=="


def users() -> KnownUsers:
    known = KnownUsers()
    known.add(SHA_256, "alice", "alice-secret")
    known.add(SHA_512, "alice", "alice-secret", 8_192)
    known.add(SHA_256, "a,b=c", "p")
    known.add_token(SHA_256, "token-1", "hmac", "owner", WALL_MS + 1)
    return known


def client(
    name: str = "alice",
    password: str = "alice-secret",
    mechanism: int = SHA_256,
    *,
    nonce: str = "clients",
    token_auth: bool = False,
) -> ScramClient:
    return ScramClient(mechanism, name, password, nonce=nonce, token_auth=token_auth)


def first_token(side: ScramClient) -> bytes:
    token = side.evaluate(b"")
    assert token is not None
    return token


def final_token(side: ScramClient, challenge: bytes) -> bytes:
    token = side.evaluate(challenge)
    assert token is not None
    assert not side.is_complete
    return token


def exchange(left: ScramClient, right: ScramServer) -> None:
    """From the first message to the last; raises what one of them raises."""
    challenge = right.evaluate(first_token(left), WALL_MS)
    signature = right.evaluate(final_token(left, challenge), WALL_MS)
    assert left.evaluate(signature) is None
    assert left.is_complete


def test_the_messages_are_those_of_rfc_7677() -> None:
    known = KnownUsers()
    salt = base64.b64decode(SALT_OF_RFC)
    salted = salt_password(SHA_256, b"pencil", salt, 4_096)
    known.users[SHA_256, "user"] = credential(SHA_256, salt=salt, salted_password=salted, iterations=4_096)
    left, right = client("user", "pencil", nonce=NONCE), server(known, nonce=SERVERS_NONCE)
    assert first_token(left) == f"n,,n=user,r={NONCE}".encode()
    challenge = right.evaluate(f"n,,n=user,r={NONCE}".encode(), 0)
    assert challenge == f"r={NONCE}{SERVERS_NONCE},s={SALT_OF_RFC},i=4096".encode()
    final = final_token(left, challenge)
    assert final == f"c=biws,r={NONCE}{SERVERS_NONCE},p={PROOF}".encode()
    assert right.evaluate(final, 0) == f"v={SIGNATURE}".encode()
    assert left.evaluate(f"v={SIGNATURE}".encode()) is None
    assert left.is_complete


@pytest.mark.parametrize(
    ("name", "password", "mechanism"),
    [
        pytest.param("alice", "alice-secret", SHA_256, id="sha-256"),
        pytest.param("alice", "alice-secret", SHA_512, id="sha-512"),
        pytest.param("a,b=c", "p", SHA_256, id="escaped"),
    ],
)
def test_a_user_with_the_password_is_authenticated(name: str, password: str, mechanism: int) -> None:
    right = server(users(), mechanism)
    exchange(client(name, password, mechanism), right)
    assert right.authenticated is not None
    assert str(right.authenticated.principal) == f"User:{name}"
    assert not right.authenticated.token_authenticated
    assert right.authenticated.expires_at_ms is None


def test_a_token_authenticates_its_owner() -> None:
    right = server(users())
    exchange(client("token-1", "hmac", token_auth=True), right)
    assert right.authenticated is not None
    assert str(right.authenticated.principal) == "User:owner"
    assert right.authenticated.token_authenticated
    assert right.authenticated.expires_at_ms == WALL_MS + 1


@pytest.mark.parametrize(
    ("name", "password", "token_auth"),
    [
        pytest.param("alice", "Alice-secret", False, id="wrong-password"),
        pytest.param("bob", "alice-secret", False, id="unknown-user"),
        pytest.param("token-1", "hmac", False, id="a-token-as-a-user"),
        pytest.param("alice", "alice-secret", True, id="a-user-as-a-token"),
        pytest.param("token-2", "hmac", True, id="unknown-token"),
    ],
)
def test_all_others_are_refused_at_the_end_in_the_same_words(
    name: str, password: str, token_auth: bool
) -> None:
    left, right = client(name, password, token_auth=token_auth), server(users())
    challenge = right.evaluate(first_token(left), WALL_MS)
    error = refusal(right, final_token(left, challenge))
    assert str(error) == REFUSED
    assert error.reason == "user or token are not known, or the password is wrong"


def test_a_token_that_expires_meanwhile_is_refused() -> None:
    left, right = client("token-1", "hmac", token_auth=True), server(users())
    challenge = right.evaluate(first_token(left), WALL_MS)
    error = refusal(right, final_token(left, challenge), WALL_MS + 1)
    assert str(error) == REFUSED
    assert error.reason == "the delegation token has expired"


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        pytest.param(
            b"r=clientsservers",
            b"r=clientsother",
            "the nonce is not the one of this authentication",
            id="nonce",
        ),
        pytest.param(b"r=clientsservers", b"r=clients", "the nonce is not the one of this", id="own-nonce"),
        pytest.param(b"c=biws", b"c=eSws", "the channel binding is not the one of the first message", id="y"),
        pytest.param(b"c=biws", b"c=", "the channel binding is not the one", id="no-binding"),
        pytest.param(b"c=biws", b"c=bixhPWFkbWluLA==", "the channel binding is not", id="authorization-id"),
        pytest.param(b",p=", b",p=AAAA", "user or token are not known, or the password", id="long-proof"),
        pytest.param(b",p=", b",x=y,p=", "user or token are not known, or the", id="unsigned-extension"),
        pytest.param(b",p=", b",p=*", "the attribute p= is missing or malformed", id="not-base64"),
        pytest.param(b"c=biws,", b"", "the last message of a client must have a", id="no-binding-at-all"),
        pytest.param(b"c=biws,", b"\xe9c=biws,", "a message has bytes that are not ASCII", id="not-ascii"),
    ],
)
def test_a_last_message_that_was_changed_is_refused(old: bytes, new: bytes, reason: str) -> None:
    left, right = client(), server(users())
    final = final_token(left, right.evaluate(first_token(left), WALL_MS))
    assert final.count(old) == 1
    error = refusal(right, final.replace(old, new))
    assert str(error) == REFUSED
    assert error.reason.startswith(reason)


def test_a_recorded_last_message_is_refused() -> None:
    """CVE-2024-56128."""
    left, right = client(), server(users(), nonce="one")
    first = first_token(left)
    final = final_token(left, right.evaluate(first, WALL_MS))
    right.evaluate(final, WALL_MS)
    assert right.authenticated is not None
    another = server(users(), nonce="two")
    another.evaluate(first, WALL_MS)
    error = refusal(another, final)
    assert error.reason == "the nonce is not the one of this authentication"


@pytest.mark.parametrize(
    "header",
    [
        pytest.param("n,a=admin,", id="another"),
        pytest.param("n,a=Alice,", id="another-case"),
    ],
)
def test_no_client_acts_in_the_name_of_another_user(header: str) -> None:
    """CVE-2017-12610."""
    error = refusal(server(users()), f"{header}n=alice,r=x".encode())
    assert str(error) == ("Authentication failed: the authorization id is not the user name")


def test_a_user_may_name_itself() -> None:
    right = server(users())
    challenge = right.evaluate(b"n,a=alice,n=alice,r=clients", WALL_MS)
    final = b"c=" + base64.b64encode(b"n,a=alice,") + b",r=clientsservers"
    salted = salt_password(SHA_256, b"alice-secret", SALT, 4_096)
    key = hmac.digest(salted, b"Client Key", "sha256")
    signed = b",".join((b"n=alice,r=clients", challenge, final))
    signature = hmac.digest(hashlib.sha256(key).digest(), signed, "sha256")
    proof = bytes(left ^ other for left, other in zip(key, signature, strict=True))
    right.evaluate(final + b",p=" + base64.b64encode(proof), WALL_MS)
    assert str(right.authenticated.principal) == "User:alice"


@pytest.mark.parametrize(
    ("token", "reason"),
    [
        pytest.param(b"", "the first message of a client must begin with n", id="empty"),
        pytest.param(b"y,,n=alice,r=x", "the first message of a client must begin with n", id="y"),
        pytest.param(b"p=tls-unique,,n=alice,r=x", "the first message of a client must begin", id="p"),
        pytest.param(
            b"n,,n=alice", "the first message of a client must begin with n, and have", id="no-nonce"
        ),
        pytest.param(b"n,,r=x,n=alice", "the attribute n= is missing or malformed", id="order"),
        pytest.param(b"n,,n=,r=x", "the attribute n= is missing or malformed", id="no-name"),
        pytest.param(b"n,,n=a=2cb,r=x", "the attribute n= is missing or malformed", id="escape"),
        pytest.param(b"n,,n=a=,r=x", "the attribute n= is missing or malformed", id="equals"),
        pytest.param(b"n,,n=a\0b,r=x", "the attribute n= is missing or malformed", id="nul"),
        pytest.param(b"n,,n=alice,r=", "the attribute r= is missing or malformed", id="empty-nonce"),
        pytest.param(b"n,,n=alice,r=a b", "the attribute r= is missing or malformed", id="blank-in-nonce"),
        pytest.param(b"n,b=x,n=alice,r=x", "the attribute a= is missing or malformed", id="header"),
        pytest.param(b"n,,m=x,n=alice,r=x", "the attribute n= is missing or malformed", id="mandatory"),
        pytest.param(b"n,,n=alice,r=x,", "an extension is malformed", id="empty-extension"),
        pytest.param(b"n,,n=alice,r=x,1=y", "an extension is malformed", id="extension"),
        pytest.param("n,,n=é,r=x".encode(), "a message has bytes that are not ASCII", id="not-ascii"),
    ],
)
def test_a_first_message_that_is_not_one_is_refused(token: bytes, reason: str) -> None:
    error = refusal(server(users()), token)
    assert str(error) == REFUSED
    assert error.reason.startswith(reason)


def test_a_name_is_unescaped_once() -> None:
    assert parse_client_first(b"n,,n==3D2C=2C,r=x").name == "=2C,"


@pytest.mark.parametrize(
    ("extensions", "expected"),
    [
        pytest.param("tokenauth=true", True, id="true"),
        pytest.param("tokenauth=TRUE", True, id="upper-case"),
        pytest.param("tokenauth=false", False, id="false"),
        pytest.param("tokenauth=true,tokenauth=no", False, id="the-last-decides"),
        pytest.param("other=x,tokenauth=true", True, id="after-another"),
    ],
)
def test_an_extension_says_that_the_name_is_a_token(extensions: str, expected: bool) -> None:
    assert parse_client_first(f"n,,n=alice,r=x,{extensions}".encode()).token_auth is expected


def test_a_credential_with_few_iterations_is_not_used() -> None:
    known = KnownUsers()
    known.users[SHA_256, "alice"] = made(SHA_256, "alice-secret", 4_095)
    error = refusal(server(known), b"n,,n=alice,r=x")
    assert error.reason == "the credential has fewer than 4096 iterations"


def test_nothing_is_answered_after_the_end() -> None:
    left, right = client(), server(users())
    exchange(left, right)
    with pytest.raises(SaslAuthenticationError):
        right.evaluate(b"n,,n=alice,r=x", WALL_MS)
    with pytest.raises(SaslAuthenticationError, match="a message after the last"):
        left.evaluate(b"")


def test_nothing_is_answered_after_a_refusal() -> None:
    right = server(users())
    refusal(right, b"nonsense")
    assert refusal(right, b"n,,n=alice,r=x").reason == "a message after the last"


@pytest.mark.parametrize(
    ("challenge", "text"),
    [
        pytest.param("r=other,s={salt},i=4096", "nonce does not continue the client's", id="nonce"),
        pytest.param("r=clients,s={salt},i=4096", "nonce does not continue the client's", id="no-nonce"),
        pytest.param("r=clientsx,s={salt},i=4095", "demands 4095 iterations", id="few-iterations"),
        pytest.param("r=clientsx,s={salt},i=16385", "demands 16385 iterations", id="many-iterations"),
        pytest.param("r=clientsx,s={salt},i=99999999999", "the attribute i= is missing", id="endless"),
        pytest.param("r=clientsx,s={salt},i=0", "demands 0 iterations", id="no-iterations"),
        pytest.param("r=clientsx,s=*,i=4096", "the attribute s= is missing or malformed", id="salt"),
        pytest.param("m=x,r=clientsx,s={salt},i=4096", "the attribute r= is missing", id="mandatory"),
        pytest.param("e=other-error", "the first message of a server must have", id="error"),
    ],
)
def test_a_client_does_not_answer_every_challenge(challenge: str, text: str) -> None:
    left = client()
    first_token(left)
    with pytest.raises(SaslAuthenticationError, match=text):
        left.evaluate(challenge.format(salt=base64.b64encode(SALT).decode()).encode())
    assert not left.is_complete


@pytest.mark.parametrize(
    ("final", "text"),
    [
        pytest.param(
            b"v=" + base64.b64encode(bytes(32)), "the server has not proven that it knows", id="wrong"
        ),
        pytest.param(b"v=", "the server has not proven that it knows", id="empty"),
        pytest.param(b"e=invalid-proof", "the server answers with an error", id="error"),
        pytest.param(b"", "the attribute v= is missing or malformed", id="nothing"),
    ],
)
def test_a_client_does_not_trust_a_server_that_does_not_know_the_user(final: bytes, text: str) -> None:
    left, right = client(), server(users())
    final_token(left, right.evaluate(first_token(left), WALL_MS))
    with pytest.raises(SaslAuthenticationError, match=text):
        left.evaluate(final)
    assert not left.is_complete


def test_a_client_begins() -> None:
    with pytest.raises(SaslAuthenticationError, match="the server asks before the client begins"):
        client().evaluate(b"r=x")


def test_a_message_of_the_longest_length_is_parsed_quickly() -> None:
    """Kafka's patterns take a stack frame for each character of a name."""
    name = b"n" * 500_000
    assert parse_client_first(b"n,,n=" + name + b",r=x").name == name.decode()
    with pytest.raises(ScramFormatError):
        parse_client_first(b"n,,n=" + b"=2C" * 150_000 + b"=,r=x")


def test_a_password_is_in_no_repr() -> None:
    assert "alice-secret" not in repr(client()) + repr(server(users()))
