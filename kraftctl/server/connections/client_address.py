"""The address of a client, as Java's InetAddress has it."""

from __future__ import annotations

import ipaddress


def client_address(host: str) -> tuple[str, bytes]:
    """As text and bytes; IPv4 over an IPv6 socket is IPv4."""
    if not host:
        return "", b""
    address = ipaddress.ip_address(host.partition("%")[0])
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    return str(address), address.packed
