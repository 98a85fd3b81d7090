"""Logs whose batches have valid checksums, but not what a controller writes."""

from __future__ import annotations

from typing import Any

from kraftctl_protocol.batch_framing import CONTROL_BIT
from kraftctl_protocol.control_record import encode_control_value
from kraftctl_protocol.generated.abort_transaction_record import AbortTransactionRecord
from kraftctl_protocol.generated.begin_transaction_record import BeginTransactionRecord
from kraftctl_protocol.generated.broker_registration_change_record import BrokerRegistrationChangeRecord
from kraftctl_protocol.generated.clear_elr_record import ClearElrRecord
from kraftctl_protocol.generated.config_record import ConfigRecord
from kraftctl_protocol.generated.end_transaction_record import EndTransactionRecord
from kraftctl_protocol.generated.feature_level_record import FeatureLevelRecord
from kraftctl_protocol.generated.fence_broker_record import FenceBrokerRecord
from kraftctl_protocol.generated.kraft_version_record import KRaftVersionRecord
from kraftctl_protocol.generated.leader_change_message import LeaderChangeMessage
from kraftctl_protocol.generated.no_op_record import NoOpRecord
from kraftctl_protocol.generated.partition_change_record import PartitionChangeRecord
from kraftctl_protocol.generated.partition_record import PartitionRecord
from kraftctl_protocol.generated.remove_access_control_entry_record import RemoveAccessControlEntryRecord
from kraftctl_protocol.generated.remove_delegation_token_record import RemoveDelegationTokenRecord
from kraftctl_protocol.generated.remove_topic_record import RemoveTopicRecord
from kraftctl_protocol.generated.remove_user_scram_credential_record import RemoveUserScramCredentialRecord
from kraftctl_protocol.generated.snapshot_footer_record import SnapshotFooterRecord
from kraftctl_protocol.generated.snapshot_header_record import SnapshotHeaderRecord
from kraftctl_protocol.generated.topic_record import TopicRecord
from kraftctl_protocol.generated.unregister_broker_record import UnregisterBrokerRecord
from kraftctl_protocol.generated.voters_record import VotersRecord
from kraftctl_protocol.message import Message
from kraftctl_protocol.record_batch import encode_batch
from tests.support.corrupt_case import CorruptCase, Make
from tests.support.corrupt_directory import (
    CorruptDirectory,
    any_uuid,
    control_record,
    metadata_value,
    record,
    voters_record,
)

NO_OP = metadata_value(NoOpRecord())
TOPIC_ID = any_uuid(1)
INT32_MAX = 2**31 - 1

LOG = r"__cluster_metadata-0/00000000000000000000\.log"
NEWER = ".*a newer release wrote it. Next step: start a controller of that release on this directory"
BATCH_13 = rf"{LOG}.* at byte \d+ \(record offset 1[13]\): .*"
BODY_13 = rf"{LOG}: the batch at offset 13 cannot be decoded: .*"
RECORD_13 = rf"{LOG}: the record at offset 13 .*"


def level(name: str, feature_level: int) -> FeatureLevelRecord:
    return FeatureLevelRecord(name=name, feature_level=feature_level)


def topic() -> TopicRecord:
    return TopicRecord(name="topic", topic_id=TOPIC_ID)


def partition(**fields: Any) -> PartitionRecord:
    values: dict[str, Any] = {
        "partition_id": 0,
        "topic_id": TOPIC_ID,
        "replicas": [1],
        "isr": [1],
        "leader": 1,
        "leader_epoch": 0,
        "partition_epoch": 0,
        "directories": [any_uuid(2)],
    }
    return PartitionRecord(**(values | fields))


def starts_elsewhere(directory: CorruptDirectory) -> None:
    directory.write(
        "__cluster_metadata-0/00000000000000000000.log",
        encode_batch(5, directory.epoch, 0, [NO_OP]),
    )


def overlaps(directory: CorruptDirectory) -> None:
    directory.append(encode_batch(directory.end_offset - 1, directory.epoch, 0, [NO_OP]))


