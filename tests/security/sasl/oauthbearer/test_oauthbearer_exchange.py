"""The messages of both sides of OAUTHBEARER, token by token."""

from __future__ import annotations

import json

import pytest

from kraftctl_protocol.principal import KafkaPrincipal
from kraftctl_security.sasl.mechanism import SaslAuthenticationError
from kraftctl_security.sasl.oauthbearer.initial_response import (
    InitialResponse,
    InitialResponseError,
    parse_initial_response,
)
from kraftctl_security.sasl.oauthbearer.jwt_validator import JwtValidator
from kraftctl_security.sasl.oauthbearer.jwt_validator_config import JwtValidatorConfig
from kraftctl_security.sasl.oauthbearer.oauthbearer_client import OAuthBearerSaslClient, TokenUnavailableError
from kraftctl_security.sasl.oauthbearer.oauthbearer_server import (
    REASON_CHARACTERS_MAX,
    OAuthBearerSaslServer,
)
from kraftctl_security.sasl.oauthbearer.verification_keys import VerificationKeys, parse_verification_keys
from tests.support.token_issuer import SigningKey, claims_of, jwks

NOW = 1_800_000_000
KEY = SigningKey("k")
TOKEN = KEY.sign(claims_of("alice", NOW))
EXPIRED = KEY.sign(claims_of("x" * 1_000, NOW, exp=NOW - 1_000, iat=0))


class Keys:
    def keys(self) -> VerificationKeys:
        return parse_verification_keys(jwks(KEY))

    def key_is_missing(self, key_id: str) -> None:
        """Nothing can be read anew."""

    def why_missing(self) -> str:
        return ""


def server() -> OAuthBearerSaslServer:
    config = JwtValidatorConfig(
        expected_audiences=[],
        expected_issuer=None,
        clock_skew_seconds=30,
        scope_claim_name="scope",
        sub_claim_name="sub",
    )
    return OAuthBearerSaslServer(JwtValidator(config, Keys()))


def test_a_client_with_a_token_is_authenticated_until_it_expires() -> None:
    client, listener = OAuthBearerSaslClient(lambda: TOKEN, {"traceId": "5"}), server()
    first = client.evaluate(b"")
    assert first == b"n,,\x01auth=Bearer " + TOKEN.encode() + b"\x01traceId=5\x01\x01"
    assert listener.evaluate(first, NOW * 1_000) == b""
    assert listener.authenticated is not None
    assert listener.authenticated.principal == KafkaPrincipal("User", "alice")
    assert listener.authenticated.expires_at_ms == (NOW + 3_600) * 1_000
    assert not listener.authenticated.token_authenticated
    assert not client.is_complete
    assert client.evaluate(b"") is None
    assert client.is_complete


def test_a_refused_token_ends_the_exchange_after_the_answer_of_the_client() -> None:
    client, listener = OAuthBearerSaslClient(lambda: EXPIRED, {}), server()
    error = listener.evaluate(client.evaluate(b"") or b"", NOW * 1_000)
    assert json.loads(error) == {"status": "invalid_token"}
    assert client.evaluate(error) == b"\x01"
    with pytest.raises(SaslAuthenticationError, match="invalid_token") as refused:
        listener.evaluate(b"\x01", NOW * 1_000)
    assert refused.value.reason.startswith("the token is refused: it has expired")
    assert len(refused.value.reason) <= REASON_CHARACTERS_MAX
    with pytest.raises(SaslAuthenticationError, match=r"the server refuses the token: .*invalid_token"):
        client.evaluate(b"")
    assert listener.authenticated is None
    assert not client.is_complete


def test_no_second_token_is_accepted_after_an_error() -> None:
    listener = server()
    listener.evaluate(InitialResponse(EXPIRED).to_bytes(), NOW * 1_000)
    with pytest.raises(SaslAuthenticationError):
        listener.evaluate(InitialResponse(TOKEN).to_bytes(), NOW * 1_000)
    assert listener.authenticated is None


def test_the_authorization_id_has_to_be_the_name_in_the_token() -> None:
    listener = server()
    listener.evaluate(InitialResponse(TOKEN, authorization_id="alice").to_bytes(), NOW * 1_000)
    assert listener.authenticated is not None
    listener = server()
    with pytest.raises(SaslAuthenticationError, match="authorization id is not the principal"):
        listener.evaluate(InitialResponse(TOKEN, authorization_id="admin").to_bytes(), NOW * 1_000)
    assert listener.authenticated is None


def test_a_client_without_a_token_fails_with_the_reason() -> None:
    def unavailable() -> str:
        raise TokenUnavailableError("the token endpoint does not answer")

    with pytest.raises(SaslAuthenticationError, match="the token endpoint does not answer"):
        OAuthBearerSaslClient(unavailable, {}).evaluate(b"")


def test_a_client_shows_its_token_to_no_server_that_speaks_first() -> None:
    with pytest.raises(SaslAuthenticationError, match="before the token"):
        OAuthBearerSaslClient(lambda: TOKEN, {}).evaluate(b"x")


@pytest.mark.parametrize(
    "message",
    [
        b"",
        b"\x01",
        b"n,,\x01\x01",
        b"n,,\x01auth=Bearer\x01\x01",
        b"n,,\x01auth=Basic YTpi\x01\x01",
        b"n,,\x01auth=Bearer a b\x01\x01",
        b"n,,\x01auth=Bearer a\x01",
        b"n,,\x01auth=Bearer a\x01\x01\x01",
        b"y,,\x01auth=Bearer a\x01\x01",
        b"n,a=,\x01auth=Bearer a\x01\x01",
        b"n,a=b=c,\x01auth=Bearer a\x01\x01",
        b"n,,\x01auth=Bearer a\x01k1=v\x01\x01",
        b"n,,\x01auth=Bearer a\x01k=\xc3\xbc\x01\x01",
        b"n,,\x01auth=Bearer a\x01=v\x01\x01",
    ],
)
def test_messages_that_are_none(message: bytes) -> None:
    with pytest.raises(InitialResponseError):
        parse_initial_response(message)
    with pytest.raises(SaslAuthenticationError):
        server().evaluate(message, NOW * 1_000)


def test_a_message_of_the_largest_size_is_parsed_in_time() -> None:
    """Nothing in it needs more than one look."""
    pairs = b"a=b\x01" * 16_000
    with pytest.raises(InitialResponseError):
        parse_initial_response(b"n,,\x01" + pairs + b"a")
    assert parse_initial_response(b"n,,\x01auth=Bearer a\x01" + pairs + b"\x01").extensions == {"a": "b"}


@pytest.mark.parametrize(
    "extension", [{"auth": "x"}, {"a1": "x"}, {"": "x"}, {"a": ""}, {"a": "ü"}, {"a": "\x01"}]
)
def test_extensions_that_cannot_be_sent(extension: dict[str, str]) -> None:
    with pytest.raises(InitialResponseError):
        InitialResponse("t", extensions=extension)
