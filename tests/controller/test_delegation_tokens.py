"""Delegation tokens (KIP-48): who may create and renew them, and when they expire."""

from __future__ import annotations

import hashlib
import hmac

import pytest

from kraftctl.config.controller_config import STANDARD_AUTHORIZER
from kraftctl.metadata import features
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.create_delegation_token_request import (
    CreatableRenewers,
    CreateDelegationTokenRequest,
)
from kraftctl_protocol.generated.expire_delegation_token_request import ExpireDelegationTokenRequest
from kraftctl_protocol.generated.renew_delegation_token_request import RenewDelegationTokenRequest
from kraftctl_protocol.principal import ANONYMOUS, KafkaPrincipal
from tests.support.active_controller import ActiveController

ALICE = KafkaPrincipal("User", "alice")
BOB = KafkaPrincipal("User", "bob")
DAY_MS = 86_400_000
SSL = {
    "listener_security_protocol_map": "CONTROLLER:SSL",
    "ssl_keystore_type": "PEM",
    "ssl_keystore_location": "unread",
}
PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"
SASL = {
    "listener_security_protocol_map": "CONTROLLER:SASL_PLAINTEXT",
    "sasl_enabled_mechanisms": "PLAIN",
    "sasl_mechanism_controller_protocol": "PLAIN",
    "listener_name_controller_plain_sasl_jaas_config": f'{PLAIN} required username="c" password="p";',
}


def enabled(metadata_version=features.LATEST_PRODUCTION, **properties):
    return ActiveController(
        metadata_version,
        delegation_token_secret_key="secret",
        metadata_max_idle_interval_ms="0",
        **properties,
    )


def ask(active, request, principal=ALICE, version=None, envelope=True):
    context = active.context(request, version, principal=principal, envelope=envelope)
    return active.request(request, context=context)


def test_a_token_from_birth_to_end():
    active = enabled()
    request = CreateDelegationTokenRequest(
        renewers=[CreatableRenewers(principal_type="User", principal_name="bob")], max_lifetime_ms=2 * DAY_MS
    )
    created = ask(active, request)
    assert created.error_code == 0
    assert created.hmac == hmac.digest(b"secret", created.token_id.encode(), hashlib.sha512)
    assert (created.principal_name, created.token_requester_principal_name) == ("alice", "alice")
    assert created.expiry_timestamp_ms == created.issue_timestamp_ms + DAY_MS
    assert created.max_timestamp_ms == created.issue_timestamp_ms + 2 * DAY_MS
    active.now_ms += DAY_MS // 2
    renewed = ask(active, RenewDelegationTokenRequest(hmac=created.hmac, renew_period_ms=-1), BOB)
    assert renewed.expiry_timestamp_ms == active.now_ms + DAY_MS
    sooner = ask(active, ExpireDelegationTokenRequest(hmac=created.hmac, expiry_time_period_ms=5_000))
    assert sooner.expiry_timestamp_ms == active.now_ms + 5_000
    ended = ask(active, ExpireDelegationTokenRequest(hmac=created.hmac, expiry_time_period_ms=-1))
    assert (ended.error_code, active.controller.image.delegation_tokens.tokens) == (0, {})


@pytest.mark.parametrize(
    ("properties", "principal", "error"),
    [
        pytest.param({}, ALICE, Errors.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED, id="plaintext"),
        pytest.param(SSL, ANONYMOUS, Errors.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED, id="no-certificate"),
        pytest.param(SSL, ALICE, Errors.NONE, id="a-certificate"),
        pytest.param(SASL, ALICE, Errors.NONE, id="sasl"),
        pytest.param(
            SASL,
            KafkaPrincipal("User", "alice", True),
            Errors.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED,
            id="sasl-by-token",
        ),
    ],
)
def test_a_direct_request_needs_an_authenticated_client(properties, principal, error):
    active = enabled(**properties)
    response = ask(active, CreateDelegationTokenRequest(), principal, envelope=False)
    assert response.error_code == error
    assert bool(response.hmac) == (error == Errors.NONE)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        pytest.param({"envelope": False}, Errors.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED, id="in-the-clear"),
        pytest.param(
            {"principal": KafkaPrincipal("User", "alice", True)},
            Errors.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED,
            id="by-token",
        ),
    ],
)
@pytest.mark.parametrize(
    "request_",
    [CreateDelegationTokenRequest(), RenewDelegationTokenRequest(), ExpireDelegationTokenRequest()],
    ids=["create", "renew", "expire"],
)
def test_who_may_not_ask(request_, arguments, error):
    active = enabled()
    before = active.end_offset
    assert ask(active, request_, **arguments).error_code == error
    assert active.end_offset == before


def test_switched_off_and_too_old():
    request = CreateDelegationTokenRequest()
    assert ask(ActiveController(), request).error_code == Errors.DELEGATION_TOKEN_AUTH_DISABLED
    assert ask(enabled(features.IBP_3_6_IV1), request).error_code == Errors.UNSUPPORTED_VERSION


