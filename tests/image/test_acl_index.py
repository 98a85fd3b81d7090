"""The index of the access control entries always has what the entries are, and finds what a scan finds."""

from __future__ import annotations

import random
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

import pytest

from kraftctl.image.acl_entry import AclEntry
from kraftctl.image.acl_index import SCANNED_ENTRIES_MAX, AclIndex, TypeAcls
from kraftctl.image.image_writer import ImageWriter
from kraftctl.image.metadata_image import MetadataImage
from kraftctl.image.replay import replay
from kraftctl_protocol.generated.abort_transaction_record import AbortTransactionRecord
from kraftctl_protocol.generated.access_control_entry_record import AccessControlEntryRecord
from kraftctl_protocol.generated.begin_transaction_record import BeginTransactionRecord
from kraftctl_protocol.generated.end_transaction_record import EndTransactionRecord
from kraftctl_protocol.generated.remove_access_control_entry_record import RemoveAccessControlEntryRecord
from kraftctl_protocol.message import Message
from tests.support.effort import seeds
from tests.support.image_records import next_records

LITERAL, PREFIXED = 3, 4
NETWORKS = ("127.0.0.0/8", "127.0.0.1/32", "10.0.0.0/8", "::/0", "::1/128", "1.2.3.4/64")
ADDRESSES = ("127.0.0.1", "10.9.8.7", "::1", "fe80::1", "0.0.0.0")

NAMES = ("", "*", "a", "ab", "abc", "b", "ba", "é", "*a")


def scanned(image: MetadataImage, resource_type: int, name: str) -> set[bytes]:
    """The ids of the entries that apply to a resource, from all entries."""
    return {
        acl_id
        for acl_id, entry in image.acls.acls.items()
        if entry.resource_type == resource_type
        and (
            name.startswith(entry.resource_name)
            if entry.pattern_type == PREFIXED
            else entry.resource_name in (name, "*")
        )
    }


def check(image: MetadataImage) -> None:
    index = image.acls.index
    for resource_type in (2, 3):
        for name in NAMES:
            patterns = index.covering(resource_type, name)
            assert not any(pattern.is_empty() for pattern in patterns)
            found = [acl_id for pattern in patterns for acl_id, _ in pattern.all()]
            assert len(found) == len(set(found))
            assert set(found) == scanned(image, resource_type, name)
    for entry in image.acls.acls.values():
        assert index.contains(entry)
        patterns = index.of_type(entry.resource_type)[0].named(entry.resource_name)
        found_for = [acl for pattern in patterns for acl in pattern.of_client(entry.principal, entry.host)]
        assert entry in [acl[1] for acl in found_for]
        assert {(acl[1].principal, acl[1].host) for acl in found_for} == {(entry.principal, entry.host)}
    indexed = {acl for acls in index.types() for pattern in acls.all() for acl in pattern.all()}
    assert indexed == set(image.acls.acls.items())


def check_networks(image: MetadataImage) -> None:
    """Whatever a pattern contains, an address finds the entries that a scan finds."""
    patterns = [pattern for acls in image.acls.index.types() for pattern in acls.all()]
    for pattern in patterns:
        for address in map(ip_address, ADDRESSES):
            for principal in ("User:a", "User:*"):
                found = pattern.applying(principal, str(address), address.packed)
                assert len(found) == len(set(found))
                assert set(found) == {
                    acl
                    for acl in pattern.all()
                    if acl[1].principal == principal and is_from(acl[1].host, address)
                }


def is_from(host: str, address: IPv4Address | IPv6Address) -> bool:
    if host in ("*", str(address)):
        return True
    return host in NETWORKS[:-1] and str(address) != "0.0.0.0" and address in ip_network(host)


def any_entry(rng: random.Random, crowded: bool) -> AccessControlEntryRecord:
    """Few ids, so that an entry also replaces another one; `crowded` patterns have many entries each."""
    return AccessControlEntryRecord(
        id=rng.randrange(80 if crowded else 12).to_bytes(16, "big"),
        resource_type=rng.choice([2, 2, 3]),
        resource_name=rng.choice(NAMES[1:3] if crowded else NAMES),
        pattern_type=rng.choice([LITERAL, PREFIXED]),
        principal=rng.choice(["User:a", "User:b", "User:*"]),
        host=rng.choice(["*", "127.0.0.1", *NETWORKS]),
        operation=rng.randint(2, 4),
        permission_type=rng.choice([2, 3]),
    )


def any_record(rng: random.Random, image: MetadataImage, crowded: bool) -> Message:
    kind = rng.random()
    if kind < 0.1:
        if image.journal.transaction_start is None:
            return BeginTransactionRecord()
        return rng.choice([EndTransactionRecord(), AbortTransactionRecord()])
    if kind < 0.4 and image.acls.acls:
        return RemoveAccessControlEntryRecord(id=rng.choice(sorted(image.acls.acls)))
    return any_entry(rng, crowded)


