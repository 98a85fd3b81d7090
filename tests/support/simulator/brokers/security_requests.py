"""Requests about ACLs, SCRAM credentials, quotas and delegation tokens, each for one thing."""

from __future__ import annotations

from typing import Final

from kraftctl_protocol.acl_operation import AclOperation
from kraftctl_protocol.generated.alter_client_quotas_request import (
    AlterClientQuotasRequest,
    EntityData,
    EntryData,
    OpData,
)
from kraftctl_protocol.generated.alter_user_scram_credentials_request import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from kraftctl_protocol.generated.create_acls_request import AclCreation, CreateAclsRequest
from kraftctl_protocol.generated.create_delegation_token_request import (
    CreatableRenewers,
    CreateDelegationTokenRequest,
)
from kraftctl_protocol.generated.delete_acls_request import DeleteAclsFilter, DeleteAclsRequest
from tests.support.simulator.cluster.users import ALICE, BOB

TOPIC, GROUP, CLUSTER, USER = 2, 3, 4, 7
LITERAL, PREFIXED = 3, 4
DENY, ALLOW = 2, 3

Binding = tuple[int, str, int, str, str, int, int]
"""As AclEntry.identity: resource type and name, pattern type, principal, host, operation, permission."""

QuotaEntity = tuple[tuple[str, str | None], ...]


def _bindings() -> list[Binding]:
    users = [f"User:{ALICE}", f"User:{BOB}"]
    resources = [
        (TOPIC, "topic-", PREFIXED, (AclOperation.ALL, AclOperation.DELETE, AclOperation.ALTER_CONFIGS)),
        (TOPIC, "topic-1", LITERAL, (AclOperation.DESCRIBE, AclOperation.ALTER)),
        (GROUP, "group-", PREFIXED, (AclOperation.ALTER_CONFIGS, AclOperation.READ)),
        (USER, "User:bob", LITERAL, (AclOperation.CREATE_TOKENS,)),
        (
            CLUSTER,
            "kafka-cluster",
            LITERAL,
            (AclOperation.CREATE, AclOperation.ALTER, AclOperation.ALTER_CONFIGS, AclOperation.DESCRIBE),
        ),
    ]
    allowed = [
        (kind, name, pattern, user, "*", operation, ALLOW)
        for user in users
        for kind, name, pattern, operations in resources
        for operation in operations
    ]
    denied = [
        (TOPIC, "topic-2", LITERAL, users[0], "*", AclOperation.ALL, DENY),
        (CLUSTER, "kafka-cluster", LITERAL, users[1], "*", AclOperation.ALTER, DENY),
        (TOPIC, "topic-", PREFIXED, "User:*", "10.0.0.1", AclOperation.ALL, DENY),
    ]
    return allowed + denied


BINDINGS: Final = _bindings()
"""What the admin allows and denies. No user gets ClusterAction."""

QUOTAS: Final[list[tuple[QuotaEntity, str]]] = [
    ((("user", "alice"),), "controller_mutation_rate"),
    ((("user", None),), "consumer_byte_rate"),
    ((("client-id", "app"),), "request_percentage"),
    ((("client-id", None), ("user", "alice")), "producer_byte_rate"),
    ((("ip", "10.0.0.1"),), "connection_creation_rate"),
]
"""Entities of every kind, sorted by type, with a key that they may have."""


def create_acl(binding: Binding) -> CreateAclsRequest:
    kind, name, pattern, principal, host, operation, permission = binding
    creation = AclCreation(
        resource_type=kind,
        resource_name=name,
        resource_pattern_type=pattern,
        principal=principal,
        host=host,
        operation=operation,
        permission_type=permission,
    )
    return CreateAclsRequest(creations=[creation])


def delete_acl(binding: Binding) -> DeleteAclsRequest:
    """Of this binding alone."""
    kind, name, pattern, principal, host, operation, permission = binding
    one = DeleteAclsFilter(
        resource_type_filter=kind,
        resource_name_filter=name,
        pattern_type_filter=pattern,
        principal_filter=principal,
        host_filter=host,
        operation=operation,
        permission_type=permission,
    )
    return DeleteAclsRequest(filters=[one])


def upsert_user(name: str, mechanism: int, iterations: int) -> AlterUserScramCredentialsRequest:
    upsertion = ScramCredentialUpsertion(
        name=name,
        mechanism=mechanism,
        iterations=iterations,
        salt=b"salt of " + name.encode(),
        salted_password=name.encode().ljust(32 * mechanism, b"."),
    )
    return AlterUserScramCredentialsRequest(upsertions=[upsertion])


def delete_user(name: str, mechanism: int) -> AlterUserScramCredentialsRequest:
    deletion = ScramCredentialDeletion(name=name, mechanism=mechanism)
    return AlterUserScramCredentialsRequest(deletions=[deletion])


def alter_quota(entity: QuotaEntity, key: str, value: int | None) -> AlterClientQuotasRequest:
    """Without a value it is removed."""
    entry = EntryData(
        entity=[EntityData(entity_type=kind, entity_name=name) for kind, name in entity],
        ops=[OpData(key=key, value=float(value or 0), remove=value is None)],
    )
    return AlterClientQuotasRequest(entries=[entry])


def create_token(owner: str, renewer: str, lifetime_ms: int) -> CreateDelegationTokenRequest:
    """Without an owner it is the sender's."""
    return CreateDelegationTokenRequest(
        owner_principal_type="User" if owner else "",
        owner_principal_name=owner,
        renewers=[CreatableRenewers(principal_type="User", principal_name=renewer)],
        max_lifetime_ms=lifetime_ms,
    )
