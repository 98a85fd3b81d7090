"""What a command names of a cluster: addresses to begin with."""

from __future__ import annotations

from kraftctl.config.endpoints import parse_host_port
from kraftctl_admin.errors import AdminError
from kraftctl_protocol.java_values import split_list
from kraftctl_security.blocking_connection import Endpoint


def parse_bootstrap(text: str) -> list[Endpoint]:
    """Parses `host:port,...`; AdminError names the entry that is wrong."""
    endpoints: list[Endpoint] = []
    for entry in split_list(text):
        endpoint = parse_host_port(entry)
        if endpoint is None:
            raise AdminError(f"'{entry}' is not of the form host:port.")
        endpoints.append(endpoint)
    if not endpoints:
        raise AdminError("No bootstrap address is given: name at least one host:port.")
    return endpoints
