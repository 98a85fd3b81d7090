"""Refuses what Kafka's KafkaConfig refuses in the properties of a controller, in its order.

KafkaConfig throws at the first wrong key; here all are found, and the first one is the same.
"""

from __future__ import annotations

import re
from typing import Final

from kraftctl.config.defined_values import BOOTSTRAP_SERVERS, BROKER_ID, NODE_ID, VOTERS, DefinedValues
from kraftctl.config.endpoints import parse_voter, split_map
from kraftctl.config.group_checks import check_groups, check_protocols
from kraftctl.config.listener_checks import CheckedListeners
from kraftctl_protocol.java_values import parse_integer, trim

ROLES: Final = "process.roles"
CONTROLLER: Final = "controller"
PER_IP: Final = "max.connections.per.ip"
PER_IP_OVERRIDES: Final = "max.connections.per.ip.overrides"
ENABLED_MECHANISMS: Final = "sasl.enabled.mechanisms"
INTER_BROKER_MECHANISM: Final = "sasl.mechanism.inter.broker.protocol"

MS_PER_MINUTE: Final = 60_000
MS_PER_HOUR: Final = 3_600_000
DEDUPE_BYTES_MIN: Final = 1024 * 1024

_HOST: Final = re.compile(r"[0-9a-zA-Z\-%._:]*")


def check_as_kafka(properties: dict[str, str]) -> DefinedValues:
    """Returns the values of the file; its `errors` have what is wrong, and `refused` the keys concerned."""
    values = DefinedValues(properties)
    if values.items(ROLES) != [CONTROLLER]:
        reason = f"kraftctl is only a controller: it must be '{CONTROLLER}'"
        values.refuse([ROLES], _at(ROLES, values.properties.get(ROLES, ""), reason))
        return values
    check_groups(values)
    listeners = CheckedListeners(values)
    check_protocols(values)
    _check_node_id(values)
    _check_log(values)
    _check_replication(values)
    _check_quorum(values, listeners)
    _check_inter_broker_mechanism(values, listeners)
    _check_connections(values)
    return values


def _check_node_id(values: DefinedValues) -> None:
    if values.has(BROKER_ID) and values.integer(BROKER_ID) != values.integer(NODE_ID):
        values.refuse(
            [NODE_ID, BROKER_ID],
            f"{NODE_ID} and {BROKER_ID} must be equal: they are {values.integer(NODE_ID)} and "
            f"{values.integer(BROKER_ID)}.",
        )


def _check_log(values: DefinedValues) -> None:
    _check_time(values, "log.roll", ["ms", "hours"], 1, "1 ms is the least")
    _check_time(values, "log.roll.jitter", ["ms", "hours"], 0, "it must not be negative")
    key, retention_ms = _time(values, "log.retention", ["ms", "minutes", "hours"])
    if retention_ms == 0:
        values.refuse([key], _at(key, 0, "1 ms is the least, and -1 is no limit"))
    dedupe, threads = "log.cleaner.dedupe.buffer.size", "log.cleaner.threads"
    if values.integer(threads) == 0 or values.integer(dedupe) // values.integer(threads) <= DEDUPE_BYTES_MIN:
        values.refuse(
            [dedupe, threads],
            f"{dedupe} must be more than 1 MiB for each thread: it is {values.integer(dedupe)}, and "
            f"{threads} is {values.integer(threads)}",
        )


def _check_time(values: DefinedValues, prefix: str, units: list[str], at_least: int, rule: str) -> None:
    key, time_ms = _time(values, prefix, units)
    if time_ms < at_least:
        values.refuse([key], _at(key, values.integer(key), rule))


def _time(values: DefinedValues, prefix: str, units: list[str]) -> tuple[str, int]:
    """Returns the key that decides, the first one with a value, and its milliseconds."""
    factors = {"ms": 1, "minutes": MS_PER_MINUTE, "hours": MS_PER_HOUR}
    for unit in units:
        number = values.optional_integer(f"{prefix}.{unit}")
        if number is not None:
            return f"{prefix}.{unit}", number * factors[unit]
    raise AssertionError(prefix)  # the last unit has a default


