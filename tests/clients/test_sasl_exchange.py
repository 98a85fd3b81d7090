"""The client's side of SASL, message by message: what it accepts, and which key it names when it does not."""

from __future__ import annotations

import pytest

from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.api_versions_response import ApiVersion, ApiVersionsResponse
from kraftctl_protocol.generated.sasl_authenticate_request import SaslAuthenticateRequest
from kraftctl_protocol.generated.sasl_authenticate_response import SaslAuthenticateResponse
from kraftctl_protocol.generated.sasl_handshake_request import SaslHandshakeRequest
from kraftctl_protocol.generated.sasl_handshake_response import SaslHandshakeResponse
from kraftctl_protocol.message import Message
from kraftctl_protocol.requests import decode_request, encode_response
from kraftctl_security.authentication_failures import AuthenticationFailedError
from kraftctl_security.peer_codec import PeerCodec
from kraftctl_security.sasl.client_exchange import ClientExchange
from kraftctl_security.sasl.mechanism import NewSaslClient, SaslAuthenticationError, SaslClient
from tests.clients.sasl_script import MECHANISM, SECRET, OneStep, Script, TwoSteps, sasl_script

ALL_VERSIONS = {SaslHandshakeRequest.API_KEY: (0, 1), SaslAuthenticateRequest.API_KEY: (0, 2)}


class Talk:
    """Runs an exchange with a scripted node."""

    def __init__(
        self,
        new_client: NewSaslClient = TwoSteps,
        script: Script | None = None,
        versions: dict[int, tuple[int, int]] | None = None,
    ) -> None:
        self.sent: list[tuple[str, int]] = []
        self._script = script or sasl_script()
        codec = PeerCodec("client", ("kraftctl", "1"))
        served = ALL_VERSIONS if versions is None else versions
        listed = [
            ApiVersion(api_key=key, min_version=low, max_version=high) for key, (low, high) in served.items()
        ]
        asked = decode_request(codec.encode_versions_request())
        answer = ApiVersionsResponse(api_keys=listed)
        codec.decode_versions(
            encode_response(asked.header.correlation_id, asked.api_key, asked.version, answer)
        )
        self.exchange = ClientExchange(codec, new_client)

    def run(self) -> None:
        answer: bytes | None = None
        while (payload := self.exchange.advance(answer)) is not None:
            request = decode_request(payload)
            self.sent.append((request.body.NAME, request.version))
            response = self._script[type(request.body)](request.body)
            assert response is not None
            answer = encode_response(
                request.header.correlation_id, request.api_key, request.version, response
            )


def refusal(talk: Talk) -> AuthenticationFailedError:
    with pytest.raises(AuthenticationFailedError) as failed:
        talk.run()
    assert SECRET not in f"{failed.value} {failed.value!r} {failed.value.keys}"
    return failed.value


def test_a_mechanism_is_named_and_its_tokens_are_carried() -> None:
    talk = Talk()
    talk.run()
    tokens = [("SaslAuthenticateRequest", 2)]
    assert talk.sent == [("SaslHandshakeRequest", 1), *tokens, *tokens]
    assert talk.exchange.renewed_after_seconds is None


def test_a_mechanism_that_has_sent_all_waits_for_the_answer() -> None:
    """The node has not accepted the password before."""
    talk = Talk(OneStep)
    talk.run()
    assert len(talk.sent) == 2
    denied = {SaslAuthenticateRequest: lambda _: SaslAuthenticateResponse(Errors.SASL_AUTHENTICATION_FAILED)}
    assert "SASL_AUTHENTICATION_FAILED" in str(refusal(Talk(OneStep, sasl_script() | denied)))


def test_an_older_node_gets_the_version_that_it_knows() -> None:
    talk = Talk(versions={**ALL_VERSIONS, SaslAuthenticateRequest.API_KEY: (0, 0)})
    talk.run()
    assert talk.sent[-1] == ("SaslAuthenticateRequest", 0)


def wrong_password() -> SaslClient:
    return TwoSteps("no-" + SECRET[:4])


def unknown_mechanism() -> SaslClient:
    client = TwoSteps()
    client.mechanism = "SCRAM-SHA-256"
    return client


def no_token() -> SaslClient:
    raise SaslAuthenticationError("the token endpoint does not answer")


def answering(error: Errors) -> Script:
    return {SaslHandshakeRequest: lambda _: SaslHandshakeResponse(error)}


def accepting_at_once(_: Message) -> Message:
    return SaslAuthenticateResponse(auth_bytes=b"", error_message=None)


@pytest.mark.parametrize(
    ("talk", "reason", "keys"),
    [
        pytest.param(
            lambda: Talk(wrong_password),
            f"{MECHANISM} was refused with SASL_AUTHENTICATION_FAILED: Authentication failed",
            "sasl.jaas.config",
            id="wrong-password",
        ),
        pytest.param(
            lambda: Talk(unknown_mechanism),
            f"SASL SCRAM-SHA-256 is not enabled there, {MECHANISM}, OTHER is",
            "sasl.mechanism",
            id="another-mechanism",
        ),
        pytest.param(
            lambda: Talk(script=sasl_script(proof=b"forged")),
            "the server has not proved who it is",
            "sasl.jaas.config",
            id="forged-proof",
        ),
        pytest.param(
            lambda: Talk(script=sasl_script() | {SaslAuthenticateRequest: accepting_at_once}),
            "an unexpected challenge",
            "sasl.jaas.config",
            id="accepted-before-the-proof",
        ),
        pytest.param(
            lambda: Talk(no_token), "the token endpoint does not answer", "sasl.jaas.config", id="no-token"
        ),
        pytest.param(
            lambda: Talk(script=answering(Errors.ILLEGAL_SASL_STATE)),
            "the listener does not use SASL",
            "security.protocol",
            id="no-sasl-there",
        ),
        pytest.param(
            lambda: Talk(versions={SaslHandshakeRequest.API_KEY: (0, 0)}),
            "does not serve SaslHandshakeRequest",
            "security.protocol",
            id="tokens-without-headers",
        ),
        pytest.param(
            lambda: Talk(versions={SaslHandshakeRequest.API_KEY: (0, 1)}),
            "does not serve SaslAuthenticateRequest",
            "security.protocol",
            id="no-sasl-authenticate",
        ),
    ],
)
def test_what_is_not_accepted_names_the_key(talk: type[Talk], reason: str, keys: str) -> None:
    failed = refusal(talk())
    assert reason in str(failed)
    assert failed.keys == keys


@pytest.mark.parametrize(
    ("lifetime_ms", "after_seconds"),
    [(0, None), (100, 1.1), (10_000, 8.5)],
    ids=["no-end", "not-within-a-second", "before-its-end"],
)
def test_a_session_is_renewed_before_it_expires(lifetime_ms: int, after_seconds: float | None) -> None:
    talk = Talk(script=sasl_script(lifetime_ms=lifetime_ms))
    talk.run()
    assert talk.exchange.renewed_after_seconds == after_seconds
