"""Each refusal about delegation tokens has a line: who asked for what, why not, and what to do."""

from __future__ import annotations

from typing import Any

import pytest

from kraftctl.config.controller_config import STANDARD_AUTHORIZER
from kraftctl.metadata import features
from kraftctl_protocol.generated.create_delegation_token_request import (
    CreatableRenewers,
    CreateDelegationTokenRequest,
)
from kraftctl_protocol.generated.expire_delegation_token_request import ExpireDelegationTokenRequest
from kraftctl_protocol.generated.renew_delegation_token_request import RenewDelegationTokenRequest
from kraftctl_protocol.message import Message
from kraftctl_protocol.principal import KafkaPrincipal
from tests.controller.test_delegation_tokens import ALICE, BOB, DAY_MS, ask, enabled
from tests.controller.test_token_limits import LIMITS, limit_rate
from tests.support.active_controller import ActiveController

BY_TOKEN = KafkaPrincipal("User", "alice", True)

CREATE = CreateDelegationTokenRequest()
FOR_BOB = CreateDelegationTokenRequest(owner_principal_type="User", owner_principal_name="bob")
MANY = [CreatableRenewers(principal_type="User", principal_name="b") for _ in range(101)]
LONG = [CreatableRenewers(principal_type="User", principal_name="b" * 4_096)]
GROUP = [CreatableRenewers(principal_type="Group", principal_name="g")]


def line_of(active: ActiveController, request: Message, principal: KafkaPrincipal = ALICE, **how: Any) -> str:
    active.controller.state.take_noted_refusals()
    assert ask(active, request, principal, **how).error_code != 0
    (refusal,) = active.controller.state.take_noted_refusals()
    return f"{'WARN' if refusal.is_warning else 'INFO'} {refusal.text}"


def full(**limits: str) -> ActiveController:
    active = enabled(**{**LIMITS, **limits})
    for _ in range(3):
        assert ask(active, CREATE).error_code == 0
    return active


@pytest.mark.parametrize(
    ("active", "request_", "expected"),
    [
        pytest.param(
            full, CREATE,
            "WARN Delegation tokens: Refusing CreateDelegationToken of User:alice at 127.0.0.1 with"
            " POLICY_VIOLATION: the owner has 3 tokens already (kraftctl.delegation.tokens.max.per.owner)."
            " Next step: let clients renew tokens, and expire those that they do not use; or raise the key",
            id="of-an-owner",
        ),
        pytest.param(
            lambda: full(kraftctl_delegation_tokens_max="3"), FOR_BOB,
            "WARN Delegation tokens: Refusing CreateDelegationToken of User:alice for User:bob at 127.0.0.1"
            " with POLICY_VIOLATION: there are 3 tokens already (kraftctl.delegation.tokens.max)."
            " Next step: let clients renew tokens, and expire those that they do not use; or raise the key",
            id="of-all",
        ),
        pytest.param(
            enabled, CreateDelegationTokenRequest(renewers=MANY),
            "WARN Delegation tokens: Refusing CreateDelegationToken of User:alice at 127.0.0.1 with"
            " POLICY_VIOLATION: 101 renewers are more than 100, which no key changes",
            id="renewers",
        ),
        pytest.param(
            enabled, CreateDelegationTokenRequest(renewers=LONG),
            "WARN Delegation tokens: Refusing CreateDelegationToken of User:alice at 127.0.0.1 with"
            " POLICY_VIOLATION: names of 4121 bytes are more than 4096, which no key changes",
            id="names",
        ),
        pytest.param(
            enabled, CreateDelegationTokenRequest(renewers=GROUP),
            "INFO Delegation tokens: Refusing CreateDelegationToken of User:alice at 127.0.0.1 with"
            " INVALID_PRINCIPAL_TYPE: the type of a renewer is not User",
            id="a-group",
        ),
        pytest.param(
            ActiveController, CREATE,
            "WARN Delegation tokens: Refusing CreateDelegationToken of User:alice at 127.0.0.1 with"
            " DELEGATION_TOKEN_AUTH_DISABLED: delegation.token.secret.key is not set."
            " Next step: set it, the same on all nodes",
            id="disabled",
        ),
        pytest.param(
            ActiveController, RenewDelegationTokenRequest(hmac=b"x"),
            "WARN Delegation tokens: Refusing RenewDelegationToken of User:alice at 127.0.0.1 with"
            " DELEGATION_TOKEN_AUTH_DISABLED: delegation.token.secret.key is not set."
            " Next step: set it, the same on all nodes",
            id="renewing-disabled",
        ),
        pytest.param(
            lambda: enabled(features.IBP_3_6_IV1), CREATE,
            "WARN Delegation tokens: Refusing CreateDelegationToken of User:alice at 127.0.0.1 with"
            " UNSUPPORTED_VERSION: metadata.version 13 has no tokens."
            " Next step: raise it; there is no way back",
            id="old-level",
        ),
        pytest.param(
            lambda: enabled(authorizer_class_name=STANDARD_AUTHORIZER, super_users="User:x"), FOR_BOB,
            "INFO Delegation tokens: Refusing CreateDelegationToken of User:alice for User:bob at 127.0.0.1"
            " with DELEGATION_TOKEN_AUTHORIZATION_FAILED: it has no right to that. Next step: allow it"
            " CreateTokens on the owner (kafka-acls.sh --operation CreateTokens --user-principal)",
            id="no-right",
        ),
        pytest.param(
            enabled, ExpireDelegationTokenRequest(hmac=b"x"),
            "INFO Delegation tokens: Refusing ExpireDelegationToken of User:alice at 127.0.0.1 with"
            " DELEGATION_TOKEN_NOT_FOUND: no token has this secret: it was ended, has expired, or is another"
            " cluster's",
            id="not-found",
        ),
    ],
)  # fmt: skip
def test_each_refusal_has_a_line(active: Any, request_: Message, expected: str) -> None:
    assert line_of(active(), request_) == expected


