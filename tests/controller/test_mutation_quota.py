"""Controller mutation quotas: which rate applies, and how a bucket empties and fills (KIP-599)."""

from __future__ import annotations

import pytest

from kraftctl.apis.api_table import API_TABLE
from kraftctl.controller.results.request_context import RequestContext
from kraftctl.controller.state.mutation_quota import BUCKETS_MAX, MutationQuota, MutationQuotas, mutation_rate
from kraftctl_protocol.api_keys import ApiKey
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.client_quota_record import ClientQuotaRecord, EntityData
from kraftctl_protocol.principal import KafkaPrincipal
from tests.support.metadata_state import MetadataState

ABSENT = "absent"

PRECEDENCE: list[tuple[str | None, str | None]] = [
    ("alice", "app"),
    ("alice", None),
    ("alice", ABSENT),
    (None, "app"),
    (None, None),
    (None, ABSENT),
    (ABSENT, "app"),
    (ABSENT, None),
]
"""Entities (user, client id), most specific first; None is the default entity."""


def with_rates(*entities: tuple[str | None, str | None, float]) -> MetadataState:
    state = MetadataState()
    for user, client_id, rate in entities:
        parts = [("user", user), ("client-id", client_id)]
        state.append(
            ClientQuotaRecord(
                entity=[EntityData(entity_type=k, entity_name=n) for k, n in parts if n != ABSENT],
                key="controller_mutation_rate",
                value=rate,
            )
        )
    return state


def context(user: str = "alice", client_id: str | None = "app") -> RequestContext:
    return RequestContext(
        api=API_TABLE[ApiKey.CREATE_TOPICS],
        version=7,
        client_id=client_id,
        principal=KafkaPrincipal("User", user),
        listener="CONTROLLER",
        client_address=bytes(4),
    )


@pytest.mark.parametrize("first", range(len(PRECEDENCE)))
def test_the_most_specific_entity_counts(first: int) -> None:
    entities = [(*entity, float(rank)) for rank, entity in enumerate(PRECEDENCE, 1)][first:]
    found = mutation_rate(with_rates(*entities).image.client_quotas, "alice", "app")
    user, client_id = PRECEDENCE[first]
    assert found == (float(first + 1), user != ABSENT, client_id != ABSENT)


def test_others_are_not_limited() -> None:
    state = with_rates(("alice", "app", 1.0))
    assert mutation_rate(state.image.client_quotas, "bob", "app") is None
    assert mutation_rate(state.image.client_quotas, "alice", "other") is None
    quota = MutationQuotas(11, 1).quota_for(state.image.client_quotas, context("bob"), strict=True, now_ms=0)
    assert quota.admit(1_000_000) is None


def quota_at(quotas: MutationQuotas, state: MetadataState, now_ms: int, **who: str) -> MutationQuota:
    return quotas.quota_for(state.image.client_quotas, context(**who), strict=True, now_ms=now_ms)


def test_a_bucket_may_be_overdrawn_once_and_fills_again() -> None:
    state, quotas = with_rates((None, ABSENT, 2.0)), MutationQuotas(11, 1)
    assert quota_at(quotas, state, 0).admit(122) is None
    refused = quota_at(quotas, state, 10_000)
    error = refused.admit(1)
    assert error is not None
    assert error.error == Errors.THROTTLING_QUOTA_EXCEEDED
    assert refused.throttle_time_ms == 40_000
    assert quota_at(quotas, state, 50_000).admit(1) is None
    full = quota_at(quotas, state, 1_000_000)
    assert full.admit(22) is None
    assert full.admit(1) is None
    assert full.admit(1) is not None


def test_every_user_has_a_bucket_under_the_default_user() -> None:
    state, quotas = with_rates((None, ABSENT, 1.0)), MutationQuotas(11, 1)
    assert quota_at(quotas, state, 0, user="alice").admit(100) is None
    assert quota_at(quotas, state, 0, user="alice").admit(1) is not None
    assert quota_at(quotas, state, 0, user="bob").admit(1) is None


def test_a_changed_rate_applies_immediately() -> None:
    state, quotas = with_rates((None, ABSENT, 1.0)), MutationQuotas(11, 1)
    assert quota_at(quotas, state, 0).admit(111) is None
    faster = with_rates((None, ABSENT, 100.0))
    assert quota_at(quotas, faster, 500).admit(1) is not None
    assert quota_at(quotas, faster, 1_500).admit(1) is None


def test_buckets_are_bounded() -> None:
    state, quotas = with_rates((None, ABSENT, 1.0)), MutationQuotas(11, 1)
    for number in range(BUCKETS_MAX + 1):
        assert quota_at(quotas, state, 0, user=f"user-{number}").admit(100) is None
    assert quota_at(quotas, state, 0, user="user-0").admit(1) is None
    assert quota_at(quotas, state, 0, user=f"user-{BUCKETS_MAX}").admit(1) is not None


def test_time_before_a_change_counts_at_the_former_rate() -> None:
    state, quotas = with_rates((None, ABSENT, 1.0)), MutationQuotas(11, 1)
    assert quota_at(quotas, state, 0).admit(1_011) is None
    faster = with_rates((None, ABSENT, 100.0))
    assert quota_at(quotas, faster, 10_000).admit(1) is not None


def test_a_bucket_holds_what_a_higher_rate_allows() -> None:
    state, quotas = with_rates((None, ABSENT, 1.0)), MutationQuotas(11, 1)
    assert quota_at(quotas, state, 0).admit(1) is None
    faster = with_rates((None, ABSENT, 100.0))
    assert quota_at(quotas, faster, 500).admit(1) is None
    full = quota_at(quotas, faster, 1_000_000)
    assert full.admit(1_100) is None
    assert full.admit(1) is None
    assert full.admit(1) is not None


def test_a_client_without_an_id_has_a_bucket_of_its_own() -> None:
    """Its id is the empty one, which may have a quota; that of the user is for all others."""
    state, quotas = with_rates(("alice", "", 1.0), ("alice", ABSENT, 1.0)), MutationQuotas(11, 1)
    without_id = quotas.quota_for(state.image.client_quotas, context(client_id=None), strict=True, now_ms=0)
    assert without_id.admit(100) is None
    assert without_id.admit(1) is not None
    assert quota_at(quotas, state, 0, client_id="app").admit(1) is None
