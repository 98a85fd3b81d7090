"""What a client may send before it is authenticated, and what it is answered: as in Kafka."""

from __future__ import annotations

import pytest

from kraftctl.server.security.sasl_exchange import Outcome, SaslExchange, Session
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.api_versions_request import ApiVersionsRequest
from kraftctl_protocol.generated.metadata_request import MetadataRequest
from kraftctl_protocol.generated.request_header import RequestHeader
from kraftctl_protocol.generated.sasl_authenticate_request import SaslAuthenticateRequest
from kraftctl_protocol.generated.sasl_authenticate_response import SaslAuthenticateResponse
from kraftctl_protocol.generated.sasl_handshake_request import SaslHandshakeRequest
from kraftctl_protocol.generated.sasl_handshake_response import SaslHandshakeResponse
from kraftctl_protocol.generated.vote_request import VoteRequest
from kraftctl_protocol.message import Message
from kraftctl_protocol.principal import KafkaPrincipal
from kraftctl_protocol.requests import encode_request
from tests.server.security.naming_servers import BAD, NamingServers
from tests.server.serving import request_bytes

NOW_MS = 1_000_000
ALICE = Session(KafkaPrincipal("User", "alice"), "NAMING", 1_000, is_renewable=True)


class Talk:
    """An exchange, frame by frame."""

    def __init__(self, previous: Session | None = None, **servers: int) -> None:
        self.exchange = SaslExchange(NamingServers(**servers), previous)

    def send(self, frame: bytes) -> Outcome | str:
        """The outcome, or why the connection is closed; "node" when the node answers."""
        received = self.exchange.receive(frame)
        if isinstance(received, str):
            return received
        if isinstance(received.parsed.body, ApiVersionsRequest) and not self.exchange.expects_tokens:
            return "node"
        return self.exchange.answer(received, NOW_MS)

    def handshake(self, mechanism: str = "NAMING", version: int = 1) -> SaslHandshakeResponse:
        outcome = self.send(request_bytes(SaslHandshakeRequest(mechanism), version))
        assert isinstance(outcome, Outcome)
        assert isinstance(outcome.response, SaslHandshakeResponse)
        assert (outcome.failure is None) == (outcome.response.error_code == 0)
        return outcome.response

    def token(self, token: bytes, version: int = 2) -> tuple[SaslAuthenticateResponse, Outcome]:
        outcome = self.send(request_bytes(SaslAuthenticateRequest(token), version))
        assert isinstance(outcome, Outcome)
        assert isinstance(outcome.response, SaslAuthenticateResponse)
        return outcome.response, outcome

    def is_over(self) -> bool:
        """Nothing that follows is accepted."""
        for body, version in ((SaslAuthenticateRequest(b"eve"), 2), (SaslHandshakeRequest("NAMING"), 1)):
            outcome = self.send(request_bytes(body, version))
            if not isinstance(outcome, str) and (outcome.session is not None or outcome.failure is None):
                return False
        return True


def api_versions(version: int = 4, name: str = "client") -> bytes:
    body = ApiVersionsRequest(client_software_name=name, client_software_version="1")
    return request_bytes(body, version)


@pytest.mark.parametrize("version", [0, 1, 2])
def test_a_client_asks_for_versions_then_names_a_mechanism_then_sends_tokens(version: int) -> None:
    talk = Talk()
    assert talk.send(api_versions()) == "node"
    assert talk.handshake("ASKING").mechanisms == ["NAMING", "ASKING"]
    response, outcome = talk.token(b"alice", version)
    assert (response.auth_bytes, outcome.session) == (b"who?alice", None)
    response, outcome = talk.token(b"alice", version)
    assert (response.error_code, response.auth_bytes) == (0, b"welcome")
    assert outcome.session is not None
    assert outcome.session.principal == KafkaPrincipal("User", "alice")
    assert outcome.session.is_renewable == (version > 0)


def test_versions_need_not_be_asked_for() -> None:
    talk = Talk()
    talk.handshake()
    assert talk.token(b"alice")[1].session is not None


