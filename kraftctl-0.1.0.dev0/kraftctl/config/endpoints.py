"""Listeners and addresses of a properties file: `CONTROLLER://host:port`, `id@host:port`, `host:port`."""

from __future__ import annotations

import re

from kraftctl_protocol.java_values import parse_integer, split_list, trim
from kraftctl_security.config_values import ConfigValues

_LISTENER = re.compile(r"(.*)://\[?([0-9a-zA-Z\-%._:]*)\]?:(-?[0-9]+)")
_HOST_PORT = re.compile(r"(?:[0-9a-zA-Z\-%._]*://)?\[?([0-9a-zA-Z\-%._:]*)\]?:([0-9]+)")

SECURITY_PROTOCOLS = ["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"]
"""Kafka's security protocols, each at the index that is its number on the wire."""

SSL_PROTOCOLS = ("SSL", "SASL_SSL")
SASL_PROTOCOLS = ("SASL_PLAINTEXT", "SASL_SSL")
PORT_MAX = 65_535
WILDCARD_HOST = "0.0.0.0"
DEFAULT_LISTENERS = "PLAINTEXT://:9092"


class Endpoint:
    """One listener: its name, how it is secured, and where it binds or is advertised.

    `host` is None for the wildcard address (`CONTROLLER://:9093`); `port` 0 asks the system for one.
    """

    def __init__(self, listener: str, security_protocol: str, host: str | None, port: int) -> None:
        self.listener = listener
        self.security_protocol = security_protocol
        self.host = host
        self.port = port

    def __repr__(self) -> str:
        host = self.host or ""
        return f"{self.listener}://{f'[{host}]' if ':' in host else host}:{self.port}"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Endpoint):
            return NotImplemented
        return repr(self) == repr(other) and self.security_protocol == other.security_protocol

    def __hash__(self) -> int:
        return hash(repr(self))


def parse_host_port(address: str) -> tuple[str, int] | None:
    """Parses `host:port` or `[v6]:port`; None when it is neither."""
    match = _HOST_PORT.fullmatch(address)
    if match is None or not match.group(1) or int(match.group(2)) > PORT_MAX:
        return None
    return match.group(1), int(match.group(2))


def parse_listener(entry: str) -> tuple[str, str | None, int] | None:
    """Parses `NAME://host:port` to name, host (None for the wildcard address) and port; None when it is
    malformed.
    """
    match = _LISTENER.fullmatch(entry)
    if match is None:
        return None
    return match.group(1).upper(), match.group(2) or None, int(match.group(3))


def read_security_protocol_map(values: ConfigValues, controller_listeners: list[str]) -> dict[str, str]:
    """Reads the security protocol of each listener; names are upper case as Kafka normalises them.

    Without the key each protocol names itself and the controller's listeners are PLAINTEXT.
    """
    key = "listener.security.protocol.map"
    if not values.has(key):
        return {name: name for name in SECURITY_PROTOCOLS} | {
            name: "PLAINTEXT" for name in controller_listeners if name not in SECURITY_PROTOCOLS
        }
    protocols: dict[str, str] = {}
    for entry in split_map(values.text(key)):
        name, _, protocol = entry.rpartition(":")
        protocols[trim(name).upper()] = trim(protocol).upper()
    return protocols


def split_map(text: str) -> list[str]:
    """Returns the entries of a map in one text. Empty ones at its end do not count."""
    entries = split_list(text)
    while entries and not entries[-1]:
        entries.pop()
    return entries


def read_listeners(
    values: ConfigValues, key: str, protocols: dict[str, str], default: str = ""
) -> list[Endpoint]:
    """Returns the endpoints of `listeners` or `advertised.listeners` with a port that exists.

    Endpoints that Kafka refuses are left out: see kraftctl.config.listener_checks.
    """
    endpoints: list[Endpoint] = []
    for entry in values.names(key) if values.has(key) else split_list(default):
        listener = parse_listener(entry)
        if listener is None or listener[0] not in protocols:
            continue
        name, host, port = listener
        if 0 <= port <= PORT_MAX:
            endpoints.append(Endpoint(name, protocols[name], host, port))
        else:
            values.refuse(key, values.text(key), f"port {port} of '{entry}' is not within 0..{PORT_MAX}")
    return endpoints


def parse_voter(entry: str) -> tuple[int, str, int] | None:
    """Parses `id@host:port`; None when it is malformed."""
    voter_id, at, address = entry.rstrip("@").partition("@")
    number, host_port = parse_integer(voter_id, 32), parse_host_port(address)
    if not at or number is None or number < 0 or host_port is None:
        return None
    return number, host_port[0], host_port[1]


def why_voter_invalid(entry: str) -> str | None:
    """Returns why Kafka refuses an entry of controller.quorum.voters."""
    return f"'{entry}' is not of the form {{id}}@{{host}}:{{port}}" if parse_voter(entry) is None else None


def why_bootstrap_server_invalid(entry: str) -> str | None:
    """Returns why Kafka refuses an entry of controller.quorum.bootstrap.servers."""
    return f"'{entry}' is not of the form {{host}}:{{port}}" if parse_host_port(entry) is None else None


def read_voters(values: ConfigValues) -> dict[int, tuple[str, int]]:
    """Reads `controller.quorum.voters`: the static voters, id -> (host, port)."""
    key = "controller.quorum.voters"
    voters: dict[int, tuple[str, int]] = {}
    for entry in split_list(values.text(key)):
        voter = parse_voter(entry)
        if voter is None:
            values.refuse(key, values.text(key), str(why_voter_invalid(entry)))
            continue
        voters[voter[0]] = (voter[1], voter[2])
    return voters


def read_bootstrap_servers(values: ConfigValues) -> list[tuple[str, int]]:
    """Reads `controller.quorum.bootstrap.servers`: the addresses at which to find the leader, in order."""
    key = "controller.quorum.bootstrap.servers"
    servers: list[tuple[str, int]] = []
    for entry in split_list(values.text(key)):
        host_port = parse_host_port(entry)
        if host_port is None:
            values.refuse(key, values.text(key), str(why_bootstrap_server_invalid(entry)))
            continue
        servers.append(host_port)
    return servers
