"""Tables and history of a log in which two names are in every kind of record that can have them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kraftctl_protocol.generated.abort_transaction_record import AbortTransactionRecord
from kraftctl_protocol.generated.access_control_entry_record import AccessControlEntryRecord
from kraftctl_protocol.generated.begin_transaction_record import BeginTransactionRecord
from kraftctl_protocol.generated.clear_elr_record import ClearElrRecord
from kraftctl_protocol.generated.client_quota_record import ClientQuotaRecord, EntityData
from kraftctl_protocol.generated.config_record import ConfigRecord
from kraftctl_protocol.generated.delegation_token_record import DelegationTokenRecord
from kraftctl_protocol.generated.partition_record import PartitionRecord
from kraftctl_protocol.generated.remove_access_control_entry_record import RemoveAccessControlEntryRecord
from kraftctl_protocol.generated.remove_delegation_token_record import RemoveDelegationTokenRecord
from kraftctl_protocol.generated.remove_topic_record import RemoveTopicRecord
from kraftctl_protocol.generated.remove_user_scram_credential_record import RemoveUserScramCredentialRecord
from kraftctl_protocol.generated.topic_record import TopicRecord
from kraftctl_protocol.generated.user_scram_credential_record import UserScramCredentialRecord
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import encode_metadata_record
from kraftctl_protocol.record_batch import encode_batch
from kraftctl_spark.history.history_tables import HistoryTables
from tests.spark.fake_controller import FakeController, FakeQuorum
from tests.spark.typed_export import exporting

USER = "alicia"
PRINCIPAL = f"User:{USER}"
TOPIC = "zebrafinches"

TOPIC_IDS = [bytes([number]) * 16 for number in (1, 2)]


def records(user: str = USER, topic: str = TOPIC) -> list[Message]:
    """Returns records of the two names, and of other ones."""
    principal = f"User:{user}"
    acl = AccessControlEntryRecord(
        id=b"a" * 16,
        resource_type=2,
        resource_name=topic,
        pattern_type=3,
        principal=principal,
        host="*",
        operation=3,
        permission_type=3,
    )
    token = {"owner": principal, "requester": principal, "renewers": ["User:bob", principal]}
    named = [EntityData(entity_type="user", entity_name=user)]
    both = [*named, EntityData(entity_type="client-id", entity_name="app")]
    of_topics: list[Message] = [
        record
        for topic_id, name in zip(TOPIC_IDS, (topic, "orders"), strict=True)
        for record in (
            TopicRecord(name=name, topic_id=topic_id),
            PartitionRecord(partition_id=0, topic_id=topic_id, replicas=[1, 2], isr=[1, 2], leader=1),
            ConfigRecord(resource_type=2, resource_name=name, name="retention.ms", value="1000"),
            ClearElrRecord(topic_name=name),
        )
    ]
    return [
        *of_topics,
        ConfigRecord(resource_type=4, resource_name="", name="log.retention.ms", value="1"),
        acl,
        UserScramCredentialRecord(name=user, mechanism=1, salt=b"s", stored_key=b"k", server_key=b"s"),
        ClientQuotaRecord(entity=named, key="producer_byte_rate", value=1.0),
        ClientQuotaRecord(entity=both, key="producer_byte_rate", value=2.0),
        DelegationTokenRecord(token_id="t", **token),  # type: ignore[arg-type]
        BeginTransactionRecord(name="none of both"),
        AbortTransactionRecord(reason="none of both"),
        RemoveUserScramCredentialRecord(name=user, mechanism=1),
        ConfigRecord(resource_type=2, resource_name=topic, name="retention.ms", value="2000"),
        RemoveTopicRecord(topic_id=TOPIC_IDS[0]),
    ]


def removals(user: str = USER) -> list[Message]:
    """Returns records behind which the cluster has none of the two names."""
    named = [EntityData(entity_type="user", entity_name=user)]
    both = [*named, EntityData(entity_type="client-id", entity_name="app")]
    return [
        RemoveAccessControlEntryRecord(id=b"a" * 16),
        *(ClientQuotaRecord(entity=one, key="producer_byte_rate", remove=True) for one in (named, both)),
        RemoveDelegationTokenRecord("t"),
    ]


def encoded(record: Message) -> bytes:
    return encode_metadata_record(record, record.HIGHEST_VERSION)


def made_output(
    directory: Path, made: Sequence[Message | bytes], batches: int = 3, *, history: bool = True
) -> Path:
    """Tables of several batches, and the history beside them."""
    ends = [len(made) * number // batches for number in range(1, batches + 1)]
    return continued(directory, made, *ends, history=history)


def continued(directory: Path, made: Sequence[Message | bytes], *ends: int, history: bool = False) -> Path:
    """The same with a batch up to each end; without one, up to that of the records."""
    quorum = FakeQuorum()
    controller = FakeController(quorum, 1)
    for offset, record in enumerate(made):
        value = record if isinstance(record, bytes) else encoded(record)
        quorum.append(encode_batch(offset, 1, 1_000 * offset, [value]))
    try:
        with exporting(directory, controller.endpoint) as exporter:
            for end in ends or (len(made),):
                exporter.export_to(end, 1)
                if history:
                    HistoryTables(directory, directory / "history").catch_up()
    finally:
        controller.close()
    return directory