def test_after_handshake_0_tokens_have_no_header() -> None:
    talk = Talk()
    talk.handshake("ASKING", version=0)
    for expected in (b"who?alice", b"welcome"):
        received = talk.exchange.receive(b"alice")
        assert not isinstance(received, str)
        outcome = talk.exchange.answer(received, NOW_MS)
        assert outcome.response is not None
        assert received.encode_response(outcome.response) == expected
    assert outcome.session is not None


def test_a_failure_without_headers_is_not_answered() -> None:
    talk = Talk()
    talk.handshake(version=0)
    outcome = talk.send(BAD)
    assert isinstance(outcome, Outcome)
    assert (outcome.response, outcome.failure) == (None, "Authentication failed: not you")
    assert talk.is_over()


def test_a_failure_is_answered_with_its_text() -> None:
    talk = Talk()
    talk.handshake()
    response, outcome = talk.token(BAD)
    assert response.error_code == Errors.SASL_AUTHENTICATION_FAILED
    assert response.error_message == outcome.failure == "Authentication failed: not you"
    assert talk.is_over()


def test_a_mechanism_that_is_not_enabled_is_answered_with_those_that_are() -> None:
    talk = Talk()
    response = talk.handshake("GSSAPI")
    assert response.error_code == Errors.UNSUPPORTED_SASL_MECHANISM
    assert response.mechanisms == ["NAMING", "ASKING"]
    assert talk.is_over()


def test_versions_may_be_asked_for_again_only_after_an_error() -> None:
    talk = Talk()
    assert talk.send(api_versions(version=4)[:2] + b"\x00\x63" + bytes(4)) == "node"
    assert talk.send(api_versions(name="-")) == "node"
    assert talk.send(api_versions()) == "node"
    assert "SaslHandshake has to follow" in str(talk.send(api_versions()))


@pytest.mark.parametrize(
    "frame",
    [
        pytest.param(request_bytes(MetadataRequest(), 9), id="metadata"),
        pytest.param(request_bytes(VoteRequest(), 0), id="served-after-authentication"),
        pytest.param(request_bytes(SaslAuthenticateRequest(b"alice"), 2), id="token-without-mechanism"),
        pytest.param(b"\x60" + bytes(20), id="gssapi-without-handshake"),
        pytest.param(b"GET / HTTP/1.1\r\n", id="http"),
        pytest.param(b"", id="empty"),
        pytest.param(request_bytes(SaslHandshakeRequest("N" * 32_000), 1) + bytes(70_000), id="long"),
    ],
)
def test_nothing_else_comes_before_authentication(frame: bytes) -> None:
    for is_first in (True, False):
        talk = Talk()
        if not is_first:
            talk.send(api_versions())
        reason = talk.send(frame)
        assert isinstance(reason, str)
        assert ("may come before authentication" in reason) == is_first, "the client may not use SASL at all"
        is_of_kafka = "type VoteRequest" in reason
        assert ("it does not authenticate" in reason) == (is_of_kafka and not is_first)


@pytest.mark.parametrize("body", [VoteRequest(), ApiVersionsRequest(), SaslHandshakeRequest("NAMING")])
def test_another_request_between_tokens_is_answered_and_ends_the_connection(body: Message) -> None:
    talk = Talk()
    talk.handshake()
    outcome = talk.send(request_bytes(body, 0))
    assert isinstance(outcome, Outcome)
    assert outcome.response is not None
    assert outcome.response.error_code == Errors.ILLEGAL_SASL_STATE  # type: ignore[attr-defined]
    assert outcome.failure == f"{body.NAME} came before the client had authenticated"
    assert talk.is_over()


@pytest.mark.parametrize("token_bytes_max", [1, 100, 4096, 65_536])
@pytest.mark.parametrize("version", [0, 1])
def test_a_token_has_the_limit_of_its_mechanism(version: int, token_bytes_max: int) -> None:
    """With a header and without one; nothing of a longer one is looked at."""
    for excess in (0, 1, 5_000, 500_000):
        talk = Talk(token_bytes_max=token_bytes_max)
        talk.handshake(version=version)
        token = b"a" * (token_bytes_max + excess)
        outcome = talk.send(request_bytes(SaslAuthenticateRequest(token), 2) if version else token)
        if excess == 0:
            assert isinstance(outcome, Outcome)
            assert outcome.session is not None
        else:
            assert isinstance(outcome, str)
            assert f"more than the {token_bytes_max}" in outcome or excess > 4_096