@pytest.mark.parametrize("crowded", [False, True])
@pytest.mark.parametrize("seed", seeds(15))
def test_it_follows_records_rollbacks_and_transactions(seed: int, crowded: bool) -> None:
    rng = random.Random(seed)
    image = MetadataImage()
    end, committed = 0, 0
    for _ in range(150):
        replay(image, any_record(rng, image, crowded), end)
        end += 1
        if rng.random() < 0.2:
            committed = rng.randint(committed, end)
            image.journal.commit_to(committed)
        if rng.random() < 0.1:
            end = rng.randint(committed, end)
            image.journal.rollback_to(end)
        check(image)
    check_networks(image)


@pytest.mark.parametrize("crowded", [False, True])
@pytest.mark.parametrize("seed", seeds(10))
def test_a_snapshot_has_the_entries_of_its_offset(seed: int, crowded: bool) -> None:
    rng = random.Random(seed)
    image = MetadataImage()
    for offset in range(40):
        replay(image, any_record(rng, image, crowded), offset)
    if image.journal.transaction_start is not None:
        replay(image, EndTransactionRecord(), 40)
    image.journal.commit_to(41)
    expected = dict(image.acls.acls)
    writer = ImageWriter(image, 41)
    for offset in range(41, 80):
        replay(image, any_record(rng, image, crowded), offset)
    loaded = MetadataImage()
    for entry in next_records(writer, 1000):
        replay(loaded, entry.record, 40)
    writer.close()
    assert dict(loaded.acls.acls) == expected
    check(loaded)
    check_networks(loaded)


def entry(name: str, pattern_type: int, principal: str = "User:a", host: str = "*") -> AclEntry:
    return AclEntry(
        resource_type=2,
        resource_name=name,
        pattern_type=pattern_type,
        principal=principal,
        host=host,
        operation=3,
        permission_type=3,
    )


def test_a_look_up_does_not_depend_on_the_number_of_entries() -> None:
    """Neither of other resources, nor of other principals on the same one."""
    index = AclIndex()
    for number in range(5_000):
        index.add(number.to_bytes(16, "big"), entry(f"team{number:04}-", PREFIXED))
        index.add((number + 5_000).to_bytes(16, "big"), entry("t", LITERAL, f"User:{number}"))
    (pattern,) = index.covering(2, "team0007-x")
    assert len(pattern.all()) == 1
    (pattern,) = index.covering(2, "t")
    assert len(pattern.of_client("User:7", "*")) == 1
    assert index.covering(2, "team") == []


def test_an_address_is_looked_up_once_for_each_size_of_network() -> None:
    """Whatever the number of networks, and as cheaply as before where there are none."""
    index = AclIndex()
    for number in range(5_000):
        network = f"10.{number // 250}.{number % 250}.0/24"
        index.add(number.to_bytes(16, "big"), entry("t", LITERAL, host=network))
    (pattern,) = index.covering(2, "t")
    found = pattern.applying("User:a", "10.3.7.9", bytes([10, 3, 7, 9]))
    assert [acl[1].host for acl in found] == ["10.3.7.0/24"]
    assert pattern.network_sizes() == [32 + 24]
    for number in range(4_999):
        network = f"10.{number // 250}.{number % 250}.0/24"
        index.remove(number.to_bytes(16, "big"), entry("t", LITERAL, host=network))
    assert pattern.network_sizes() == [32 + 24]
    index.remove((4_999).to_bytes(16, "big"), entry("t", LITERAL, host="10.19.249.0/24"))
    assert pattern.network_sizes() == []


@pytest.mark.parametrize("count", [SCANNED_ENTRIES_MAX, SCANNED_ENTRIES_MAX + 1, 100])
def test_a_pattern_loses_its_entries_one_by_one(count: int) -> None:
    acls = TypeAcls()
    for number in range(count):
        acls.add(number.to_bytes(16, "big"), entry("t", LITERAL, f"User:{number % 20}"))
    for number in range(count):
        (pattern,) = acls.covering("t")
        assert len(pattern.all()) == count - number
        acls.remove(number.to_bytes(16, "big"), entry("t", LITERAL, f"User:{number % 20}"))
    assert acls.covering("t") == []


def test_nothing_is_left_behind() -> None:
    """Neither empty patterns, nor lengths of prefixes that no pattern has."""
    acls = TypeAcls()
    for length in range(1, 200):
        acls.add(length.to_bytes(16, "big"), entry("p" * length, PREFIXED))
    for length in range(1, 200):
        acls.remove(length.to_bytes(16, "big"), entry("p" * length, PREFIXED))
    assert acls.all() == []
    assert acls.prefix_lengths() == []
