"""Hosts of ACLs that name a network in CIDR notation (KIP-1276), and of quotas, as Kafka reads them.

Kafka reads IPv4 networks by the rules of commons-net, and IPv6 networks by those of Java's InetAddress.
"""

from __future__ import annotations

import ipaddress
import re
from typing import Final

from kraftctl_protocol.java_values import parse_integer

IPV4_NETWORK: Final = re.compile(
    r"([0-9]{1,3})\.([0-9]{1,3})\.([0-9]{1,3})\.([0-9]{1,3})/([0-9]{1,2})", re.ASCII
)
IPV4_BITS: Final = 32
IPV6_BITS: Final = 128
PREFIX_BITS: Final = 32
"""The length of a prefix is an int of Java for IPv6."""

IPV4_CHARACTERS_MAX: Final = 15

IPV4_NUMBERS: Final = re.compile(r"[0-9]+(?:\.[0-9]+){0,3}")

LOCALHOST: Final = "localhost"
"""The one name of a host that each machine has."""

NO_ADDRESS: Final = 0
"""0.0.0.0, which commons-net finds in no network."""


class HostNetwork:
    """A network of addresses of `bits` bits, whose first `prefix_length` bits are `prefix`."""

    def __init__(self, bits: int, prefix_length: int, address: int) -> None:
        self.bits = bits
        self.prefix_length = prefix_length
        self.prefix = address >> (bits - prefix_length)

    @property
    def size(self) -> int:
        """What networks have in common that one look-up finds: their kind of address, and their length."""
        return self.bits + self.prefix_length


def network_of(host: str) -> HostNetwork | None:
    """Returns the network that the host of an entry names; None for `*`, an address, and all else."""
    if "/" not in host:
        return None
    return _ipv6_network(host) if ":" in host else _ipv4_network(host)


def _ipv4_network(host: str) -> HostNetwork | None:
    found = IPV4_NETWORK.fullmatch(host)
    if found is None:
        return None
    address = 0
    for text in found.groups()[:4]:
        if int(text) > 255:
            return None
        address = address << 8 | int(text)
    prefix_length = int(found.group(5))
    return HostNetwork(IPV4_BITS, prefix_length, address) if prefix_length <= IPV4_BITS else None


def _ipv6_network(host: str) -> HostNetwork | None:
    text, _, prefix_text = host.partition("/")
    prefix_length = parse_integer(prefix_text, PREFIX_BITS)
    if prefix_length is None or not 0 <= prefix_length <= IPV6_BITS:
        return None
    address = _ipv6_address(text)
    if address is None or address.ipv4_mapped is not None:
        return None
    return HostNetwork(IPV6_BITS, prefix_length, int(address))


def may_have_quota(name: str | None) -> bool:
    """Returns whether an `ip` with quotas may have this name: an address, `localhost`, or null, the default.

    Brokers look up all other names, and one that finds no address leaves out what else the update has: when
    it starts, that is any of all quotas.
    """
    if name is None or name == LOCALHOST or _is_ipv4_address(name):
        return True
    return (":" in name or "[" in name) and _ipv6_address(name) is not None


def _is_ipv4_address(text: str) -> bool:
    """Returns whether it has one to four numbers; the last has all the bits that are left."""
    if len(text) > IPV4_CHARACTERS_MAX or IPV4_NUMBERS.fullmatch(text) is None:
        return False
    numbers = [int(part) for part in text.split(".")]
    return max(numbers[:-1], default=0) <= 255 and numbers[-1] < 1 << 8 * (5 - len(numbers))


def _ipv6_address(text: str) -> ipaddress.IPv6Address | None:
    if text.startswith("[") and text.endswith("]"):
        text = text[1:-1]
    text, percent, zone = text.partition("%")
    # Java looks up the name of a zone among the interfaces of the machine that asks: others do not know it.
    if percent and not (zone.isascii() and zone.isdigit()):
        return None
    try:
        return ipaddress.IPv6Address(_without_leading_zeros(text))
    except ValueError:
        return None


def _without_leading_zeros(address: str) -> str:
    """Java takes any number of them in a group of an IPv6 address."""
    groups = [group.split(".") for group in address.split(":")]
    return ":".join([".".join([part.lstrip("0") or part[-1:] for part in parts]) for parts in groups])