def leaves_a_gap(directory: CorruptDirectory) -> None:
    directory.append(encode_batch(directory.end_offset + 1, directory.epoch, 0, [NO_OP]))


def of_epoch(epoch: int) -> Make:
    def make(directory: CorruptDirectory) -> None:
        directory.append(encode_batch(directory.end_offset, epoch, 0, [NO_OP]))

    return make


def body(content: bytes, **header: int) -> Make:
    return lambda directory: directory.append_body(content, **header)


def control(content: bytes, **header: int) -> Make:
    return body(content, attributes=CONTROL_BIT, **header)


def records(*messages: Message) -> Make:
    return lambda directory: directory.append_records(*messages)


def controls(*messages: Message) -> Make:
    return lambda directory: directory.append_control(*messages)


def value(content: bytes) -> Make:
    return lambda directory: directory.append_values(content)


BATCHES = (
    CorruptCase(
        "log-wrong-first-offset",
        starts_elsewhere,
        rf"{LOG}.* at byte 0 .*offset 0 was expected, the batch starts at 5",
    ),
    CorruptCase("log-offsets-overlap", overlaps, BATCH_13 + "offset 13 was expected, the batch starts at 12"),
    CorruptCase(
        "log-offsets-leave-a-gap", leaves_a_gap, BATCH_13 + "offset 13 was expected, the batch starts at 14"
    ),
    CorruptCase(
        "log-epoch-goes-back",
        of_epoch(0),
        BATCH_13 + "its epoch 0 is older than 1, that of the batch before it",
    ),
    CorruptCase("log-epoch-negative", of_epoch(-1), BATCH_13 + "its epoch -1 is older"),
    CorruptCase(
        "log-epoch-ahead", of_epoch(INT32_MAX), r"is of epoch 2147483647, but quorum-state of epoch 1"
    ),
    CorruptCase("batch-counts-more-records", body(record(NO_OP), count=2), BATCH_13 + "record"),
    CorruptCase(
        "batch-counts-fewer-records", body(record(NO_OP) * 2), BODY_13 + "bytes after the last record"
    ),
    CorruptCase(
        "batch-counts-no-records",
        body(b"", count=0, last_offset_delta=0),
        BATCH_13 + "batch of 1 offsets with 0 records",
    ),
    CorruptCase(
        "batch-count-huge",
        body(record(NO_OP), count=INT32_MAX, last_offset_delta=0),
        BATCH_13 + "cannot hold",
    ),
    CorruptCase(
        "batch-count-negative",
        body(record(NO_OP), count=-1, last_offset_delta=0),
        BATCH_13 + "cannot hold -1 records",
    ),
    CorruptCase(
        "batch-offsets-without-records", body(record(NO_OP), last_offset_delta=9), BATCH_13 + "1 records"
    ),
    CorruptCase(
        "batch-last-offset-huge", body(record(NO_OP), last_offset_delta=INT32_MAX), BATCH_13 + "1 records"
    ),
    CorruptCase("batch-same-offset-twice", body(record(NO_OP) * 2, count=2), BODY_13 + "offset delta"),
    CorruptCase("batch-gzip", body(record(NO_OP), attributes=1), BATCH_13 + "compressed batch"),
    CorruptCase("batch-zstd", body(record(NO_OP), attributes=4), BATCH_13 + "compressed batch"),
    CorruptCase("batch-codec-unknown", body(record(NO_OP), attributes=7), BATCH_13 + "compressed batch"),
    CorruptCase(
        "batch-record-length-negative", body(b"\x01" + record(NO_OP)), BODY_13 + "record of -1 bytes"
    ),
    CorruptCase(
        "batch-record-too-long", body(b"\xfe\xff\xff\xff\x0f" + record(NO_OP)), BODY_13 + "record of "
    ),
    CorruptCase(
        "batch-record-headers-huge",
        body(record(NO_OP, headers=b"\xfe\xff\xff\xff\x0f")),
        BODY_13 + "headers",
    ),
    CorruptCase(
        "batch-timestamps-huge", body(record(NO_OP), timestamp_ms=2**63 - 1), accepted="active controller"
    ),
)

