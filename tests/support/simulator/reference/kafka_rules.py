"""What each type of record does to the state, written from Kafka's rules: slow, and obvious.

The rules are those of the images of brokers and controllers. Where a controller refuses more when it replays
its log, and so ends, that is refused, too, with `as_controller`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kraftctl_protocol.generated.abort_transaction_record import AbortTransactionRecord
from kraftctl_protocol.generated.access_control_entry_record import AccessControlEntryRecord
from kraftctl_protocol.generated.begin_transaction_record import BeginTransactionRecord
from kraftctl_protocol.generated.broker_registration_change_record import BrokerRegistrationChangeRecord
from kraftctl_protocol.generated.clear_elr_record import ClearElrRecord
from kraftctl_protocol.generated.client_quota_record import ClientQuotaRecord
from kraftctl_protocol.generated.config_record import ConfigRecord
from kraftctl_protocol.generated.delegation_token_record import DelegationTokenRecord
from kraftctl_protocol.generated.end_transaction_record import EndTransactionRecord
from kraftctl_protocol.generated.feature_level_record import FeatureLevelRecord
from kraftctl_protocol.generated.fence_broker_record import FenceBrokerRecord
from kraftctl_protocol.generated.no_op_record import NoOpRecord
from kraftctl_protocol.generated.partition_change_record import PartitionChangeRecord
from kraftctl_protocol.generated.partition_record import PartitionRecord
from kraftctl_protocol.generated.producer_ids_record import ProducerIdsRecord
from kraftctl_protocol.generated.register_broker_record import RegisterBrokerRecord
from kraftctl_protocol.generated.register_controller_record import RegisterControllerRecord
from kraftctl_protocol.generated.remove_access_control_entry_record import RemoveAccessControlEntryRecord
from kraftctl_protocol.generated.remove_delegation_token_record import RemoveDelegationTokenRecord
from kraftctl_protocol.generated.remove_topic_record import RemoveTopicRecord
from kraftctl_protocol.generated.remove_user_scram_credential_record import RemoveUserScramCredentialRecord
from kraftctl_protocol.generated.topic_record import TopicRecord
from kraftctl_protocol.generated.unfence_broker_record import UnfenceBrokerRecord
from kraftctl_protocol.generated.unregister_broker_record import UnregisterBrokerRecord
from kraftctl_protocol.generated.unregister_controller_record import UnregisterControllerRecord
from kraftctl_protocol.generated.user_scram_credential_record import UserScramCredentialRecord
from tests.support.simulator.reference import partition_rules
from tests.support.simulator.reference.refused_record import refuse
from tests.support.simulator.reference.rows import METADATA_VERSION, TOPIC, Rows, rows_of
from tests.support.simulator.reference.values import (
    Acl,
    Broker,
    Controller,
    DelegationToken,
    Endpoint,
    Levels,
    ScramCredential,
)

LOWEST_METADATA_VERSION = 7
SCRAM_MECHANISMS = (1, 2)

FENCING = {-1: False, 0: None, 1: True}
LEAVING = {0: None, 1: True}
"""What the flags of a BrokerRegistrationChangeRecord set; None keeps."""

Rule = Callable[[Rows, Any, bool], None]


# Topics.


def topic(rows: Rows, record: TopicRecord, as_controller: bool) -> None:
    if ("topic id", record.name) in rows.now or ("topic", record.topic_id) in rows.now:
        refuse(record, "there is such a topic already")
    rows.put(("topic", record.topic_id), record.name)
    rows.put(("topic id", record.name), record.topic_id)


def remove_topic(rows: Rows, record: RemoveTopicRecord, as_controller: bool) -> None:
    """Its partitions go with it, and the configs of its name."""
    name = rows.now.get(("topic", record.topic_id))
    if name is None:
        refuse(record, "there is no such topic")
    gone = [key for key, _ in rows_of(rows.now, "partition", record.topic_id)]
    gone += [key for key, _ in rows_of(rows.now, "config", TOPIC, name)]
    for key in [*gone, ("topic", record.topic_id), ("topic id", name)]:
        rows.remove(key)


# Nodes.


def register_broker(rows: Rows, record: RegisterBrokerRecord, as_controller: bool) -> None:
    """Whatever was registered under this id."""
    cordoned = record.cordoned_log_dirs
    registration = Broker(
        id=record.broker_id,
        epoch=record.broker_epoch,
        incarnation_id=record.incarnation_id,
        listeners=_listeners(record.end_points),
        supported_features=_features(record.features),
        rack=record.rack,
        fenced=record.fenced,
        in_controlled_shutdown=record.in_controlled_shutdown,
        is_migrating_zk_broker=record.is_migrating_zk_broker,
        directories=tuple(sorted(record.log_dirs)),
        cordoned_directories=None if cordoned is None else tuple(cordoned),
    )
    rows.put(("broker", record.broker_id), registration)
    rows.put(("registration offset", record.broker_id), rows.offset)


def _listeners(end_points: list[Any]) -> dict[str, Endpoint]:
    return {one.name: Endpoint(one.name, one.host, one.port, one.security_protocol) for one in end_points}


def _features(listed: list[Any]) -> dict[str, Levels]:
    return {one.name: Levels(one.min_supported_version, one.max_supported_version) for one in listed}


def unregister_broker(rows: Rows, record: UnregisterBrokerRecord, as_controller: bool) -> None:
    if as_controller:
        _registered(rows, record, record.broker_id, record.broker_epoch)
    rows.remove(("broker", record.broker_id))
    rows.remove(("registration offset", record.broker_id))


def _registered(rows: Rows, record: Any, broker_id: int, epoch: int) -> Broker:
    registration: Broker | None = rows.now.get(("broker", broker_id))
    if registration is None or registration.epoch != epoch:
        refuse(record, f"registered is {registration}")
    return registration


def fence_broker(rows: Rows, record: FenceBrokerRecord, as_controller: bool) -> None:
    registration = _registered(rows, record, record.id, record.epoch)
    rows.put(("broker", record.id), registration._replace(fenced=True))


def unfence_broker(rows: Rows, record: UnfenceBrokerRecord, as_controller: bool) -> None:
    registration = _registered(rows, record, record.id, record.epoch)
    rows.put(("broker", record.id), registration._replace(fenced=False))


def change_broker(rows: Rows, record: BrokerRegistrationChangeRecord, as_controller: bool) -> None:
    """No log directories keep those that are known; no cordoned ones do so only if they are null."""
    registration = _registered(rows, record, record.broker_id, record.broker_epoch)
    if record.fenced not in FENCING or record.in_controlled_shutdown not in LEAVING:
        refuse(record, "it has an unknown flag")
    fenced, leaving = FENCING[record.fenced], LEAVING[record.in_controlled_shutdown]
    if fenced is not None:
        registration = registration._replace(fenced=fenced)
    if leaving is not None:
        registration = registration._replace(in_controlled_shutdown=leaving)
    if record.log_dirs:
        registration = registration._replace(directories=tuple(sorted(record.log_dirs)))
    if record.cordoned_log_dirs is not None:
        registration = registration._replace(cordoned_directories=tuple(record.cordoned_log_dirs))
    rows.put(("broker", record.broker_id), registration)


def register_controller(rows: Rows, record: RegisterControllerRecord, as_controller: bool) -> None:
    registration = Controller(
        id=record.controller_id,
        incarnation_id=record.incarnation_id,
        zk_migration_ready=record.zk_migration_ready,
        listeners=_listeners(record.end_points),
        supported_features=_features(record.features),
    )
    rows.put(("controller", record.controller_id), registration)


def unregister_controller(rows: Rows, record: UnregisterControllerRecord, as_controller: bool) -> None:
    if ("controller", record.controller_id) not in rows.now:
        refuse(record, "this controller is not registered")
    rows.remove(("controller", record.controller_id))


# Settings.


def config(rows: Rows, record: ConfigRecord, as_controller: bool) -> None:
    """Null removes it."""
    key = ("config", record.resource_type, record.resource_name, record.name)
    if record.value is None:
        rows.remove(key)
    else:
        rows.put(key, record.value)


def client_quota(rows: Rows, record: ClientQuotaRecord, as_controller: bool) -> None:
    """Types are unique in an entity: the last one counts."""
    entity = {part.entity_type: part.entity_name for part in record.entity}
    key = ("quota", tuple(sorted(entity.items(), key=lambda part: part[0])), record.key)
    if record.remove:
        rows.remove(key)
    else:
        rows.put(key, record.value)


def feature_level(rows: Rows, record: FeatureLevelRecord, as_controller: bool) -> None:
    """kraft.version is in control records; a level of 0 removes any other but metadata.version."""
    rows.put(("features offset",), rows.offset)
    if record.name == METADATA_VERSION:
        if record.feature_level < LOWEST_METADATA_VERSION:
            refuse(record, "no such metadata.version")
        rows.put(("feature", record.name), record.feature_level)
    elif record.name != "kraft.version":
        if record.feature_level == 0:
            rows.remove(("feature", record.name))
        else:
            rows.put(("feature", record.name), record.feature_level)


def producer_ids(rows: Rows, record: ProducerIdsRecord, as_controller: bool) -> None:
    if as_controller and record.next_producer_id <= rows.now.get(("producer ids",), -1):
        refuse(record, f"the next block begins at {rows.now['producer ids',]} already")
    rows.put(("producer ids",), record.next_producer_id)


# Security.


def acl(rows: Rows, record: AccessControlEntryRecord, as_controller: bool) -> None:
    value = Acl(
        resource_type=record.resource_type,
        resource_name=record.resource_name,
        pattern_type=record.pattern_type,
        principal=record.principal,
        host=record.host,
        operation=record.operation,
        permission_type=record.permission_type,
    )
    rows.put(("acl", record.id), value)


def remove_acl(rows: Rows, record: RemoveAccessControlEntryRecord, as_controller: bool) -> None:
    if ("acl", record.id) not in rows.now:
        refuse(record, "there is no such ACL")
    rows.remove(("acl", record.id))


def scram(rows: Rows, record: UserScramCredentialRecord, as_controller: bool) -> None:
    if record.mechanism not in SCRAM_MECHANISMS:
        refuse(record, "no such mechanism")
    value = ScramCredential(record.salt, record.stored_key, record.server_key, record.iterations)
    rows.put(("scram", record.mechanism, record.name), value)


def remove_scram(rows: Rows, record: RemoveUserScramCredentialRecord, as_controller: bool) -> None:
    key = ("scram", record.mechanism, record.name)
    if as_controller and key not in rows.now:
        refuse(record, "there is no such credential")
    rows.remove(key)


def token(rows: Rows, record: DelegationTokenRecord, as_controller: bool) -> None:
    value = DelegationToken(
        token_id=record.token_id,
        owner=record.owner,
        requester=record.requester,
        renewers=tuple(record.renewers),
        issue_timestamp_ms=record.issue_timestamp,
        max_timestamp_ms=record.max_timestamp,
        expiration_timestamp_ms=record.expiration_timestamp,
    )
    rows.put(("token", record.token_id), value)


def remove_token(rows: Rows, record: RemoveDelegationTokenRecord, as_controller: bool) -> None:
    """Whether or not there is one."""
    rows.remove(("token", record.token_id))


# Metadata transactions (KIP-868).


def begin_transaction(rows: Rows, record: BeginTransactionRecord, as_controller: bool) -> None:
    if ("transaction",) in rows.now:
        refuse(record, "a transaction is open already")
    rows.put(("transaction",), rows.offset)


def end_transaction(rows: Rows, record: EndTransactionRecord, as_controller: bool) -> None:
    if ("transaction",) not in rows.now:
        refuse(record, "no transaction is open")
    rows.remove(("transaction",))


def abort_transaction(rows: Rows, record: AbortTransactionRecord, as_controller: bool) -> None:
    """Everything is as it was before the transaction, the transaction itself included."""
    start = rows.now.get(("transaction",))
    if start is None:
        refuse(record, "no transaction is open")
    for key, old in list(rows.changes_since(start)):
        if old is None:
            rows.remove(key)
        else:
            rows.put(key, old)


RULES: dict[type, Rule] = {
    TopicRecord: topic,
    RemoveTopicRecord: remove_topic,
    PartitionRecord: partition_rules.partition,
    PartitionChangeRecord: partition_rules.change_partition,
    ClearElrRecord: partition_rules.clear_elr,
    RegisterBrokerRecord: register_broker,
    UnregisterBrokerRecord: unregister_broker,
    FenceBrokerRecord: fence_broker,
    UnfenceBrokerRecord: unfence_broker,
    BrokerRegistrationChangeRecord: change_broker,
    RegisterControllerRecord: register_controller,
    UnregisterControllerRecord: unregister_controller,
    ConfigRecord: config,
    ClientQuotaRecord: client_quota,
    FeatureLevelRecord: feature_level,
    ProducerIdsRecord: producer_ids,
    AccessControlEntryRecord: acl,
    RemoveAccessControlEntryRecord: remove_acl,
    UserScramCredentialRecord: scram,
    RemoveUserScramCredentialRecord: remove_scram,
    DelegationTokenRecord: token,
    RemoveDelegationTokenRecord: remove_token,
    BeginTransactionRecord: begin_transaction,
    EndTransactionRecord: end_transaction,
    AbortTransactionRecord: abort_transaction,
}

NO_EFFECT: dict[str, str] = {
    NoOpRecord.NAME: "it advances the offset only",
    "ZkMigrationStateRecord": "Kafka 4 has no migration from ZooKeeper, and ignores it",
}
"""Record types that change nothing -> why."""
