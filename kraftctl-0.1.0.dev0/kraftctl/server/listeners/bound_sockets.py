"""The socket of a listener, bound to its address."""

from __future__ import annotations

import socket

from kraftctl.config.controller_config import ControllerConfig
from kraftctl.config.endpoints import Endpoint
from kraftctl.server.process.name_lookup import addresses_of


class ListenError(Exception):
    """A listener cannot be bound; the message says which, why, and what to do."""


async def bind_endpoint(
    endpoint: Endpoint, config: ControllerConfig, key: str = "listeners"
) -> socket.socket:
    """Returns a bound socket: the host's first address, IPv4 first as Java does, or the wildcard of both.

    `key` names the configuration that has the endpoint, for ListenError.
    """
    try:
        if endpoint.host is None:
            return _bind_wildcard(endpoint.port, config)
        found = await addresses_of(endpoint.host, endpoint.port, flags=socket.AI_PASSIVE)
        family, _, _, _, address = min(found, key=lambda entry: entry[0] != socket.AF_INET)
        return _bound(socket.AddressFamily(family), address, config)
    except OSError as error:
        raise listen_error(endpoint, error, key) from error


def listen_error(endpoint: Endpoint, error: OSError, key: str = "listeners") -> ListenError:
    step = f"free the address, or choose another host or port in '{key}'"
    if isinstance(error, socket.gaierror):
        step = f"correct the host in '{key}', or DNS"
    return ListenError(f"cannot listen on {endpoint}: {error.strerror or error}. Next step: {step}.")


def _bind_wildcard(port: int, config: ControllerConfig) -> socket.socket:
    if socket.has_dualstack_ipv6():
        return _bound(socket.AF_INET6, ("::", port), config)
    return _bound(socket.AF_INET, ("0.0.0.0", port), config)


def _bound(
    family: socket.AddressFamily, address: tuple[object, ...], config: ControllerConfig
) -> socket.socket:
    bound = socket.socket(family, socket.SOCK_STREAM)
    try:
        bound.setblocking(False)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        if family == socket.AF_INET6:
            bound.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        if config.socket_receive_buffer_bytes > 0:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, config.socket_receive_buffer_bytes)
        if config.socket_send_buffer_bytes > 0:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, config.socket_send_buffer_bytes)
        bound.bind(address)
    except OSError:
        bound.close()
        raise
    return bound
