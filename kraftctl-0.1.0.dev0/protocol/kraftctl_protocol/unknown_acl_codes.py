"""Requests about ACLs that name the code 0, UNKNOWN: as in Kafka, they are no requests."""

from __future__ import annotations

from typing import Final

from kraftctl_protocol.generated.create_acls_request import CreateAclsRequest
from kraftctl_protocol.generated.delete_acls_request import DeleteAclsRequest
from kraftctl_protocol.generated.describe_acls_request import DescribeAclsRequest
from kraftctl_protocol.message import Message

UNKNOWN: Final = 0
"""Any other unknown code is decoded, and refused for each entry or filter."""


def names_unknown(body: Message) -> bool:
    """Returns whether an entry or filter of the request has the code 0 somewhere."""
    if isinstance(body, CreateAclsRequest):
        for entry in body.creations:
            pattern_type = entry.resource_pattern_type
            if UNKNOWN in (entry.resource_type, pattern_type, entry.operation, entry.permission_type):
                return True
    elif isinstance(body, DeleteAclsRequest):
        for wanted in body.filters:
            pattern_type = wanted.pattern_type_filter
            if UNKNOWN in (
                wanted.resource_type_filter,
                pattern_type,
                wanted.operation,
                wanted.permission_type,
            ):
                return True
    elif isinstance(body, DescribeAclsRequest):
        return UNKNOWN in (
            body.resource_type_filter,
            body.pattern_type_filter,
            body.operation,
            body.permission_type,
        )
    return False
