"""What a request about ACLs, SCRAM credentials or delegation tokens asks for, without their secrets."""

from __future__ import annotations

from kraftctl.controller.audit.change_list import MEMBERS_MAX, ChangeList
from kraftctl.controller.state.acl_names import (
    OPERATIONS,
    PATTERN_TYPES,
    PERMISSION_TYPES,
    RESOURCE_TYPES,
    name_of,
)
from kraftctl.image.metadata_image import MetadataImage
from kraftctl_protocol.generated.alter_user_scram_credentials_request import (
    AlterUserScramCredentialsRequest,
)
from kraftctl_protocol.generated.create_acls_request import CreateAclsRequest
from kraftctl_protocol.generated.create_delegation_token_request import CreateDelegationTokenRequest
from kraftctl_protocol.generated.delete_acls_request import DeleteAclsRequest
from kraftctl_protocol.generated.expire_delegation_token_request import ExpireDelegationTokenRequest
from kraftctl_protocol.generated.renew_delegation_token_request import RenewDelegationTokenRequest
from kraftctl_protocol.message import Message
from kraftctl_protocol.scram import MECHANISM_NAMES


def describe_acl_creations(request: Message, image: MetadataImage, found: ChangeList) -> None:
    assert isinstance(request, CreateAclsRequest)
    for acl in request.creations:
        if found.has_room():
            found.add(
                {
                    "resource_type": name_of(RESOURCE_TYPES, acl.resource_type),
                    "resource": found.text(acl.resource_name),
                    "pattern_type": name_of(PATTERN_TYPES, acl.resource_pattern_type),
                    "principal": found.text(acl.principal),
                    "host": found.text(acl.host),
                    "operation": name_of(OPERATIONS, acl.operation),
                    "permission_type": name_of(PERMISSION_TYPES, acl.permission_type),
                }
            )


def describe_acl_deletions(request: Message, image: MetadataImage, found: ChangeList) -> None:
    """The filters; what they match is in the records."""
    assert isinstance(request, DeleteAclsRequest)
    for acl in request.filters:
        if found.has_room():
            found.add(
                {
                    "resource_type": name_of(RESOURCE_TYPES, acl.resource_type_filter),
                    "resource": found.text(acl.resource_name_filter),
                    "pattern_type": name_of(PATTERN_TYPES, acl.pattern_type_filter),
                    "principal": found.text(acl.principal_filter),
                    "host": found.text(acl.host_filter),
                    "operation": name_of(OPERATIONS, acl.operation),
                    "permission_type": name_of(PERMISSION_TYPES, acl.permission_type),
                }
            )


def describe_scram_credentials(request: Message, image: MetadataImage, found: ChangeList) -> None:
    assert isinstance(request, AlterUserScramCredentialsRequest)
    for upsertion in request.upsertions:
        if found.has_room():
            found.add(
                {
                    "user": found.text(upsertion.name),
                    "mechanism": _mechanism(upsertion.mechanism),
                    "operation": "UPSERT",
                    "iterations": upsertion.iterations,
                }
            )
    for deletion in request.deletions:
        if found.has_room():
            mechanism = _mechanism(deletion.mechanism)
            found.add({"user": found.text(deletion.name), "mechanism": mechanism, "operation": "DELETE"})


def _mechanism(number: int) -> str:
    return MECHANISM_NAMES.get(number, f"UNKNOWN ({number})")


def describe_token_creation(request: Message, image: MetadataImage, found: ChangeList) -> None:
    """Without an owner, the token is for the principal that asks."""
    assert isinstance(request, CreateDelegationTokenRequest)
    owner = None
    if request.owner_principal_name:
        owner = found.text(f"{request.owner_principal_type}:{request.owner_principal_name}")
    renewers = [f"{each.principal_type}:{each.principal_name}" for each in request.renewers[:MEMBERS_MAX]]
    found.add(
        {
            "owner": owner,
            "renewers": [found.text(renewer) for renewer in renewers],
            "max_lifetime_ms": request.max_lifetime_ms,
        }
    )


def describe_token_renewal(request: Message, image: MetadataImage, found: ChangeList) -> None:
    """The request names the token by its secret: the records have its id."""
    assert isinstance(request, RenewDelegationTokenRequest)
    found.add({"renew_period_ms": request.renew_period_ms})


def describe_token_expiry(request: Message, image: MetadataImage, found: ChangeList) -> None:
    """As for a renewal."""
    assert isinstance(request, ExpireDelegationTokenRequest)
    found.add({"expiry_time_period_ms": request.expiry_time_period_ms})
