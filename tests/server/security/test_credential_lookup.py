"""Users and tokens of the metadata log: what is committed, and no refusal before it is read."""

from __future__ import annotations

import base64
import hashlib
import hmac
from typing import Any

import pytest

from kraftctl.controller.committed_credentials import CommittedCredentials
from kraftctl.server.security import credential_lookup
from kraftctl.server.security.credential_lookup import CredentialLookup, CredentialsUnavailableError
from kraftctl_protocol.generated.alter_user_scram_credentials_request import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from kraftctl_protocol.generated.begin_transaction_record import BeginTransactionRecord
from kraftctl_protocol.generated.create_delegation_token_request import CreateDelegationTokenRequest
from kraftctl_protocol.generated.create_delegation_token_response import CreateDelegationTokenResponse
from kraftctl_protocol.generated.expire_delegation_token_request import ExpireDelegationTokenRequest
from kraftctl_protocol.metadata_record import RecordAndVersion
from kraftctl_protocol.principal import KafkaPrincipal
from tests.support.active_controller import ActiveController

SHA_256, SHA_512 = 1, 2
ALICE = KafkaPrincipal("User", "alice")


class Cluster:
    """A controller with tokens, and what a listener of it looks credentials up in."""

    def __init__(self) -> None:
        self.active = ActiveController(delegation_token_secret_key="secret")
        committed = CommittedCredentials(self.active.controller)
        self.lookup = CredentialLookup(committed, lambda: self.active.now_ms, b"secret")

    def upsertion(self, iterations: int = 4096, name: str = "alice") -> AlterUserScramCredentialsRequest:
        salted = hashlib.pbkdf2_hmac("sha256", b"password", b"salt", iterations)
        return AlterUserScramCredentialsRequest(
            upsertions=[
                ScramCredentialUpsertion(
                    name=name, mechanism=SHA_256, iterations=iterations, salt=b"salt", salted_password=salted
                )
            ]
        )

    def deletion(self) -> AlterUserScramCredentialsRequest:
        return AlterUserScramCredentialsRequest(deletions=[ScramCredentialDeletion("alice", SHA_256)])

    def iterations(self, name: str = "alice", mechanism: int = SHA_256) -> int | None:
        found = self.lookup.user(mechanism, name)
        return None if found is None else found.iterations

    def append(self, request: Any) -> None:
        """Without committing it."""
        controller, active = self.active.controller, self.active
        prepared = controller.prepare_request(active.pending(request), active.moment)
        controller.begin_append(prepared)
        for batch in prepared.batches:
            controller.replay(batch.records, active.end_offset, is_answered=True)
            active.end_offset += len(batch.records)

    def create_token(self) -> CreateDelegationTokenResponse:
        request = CreateDelegationTokenRequest()
        context = self.active.context(request, None, principal=ALICE, envelope=True)
        response = self.active.request(request, context=context)
        assert isinstance(response, CreateDelegationTokenResponse)
        assert response.error_code == 0
        return response


def test_a_user_is_known_by_name_and_mechanism() -> None:
    cluster = Cluster()
    cluster.active.request(cluster.upsertion())
    assert cluster.iterations() == 4096
    assert cluster.iterations("bob") is None
    assert cluster.iterations(mechanism=SHA_512) is None


def test_only_what_is_committed_counts() -> None:
    cluster = Cluster()
    active, controller = cluster.active, cluster.active.controller
    cluster.append(cluster.upsertion())
    assert cluster.iterations() is None, "it may be undone"
    controller.committed(active.end_offset)
    assert cluster.iterations() == 4096
    cluster.append(cluster.upsertion(iterations=8192))
    cluster.append(cluster.deletion())
    cluster.append(cluster.upsertion(name="bob"))
    assert cluster.iterations() == 4096
    controller.committed(active.end_offset - 2)
    assert cluster.iterations() == 8192
    controller.committed(active.end_offset)
    assert cluster.iterations() is None
    assert cluster.iterations("bob") == 4096


def test_what_an_open_transaction_changes_does_not_count() -> None:
    cluster = Cluster()
    active = cluster.active
    controller = active.controller
    controller.replay([RecordAndVersion(BeginTransactionRecord(name="t"), 0)], active.end_offset)
    active.end_offset += 1
    cluster.append(cluster.upsertion())
    controller.committed(active.end_offset)
    assert cluster.iterations() is None


def test_nobody_is_refused_before_the_log_is_read() -> None:
    cluster = Cluster()
    cluster.active.controller.state.metadata_loaded = False
    with pytest.raises(CredentialsUnavailableError, match="has not read the metadata log yet"):
        cluster.lookup.user(SHA_256, "alice")
    with pytest.raises(CredentialsUnavailableError):
        cluster.lookup.token(SHA_256, "id")


@pytest.mark.parametrize(("mechanism", "hash_name"), [(SHA_256, "sha256"), (SHA_512, "sha512")])
def test_the_password_of_a_token_is_its_hmac_in_base64(mechanism: int, hash_name: str) -> None:
    cluster = Cluster()
    created = cluster.create_token()
    found = cluster.lookup.token(mechanism, created.token_id)
    assert found is not None
    assert found.owner == ALICE
    assert found.owner.token_authenticated
    assert found.expires_at_ms == created.expiry_timestamp_ms
    salted = hashlib.pbkdf2_hmac(
        hash_name, base64.b64encode(created.hmac), found.credential.salt, found.credential.iterations
    )
    server_key = hmac.digest(salted, b"Server Key", hash_name)
    assert found.credential.server_key == server_key
    again = cluster.lookup.token(mechanism, created.token_id)
    assert again is not None
    assert again.credential is found.credential, "deriving it takes milliseconds"


def test_tokens_that_have_expired_or_do_not_exist_are_unknown() -> None:
    cluster = Cluster()
    created = cluster.create_token()
    assert cluster.lookup.token(SHA_256, "another") is None
    assert cluster.lookup.user(SHA_256, created.token_id) is None, "a token is no user"
    cluster.active.now_ms = created.expiry_timestamp_ms - 1
    assert cluster.lookup.token(SHA_256, created.token_id) is not None
    cluster.active.now_ms += 1
    assert cluster.lookup.token(SHA_256, created.token_id) is None


def test_a_token_that_is_removed_is_unknown_once_that_is_committed() -> None:
    cluster = Cluster()
    created = cluster.create_token()
    request = ExpireDelegationTokenRequest(hmac=created.hmac, expiry_time_period_ms=-1)
    context = cluster.active.context(request, None, principal=ALICE, envelope=True)
    assert cluster.lookup.token(SHA_256, created.token_id) is not None
    cluster.active.request(request, context=context)
    assert cluster.lookup.token(SHA_256, created.token_id) is None


def test_few_derived_credentials_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(credential_lookup, "DERIVED_MAX", 2)
    cluster = Cluster()
    tokens = [cluster.create_token().token_id for _ in range(4)]
    for token_id in tokens:
        assert cluster.lookup.token(SHA_256, token_id) is not None
    assert len(cluster.lookup._derived) == 2