CONTROL = (
    CorruptCase(
        "control-type-unknown",
        control(control_record(99, b"\0\0")),
        BATCH_13 + "unknown control record type 99" + NEWER,
    ),
    CorruptCase(
        "control-type-abort", control(control_record(0, b"\0\0")), BATCH_13 + "unknown control record type 0"
    ),
    CorruptCase(
        "control-key-cut", control(record(b"\0\0", key=b"\0\0\0")), BATCH_13 + "without a key of four bytes"
    ),
    CorruptCase("control-key-missing", control(record(b"\0\0")), BATCH_13 + "without a key of four bytes"),
    CorruptCase(
        "control-key-version", control(control_record(2, b"\0\0", -1)), BATCH_13 + "key of version -1"
    ),
    CorruptCase("control-value-missing", control(control_record(2, None)), BATCH_13 + "without a value"),
    CorruptCase(
        "control-value-cut",
        control(control_record(6, encode_control_value(voters_record(3000))[:-5])),
        BATCH_13,
    ),
    CorruptCase(
        "control-value-version",
        control(control_record(6, b"\0\x09\0\0")),
        BATCH_13 + "control record of version 9" + NEWER,
    ),
    CorruptCase(
        "control-leader-change-cut",
        control(control_record(2, encode_control_value(LeaderChangeMessage(leader_id=3000))[:-1])),
        BATCH_13,
    ),
    CorruptCase(
        "control-snapshot-header-in-log", controls(SnapshotHeaderRecord()), accepted="active controller"
    ),
    CorruptCase(
        "control-snapshot-footer-in-log", controls(SnapshotFooterRecord()), accepted="active controller"
    ),
    CorruptCase("voters-none", controls(VotersRecord()), BATCH_13 + "no voters"),
    CorruptCase("voters-twice", controls(voters_record(3000, 3000)), BATCH_13 + "voter 3000 twice"),
    CorruptCase("voters-negative", controls(voters_record(-5)), BATCH_13 + "voter id -5"),
    CorruptCase(
        "voters-without-endpoints",
        controls(voters_record(3000, listener=None)),
        BATCH_13 + "voter 3000 without",
    ),
    CorruptCase("voters-count-huge", control(control_record(6, b"\0\0\xff\xff\xff\xff\x0f")), BATCH_13),
    CorruptCase(
        "kraft-version-99",
        controls(KRaftVersionRecord(kraft_version=99)),
        BATCH_13 + "kraft.version 99" + NEWER,
    ),
    CorruptCase(
        "kraft-version-negative",
        controls(KRaftVersionRecord(kraft_version=-1)),
        BATCH_13 + "kraft.version -1",
    ),
    CorruptCase(
        "kraft-version-lowered", controls(KRaftVersionRecord(kraft_version=0)), BATCH_13 + "kraft.version 0"
    ),
    CorruptCase(
        "kraft-version-1-without-voters",
        controls(KRaftVersionRecord(kraft_version=1)),
        BATCH_13 + "kraft.version 1 without a voter set",
        static=True,
    ),
    CorruptCase(
        "voters-without-kraft-version",
        controls(voters_record(3000)),
        BATCH_13 + "a voter set in a log of kraft.version 0",
        static=True,
    ),
)

