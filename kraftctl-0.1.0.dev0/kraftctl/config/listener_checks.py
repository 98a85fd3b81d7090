"""Checks listeners, their names and the advertised addresses as Kafka's KafkaConfig does.

With process.roles=controller, all listeners are those of the controller.
"""

from __future__ import annotations

import ipaddress
from typing import Final

from kraftctl.config.defined_values import DefinedValues
from kraftctl.config.endpoints import (
    DEFAULT_LISTENERS,
    SECURITY_PROTOCOLS,
    WILDCARD_HOST,
    parse_listener,
    parse_voter,
    split_map,
)
from kraftctl_protocol.java_values import parse_integer, trim

PROTOCOL_MAP: Final = "listener.security.protocol.map"
LISTENERS: Final = "listeners"
ADVERTISED: Final = "advertised.listeners"
CONTROLLER_NAMES: Final = "controller.listener.names"
EARLY_START: Final = "early.start.listeners"
INTER_BROKER_LISTENER: Final = "inter.broker.listener.name"
INTER_BROKER_PROTOCOL: Final = "security.inter.broker.protocol"
PLAINTEXT: Final = "PLAINTEXT"
PORT_BITS: Final = 32
"""Kafka reads a port as an INT, and checks its range when it binds."""

NO_NAME: Final = "a listener without a name"

BoundAddress = tuple[str, str | None, int]
"""The listener, its host and its port."""


