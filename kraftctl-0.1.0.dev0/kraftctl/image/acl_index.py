"""The access control entries by resource: a check costs the same with ten entries and with a hundred
thousand.

Kafka's StandardAuthorizerData walks a sorted set. Here the name of a resource is looked up as it is, and cut
to each length that prefixes have: there are few different ones, and nothing has to be kept sorted.
"""

from __future__ import annotations

from typing import Final

from kraftctl.image.acl_entry import AclEntry
from kraftctl.image.network_host import IPV4_BITS, NO_ADDRESS, HostNetwork
from kraftctl_protocol.uuids import Uuid

PREFIXED: Final = 4
WILDCARD: Final = "*"


AclWithId = tuple[Uuid, AclEntry]

SCANNED_ENTRIES_MAX: Final = 8
"""A pattern with more entries gets a dict; for fewer it would take more memory than the entries."""

NO_ENTRIES: Final[list[AclWithId]] = []


class NetworkAcls:
    """The entries of one resource pattern whose hosts are networks (KIP-1276), by principal and network.

    An address is looked up once for each size of network that there is, whatever the number of networks.
    """

    def __init__(self) -> None:
        self._acls: dict[tuple[str, int, int], list[AclWithId]] = {}
        self._size_counts: dict[int, int] = {}
        """Maps the size of networks to the number of keys with it."""

    def containing(self, principal: str, address: bytes) -> list[AclWithId]:
        """Returns the entries of this principal for networks that have the address."""
        found: list[AclWithId] = []
        bits, number = 8 * len(address), int.from_bytes(address, "big")
        if bits == IPV4_BITS and number == NO_ADDRESS:
            return found
        for size in self._size_counts:
            if bits <= size <= 2 * bits:
                found += self._acls.get((principal, size, number >> (2 * bits - size)), NO_ENTRIES)
        return found

    def sizes(self) -> list[int]:
        """Returns the sizes that `containing` looks up."""
        return list(self._size_counts)

    def is_empty(self) -> bool:
        return not self._acls

    def add(self, acl_id: Uuid, entry: AclEntry, network: HostNetwork) -> None:
        key = (entry.principal, network.size, network.prefix)
        acls = self._acls.get(key)
        if acls is None:
            acls = []
            self._acls[key] = acls
            self._size_counts[network.size] = self._size_counts.get(network.size, 0) + 1
        acls.append((acl_id, entry))

    def remove(self, acl_id: Uuid, entry: AclEntry, network: HostNetwork) -> None:
        key = (entry.principal, network.size, network.prefix)
        kept = [acl for acl in self._acls[key] if acl[0] != acl_id]
        if kept:
            self._acls[key] = kept
            return
        del self._acls[key]
        left = self._size_counts[network.size] - 1
        if left:
            self._size_counts[network.size] = left
        else:
            del self._size_counts[network.size]


class PatternAcls:
    """The entries of one resource pattern; while it is in the index, it has at least one.

    Most patterns have a few. Those with many are looked up by principal and host.
    """

    def __init__(self) -> None:
        self._acls: list[AclWithId] = []
        self._by_client: dict[tuple[str, str], list[AclWithId]] | None = None
        """Has all entries once there are many; `_acls` is empty then."""
        self._networks: NetworkAcls | None = None
        """Has the entries for networks in addition; most patterns have none."""

    def applying(self, principal: str, host: str, address: bytes) -> list[AclWithId]:
        """Returns the entries that name the principal, and an address by its text, a network or `*`."""
        found = self.of_client(principal, host) + self.of_client(principal, WILDCARD)
        if self._networks is not None:
            found += self._networks.containing(principal, address)
        return found

    def network_sizes(self) -> list[int]:
        """Returns the sizes of networks that `applying` looks up."""
        return [] if self._networks is None else self._networks.sizes()

    def of_client(self, principal: str, host: str) -> list[AclWithId]:
        """Returns the entries that name exactly this principal and host."""
        if self._by_client is not None:
            return self._by_client.get((principal, host), NO_ENTRIES)
        return [acl for acl in self._acls if acl[1].principal == principal and acl[1].host == host]

    def all(self) -> list[AclWithId]:
        if self._by_client is None:
            return self._acls
        return [acl for acls in self._by_client.values() for acl in acls]

    def is_empty(self) -> bool:
        return not self._acls and not self._by_client

    def add(self, acl_id: Uuid, entry: AclEntry) -> None:
        if entry.network is not None:
            if self._networks is None:
                self._networks = NetworkAcls()
            self._networks.add(acl_id, entry, entry.network)
        if self._by_client is not None:
            self._by_client.setdefault((entry.principal, entry.host), []).append((acl_id, entry))
            return
        self._acls.append((acl_id, entry))
        if len(self._acls) > SCANNED_ENTRIES_MAX:
            self._by_client = {}
            for acl in self._acls:
                self._by_client.setdefault((acl[1].principal, acl[1].host), []).append(acl)
            self._acls = []

    def remove(self, acl_id: Uuid, entry: AclEntry) -> None:
        if entry.network is not None:
            assert self._networks is not None
            self._networks.remove(acl_id, entry, entry.network)
            if self._networks.is_empty():
                self._networks = None
        if self._by_client is None:
            self._acls = [acl for acl in self._acls if acl[0] != acl_id]
            return
        client = (entry.principal, entry.host)
        kept = [acl for acl in self._by_client[client] if acl[0] != acl_id]
        if kept:
            self._by_client[client] = kept
        else:
            del self._by_client[client]