def _check_replication(values: DefinedValues) -> None:
    wait, lag, timeout = "replica.fetch.wait.max.ms", "replica.lag.time.max.ms", "replica.socket.timeout.ms"
    if values.integer(wait) > values.integer(timeout):
        values.refuse(
            [timeout, wait],
            f"{timeout} must be at least {wait}, or fetches time out: they are {values.integer(timeout)} "
            f"and {values.integer(wait)}",
        )
    if values.integer(wait) > values.integer(lag):
        values.refuse(
            [wait, lag],
            f"{wait} must be at most {lag}, or replicas leave their ISR for nothing: they are "
            f"{values.integer(wait)} and {values.integer(lag)}",
        )


def _check_quorum(values: DefinedValues, listeners: CheckedListeners) -> None:
    advertised = listeners.check_advertised()
    voters = [voter for voter in map(parse_voter, values.items(VOTERS)) if voter is not None]
    if not voters and not values.items(BOOTSTRAP_SERVERS):
        values.refuse(
            [BOOTSTRAP_SERVERS, VOTERS],
            f"Either {BOOTSTRAP_SERVERS} (host:port of the controllers) or {VOTERS} (id@host:port of all "
            "static voters) must be set.",
        )
    listeners.check_voters(advertised)
    listeners.check_roles(advertised)
    node_id = values.integer(NODE_ID)
    if voters and all(voter[0] != node_id for voter in voters):
        values.refuse(
            [VOTERS, NODE_ID, BROKER_ID],
            _at(
                VOTERS,
                values.properties[VOTERS],
                f"{NODE_ID} is {node_id}, and this controller must be one of the voters",
            ),
        )
    listeners.check_names(advertised)
    listeners.check_addresses(advertised)


def _check_inter_broker_mechanism(values: DefinedValues, listeners: CheckedListeners) -> None:
    name, protocol = listeners.check_inter_broker()
    if not protocol.startswith("SASL_"):
        return
    enabled = values.items_with_prefix(f"listener.name.{name.lower()}.", ENABLED_MECHANISMS)
    if values.text(INTER_BROKER_MECHANISM) not in enabled:
        values.refuse(
            [INTER_BROKER_MECHANISM, ENABLED_MECHANISMS],
            f"{INTER_BROKER_MECHANISM} must be one of {ENABLED_MECHANISMS}, as brokers use SASL between each "
            f"other: {values.text(INTER_BROKER_MECHANISM)} is not in {enabled}",
        )


def _check_connections(values: DefinedValues) -> None:
    queued, largest = "queued.max.request.bytes", "socket.request.max.bytes"
    if 0 < values.integer(queued) < values.integer(largest):
        values.refuse(
            [queued, largest],
            f"{queued} must be at least {largest}: they are {values.integer(queued)} and "
            f"{values.integer(largest)}",
        )
    _check_per_ip(values)
    delay, idle = "connection.failed.authentication.delay.ms", "connections.max.idle.ms"
    if 0 <= values.integer(idle) <= values.integer(delay):
        values.refuse(
            [delay, idle],
            f"{delay}={values.integer(delay)} must be less than {idle}={values.integer(idle)}, or "
            "connections end before they have the response to a failed authentication",
        )


def _check_per_ip(values: DefinedValues) -> None:
    entries = split_map(values.text(PER_IP_OVERRIDES))
    if values.integer(PER_IP) == 0 and not entries:
        rule = f"{PER_IP} may be 0 only together with {PER_IP_OVERRIDES}."
        values.refuse([PER_IP, PER_IP_OVERRIDES], rule)
    for entry in entries:
        host, colon, count = entry.rpartition(":")
        if not colon or parse_integer(trim(count), 32) is None or not _HOST.fullmatch(trim(host)):
            reason = f"expected host:count entries, got '{entry}'"
            values.refuse([PER_IP_OVERRIDES], _at(PER_IP_OVERRIDES, values.text(PER_IP_OVERRIDES), reason))


def _at(key: str, value: str | int, reason: str) -> str:
    return f"Invalid value {value} for configuration {key}: {reason}"
