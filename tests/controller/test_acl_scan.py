"""Rights and filters by the index are those of a scan of all access control entries."""

from __future__ import annotations

import random
from ipaddress import ip_address, ip_network

import pytest

from kraftctl.controller.security import acl_control
from kraftctl.controller.state.standard_authorizer import host_address
from kraftctl.image.acl_entry import AclEntry
from kraftctl_protocol.acl_operation import AclOperation
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.create_acls_request import AclCreation, CreateAclsRequest
from kraftctl_protocol.generated.delete_acls_request import DeleteAclsFilter, DeleteAclsRequest
from kraftctl_protocol.generated.describe_acls_request import DescribeAclsRequest
from kraftctl_protocol.principal import KafkaPrincipal
from tests.support.active_controller import ActiveController
from tests.support.effort import seeds

ANY, MATCH, LITERAL, PREFIXED = 1, 2, 3, 4
DENY, ALLOW = 2, 3
TOPIC, GROUP, CLUSTER = 2, 3, 4

NAMES = ("a", "ab", "abc", "b", "*")
PRINCIPALS = ("User:alice", "User:bob", "User:*")
HOSTS = ("*", "127.0.0.1", "10.0.0.1", "127.0.0.0/8", "127.0.0.1/32", "10.0.0.0/8", "::/0")
OPERATIONS = range(AclOperation.ALL, AclOperation.TWO_PHASE_COMMIT + 1)
SUPER_USER = KafkaPrincipal("User", "admin")

IMPLYING = {
    AclOperation.DESCRIBE: {
        AclOperation.DESCRIBE,
        AclOperation.READ,
        AclOperation.WRITE,
        AclOperation.DELETE,
        AclOperation.ALTER,
    },
    AclOperation.DESCRIBE_CONFIGS: {AclOperation.DESCRIBE_CONFIGS, AclOperation.ALTER_CONFIGS},
}


def covers(entry: AclEntry, name: str) -> bool:
    if entry.pattern_type == PREFIXED:
        return name.startswith(entry.resource_name)
    return entry.resource_name in (name, "*")


def has_address(network: str, address: str) -> bool:
    return "/" in network and ip_address(address) in ip_network(network)


def scan_allows(
    entries: list[AclEntry],
    principal: str,
    host: str,
    operation: int,
    resource: tuple[int, str],
    *,
    otherwise: bool,
) -> bool:
    """Kafka's rule, one entry after the other."""
    kind, name = resource
    for_resource = [entry for entry in entries if entry.resource_type == kind and covers(entry, name)]
    if not for_resource:
        return otherwise
    permissions = set()
    for entry in for_resource:
        implied = IMPLYING.get(operation, {operation}) if entry.permission_type == ALLOW else {operation}
        if (
            entry.principal in (principal, "User:*")
            and (entry.host in (host, "*") or has_address(entry.host, host))
            and (entry.operation == AclOperation.ALL or entry.operation in implied)
        ):
            permissions.add(entry.permission_type)
    return permissions == {ALLOW}


def scan_matches(wanted: DeleteAclsFilter | DescribeAclsRequest, entry: AclEntry) -> bool:
    name = wanted.resource_name_filter
    pattern = wanted.pattern_type_filter
    if name is None:
        named = pattern in (ANY, MATCH, entry.pattern_type)
    elif pattern == MATCH:
        named = covers(entry, name)
    else:
        named = name == entry.resource_name and pattern in (ANY, entry.pattern_type)
    return (
        named
        and wanted.resource_type_filter in (ANY, entry.resource_type)
        and wanted.principal_filter in (None, entry.principal)
        and wanted.host_filter in (None, entry.host)
        and wanted.operation in (ANY, entry.operation)
        and wanted.permission_type in (ANY, entry.permission_type)
    )


def secured(*, allow_everyone: bool = False) -> ActiveController:
    return ActiveController(
        authorizer_class_name="org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        super_users="User:admin;User:ANONYMOUS",
        allow_everyone_if_no_acl_found=str(allow_everyone).lower(),
    )


def any_creation(rng: random.Random) -> AclCreation:
    return AclCreation(
        resource_type=rng.choice([TOPIC, TOPIC, GROUP]),
        resource_name=rng.choice(NAMES),
        resource_pattern_type=rng.choice([LITERAL, PREFIXED]),
        principal=rng.choice(PRINCIPALS),
        host=rng.choice(HOSTS),
        operation=rng.choice(OPERATIONS),
        permission_type=rng.choice([DENY, ALLOW, ALLOW]),
    )