METADATA = (
    CorruptCase("record-type-unknown", value(b"\x01\x63\x00\x00"), RECORD_13 + "of type 99 in version 0"),
    CorruptCase("record-version-unknown", value(b"\x01\x02\x09\x00"), RECORD_13 + "of type 2 in version 9"),
    CorruptCase("record-frame-version", value(b"\x02\x02\x00\x00"), RECORD_13 + "frame version 2"),
    CorruptCase("record-empty", value(b""), RECORD_13),
    CorruptCase("record-null", body(record(None)), RECORD_13),
    CorruptCase("record-with-key", body(record(NO_OP, key=b"key")), RECORD_13 + "key"),
    CorruptCase("record-cut", value(metadata_value(topic())[:-3]), RECORD_13),
    CorruptCase("record-too-long", value(metadata_value(topic()) + b"\0"), RECORD_13),
    CorruptCase("record-string-huge", value(b"\x01\x02\x00\xff\xff\xff\xff\x0f"), RECORD_13),
    CorruptCase("record-not-utf-8", value(b"\x01\x02\x00\x03\xff\xfe" + TOPIC_ID + b"\0"), RECORD_13),
    CorruptCase("partition-of-unknown-topic", records(partition()), RECORD_13 + "PartitionRecord"),
    CorruptCase(
        "partition-change-of-unknown-topic",
        records(PartitionChangeRecord(partition_id=0, topic_id=TOPIC_ID)),
        RECORD_13,
    ),
    CorruptCase(
        "partition-change-of-unknown-partition",
        records(topic(), PartitionChangeRecord(partition_id=0, topic_id=TOPIC_ID)),
        rf"{LOG}: the record at offset 14 ",
    ),
    CorruptCase(
        "partition-directories",
        records(topic(), partition(directories=[any_uuid(2), any_uuid(3)])),
        rf"{LOG}: the record at offset 14 ",
    ),
    CorruptCase(
        "partition-without-replicas",
        records(topic(), partition(replicas=[], isr=[], directories=[])),
        accepted="active controller",
    ),
    CorruptCase("partition-of-unknown-brokers", records(topic(), partition()), accepted="active controller"),
    CorruptCase(
        "partition-recovery-state",
        records(topic(), partition(leader_recovery_state=9)),
        rf"{LOG}: the record at offset 14 ",
    ),
    CorruptCase("topic-twice", records(topic(), topic()), rf"{LOG}: the record at offset 14 "),
    CorruptCase("topic-removed-unknown", records(RemoveTopicRecord(topic_id=TOPIC_ID)), RECORD_13),
    CorruptCase("broker-fenced-unknown", records(FenceBrokerRecord(id=7, epoch=1)), RECORD_13),
    CorruptCase("broker-unregistered-unknown", records(UnregisterBrokerRecord(broker_id=7)), RECORD_13),
    CorruptCase("broker-changed-unknown", records(BrokerRegistrationChangeRecord(broker_id=7)), RECORD_13),
    CorruptCase("acl-removed-unknown", records(RemoveAccessControlEntryRecord(id=TOPIC_ID)), RECORD_13),
    CorruptCase("clear-elr-unknown-topic", records(ClearElrRecord(topic_name="nowhere")), RECORD_13),
    CorruptCase(
        "token-removed-unknown",
        records(RemoveDelegationTokenRecord(token_id="none")),
        accepted="active controller",
    ),
    CorruptCase(
        "scram-removed-unknown",
        records(RemoveUserScramCredentialRecord(name="none", mechanism=1)),
        accepted="active controller",
    ),
    CorruptCase(
        "config-of-unknown-type",
        records(ConfigRecord(resource_type=99, resource_name="x", name="y", value="z")),
        accepted="active controller",
    ),
    CorruptCase(
        "metadata-version-99", records(level("metadata.version", 99)), RECORD_13 + "metadata.version 99"
    ),
    CorruptCase(
        "metadata-version-0", records(level("metadata.version", 0)), RECORD_13 + "metadata.version 0"
    ),
    CorruptCase(
        "metadata-version-6", records(level("metadata.version", 6)), RECORD_13 + "metadata.version 6"
    ),
    CorruptCase(
        "metadata-version-negative", records(level("metadata.version", -1)), RECORD_13 + "metadata.version -1"
    ),
    CorruptCase("feature-unknown", records(level("next.version", 1)), RECORD_13 + "next.version 1"),
    CorruptCase("transaction-ends-without-beginning", records(EndTransactionRecord()), RECORD_13),
    CorruptCase("transaction-aborts-without-beginning", records(AbortTransactionRecord()), RECORD_13),
    CorruptCase(
        "transaction-in-transaction",
        records(BeginTransactionRecord(), BeginTransactionRecord()),
        rf"{LOG}: the record at offset 14 ",
    ),
    CorruptCase(
        "transaction-without-end", records(BeginTransactionRecord(), topic()), accepted="active controller"
    ),
)

CASES = BATCHES + CONTROL + METADATA
