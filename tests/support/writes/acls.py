"""Conversations about ACLs with every code that a request can have, known or not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kraftctl_protocol.generated.create_acls_request import AclCreation, CreateAclsRequest
from kraftctl_protocol.generated.delete_acls_request import DeleteAclsFilter, DeleteAclsRequest
from kraftctl_protocol.generated.describe_acls_request import DescribeAclsRequest
from tests.support.writes.conversations import Ask

CODES = range(-128, 128)

FIELDS = ("resource_type", "resource_pattern_type", "operation", "permission_type")

ANY_CODE, MATCH_CODE = 1, 2


def conversations() -> Iterator[tuple[str, list[Ask]]]:
    for field in FIELDS:
        yield f"ACLs with every {field}", list(_with_every(field))


def _with_every(field: str) -> Iterator[Ask]:
    for code in CODES:
        codes: dict[str, Any] = {
            "resource_type": 2,
            "resource_pattern_type": 3,
            "operation": 3,
            "permission_type": 3,
        }
        codes[field] = code
        is_creatable = code not in ((ANY_CODE, MATCH_CODE) if "pattern" in field else (ANY_CODE,))
        if is_creatable:  # Kafka fails on the codes that only filters have: see `test_writes_of_java.py`
            entry = AclCreation(resource_name="t", principal="User:a", host="*", **codes)
            yield CreateAclsRequest(creations=[entry]), 3
        wanted: dict[str, Any] = {
            "resource_type_filter": codes["resource_type"],
            "pattern_type_filter": codes["resource_pattern_type"],
            "operation": codes["operation"],
            "permission_type": codes["permission_type"],
        }
        # No entry has this name: Kafka describes what it has read by then.
        none: dict[str, Any] = {"resource_name_filter": "none", "principal_filter": None, "host_filter": None}
        yield DeleteAclsRequest(filters=[DeleteAclsFilter(**wanted, **none)]), 3
        yield DescribeAclsRequest(**wanted, **none), 3
