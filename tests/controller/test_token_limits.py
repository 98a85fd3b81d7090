"""What one user can make of delegation tokens: how many, how long, how often; and what finding one costs."""

from __future__ import annotations

import time

import pytest

from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.alter_client_quotas_request import (
    AlterClientQuotasRequest,
    EntityData,
    EntryData,
    OpData,
)
from kraftctl_protocol.generated.create_delegation_token_request import (
    CreatableRenewers,
    CreateDelegationTokenRequest,
)
from kraftctl_protocol.generated.delegation_token_record import DelegationTokenRecord
from kraftctl_protocol.generated.expire_delegation_token_request import ExpireDelegationTokenRequest
from kraftctl_protocol.generated.remove_delegation_token_record import RemoveDelegationTokenRecord
from kraftctl_protocol.generated.renew_delegation_token_request import RenewDelegationTokenRequest
from kraftctl_protocol.metadata_record import RecordAndVersion
from tests.controller.test_delegation_tokens import ALICE, BOB, DAY_MS, ask, enabled
from tests.support.active_controller import ActiveController

LIMITS = {
    "kraftctl_delegation_tokens_max_per_owner": "3",
    "kraftctl_delegation_tokens_max": "5",
}


def create(active: ActiveController, principal=ALICE, renewers=(), **fields):
    named = [CreatableRenewers(principal_type="User", principal_name=name) for name in renewers]
    return ask(active, CreateDelegationTokenRequest(renewers=named, **fields), principal)


def end(active: ActiveController, created, principal=ALICE):
    return ask(active, ExpireDelegationTokenRequest(hmac=created.hmac, expiry_time_period_ms=-1), principal)


def test_an_owner_has_a_limit():
    active = enabled(**LIMITS)
    tokens = [create(active) for _ in range(3)]
    refused = create(active)
    assert (refused.error_code, refused.hmac, refused.token_id) == (Errors.POLICY_VIOLATION, b"", "")
    (line,) = active.controller.take_refusals()
    assert "the owner has 3 tokens already (kraftctl.delegation.tokens.max.per.owner)" in line
    assert create(active, BOB).error_code == 0
    for_alice = {"owner_principal_type": "User", "owner_principal_name": "alice"}
    assert create(active, BOB, **for_alice).error_code == Errors.POLICY_VIOLATION, "the owner counts"
    assert end(active, tokens[0]).error_code == 0
    assert create(active).error_code == 0
    assert create(active).error_code == Errors.POLICY_VIOLATION


def test_all_owners_have_a_limit():
    active = enabled(**LIMITS)
    for principal in (ALICE, ALICE, ALICE, BOB, BOB):
        assert create(active, principal).error_code == 0
    assert create(active, BOB).error_code == Errors.POLICY_VIOLATION


def test_tokens_that_expire_make_room():
    active = enabled(**LIMITS)
    for _ in range(3):
        create(active)
    assert create(active).error_code == Errors.POLICY_VIOLATION
    active.pass_time(DAY_MS)
    active.pass_time(3_600_000)
    assert create(active).error_code == 0


def test_renewing_needs_no_room():
    active = enabled(**LIMITS)
    tokens = [create(active) for _ in range(3)]
    for created in tokens:
        assert ask(active, RenewDelegationTokenRequest(hmac=created.hmac)).error_code == 0
    assert create(active).error_code == Errors.POLICY_VIOLATION


@pytest.mark.parametrize(
    ("renewers", "error"),
    [
        pytest.param(["b" * 30] * 100, Errors.NONE, id="a-hundred"),
        pytest.param(["b"] * 101, Errors.POLICY_VIOLATION, id="more"),
        pytest.param(["b" * 4_000], Errors.NONE, id="a-long-one"),
        pytest.param(["b" * 4_096], Errors.POLICY_VIOLATION, id="a-longer-one"),
        pytest.param(["ü" * 2_040], Errors.POLICY_VIOLATION, id="in-bytes"),
        pytest.param(["b" * 600] * 8, Errors.POLICY_VIOLATION, id="together"),
    ],
)
def test_renewers_have_limits(renewers, error):
    assert create(enabled(), renewers=renewers).error_code == error


