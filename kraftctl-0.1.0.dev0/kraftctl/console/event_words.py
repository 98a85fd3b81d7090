"""Says in words what a record changes, from the image before it. Values that may be secret are left out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from kraftctl.console.page_paths import page_path
from kraftctl.image.metadata_image import MetadataImage
from kraftctl.metadata import features
from kraftctl.metadata.broker_registration_change import FENCE, IN_CONTROLLED_SHUTDOWN, UNFENCE
from kraftctl.metadata.leader_recovery_state import RECOVERING
from kraftctl.metadata.partition_registration import NO_LEADER, PartitionRegistration
from kraftctl_protocol.config_resource import BROKER, CLUSTER_DEFAULT, TOPIC, type_name
from kraftctl_protocol.counted_text import counted, named_by_id, one_or_many
from kraftctl_protocol.generated.access_control_entry_record import AccessControlEntryRecord
from kraftctl_protocol.generated.broker_registration_change_record import BrokerRegistrationChangeRecord
from kraftctl_protocol.generated.client_quota_record import ClientQuotaRecord
from kraftctl_protocol.generated.config_record import ConfigRecord
from kraftctl_protocol.generated.delegation_token_record import DelegationTokenRecord
from kraftctl_protocol.generated.feature_level_record import FeatureLevelRecord
from kraftctl_protocol.generated.fence_broker_record import FenceBrokerRecord
from kraftctl_protocol.generated.partition_change_record import PartitionChangeRecord
from kraftctl_protocol.generated.partition_record import PartitionRecord
from kraftctl_protocol.generated.register_broker_record import RegisterBrokerRecord
from kraftctl_protocol.generated.register_controller_record import RegisterControllerRecord
from kraftctl_protocol.generated.remove_access_control_entry_record import RemoveAccessControlEntryRecord
from kraftctl_protocol.generated.remove_topic_record import RemoveTopicRecord
from kraftctl_protocol.generated.remove_user_scram_credential_record import RemoveUserScramCredentialRecord
from kraftctl_protocol.generated.topic_record import TopicRecord
from kraftctl_protocol.generated.unfence_broker_record import UnfenceBrokerRecord
from kraftctl_protocol.generated.unregister_broker_record import UnregisterBrokerRecord
from kraftctl_protocol.generated.unregister_controller_record import UnregisterControllerRecord
from kraftctl_protocol.generated.user_scram_credential_record import UserScramCredentialRecord
from kraftctl_protocol.message import Message
from kraftctl_protocol.secrets import shown_value

GOOD: Final = "good"
BAD: Final = "bad"
PLAIN: Final = "plain"


@dataclass(frozen=True)
class EventWords:
    """What happened, to what. Events with the same `what` at the same time become one with several names.

    `name` is empty where `what` is the whole sentence.
    """

    what: str
    name: str = ""
    tone: str = PLAIN
    path: str = ""


def event_words(image: MetadataImage, record: Message) -> Iterator[EventWords]:
    """Yields what the record changes; nothing for records that say nothing to an operator."""
    if isinstance(record, PartitionChangeRecord):
        yield from _partition_change(image, record)
    elif isinstance(record, RegisterBrokerRecord):
        yield _broker(record.broker_id, "registers", PLAIN)
    elif isinstance(record, BrokerRegistrationChangeRecord):
        yield from _broker_change(image, record)
    elif isinstance(record, FenceBrokerRecord):
        yield _broker(record.id, "is fenced", BAD)
    elif isinstance(record, UnfenceBrokerRecord):
        yield _broker(record.id, "is unfenced", GOOD)
    elif isinstance(record, UnregisterBrokerRecord):
        yield _broker(record.broker_id, "is unregistered", PLAIN)
    elif isinstance(record, RegisterControllerRecord):
        yield EventWords(
            f"Controller {record.controller_id} registers", path=page_path("controller", record.controller_id)
        )
    elif isinstance(record, UnregisterControllerRecord):
        yield EventWords(f"Controller {record.controller_id} is unregistered")
    elif isinstance(record, TopicRecord):
        yield EventWords("Topic is created:", record.name, path=page_path("topic", record.name))
    elif isinstance(record, RemoveTopicRecord):
        topic = image.topics.topics.get(record.topic_id)
        if topic is not None:
            yield EventWords("Topic is deleted:", topic.name)
    elif isinstance(record, PartitionRecord):
        yield from _new_partition(image, record)
    elif isinstance(record, FeatureLevelRecord):
        level = str(record.feature_level)
        if record.name == features.METADATA_VERSION:
            level = f"{level} ({features.metadata_version_name(record.feature_level)})"
        yield EventWords(f"Feature {record.name} is set to {level}")
    else:
        yield from _security_and_configs(image, record)


def _security_and_configs(image: MetadataImage, record: Message) -> Iterator[EventWords]:
    if isinstance(record, ConfigRecord):
        yield _config(record)
    elif isinstance(record, AccessControlEntryRecord):
        yield EventWords("ACL is created for:", record.principal)
    elif isinstance(record, RemoveAccessControlEntryRecord):
        entry = image.acls.acls.get(record.id)
        yield EventWords("ACL is deleted for:", "" if entry is None else entry.principal)
    elif isinstance(record, UserScramCredentialRecord):
        yield EventWords("SCRAM credential is set for:", record.name)
    elif isinstance(record, RemoveUserScramCredentialRecord):
        yield EventWords("SCRAM credential is deleted for:", record.name)
    elif isinstance(record, DelegationTokenRecord):
        yield EventWords("Delegation token is created or renewed for:", record.owner)
    elif isinstance(record, ClientQuotaRecord):
        entity = ", ".join(f"{each.entity_type} {each.entity_name or '(default)'}" for each in record.entity)
        value = "is removed" if record.remove else f"is {record.value:g}"
        yield EventWords(f"Quota {record.key} of {entity} {value}")


def _broker(broker_id: int, what: str, tone: str) -> EventWords:
    return EventWords(f"Broker {broker_id} {what}", tone=tone, path=page_path("broker", broker_id))


def _broker_change(image: MetadataImage, record: BrokerRegistrationChangeRecord) -> Iterator[EventWords]:
    before = image.cluster.brokers.get(record.broker_id)
    if before is None:
        return
    if record.fenced == FENCE and not before.fenced:
        yield _broker(before.id, "is fenced", BAD)
    elif record.fenced == UNFENCE and before.fenced:
        yield _broker(before.id, "is unfenced", GOOD)
    if record.in_controlled_shutdown == IN_CONTROLLED_SHUTDOWN and not before.in_controlled_shutdown:
        yield _broker(before.id, "begins its controlled shutdown", PLAIN)
    if record.log_dirs and len(record.log_dirs) < len(before.directories):
        lost = len(before.directories) - len(record.log_dirs)
        yield _broker(before.id, f"loses {counted(lost, 'log directory')}", BAD)


def _partition_change(image: MetadataImage, record: PartitionChangeRecord) -> Iterator[EventWords]:
    topic = image.topics.topics.get(record.topic_id)
    before = None if topic is None else topic.partitions.get(record.partition_id)
    if topic is None or before is None:
        return
    name = f"{topic.name}-{record.partition_id}"
    path = page_path("partition", name)
    for what, tone in _changes(before, record):
        yield EventWords(what, name, tone, path)


def _changes(before: PartitionRegistration, record: PartitionChangeRecord) -> Iterator[tuple[str, str]]:
    leader = int(before.leader_after(record))
    if leader != before.leader:
        if leader == NO_LEADER:
            yield f"Broker {before.leader} led until now, and no broker leads:", BAD
        elif before.leader == NO_LEADER:
            yield f"Broker {leader} leads what had no leader:", GOOD
        else:
            yield f"Broker {leader} leads instead of broker {before.leader}:", PLAIN
    if before.leader_recovery_state_after(record) == RECOVERING != before.leader_recovery_state:
        yield "Unclean election, records may be lost:", BAD
    if record.isr is not None:
        left, joined = sorted(set(before.isr) - set(record.isr)), sorted(set(record.isr) - set(before.isr))
        if left:
            leave = one_or_many(len(left), "leaves", "leave")
            yield f"{named_by_id('Broker', left)} {leave} the ISR of:", BAD
        if joined:
            join = one_or_many(len(joined), "joins", "join")
            yield f"{named_by_id('Broker', joined)} {join} the ISR of:", GOOD
    if record.adding_replicas or record.removing_replicas:
        yield "Reassignment begins:", PLAIN
    elif before.reassigning and (record.adding_replicas is not None or record.removing_replicas is not None):
        yield "Reassignment ends:", GOOD


def _new_partition(image: MetadataImage, record: PartitionRecord) -> Iterator[EventWords]:
    """Yields only partitions that are born without a leader: the topic is an event of its own."""
    topic = image.topics.topics.get(record.topic_id)
    if topic is not None and record.leader == NO_LEADER:
        name = f"{topic.name}-{record.partition_id}"
        yield EventWords("Partition is created without a leader:", name, BAD, page_path("partition", name))


def _config(record: ConfigRecord) -> EventWords:
    if record.resource_type == BROKER and record.resource_name == CLUSTER_DEFAULT:
        where = "all brokers"
    else:
        where = f"{type_name(record.resource_type).lower()} {record.resource_name}"
    path = page_path("topic", record.resource_name) if record.resource_type == TOPIC else ""
    if record.value is None:
        return EventWords(f"Config {record.name} of {where} is removed", path=path)
    value = shown_value(record.resource_type, record.name, record.value)
    return EventWords(f"Config {record.name} of {where} is set to {value}", path=path)