def test_strangers_and_expired_tokens():
    active = enabled()
    secret = ask(active, CreateDelegationTokenRequest()).hmac
    for request in (RenewDelegationTokenRequest(hmac=secret), ExpireDelegationTokenRequest(hmac=secret)):
        assert ask(active, request, BOB).error_code == Errors.DELEGATION_TOKEN_OWNER_MISMATCH
        request.hmac = b"no such token"
        assert ask(active, request).error_code == Errors.DELEGATION_TOKEN_NOT_FOUND
    active.now_ms += DAY_MS + 1
    for late in (RenewDelegationTokenRequest(hmac=secret), ExpireDelegationTokenRequest(hmac=secret)):
        assert ask(active, late).error_code == Errors.DELEGATION_TOKEN_EXPIRED


def test_a_token_is_found_from_the_response_on_and_ends_once():
    active = enabled()
    for _ in range(2):
        secret = ask(active, CreateDelegationTokenRequest()).hmac
        end = ExpireDelegationTokenRequest(hmac=secret, expiry_time_period_ms=-1)
        assert ask(active, end, BOB).error_code == Errors.DELEGATION_TOKEN_OWNER_MISMATCH
        assert ask(active, end).error_code == Errors.NONE
        before = active.end_offset
        assert ask(active, end).error_code == Errors.DELEGATION_TOKEN_NOT_FOUND
        assert active.end_offset == before


def test_a_type_with_a_colon_is_not_the_owner_that_it_reads_like():
    """`User:a` called `b` is not `User` called `a:b`, as in Kafka."""
    active = enabled()
    owner, alike = KafkaPrincipal("User", "a:b"), KafkaPrincipal("User:a", "b")
    created = ask(active, CreateDelegationTokenRequest(), owner)
    renewal = RenewDelegationTokenRequest(hmac=created.hmac, renew_period_ms=-1)
    assert ask(active, renewal, alike).error_code == Errors.DELEGATION_TOKEN_OWNER_MISMATCH
    assert ask(active, renewal, owner).error_code == 0
    secured = enabled(authorizer_class_name=STANDARD_AUTHORIZER, super_users="User:admin")
    for_owner = CreateDelegationTokenRequest(owner_principal_type="User", owner_principal_name="a:b")
    assert ask(secured, for_owner, alike).error_code == Errors.DELEGATION_TOKEN_AUTHORIZATION_FAILED
    assert ask(secured, for_owner, owner).error_code == 0


def test_renewers_are_users():
    renewer = CreatableRenewers(principal_type="Group", principal_name="g")
    response = ask(enabled(), CreateDelegationTokenRequest(renewers=[renewer]))
    assert response.error_code == Errors.INVALID_PRINCIPAL_TYPE


def test_an_owner_has_the_type_of_the_request():
    """As Kafka's, an empty one is no User. Kafka answers one that is null with UNKNOWN_SERVER_ERROR."""
    empty = ask(enabled(), CreateDelegationTokenRequest(owner_principal_type="", owner_principal_name="bob"))
    assert (empty.error_code, empty.principal_type, empty.principal_name) == (0, "", "bob")
    active = enabled()
    start = active.end_offset
    null = CreateDelegationTokenRequest(owner_principal_type=None, owner_principal_name="bob")
    assert ask(active, null).error_code == Errors.INVALID_PRINCIPAL_TYPE
    assert active.end_offset == start


def test_a_token_for_another_owner():
    request = CreateDelegationTokenRequest(owner_principal_type="User", owner_principal_name="bob")
    response = ask(enabled(), request)
    assert (response.error_code, response.principal_name) == (0, "bob")
    secured = enabled(
        authorizer_class_name="org.apache.kafka.metadata.authorizer.StandardAuthorizer", super_users="User:x"
    )
    assert ask(secured, request).error_code == Errors.DELEGATION_TOKEN_AUTHORIZATION_FAILED
    assert ask(secured, CreateDelegationTokenRequest()).error_code == 0


def test_expired_tokens_are_swept():
    active = enabled()
    ask(active, CreateDelegationTokenRequest())
    assert active.pass_time(DAY_MS) == []
    assert [entry.record.NAME for entry in active.pass_time(3_600_000)] == ["RemoveDelegationTokenRecord"]


@pytest.mark.parametrize(("step_ms", "removed"), [(DAY_MS, True), (-DAY_MS, False)], ids=["ahead", "back"])
def test_the_sweep_follows_a_wall_clock_that_is_stepped(step_ms, removed):
    """For example when time is synchronized only after this controller became active."""
    active = enabled()
    ask(active, CreateDelegationTokenRequest())
    active.wall_ahead_ms += step_ms
    records = active.pass_time(3_600_000 if removed else DAY_MS + 3_600_000)
    assert bool(records) == removed


@pytest.mark.parametrize("version", [1, 2, 3])
def test_every_version(version):
    assert ask(enabled(), CreateDelegationTokenRequest(), version=version).error_code == 0