@pytest.mark.parametrize("kind", [CreateDelegationTokenRequest, RenewDelegationTokenRequest,
                                  ExpireDelegationTokenRequest])  # fmt: skip
def test_who_may_not_ask_at_all(kind: type[Message]) -> None:
    name = kind.NAME.removesuffix("Request")
    for how, reason in (
        (
            {"principal": BY_TOKEN},
            "it has authenticated by a token. Next step: let it",
        ),
        (
            {"envelope": False},
            "it is not authenticated. Next step: let it use a listener with SASL or client",
        ),
    ):
        line = line_of(enabled(), kind(), **how)  # type: ignore[arg-type]
        assert line.startswith(f"INFO Delegation tokens: Refusing {name} of User:alice"), line
        assert f"DELEGATION_TOKEN_REQUEST_NOT_ALLOWED: {reason}" in line


@pytest.mark.parametrize("kind", [RenewDelegationTokenRequest, ExpireDelegationTokenRequest])
def test_tokens_of_others_and_expired_ones(kind: type[Message]) -> None:
    active = enabled()
    created = ask(active, CREATE)
    request = kind(hmac=created.hmac)  # type: ignore[call-arg]
    line = line_of(active, request, BOB)
    assert f"it is neither owner nor renewer of token {created.token_id} of User:alice" in line
    assert "of User:bob at" in line
    active.now_ms += DAY_MS + 1
    assert f"token {created.token_id} of User:alice has expired" in line_of(active, request)


@pytest.mark.parametrize("kind", [CreateDelegationTokenRequest, RenewDelegationTokenRequest,
                                  ExpireDelegationTokenRequest])  # fmt: skip
def test_the_quota_is_named(kind: type[Message]) -> None:
    active = enabled(controller_quota_window_num="1", controller_quota_window_size_seconds="1")
    created = ask(active, CREATE)
    limit_rate(active)
    fields = {} if kind is CreateDelegationTokenRequest else {"hmac": created.hmac}
    request = kind(**fields)  # type: ignore[arg-type]
    while ask(active, request).error_code == 0:
        pass
    line = line_of(active, request)
    assert "with THROTTLING_QUOTA_EXCEEDED: its quota controller_mutation_rate is used up" in line
    assert "or raise the quota (kafka-configs.sh --entity-type users)" in line


def test_no_line_has_a_secret() -> None:
    active = enabled()
    secret = ask(active, CREATE).hmac
    line = line_of(active, RenewDelegationTokenRequest(hmac=secret), BOB)
    assert secret.hex() not in line
    assert repr(secret) not in line
