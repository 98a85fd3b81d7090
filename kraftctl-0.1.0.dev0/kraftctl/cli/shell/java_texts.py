"""The texts of registrations, entries and numbers that kafka-metadata-shell shows as Java prints them."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from datetime import UTC, datetime
from decimal import Decimal
from math import inf, isfinite

from kraftctl.controller.state.acl_names import (
    OPERATIONS,
    PATTERN_TYPES,
    PERMISSION_TYPES,
    RESOURCE_TYPES,
    name_of,
)
from kraftctl.image.acl_entry import AclEntry
from kraftctl.metadata.broker_registration import BrokerRegistration
from kraftctl.metadata.controller_registration import ControllerRegistration
from kraftctl.metadata.endpoint import Endpoint, VersionRange
from kraftctl.metadata.partition_registration import PartitionRegistration
from kraftctl_protocol.uuids import Uuid, uuid_to_string

PLAIN_MIN, PLAIN_MAX = 1e-3, 1e7
"""Java writes numbers outside of these with an exponent."""

LEADER_RECOVERY_STATES = ("RECOVERED", "RECOVERING")

SECURITY_PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")


def partition_text(partition: PartitionRegistration) -> str:
    return (
        f"PartitionRegistration(replicas={_list(partition.replicas)},"
        f" directories={_list(map(uuid_to_string, partition.directories))}, isr={_list(partition.isr)},"
        f" removingReplicas={_list(partition.removing_replicas)},"
        f" addingReplicas={_list(partition.adding_replicas)}, elr={_list(partition.elr)},"
        f" lastKnownElr={_list(partition.last_known_elr)}, leader={partition.leader},"
        f" leaderRecoveryState={LEADER_RECOVERY_STATES[partition.leader_recovery_state]},"
        f" leaderEpoch={partition.leader_epoch}, partitionEpoch={partition.partition_epoch})"
    )


def broker_text(broker: BrokerRegistration) -> str:
    rack = "Optional.empty" if broker.rack is None else f"Optional[{broker.rack}]"
    return (
        f"BrokerRegistration(id={broker.id}, epoch={broker.epoch},"
        f" incarnationId={uuid_to_string(broker.incarnation_id)}, listeners={_endpoints(broker.listeners)},"
        f" supportedFeatures={_features(broker.supported_features)}, rack={rack},"
        f" fenced={_boolean(broker.fenced)}, inControlledShutdown={_boolean(broker.in_controlled_shutdown)},"
        f" isMigratingZkBroker={_boolean(broker.is_migrating_zk_broker)},"
        f" directories={_list(map(uuid_to_string, sorted(broker.directories, key=_java_order)))},"
        f" cordonedDirectories={_list(map(uuid_to_string, broker.cordoned_directories or ()))})"
    )


def controller_text(controller: ControllerRegistration) -> str:
    return (
        f"ControllerRegistration(id={controller.id},"
        f" incarnationId={uuid_to_string(controller.incarnation_id)},"
        f" zkMigrationReady={_boolean(controller.zk_migration_ready)},"
        f" listeners={_endpoints(controller.listeners)},"
        f" supportedFeatures={_features(controller.supported_features)})"
    )


def acl_text(acl: AclEntry) -> str:
    return (
        f"StandardAcl[resourceType={name_of(RESOURCE_TYPES, acl.resource_type)},"
        f" resourceName={acl.resource_name}, patternType={name_of(PATTERN_TYPES, acl.pattern_type)},"
        f" principal={acl.principal}, host={acl.host}, operation={name_of(OPERATIONS, acl.operation)},"
        f" permissionType={name_of(PERMISSION_TYPES, acl.permission_type)}]"
    )


def double_text(value: float) -> str:
    """Returns what Java's Double.toString returns."""
    if not isfinite(value):
        return {inf: "Infinity", -inf: "-Infinity"}.get(value, "NaN")
    number = Decimal(repr(value))
    if value == 0 or PLAIN_MIN <= abs(value) < PLAIN_MAX:
        text = format(number, "f")
        return text if "." in text else f"{text}.0"
    sign, digits, _ = number.normalize().as_tuple()
    fraction = "".join(map(str, digits[1:])) or "0"
    return f"{'-' if sign else ''}{digits[0]}.{fraction}E{number.adjusted()}"


def time_text(time_ms: int) -> str:
    """Returns what Java prints of a time in UTC, in which trailing zeros are left out."""
    text = datetime.fromtimestamp(time_ms / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")
    return f"{text.rstrip('0').removesuffix('.')}Z[UTC]"


def _java_order(directory_id: Uuid) -> tuple[int, ...]:
    """Returns the key by which Java sorts ids: as two signed numbers."""
    return struct.unpack(">qq", directory_id)


def _list(items: Iterable[object]) -> str:
    return f"[{', '.join(map(str, items))}]"


def _endpoints(listeners: dict[str, Endpoint]) -> str:
    return _list(
        f"Endpoint(listenerName='{name}', securityProtocol={SECURITY_PROTOCOLS[each.security_protocol]},"
        f" host='{each.host}', port={each.port})"
        for name, each in sorted(listeners.items())
    )


def _features(supported: dict[str, VersionRange]) -> str:
    ranges = ", ".join(f"{name}: {offered.min}-{offered.max}" for name, offered in sorted(supported.items()))
    return f"{{{ranges}}}"


def _boolean(value: bool) -> str:
    return "true" if value else "false"