class TypeAcls:
    """The entries for one type of resource. Every pattern that is not PREFIXED counts as LITERAL."""

    def __init__(self) -> None:
        self._literal: dict[str, PatternAcls] = {}
        self._prefixed: dict[str, PatternAcls] = {}
        self._prefix_counts: dict[int, int] = {}
        """Maps the length of a prefix to the number of patterns with it."""

    def covering(self, name: str) -> list[PatternAcls]:
        """Returns the patterns that apply to a resource of that name."""
        found: list[PatternAcls] = []
        pattern = self._literal.get(name)
        if pattern is not None:
            found.append(pattern)
        if name != WILDCARD:
            pattern = self._literal.get(WILDCARD)
            if pattern is not None:
                found.append(pattern)
        name_length = len(name)
        for length in self._prefix_counts:
            if length <= name_length:
                pattern = self._prefixed.get(name[:length])
                if pattern is not None:
                    found.append(pattern)
        return found

    def named(self, name: str) -> list[PatternAcls]:
        """Returns the patterns, literal and prefixed, that have exactly this name."""
        patterns = (self._literal.get(name), self._prefixed.get(name))
        return [pattern for pattern in patterns if pattern is not None]

    def prefix_lengths(self) -> list[int]:
        """Returns the lengths of prefixes that `covering` looks up."""
        return list(self._prefix_counts)

    def all(self) -> list[PatternAcls]:
        return [*self._literal.values(), *self._prefixed.values()]

    def add(self, acl_id: Uuid, entry: AclEntry) -> None:
        prefixed = entry.pattern_type == PREFIXED
        patterns = self._prefixed if prefixed else self._literal
        name = entry.resource_name
        pattern = patterns.get(name)
        if pattern is None:
            pattern = PatternAcls()
            patterns[name] = pattern
            if prefixed:
                self._prefix_counts[len(name)] = self._prefix_counts.get(len(name), 0) + 1
        pattern.add(acl_id, entry)

    def remove(self, acl_id: Uuid, entry: AclEntry) -> None:
        prefixed = entry.pattern_type == PREFIXED
        patterns = self._prefixed if prefixed else self._literal
        name = entry.resource_name
        pattern = patterns[name]
        pattern.remove(acl_id, entry)
        if not pattern.is_empty():
            return
        del patterns[name]
        if prefixed:
            left = self._prefix_counts[len(name)] - 1
            if left:
                self._prefix_counts[len(name)] = left
            else:
                del self._prefix_counts[len(name)]


class AclIndex:
    """All entries, by type of resource."""

    def __init__(self) -> None:
        self._types: dict[int, TypeAcls] = {}

    def covering(self, resource_type: int, name: str) -> list[PatternAcls]:
        """Returns the patterns that apply to a resource; none is without entries."""
        acls = self._types.get(resource_type)
        return [] if acls is None else acls.covering(name)

    def of_type(self, resource_type: int) -> list[TypeAcls]:
        """Returns the entries of a type in a list of one, or an empty list."""
        acls = self._types.get(resource_type)
        return [] if acls is None else [acls]

    def types(self) -> list[TypeAcls]:
        return list(self._types.values())

    def contains(self, entry: AclEntry) -> bool:
        """Returns whether an entry with the same identity is there, whatever its id."""
        acls = self._types.get(entry.resource_type)
        if acls is None:
            return False
        for pattern in acls.named(entry.resource_name):
            for _, known in pattern.of_client(entry.principal, entry.host):
                if known == entry:
                    return True
        return False

    def add(self, acl_id: Uuid, entry: AclEntry) -> None:
        self._types.setdefault(entry.resource_type, TypeAcls()).add(acl_id, entry)

    def remove(self, acl_id: Uuid, entry: AclEntry) -> None:
        self._types[entry.resource_type].remove(acl_id, entry)
