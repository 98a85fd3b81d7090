"""The address of a client, as Java's InetAddress has it."""

from __future__ import annotations

import ipaddress
from typing import Any

from kraftctl.server.loop.connected_client import ConnectedClient


def client_of(listener_name: str, socket_address: Any) -> ConnectedClient:
    """Returns who is at the other end of a socket: None is none that is known."""
    host, address = client_address(socket_address[0] if socket_address else "")
    name = f"{host}:{socket_address[1]}" if socket_address else "unknown"
    return ConnectedClient(listener_name, host, address, name)


def client_address(host: str) -> tuple[str, bytes]:
    """As text and bytes; IPv4 over an IPv6 socket is IPv4."""
    if not host:
        return "", b""
    address = ipaddress.ip_address(host.partition("%")[0])
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    return str(address), address.packed
