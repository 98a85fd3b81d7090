"""A value that is also a default is a value: undone or in a snapshot it is what it was, and not absent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kraftctl.image.image_writer import ImageWriter
from kraftctl.image.metadata_image import MetadataImage
from kraftctl.image.replay import replay
from kraftctl_protocol.generated.abort_transaction_record import AbortTransactionRecord
from kraftctl_protocol.generated.access_control_entry_record import AccessControlEntryRecord
from kraftctl_protocol.generated.begin_transaction_record import BeginTransactionRecord
from kraftctl_protocol.generated.broker_registration_change_record import BrokerRegistrationChangeRecord
from kraftctl_protocol.generated.clear_elr_record import ClearElrRecord
from kraftctl_protocol.generated.client_quota_record import ClientQuotaRecord, EntityData
from kraftctl_protocol.generated.config_record import ConfigRecord
from kraftctl_protocol.generated.delegation_token_record import DelegationTokenRecord
from kraftctl_protocol.generated.feature_level_record import FeatureLevelRecord
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
from kraftctl_protocol.generated.unregister_broker_record import UnregisterBrokerRecord
from kraftctl_protocol.generated.user_scram_credential_record import UserScramCredentialRecord
from kraftctl_protocol.message import Message
from tests.record_types.image_state import state_of
from tests.support.image_records import image_lines, next_records

METADATA_VERSION = FeatureLevelRecord(name="metadata.version", feature_level=30)
ELR = FeatureLevelRecord(name="eligible.leader.replicas.version", feature_level=1)
ZERO = bytes(16)
TOPIC = TopicRecord(name="t", topic_id=b"topic...........")
NULL_TOPIC = TopicRecord(name="t", topic_id=ZERO)


def config(value: str | None, resource_type: int = 2, resource_name: str = "t") -> ConfigRecord:
    return ConfigRecord(resource_type=resource_type, resource_name=resource_name, name="k", value=value)


def quota(value: float, *, remove: bool = False, name: str | None = "u") -> ClientQuotaRecord:
    entity = [EntityData(entity_type="user", entity_name=name)]
    return ClientQuotaRecord(entity=entity, key="k", value=value, remove=remove)


def partition(topic: TopicRecord = TOPIC, **fields: Any) -> PartitionRecord:
    all_fields: dict[str, Any] = {
        "topic_id": topic.topic_id,
        "partition_id": 0,
        "replicas": [0],
        "isr": [],
        "leader": -1,
        "directories": [ZERO],
        "leader_epoch": 0,
        "partition_epoch": 0,
    }
    return PartitionRecord(**(all_fields | fields))


def change(**fields: Any) -> PartitionChangeRecord:
    return PartitionChangeRecord(topic_id=TOPIC.topic_id, partition_id=0, **fields)


def acl(**fields: Any) -> AccessControlEntryRecord:
    all_fields: dict[str, Any] = {
        "id": ZERO,
        "resource_name": "",
        "principal": "",
        "host": "",
        "pattern_type": 3,
    }
    return AccessControlEntryRecord(**(all_fields | fields))


BROKER = RegisterBrokerRecord(broker_id=0, broker_epoch=0, fenced=False, rack="", incarnation_id=ZERO)

COLLIDING = [TopicRecord(name="a_b", topic_id=b"underscore......")]
LED: dict[str, Any] = {"leader": 0, "isr": [0]}

CASES: dict[str, tuple[list[Message], list[Message]]] = {
    "config-empty-changed": ([config("")], [config("v")]),
    "config-empty-removed": ([config("")], [config(None)]),
    "config-empty-with-its-topic": ([TOPIC, config("")], [RemoveTopicRecord(topic_id=TOPIC.topic_id)]),
    "config-empty-set": ([config("v")], [config("")]),
    "config-of-the-default-broker": ([config("", 4, "")], [config("v", 4, ""), config(None, 4, "")]),
    "config-empty-of-a-broker": ([config("", 4, "0")], [config(None, 4, "0"), config("", 4, "0")]),
    "config-empty-of-a-group": ([config("", 32, "g")], [config(None, 32, "g")]),
    "config-empty-among-others": ([config(""), config("x", 2, "u")], [config(None), config(None, 2, "u")]),
    "quota-zero-changed": ([quota(0.0)], [quota(1.0)]),
    "quota-zero-removed": ([quota(0.0)], [quota(0.0, remove=True)]),
    "quota-of-the-default-user": ([quota(0.0, name=None)], [quota(0.0, name=None, remove=True)]),
    "quota-of-the-empty-user": ([quota(0.0, name="")], [quota(0.0, name="", remove=True)]),
    "quota-without-owner": (
        [ClientQuotaRecord(entity=[], key="", value=0.0)],
        [ClientQuotaRecord(entity=[], key="", value=0.0, remove=True)],
    ),
    "producer-id-zero": ([ProducerIdsRecord(next_producer_id=0)], [ProducerIdsRecord(next_producer_id=1000)]),
    "producer-id-first": ([], [ProducerIdsRecord(next_producer_id=0)]),
    "broker-zero-unregistered": ([BROKER], [UnregisterBrokerRecord(broker_id=0, broker_epoch=0)]),
    "broker-zero-fenced": ([BROKER], [BrokerRegistrationChangeRecord(broker_id=0, broker_epoch=0, fenced=1)]),
    "broker-without-directories": (
        [BROKER],
        [BrokerRegistrationChangeRecord(broker_id=0, broker_epoch=0, log_dirs=[ZERO])],
    ),
    "broker-with-an-empty-cordon": (
        [
            BROKER,
            BrokerRegistrationChangeRecord(broker_id=0, broker_epoch=0, cordoned_log_dirs=[]),
        ],
        [BrokerRegistrationChangeRecord(broker_id=0, broker_epoch=0, cordoned_log_dirs=[ZERO])],
    ),
    "controller-zero": (
        [RegisterControllerRecord(controller_id=0, incarnation_id=ZERO)],
        [RegisterControllerRecord(controller_id=0, incarnation_id=b"i" * 16)],
    ),
    "topic-with-id-zero": (
        [NULL_TOPIC, partition(NULL_TOPIC)],
        [RemoveTopicRecord(topic_id=NULL_TOPIC.topic_id)],
    ),
    "topic-without-partitions": ([TOPIC], [RemoveTopicRecord(topic_id=TOPIC.topic_id)]),
    "partition-zero-added": ([TOPIC], [partition()]),
    "partition-without-leader": ([TOPIC, partition()], [change(leader=0, isr=[0])]),
    "partition-led-by-broker-zero": ([TOPIC, partition(leader=0, isr=[0])], [change(leader=-1, isr=[])]),
    "partition-with-an-empty-isr": ([TOPIC, partition()], [change(isr=[0])]),
    "partition-with-an-empty-elr": ([TOPIC, partition()], [change(eligible_leader_replicas=[0])]),
    "partition-with-elr": (
        [TOPIC, partition(eligible_leader_replicas=[0])],
        [change(eligible_leader_replicas=[])],
    ),
    "partition-with-last-known-leader": ([TOPIC, partition(last_known_elr=[0])], [change(last_known_elr=[])]),
    "elrs-cleared": (
        [TOPIC, partition(eligible_leader_replicas=[0], last_known_elr=[0])],
        [ClearElrRecord(topic_name="")],
    ),
    "partition-that-recovers": (
        [TOPIC, partition(leader_recovery_state=1)],
        [change(leader_recovery_state=0)],
    ),
    "partition-with-recovered-leader": ([TOPIC, partition()], [change(leader_recovery_state=1)]),
    "partition-reassigned": ([TOPIC, partition()], [change(adding_replicas=[0])]),
    "acl-without-owner": ([acl()], [RemoveAccessControlEntryRecord(id=ZERO)]),
    "acl-replaced": ([acl()], [acl(principal="User:a")]),
    "credential-empty": (
        [UserScramCredentialRecord(name="", mechanism=0)],
        [RemoveUserScramCredentialRecord(name="", mechanism=0)],
    ),
    "credential-empty-changed": (
        [UserScramCredentialRecord(name="", mechanism=0)],
        [UserScramCredentialRecord(name="", mechanism=0, iterations=4096)],
    ),
    "token-without-owner": (
        [DelegationTokenRecord(token_id="", owner="")],
        [RemoveDelegationTokenRecord(token_id="")],
    ),
    "token-without-owner-renewed": (
        [DelegationTokenRecord(token_id="", owner="")],
        [DelegationTokenRecord(token_id="", owner="", expiration_timestamp=1)],
    ),
    "token-first": ([], [DelegationTokenRecord(token_id="t", owner="User:a")]),
    "topic-with-a-name-that-collides": (
        [],
        [TopicRecord(name="a.b", topic_id=b"dot............."), *COLLIDING],
    ),
    "topic-removed-with-what-is-counted": (
        [TOPIC, *[partition(partition_id=index, adding_replicas=[1], **LED) for index in range(3)]],
        [RemoveTopicRecord(topic_id=TOPIC.topic_id)],
    ),
    "feature-removed": ([ELR], [FeatureLevelRecord(name=ELR.name, feature_level=0)]),
    "feature-first": ([], [ELR]),
}


def after(*records: Message) -> tuple[MetadataImage, int]:
    image = MetadataImage()
    image.journal.enabled = False
    for offset, record in enumerate(records):
        replay(image, record, offset)
    return image, len(records)


def rolled_back(image: MetadataImage, changes: list[Message], end: int) -> None:
    image.journal.enabled = True
    for offset, record in enumerate(changes, end):
        replay(image, record, offset)
    image.journal.rollback_to(end)


def aborted(image: MetadataImage, changes: list[Message], end: int) -> None:
    for offset, record in enumerate([BeginTransactionRecord(), *changes, AbortTransactionRecord()], end):
        replay(image, record, offset)


def abort_rolled_back_and_repeated(image: MetadataImage, changes: list[Message], end: int) -> None:
    image.journal.enabled = True
    for offset, record in enumerate([BeginTransactionRecord(), *changes], end):
        replay(image, record, offset)
    abort = end + len(changes) + 1
    replay(image, AbortTransactionRecord(), abort)
    image.journal.rollback_to(abort)
    replay(image, AbortTransactionRecord(), abort)


@pytest.mark.parametrize("undo", [rolled_back, aborted, abort_rolled_back_and_repeated])
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_it_is_undone_to_what_it_was(
    case: tuple[list[Message], list[Message]], undo: Callable[[MetadataImage, list[Message], int], None]
) -> None:
    before, changes = case
    image, end = after(METADATA_VERSION, *before)
    state = state_of(image)
    undo(image, changes, end)
    assert state_of(image) == state


@pytest.mark.parametrize("role", ["standby", "active"])
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_snapshot_has_it_while_it_changes(case: tuple[list[Message], list[Message]], role: str) -> None:
    """On a standby the journal keeps old values for snapshots alone."""
    before, changes = case
    image, end = after(METADATA_VERSION, ELR, *before)
    image.journal.enabled = role == "active"
    image.journal.commit_to(end)
    expected = image_lines(image)
    writer = ImageWriter(image, end)
    for offset, record in enumerate(changes, end):
        replay(image, record, offset)
    written = []
    while slice_ := next_records(writer, 10):
        written += slice_
    writer.close()
    assert sorted(repr((entry.version, entry.record)) for entry in written) == expected


def test_the_offset_0_of_a_registration_is_undone_to_it() -> None:
    """In a snapshot it is -1 at least: no number is an absent one."""
    image = MetadataImage()
    replay(image, BROKER, 0)
    image.journal.commit_to(1)
    replay(image, BROKER, 7)
    replay(image, UnregisterBrokerRecord(broker_id=0, broker_epoch=0), 8)
    image.journal.rollback_to(1)
    assert image.cluster.registration_offsets == {0: 0}


def test_who_is_alone_in_an_isr_is_a_member_like_others_once_it_leads() -> None:
    image, end = after(METADATA_VERSION, TOPIC, partition(isr=[0]))
    assert (image.topics.isr_counts, image.topics.last_member_counts) == ({}, {0: {TOPIC.topic_id: 1}})
    replay(image, change(leader=0), end)
    assert (image.topics.isr_counts, image.topics.last_member_counts) == ({0: {TOPIC.topic_id: 1}}, {})
