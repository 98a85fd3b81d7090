"""Calls about ACLs, users, tokens and quotas."""

from __future__ import annotations

from typing import Any

from tests.differential.call import Call, Ref
from tests.differential.calls.chooser import ODD_TEXTS, Chooser
from tests.differential.codec import Body

HOSTS = ("*", "*", "10.0.0.5", "h", "10.0.0.0/8", "10.0.0.0/33", "::1", "fe80::/10", "")
PRINCIPALS = (
    "User:alice",
    "User:alice",
    "User:bob",
    "User:*",
    "Group:g",
    "alice",
    "",
    "User:",
    ":x",
    "user:alice",
)


def resource_name(pick: Chooser, kind: int) -> str:
    if kind == 4:
        return "kafka-cluster" if pick.often(0.9) else "other"
    return pick.one(("*", "a", "b", "c", "e.f", "", "User:bob")) if pick.often(0.9) else pick.topic()


def create_acls(pick: Chooser) -> list[Call]:
    def creation() -> Body:
        kind = pick.one((2, 2, 2, 3, 4, 4, 5, 6, 7))
        return {
            "ResourceType": kind,
            "ResourceName": resource_name(pick, kind),
            "ResourcePatternType": pick.one((3, 3, 3, 4)),
            "Principal": pick.one(PRINCIPALS[:3]) if pick.often(0.85) else pick.one(PRINCIPALS),
            "Host": pick.one(HOSTS) if pick.often(0.05) else pick.one(HOSTS[:4]),
            "Operation": pick.chance.randint(2, 15),
            "PermissionType": pick.one((2, 3, 3)),
        }

    return [Call("CreateAcls", pick.version("CreateAcls"), {"Creations": pick.some(creation, 3)})]


def acl_filter(pick: Chooser) -> Body:
    kind = pick.one((1, 2, 3, 4, 5, 7))
    return {
        "ResourceTypeFilter": kind,
        "ResourceNameFilter": None if pick.often(0.5) else resource_name(pick, kind),
        "PatternTypeFilter": pick.one((1, 2, 3, 4, 1)),
        "PrincipalFilter": None if pick.often(0.6) else pick.one(PRINCIPALS),
        "HostFilter": None if pick.often(0.7) else pick.one(HOSTS),
        "Operation": 1 if pick.often(0.5) else pick.chance.randint(2, 15),
        "PermissionType": pick.one((1, 1, 2, 3)),
    }


def describe_acls(pick: Chooser) -> list[Call]:
    return [Call("DescribeAcls", pick.version("DescribeAcls"), acl_filter(pick))]


def delete_acls(pick: Chooser) -> list[Call]:
    body = {"Filters": pick.some(lambda: acl_filter(pick), 3)}
    return [Call("DeleteAcls", pick.version("DeleteAcls"), body)]


def alter_user_scram_credentials(pick: Chooser) -> list[Call]:
    def deletion() -> Body:
        return {"Name": pick.user(), "Mechanism": pick.one((1, 1, 2, 2, 0, 3))}

    def upsertion() -> Body:
        return {
            "Name": pick.user(),
            "Mechanism": pick.one((1, 1, 2, 2, 0, 3)) if pick.often(0.2) else pick.one((1, 2)),
            "Iterations": pick.one((4096, 4096, 8192, 16384, 4095, 16385, 0, -1)),
            "Salt": pick.one((b"salt", b"", b"x" * 100)),
            "SaltedPassword": pick.one((b"p" * 32, b"p" * 64, b"1")),
        }

    body = {
        "Deletions": pick.some(deletion, 2) if pick.often(0.5) else [],
        "Upsertions": pick.some(upsertion, 2) if pick.often(0.7) else [],
    }
    return [Call("AlterUserScramCredentials", 0, body)]


def alter_client_quotas(pick: Chooser) -> list[Call]:
    def entity() -> Body:
        kind = (
            pick.one(("user", "client-id", "ip", "user", "client-id"))
            if pick.often(0.95)
            else pick.one(ODD_TEXTS)
        )
        name = pick.one((None, "alice", "bob", "c1"))
        if kind == "ip":
            name = pick.one((None, "10.0.0.1", "::1", "localhost", "not an ip", "300.1.1.1"))
        return {"EntityType": kind, "EntityName": name if pick.often(0.95) else pick.one(ODD_TEXTS)}

    def operation() -> Body:
        keys = ("producer_byte_rate", "consumer_byte_rate", "request_percentage",
                "controller_mutation_rate", "connection_creation_rate", "bogus")  # fmt: skip
        values = (1.0, 1000.0, 0.5, 100.0, 0.0, -1.0, 1e18, 1e19, 1e-9, 5.9999999, float("inf"))
        return {
            "Key": pick.one(keys[:5]) if pick.often(0.95) else keys[5],
            "Value": 1000.0 if pick.often(0.5) else pick.one(values),
            "Remove": pick.often(0.25),
        }

    def entry() -> Body:
        return {"Entity": pick.some(entity, 2), "Ops": pick.some(operation, 3)}

    body = {"Entries": pick.some(entry, 2), "ValidateOnly": pick.often(0.1)}
    return [Call("AlterClientQuotas", pick.version("AlterClientQuotas"), body)]


def create_delegation_token(pick: Chooser) -> list[Call]:
    owner: Any = (None, None)
    if pick.often(0.3):
        owner = pick.one((("User", pick.user()), ("", ""), ("Group", "g"), ("User", "")))
    body = {
        "OwnerPrincipalType": owner[0],
        "OwnerPrincipalName": owner[1],
        "Renewers": pick.some(
            lambda: {
                "PrincipalType": pick.one(("User", "User", "User", "Group")),
                "PrincipalName": pick.user(),
            },
            2,
        )
        if pick.often(0.6)
        else [],
        "MaxLifetimeMs": pick.one((-1, -1, 600000, 86400000, 0, 2**62)),
    }
    return [Call("CreateDelegationToken", pick.version("CreateDelegationToken"), body)]


def _hmac(pick: Chooser) -> Any:
    return Ref("hmac", pick.chance.randint(0, 5)) if pick.often(0.9) else pick.one((b"", b"none"))


def renew_delegation_token(pick: Chooser) -> list[Call]:
    body = {"Hmac": _hmac(pick), "RenewPeriodMs": pick.one((-1, 600000, 86400000, 0, 2**62))}
    return [Call("RenewDelegationToken", pick.version("RenewDelegationToken"), body)]


def expire_delegation_token(pick: Chooser) -> list[Call]:
    body = {"Hmac": _hmac(pick), "ExpiryTimePeriodMs": pick.one((-1, -1, 600000, 86400000, 2**62))}
    return [Call("ExpireDelegationToken", pick.version("ExpireDelegationToken"), body)]


def describe_delegation_token(pick: Chooser) -> list[Call]:
    body = {"Owners": None if pick.often(0.5) else [{"PrincipalType": "User", "PrincipalName": pick.user()}]}
    return [Call("DescribeDelegationToken", pick.version("DescribeDelegationToken"), body)]