class CheckedListeners:
    """The listeners as Kafka understands them. A wrong key makes its part empty."""

    def __init__(self, values: DefinedValues) -> None:
        self._values = values
        self.controller_names = values.items(CONTROLLER_NAMES)
        self.protocols = self._read_protocols()
        self.bound = self._read(LISTENERS, distinct_ports=True)
        self.controller_bound = [each for each in self.bound if each[0] in self.controller_names]
        self._check_early_start()

    def check_advertised(self) -> list[BoundAddress]:
        """Returns the advertised addresses, of whatever listener."""
        if not self._values.has(ADVERTISED):
            return self.bound
        return self._read(ADVERTISED, distinct_ports=False)

    def check_voters(self, advertised: list[BoundAddress]) -> None:
        """Checks that a wildcard address has an advertised one, or the entry of this node among the
        voters.
        """
        key, text = "controller.quorum.voters", self._values.properties.get("controller.quorum.voters", "")
        voters = [voter for voter in map(parse_voter, self._values.items(key)) if voter is not None]
        explicit = [each[0] for each in advertised] if self._values.has(ADVERTISED) else []
        for name, host, _ in self.controller_bound:
            is_first = name == self.controller_names[0].upper()
            if not is_first or name in explicit or host not in (None, WILDCARD_HOST):
                continue
            if any(voter[1] == WILDCARD_HOST for voter in voters):
                reason = f"Host string ({WILDCARD_HOST}) is not routeable"
                self._values.refuse([key], f"Invalid value {text} for configuration {key}: {reason}")

    def check_roles(self, advertised: list[BoundAddress]) -> None:
        """Checks names and addresses as process.roles=controller demands."""
        values, names = self._values, list(self.controller_names)
        own = self._advertised_by_controller(advertised)
        if len(own) != len(self.bound) and not values.has(LISTENERS):
            values.refuse(
                [LISTENERS, CONTROLLER_NAMES, PROTOCOL_MAP],
                f'Missing required configuration "{LISTENERS}": its default, {DEFAULT_LISTENERS}, is not of '
                f"{CONTROLLER_NAMES}, which is {names}.",
            )
        if len(own) != len(self.bound):
            values.refuse(
                [LISTENERS, CONTROLLER_NAMES, PROTOCOL_MAP],
                f"With process.roles=controller, all {LISTENERS} must be of {CONTROLLER_NAMES}: they are "
                f"{[each[0] for each in self.bound]}, and {CONTROLLER_NAMES} is {names}",
            )
        if values.has(INTER_BROKER_LISTENER) and self.check_inter_broker()[0] in names:
            values.refuse(
                [CONTROLLER_NAMES, INTER_BROKER_LISTENER],
                f"With process.roles=controller, {CONTROLLER_NAMES} must not have the name that "
                f"{INTER_BROKER_LISTENER} sets",
            )

    def check_names(self, advertised: list[BoundAddress]) -> None:
        """Checks that each name of the controller is bound."""
        bound = [each[0] for each in self.bound]
        if not self._advertised_by_controller(advertised) or any(
            name not in bound for name in self.controller_names
        ):
            self._values.refuse(
                [CONTROLLER_NAMES, LISTENERS, PROTOCOL_MAP],
                f"Each of {CONTROLLER_NAMES} must be one of {LISTENERS}: they are {self.controller_names} "
                f"and {bound}",
            )

    def check_addresses(self, advertised: list[BoundAddress]) -> None:
        """Refuses the wildcard address, to which no node can connect."""
        others = [each for each in advertised if each[0] not in self.controller_names]
        for _, host, _ in [*others, *self._advertised_by_controller(advertised)]:
            if host == WILDCARD_HOST:
                self._values.refuse(
                    [ADVERTISED],
                    f"{ADVERTISED} has {WILDCARD_HOST}, to which no node can connect. Next step: name an "
                    "address of this machine.",
                )

    def check_inter_broker(self) -> tuple[str, str]:
        """Returns name and protocol of the listener of brokers; empty if they are refused."""
        values = self._values
        if not values.has(INTER_BROKER_LISTENER):
            protocol = values.text(INTER_BROKER_PROTOCOL)
            return protocol, protocol
        keys = [INTER_BROKER_LISTENER, PROTOCOL_MAP]
        name = values.text(INTER_BROKER_LISTENER).upper()
        if values.has(INTER_BROKER_PROTOCOL):
            both = f"Only one of {INTER_BROKER_LISTENER} and {INTER_BROKER_PROTOCOL} should be set."
            values.refuse([INTER_BROKER_LISTENER, INTER_BROKER_PROTOCOL], both)
        elif not name:
            values.refuse(keys, f"Invalid value {name} for configuration {INTER_BROKER_LISTENER}: {NO_NAME}")
        elif name not in self.protocols:
            values.refuse(
                keys,
                f"Listener with name {name} defined in {INTER_BROKER_LISTENER} not found in {PROTOCOL_MAP}.",
            )
        return name, self.protocols.get(name, "")

    def _advertised_by_controller(self, advertised: list[BoundAddress]) -> list[BoundAddress]:
        """Returns one address for each controller's name; a wildcard that is only bound is not advertised."""
        explicit = advertised if self._values.has(ADVERTISED) else []
        chosen: list[BoundAddress] = []
        for name in self.controller_names:
            for each in [*explicit, *self.controller_bound]:
                if each[0] == name.upper() and each[0] in self.controller_names:
                    shown = each[1] if each in explicit or each[1] != WILDCARD_HOST else None
                    chosen.append((each[0], shown, each[2]))
                    break
        return chosen

    def _read_protocols(self) -> dict[str, str]:
        if not self._values.has(PROTOCOL_MAP):
            return self._default_protocols()
        protocols: dict[str, str] = {}
        for name, protocol in self._entries().items():
            if not trim(name):
                self._refuse(PROTOCOL_MAP, NO_NAME)
            elif protocol.upper() not in SECURITY_PROTOCOLS:
                reason = f"Invalid security protocol `{protocol}` defined in {PROTOCOL_MAP}"
                self._refuse(PROTOCOL_MAP, reason)
            elif name.upper() in protocols:
                self._refuse(PROTOCOL_MAP, f"Duplicate key {name.upper()}")
            else:
                protocols[name.upper()] = protocol.upper()
        return {} if PROTOCOL_MAP in self._values.refused else protocols

    def _entries(self) -> dict[str, str]:
        """Returns the map as written; the later entry of a repeated name counts."""
        entries: dict[str, str] = {}
        for entry in split_map(self._values.text(PROTOCOL_MAP)):
            name, colon, protocol = entry.rpartition(":")
            if not colon:
                self._refuse(PROTOCOL_MAP, f"expected NAME:PROTOCOL entries, got '{entry}'")
            else:
                entries[trim(name)] = trim(protocol)
        return entries

    def _default_protocols(self) -> dict[str, str]:
        """Maps each protocol to itself; the controller's listeners are PLAINTEXT if no other is used."""
        protocols = {name: name for name in SECURITY_PROTOCOLS}
        named = list(self.controller_names)
        if not any(_is_secured(name) for name in named):
            for entry in self._values.items(LISTENERS):
                if ":" not in entry:
                    self._refuse(LISTENERS, f"{entry} begins with no name of a listener")
                    return protocols
                named.append(entry.partition(":")[0].upper())
                if _is_secured(named[-1]):
                    break
        if not any(_is_secured(name) for name in named):
            protocols |= {name: PLAINTEXT for name in self.controller_names if name != PLAINTEXT}
        return protocols

    def _read(self, key: str, *, distinct_ports: bool) -> list[BoundAddress]:
        addresses: list[BoundAddress] = []
        for entry in self._values.items(key):
            address = parse_listener(entry)
            if address is None or parse_integer(str(address[2]), PORT_BITS) is None:
                self._refuse(key, f"Unable to parse {entry} to a broker endpoint")
            elif not trim(address[0]):
                self._refuse(key, NO_NAME)
            elif address[0] not in self.protocols:
                keys = [key, PROTOCOL_MAP]
                self._refuse(key, f"the listener {address[0]} has no security protocol", keys)
            else:
                addresses.append(address)
        if len({address[0] for address in addresses}) != len(addresses):
            self._refuse(key, "two listeners have one name")
        if distinct_ports:
            self._check_ports(key, addresses)
        return [] if key in self._values.refused else addresses

    def _check_ports(self, key: str, addresses: list[BoundAddress]) -> None:
        """Refuses a shared port, except for two listeners of which one has an IPv4 and one an IPv6
        address.
        """
        by_port: dict[int, list[str]] = {}
        for _, host, port in addresses:
            by_port.setdefault(port, []).append(address_family(host))
        for port, families in by_port.items():
            if port != 0 and len(families) > 1 and sorted(families) != ["4", "6"]:
                self._refuse(
                    key,
                    f"listeners share the port {port}: only two may, one with an IPv4 and one with an IPv6 "
                    "address",
                )

    def _check_early_start(self) -> None:
        bound = [each[0] for each in self.bound]
        for name in self._values.items(EARLY_START):
            if name not in bound:
                self._values.refuse(
                    [EARLY_START, LISTENERS, PROTOCOL_MAP],
                    f"{EARLY_START} has {name}, which is neither in {LISTENERS} nor in {CONTROLLER_NAMES}",
                )

    def _refuse(self, key: str, reason: str, keys: list[str] | None = None) -> None:
        text = self._values.properties.get(key, "")
        self._values.refuse(keys or [key], f"Invalid value {text} for configuration {key}: {reason}")


def address_family(host: str | None) -> str:
    """Returns `4` or `6` for an IP address, `name` for everything else."""
    try:
        return str(ipaddress.ip_address(host or "").version)
    except ValueError:
        return "name"


def _is_secured(name: str) -> bool:
    return name in SECURITY_PROTOCOLS and name != PLAINTEXT