def any_filter(rng: random.Random) -> DeleteAclsFilter:
    return DeleteAclsFilter(
        resource_type_filter=rng.choice([ANY, TOPIC, GROUP, CLUSTER]),
        resource_name_filter=rng.choice([None, *NAMES, "abcd", "x"]),
        pattern_type_filter=rng.choice([ANY, MATCH, LITERAL, PREFIXED]),
        principal_filter=rng.choice([None, *PRINCIPALS]),
        host_filter=rng.choice([None, *HOSTS]),
        operation=rng.choice([ANY, AclOperation.READ, AclOperation.ALL]),
        permission_type=rng.choice([ANY, ANY, DENY, ALLOW]),
    )


def entries_of(active: ActiveController) -> list[AclEntry]:
    return list(active.controller.image.acls.acls.values())


@pytest.mark.parametrize("allow_everyone", [False, True])
@pytest.mark.parametrize("seed", seeds(15))
def test_rights(seed: int, allow_everyone: bool) -> None:
    """DENY wins; wildcards, prefixes, hosts, implied operations and super users."""
    rng = random.Random(seed)
    active = secured(allow_everyone=allow_everyone)
    active.request(CreateAclsRequest(creations=[any_creation(rng) for _ in range(rng.randint(0, 12))]))
    authorizer = active.controller.state.authorizer
    for principal in (KafkaPrincipal("User", "alice"), KafkaPrincipal("User", "carol"), SUPER_USER):
        context = active.context(DescribeAclsRequest(), None, principal=principal)
        host = host_address(context.client_address)
        for operation in OPERATIONS:
            for resource in [(kind, name) for kind in (TOPIC, GROUP) for name in (*NAMES, "abcd", "x")]:
                expected = principal == SUPER_USER or scan_allows(
                    entries_of(active), str(principal), host, operation, resource, otherwise=allow_everyone
                )
                assert authorizer.allows(context, operation, *resource) is expected


@pytest.mark.parametrize("seed", seeds(15))
def test_filters(seed: int) -> None:
    rng = random.Random(seed)
    active = secured()
    for _ in range(5):
        active.request(CreateAclsRequest(creations=[any_creation(rng) for _ in range(rng.randint(0, 12))]))
        wanted = any_filter(rng)
        described = DescribeAclsRequest(
            **{field.name: getattr(wanted, field.name) for field in DescribeAclsRequest.FIELDS}
        )
        expected = {entry for entry in entries_of(active) if scan_matches(described, entry)}
        found = active.request(described).resources
        assert sum(len(resource.acls) for resource in found) == len(expected)
        kept = set(entries_of(active)) - expected
        (result,) = active.request(DeleteAclsRequest(filters=[wanted])).filter_results
        assert len(result.matching_acls) == len(expected)
        assert set(entries_of(active)) == kept


def test_an_entry_that_exists_is_found_after_others_were_created_and_deleted() -> None:
    rng = random.Random(1)
    active = secured()
    creations = [any_creation(rng) for _ in range(50)]
    active.request(CreateAclsRequest(creations=creations))
    count, before = len(entries_of(active)), active.end_offset
    active.request(CreateAclsRequest(creations=creations))
    assert (len(entries_of(active)), active.end_offset) == (count, before)


def exact(number: int, **changes: object) -> DeleteAclsFilter:
    wanted = DeleteAclsFilter(
        resource_type_filter=TOPIC,
        resource_name_filter="t",
        pattern_type_filter=LITERAL,
        principal_filter=f"User:{number}",
        host_filter="*",
        operation=AclOperation.READ,
        permission_type=ALLOW,
    )
    for name, value in changes.items():
        setattr(wanted, name, value)
    return wanted


def readers_of_t(active: ActiveController, count: int) -> None:
    creations = [
        AclCreation(
            resource_type=TOPIC,
            resource_name="t",
            resource_pattern_type=LITERAL,
            principal=f"User:{number}",
            host="*",
            operation=AclOperation.READ,
            permission_type=ALLOW,
        )
        for number in range(count)
    ]
    active.request(CreateAclsRequest(creations=creations))
    assert len(entries_of(active)) == count


