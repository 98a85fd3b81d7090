"""Entries that come and go leave the rights that the same entries give when they are read from a snapshot.

CVE-2024-27309: in Kafka, the deletion of one entry made others of its resource ineffective, also such that
deny.
"""

from __future__ import annotations

import random

import pytest

from kraftctl.controller.state.standard_authorizer import StandardAuthorizer
from kraftctl.image.metadata_image import MetadataImage
from kraftctl.image.replay import replay
from kraftctl_protocol.acl_operation import AclOperation
from kraftctl_protocol.generated.create_acls_request import AclCreation, CreateAclsRequest
from kraftctl_protocol.generated.delete_acls_request import DeleteAclsFilter, DeleteAclsRequest
from kraftctl_protocol.generated.describe_acls_request import DescribeAclsRequest
from kraftctl_protocol.principal import KafkaPrincipal
from tests.controller.test_acl_scan import GROUP, NAMES, TOPIC, any_creation, any_filter, secured
from tests.support.active_controller import ActiveController
from tests.support.effort import seeds
from tests.support.image_records import image_records

pytestmark = pytest.mark.prevents("CVE-2024-27309")

LITERAL, DENY, ALLOW = 3, 2, 3

ASKED = [
    (KafkaPrincipal("User", user), int(operation), kind, resource)
    for user in ("alice", "carol")
    for operation in (AclOperation.READ, AclOperation.DESCRIBE, AclOperation.ALTER_CONFIGS)
    for kind in (TOPIC, GROUP)
    for resource in (*NAMES, "abcd")
]


def rights(active: ActiveController, authorizer: StandardAuthorizer) -> list[bool]:
    return [
        authorizer.allows(
            active.context(DescribeAclsRequest(), None, principal=principal), operation, kind, resource
        )
        for principal, operation, kind, resource in ASKED
    ]


def read_anew(active: ActiveController) -> StandardAuthorizer:
    """An authorizer over what a snapshot of the image has."""
    image = MetadataImage()
    for offset, entry in enumerate(image_records(active.controller.image)):
        replay(image, entry.record, offset)
    authorizer = StandardAuthorizer(image, [], False)
    authorizer.metadata_loaded()
    return authorizer


@pytest.mark.parametrize("seed", seeds(15))
def test_changes_and_a_snapshot_give_the_same_rights(seed: int) -> None:
    rng = random.Random(seed)
    active = secured()
    authorizer = active.controller.state.authorizer
    assert isinstance(authorizer, StandardAuthorizer)
    for _ in range(6):
        active.request(CreateAclsRequest(creations=[any_creation(rng) for _ in range(rng.randint(1, 12))]))
        active.request(DeleteAclsRequest(filters=[any_filter(rng)]))
        assert rights(active, authorizer) == rights(active, read_anew(active))


@pytest.mark.parametrize("others", [1, 20], ids=["few-entries", "many-entries"])
def test_a_denial_stays_when_others_of_its_resource_are_deleted(others: int) -> None:
    active = secured()

    def entry(principal: str, operation: int, permission: int) -> AclCreation:
        return AclCreation(
            resource_type=TOPIC,
            resource_name="t",
            resource_pattern_type=LITERAL,
            principal=principal,
            host="*",
            operation=operation,
            permission_type=permission,
        )

    allowed = [entry("User:alice", operation, ALLOW) for operation in (AclOperation.ALL, AclOperation.READ)]
    creations = [entry(f"User:{number}", AclOperation.READ, ALLOW) for number in range(others)]
    denied = entry("User:alice", AclOperation.READ, DENY)
    active.request(CreateAclsRequest(creations=[*creations, denied, *allowed]))
    deleted = DeleteAclsFilter(
        resource_type_filter=TOPIC,
        resource_name_filter="t",
        pattern_type_filter=LITERAL,
        principal_filter="User:alice",
        host_filter="*",
        operation=AclOperation.READ,
        permission_type=ALLOW,
    )
    answer = active.request(DeleteAclsRequest(filters=[deleted]))
    assert len(answer.filter_results[0].matching_acls) == 1
    context = active.context(DescribeAclsRequest(), None, principal=KafkaPrincipal("User", "alice"))
    authorizer = active.controller.state.authorizer
    assert not authorizer.allows(context, AclOperation.READ, TOPIC, "t")
    assert authorizer.allows(context, AclOperation.WRITE, TOPIC, "t")


def test_a_type_with_a_colon_has_no_entry_of_another_principal() -> None:
    """`User:a` called `b` reads like `User` called `a:b`; Kafka compares type and name apart."""
    active = secured()
    creation = AclCreation(
        resource_type=TOPIC,
        resource_name="t",
        resource_pattern_type=LITERAL,
        principal="User:a:b",
        host="*",
        operation=AclOperation.READ,
        permission_type=ALLOW,
    )
    active.request(CreateAclsRequest(creations=[creation]))
    for principal, expected in ((("User", "a:b"), True), (("User:a", "b"), False)):
        context = active.context(DescribeAclsRequest(), None, principal=KafkaPrincipal(*principal))
        found = active.controller.state.authorizer.allows(context, AclOperation.READ, TOPIC, "t")
        assert found is expected