def test_a_long_client_id_leaves_room_for_a_token() -> None:
    talk = Talk()
    talk.handshake()
    header = RequestHeader(SaslAuthenticateRequest.API_KEY, 2, 1, "c" * 4_000)
    outcome = talk.send(encode_request(header, SaslAuthenticateRequest(b"a" * 4_096)))
    assert isinstance(outcome, Outcome)
    assert outcome.session is not None


@pytest.mark.parametrize("is_renewed", [False, True])
def test_requests_before_a_token_have_a_limit_of_their_own(is_renewed: bool) -> None:
    for body, version in (
        (ApiVersionsRequest(client_software_name="c" * 4_100), 4),
        (SaslHandshakeRequest("N" * 4_100), 1),
    ):
        talk = Talk(previous=ALICE if is_renewed else None, token_bytes_max=65_536)
        assert "more than the 4096" in str(talk.send(request_bytes(body, version)))


def test_other_long_requests_are_not_taken_for_tokens() -> None:
    talk = Talk(token_bytes_max=65_536)
    talk.handshake()
    header = RequestHeader(request_api_key=VoteRequest.API_KEY, client_id="c")
    assert "of 66" in str(talk.send(encode_request(header, VoteRequest()) + bytes(66_000)))


@pytest.mark.parametrize(
    ("session_ms_max", "expires_in_ms", "lifetime_ms"),
    [
        pytest.param(0, None, None, id="without-end"),
        pytest.param(5_000, None, 5_000, id="configured"),
        pytest.param(0, 7_000, 7_000, id="of-the-credential"),
        pytest.param(5_000, 7_000, 5_000, id="configured-first"),
        pytest.param(9_000, 7_000, 7_000, id="credential-first"),
        pytest.param(9_000, -1, 0, id="expired"),
    ],
)
def test_how_long_a_session_lasts(
    session_ms_max: int, expires_in_ms: int | None, lifetime_ms: int | None
) -> None:
    expires_at_ms = None if expires_in_ms is None else NOW_MS + expires_in_ms
    talk = Talk(session_ms_max=session_ms_max, expires_at_ms=expires_at_ms)  # type: ignore[arg-type]
    talk.handshake()
    response, outcome = talk.token(b"alice")
    assert outcome.session is not None
    assert outcome.session.lifetime_ms == lifetime_ms
    assert response.session_lifetime_ms == (lifetime_ms or 0)


def test_a_session_is_renewed_by_its_mechanism_and_principal() -> None:
    talk = Talk(previous=ALICE)
    talk.handshake()
    session = talk.token(b"alice")[1].session
    assert session is not None


def test_a_session_is_not_renewed_by_another_principal() -> None:
    talk = Talk(previous=ALICE)
    talk.handshake()
    response, outcome = talk.token(b"bob")
    assert outcome.session is None
    assert response.error_code == Errors.SASL_AUTHENTICATION_FAILED
    assert response.error_message == ("the client was User:alice, and authenticates again as User:bob")
    assert talk.is_over()


def test_a_session_is_not_renewed_by_another_mechanism() -> None:
    talk = Talk(previous=ALICE)
    assert talk.handshake("ASKING").error_code == 0, "as Kafka: the next message fails"
    outcome = talk.send(request_bytes(SaslAuthenticateRequest(b"alice"), 2))
    assert isinstance(outcome, Outcome)
    assert (outcome.response, outcome.session) == (None, None)
    assert "the client began with NAMING" in str(outcome.failure)
    assert talk.is_over()


def test_a_session_is_not_renewed_by_a_mechanism_that_is_not_enabled() -> None:
    """Kafka closes the connection without a response then."""
    talk = Talk(previous=ALICE)
    outcome = talk.send(request_bytes(SaslHandshakeRequest("GSSAPI"), 1))
    assert isinstance(outcome, Outcome)
    assert (outcome.response, outcome.failure) == (None, "Unsupported SASL mechanism 'GSSAPI'")
    assert talk.is_over()


def test_renewal_begins_with_the_handshake() -> None:
    talk = Talk(previous=ALICE)
    assert isinstance(talk.send(api_versions()), str)