def test_a_long_owner_counts_among_the_names():
    fields = {"owner_principal_type": "User", "owner_principal_name": "b" * 5_000}
    assert create(enabled(), **fields).error_code == Errors.POLICY_VIOLATION


def limit_rate(active: ActiveController) -> None:
    entity = [EntityData(entity_type="user", entity_name="alice")]
    quota = [OpData(key="controller_mutation_rate", value=1.0)]
    active.request(AlterClientQuotasRequest(entries=[EntryData(entity=entity, ops=quota)]))


def test_the_mutation_quota_applies():
    """KIP-599: each of the three requests writes a record."""
    active = enabled(controller_quota_window_num="2", controller_quota_window_size_seconds="1")
    limit_rate(active)
    tokens = [create(active) for _ in range(3)]
    assert [each.error_code for each in tokens] == [0, 0, 0]
    kept = list(active.controller.image.delegation_tokens.tokens)
    for request in (
        CreateDelegationTokenRequest(),
        RenewDelegationTokenRequest(hmac=tokens[0].hmac),
        ExpireDelegationTokenRequest(hmac=tokens[0].hmac, expiry_time_period_ms=-1),
        ExpireDelegationTokenRequest(hmac=tokens[0].hmac, expiry_time_period_ms=5_000),
    ):
        refused = ask(active, request)
        assert refused.error_code == Errors.THROTTLING_QUOTA_EXCEEDED
        assert refused.throttle_time_ms > 0
    assert list(active.controller.image.delegation_tokens.tokens) == kept
    assert create(active, BOB).error_code == 0
    active.now_ms += 60_000
    assert ask(active, RenewDelegationTokenRequest(hmac=tokens[0].hmac)).error_code == 0
    unknown = ask(active, RenewDelegationTokenRequest(hmac=b"unknown"))
    assert (unknown.error_code, unknown.throttle_time_ms) == (Errors.DELEGATION_TOKEN_NOT_FOUND, 0)


def token_record(number: int) -> RecordAndVersion:
    record = DelegationTokenRecord(
        owner=f"User:{number % 100}",
        requester=f"User:{number % 100}",
        issue_timestamp=1,
        max_timestamp=1 << 60,
        expiration_timestamp=1 << 60,
        token_id=f"token-{number}",
    )
    return RecordAndVersion(record, 0)


def replayed(active: ActiveController, records: list[RecordAndVersion]) -> None:
    active.controller.replay(records, active.end_offset)
    active.end_offset += len(records)


def test_a_secret_is_found_without_looking_at_all_tokens(monkeypatch):
    active = enabled()
    replayed(active, [token_record(number) for number in range(2_000)])
    tokens = active.controller.image.delegation_tokens
    secrets = tokens._secrets
    began = time.process_time()
    for _ in range(500):
        assert tokens.token_of(b"no such token") is None
    assert time.process_time() - began < 0.1, "1 us each; 2,000 HMACs took 2 ms each"
    for number in range(2_000):
        found = tokens.token_of(secrets.secret_of(f"token-{number}"))
        assert found is not None
        assert found.token_id == f"token-{number}"
    assert tokens.count_of("User:7") == 20


def test_what_is_undone_is_not_found():
    active = enabled()
    tokens = active.controller.image.delegation_tokens
    replayed(active, [token_record(number) for number in range(3)])
    active.controller.committed(active.end_offset)
    secret = tokens._secrets.secret_of
    replayed(active, [RecordAndVersion(RemoveDelegationTokenRecord(token_id="token-1"), 0), token_record(5)])
    assert tokens.token_of(secret("token-1")) is None
    assert tokens.token_of(secret("token-5")) is not None
    assert (tokens.count_of("User:1"), tokens.count_of("User:5")) == (0, 1)
    active.controller.renounce()
    assert tokens.token_of(secret("token-1")) is not None
    assert tokens.token_of(secret("token-5")) is None
    assert (tokens.count_of("User:1"), tokens.count_of("User:5")) == (1, 0)