class TestLimitsOfDeleteAcls:
    def test_an_entry_that_many_filters_match_is_one_deletion(self) -> None:
        """As in Kafka."""
        active = secured()
        readers_of_t(active, 600)
        everyone = exact(0, principal_filter=None)
        often = acl_control.DELETIONS_PER_REQUEST_MAX // 600 + 10
        served = active.request(DeleteAclsRequest(filters=[everyone] * often))
        assert {result.error_code for result in served.filter_results} == {Errors.NONE}
        assert {len(result.matching_acls) for result in served.filter_results} == {600}
        assert entries_of(active) == []

    def test_deletions(self) -> None:
        active = secured()
        most = acl_control.DELETIONS_PER_REQUEST_MAX
        readers_of_t(active, most)
        everything = exact(0, resource_name_filter=None, principal_filter=None)
        other = AclCreation(
            resource_type=GROUP,
            resource_name="g",
            resource_pattern_type=LITERAL,
            principal="User:1",
            host="*",
            operation=AclOperation.READ,
            permission_type=ALLOW,
        )
        active.request(CreateAclsRequest(creations=[other]))
        both = [everything, exact(1, resource_type_filter=GROUP, resource_name_filter="g")]
        refused = active.request(DeleteAclsRequest(filters=both))
        assert {result.error_code for result in refused.filter_results} == {Errors.INVALID_REQUEST}
        assert len(entries_of(active)) == most + 1
        served = active.request(DeleteAclsRequest(filters=both[:1]))
        assert {result.error_code for result in served.filter_results} == {Errors.NONE}
        assert len(entries_of(active)) == 1

    def test_entries_to_list(self) -> None:
        """The response lists an entry as often as filters match it."""
        active = secured()
        readers_of_t(active, 100)
        everyone = exact(0, principal_filter=None)
        most = acl_control.LISTED_PER_REQUEST_MAX // 100
        refused = active.request(DeleteAclsRequest(filters=[everyone] * (most + 1)))
        assert {result.error_code for result in refused.filter_results} == {Errors.INVALID_REQUEST}
        assert len(entries_of(active)) == 100
        served = active.request(DeleteAclsRequest(filters=[everyone] * most))
        assert {result.error_code for result in served.filter_results} == {Errors.NONE}
        assert entries_of(active) == []

    def test_comparisons(self) -> None:
        active = secured()
        readers_of_t(active, 1_000)
        others = exact(0, resource_name_filter=None, principal_filter=None, host_filter="10.0.0.9")
        most = acl_control.COMPARISONS_PER_REQUEST_MAX // 1_000
        refused = active.request(DeleteAclsRequest(filters=[others] * (most + 1)))
        assert {result.error_code for result in refused.filter_results} == {Errors.INVALID_REQUEST}
        served = active.request(DeleteAclsRequest(filters=[others] * most))
        assert {result.error_code for result in served.filter_results} == {Errors.NONE}

    def test_filters(self) -> None:
        active = secured()
        most = acl_control.FILTERS_PER_REQUEST_MAX
        refused = active.request(DeleteAclsRequest(filters=[exact(0)] * (most + 1)))
        assert {result.error_code for result in refused.filter_results} == {Errors.INVALID_REQUEST}
        served = active.request(DeleteAclsRequest(filters=[exact(0)] * most))
        assert {result.error_code for result in served.filter_results} == {Errors.NONE}

    def test_filters_by_principal_cost_what_they_find(self) -> None:
        """A scan of all entries for each of them would be too many comparisons."""
        active = secured()
        readers_of_t(active, 2_000)
        wanted = [exact(number, resource_name_filter=None, host_filter=None) for number in range(2_000)]
        served = active.request(DeleteAclsRequest(filters=wanted))
        assert {result.error_code for result in served.filter_results} == {Errors.NONE}
        assert entries_of(active) == []

    def test_filters_that_name_one_entry_each_cost_one_comparison_each(self) -> None:
        active = secured()
        readers_of_t(active, 2_000)
        served = active.request(DeleteAclsRequest(filters=[exact(number) for number in range(2_000)]))
        assert {result.error_code for result in served.filter_results} == {Errors.NONE}
        assert entries_of(active) == []
