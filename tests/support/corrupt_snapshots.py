"""Checkpoints whose batches have valid checksums, but not what a controller writes."""

from __future__ import annotations

from collections.abc import Callable

from kraftctl_protocol.generated.end_transaction_record import EndTransactionRecord
from kraftctl_protocol.generated.kraft_version_record import KRaftVersionRecord
from kraftctl_protocol.generated.snapshot_header_record import SnapshotHeaderRecord
from kraftctl_protocol.generated.voters_record import VotersRecord
from kraftctl_protocol.log_file_names import PARTITION_DIRECTORY
from kraftctl_protocol.message import Message
from kraftctl_protocol.record_batch import encode_control_batch
from tests.support.corrupt_case import CorruptCase, Make
from tests.support.corrupt_directory import CorruptDirectory, Snapshot, metadata_value, voters_record
from tests.support.corrupt_logs import NEWER, NO_OP, level, partition, topic

CHECKPOINT = r"__cluster_metadata-0/0+1[13]-0000000001\.checkpoint"
DAMAGED = CHECKPOINT + " is damaged: "
RECORD = CHECKPOINT + ": the record at offset "

MV = metadata_value(level("metadata.version", 30))


def snapshot(
    *parts: Callable[[Snapshot], bytes], offset: int | None = None, epoch: int | None = None
) -> Make:
    def make(directory: CorruptDirectory) -> None:
        content = Snapshot(directory.epoch)
        directory.snapshot(*[part(content) for part in parts], offset=offset, epoch=epoch)

    return make


def header(content: Snapshot) -> bytes:
    return content.header()


def footer(content: Snapshot) -> bytes:
    return content.footer()


def records(*values: bytes) -> Callable[[Snapshot], bytes]:
    return lambda content: content.records(*values)


def control(*messages: Message) -> Callable[[Snapshot], bytes]:
    return lambda content: content.control(*messages)


def raw_control(control_type: int, value: bytes) -> Callable[[Snapshot], bytes]:
    def make(content: Snapshot) -> bytes:
        offset = content.batches._next_offset
        content.batches._next_offset += 1
        return encode_control_batch(offset, content.epoch, 0, [(control_type, value)])

    return make


def file(name: str, content: bytes) -> Make:
    return lambda directory: directory.write(f"{PARTITION_DIRECTORY}/{name}", content)


def zero_checkpoint(*parts: Callable[[Snapshot], bytes]) -> Make:
    """An empty log, and a 0-0 checkpoint of these."""

    def make(directory: CorruptDirectory) -> None:
        for path in directory.partition.iterdir():
            if path.suffix != ".metadata":
                path.unlink()
        (directory.path / "metadata-recovery-point").unlink()
        content = Snapshot(0)
        directory.snapshot(*[part(content) for part in parts], offset=0, epoch=0)

    return make


CASES = (
    CorruptCase(
        "snapshot-good", snapshot(header, records(MV), footer), accepted="active controller", static=True
    ),
    CorruptCase("snapshot-empty", snapshot(), DAMAGED, static=True),
    CorruptCase(
        "snapshot-without-header",
        snapshot(records(MV), footer),
        DAMAGED + "it does not begin with a SnapshotHeader",
        static=True,
    ),
    CorruptCase(
        "snapshot-without-footer",
        snapshot(header, records(MV)),
        DAMAGED + "it does not end with a SnapshotFooter",
        static=True,
    ),
    CorruptCase(
        "snapshot-footer-first",
        snapshot(footer, records(MV), header),
        DAMAGED + "it does not begin with a SnapshotHeader",
        static=True,
    ),
    CorruptCase(
        "snapshot-footer-second",
        snapshot(header, footer, records(MV)),
        DAMAGED + r"at byte \d+: there is something after the SnapshotFooter",
        static=True,
    ),
    CorruptCase(
        "snapshot-two-footers",
        snapshot(header, records(MV), footer, footer),
        DAMAGED + r"at byte \d+: there is something after",
        static=True,
    ),
    CorruptCase(
        "snapshot-two-headers",
        snapshot(header, records(MV), header, footer),
        DAMAGED + r"at byte \d+: there is another SnapshotHeader",
        static=True,
    ),
    CorruptCase(
        "snapshot-kraft-version-99",
        snapshot(control(SnapshotHeaderRecord(), KRaftVersionRecord(kraft_version=99)), footer),
        CHECKPOINT + ": at byte 0: kraft.version 99" + NEWER,
        static=True,
    ),
    CorruptCase(
        "snapshot-control-type-unknown",
        snapshot(header, raw_control(99, b"\0\0"), footer),
        CHECKPOINT + r": at byte \d+: unknown control record type 99" + NEWER,
        static=True,
    ),
    CorruptCase(
        "snapshot-control-version",
        snapshot(header, raw_control(6, b"\0\x09\0\0"), footer),
        CHECKPOINT + r": at byte \d+: control record of version 9" + NEWER,
        static=True,
    ),
    CorruptCase(
        "snapshot-voters-none",
        snapshot(
            control(SnapshotHeaderRecord(), KRaftVersionRecord(kraft_version=1), VotersRecord()), footer
        ),
        DAMAGED + "at byte 0: a voter set with no voters",
        static=True,
    ),
    CorruptCase(
        "snapshot-voters-twice",
        snapshot(
            control(SnapshotHeaderRecord(), KRaftVersionRecord(kraft_version=1), voters_record(1, 1)), footer
        ),
        DAMAGED + "at byte 0: a voter set with voter 1 twice",
        static=True,
    ),
    CorruptCase(
        "snapshot-kraft-version-without-voters",
        snapshot(control(SnapshotHeaderRecord(), KRaftVersionRecord(kraft_version=1)), footer),
        DAMAGED + "at byte 0: kraft.version 1 without",
        static=True,
    ),
    CorruptCase(
        "snapshot-record-unknown",
        snapshot(header, records(MV, b"\x01\x63\x00\x00"), footer),
        "type 99 in version 0",
        static=True,
    ),
    CorruptCase(
        "snapshot-record-cut",
        snapshot(header, records(MV, metadata_value(topic())[:-3]), footer),
        CHECKPOINT,
        static=True,
    ),
    CorruptCase(
        "snapshot-partition-first",
        snapshot(header, records(MV, metadata_value(partition())), footer),
        RECORD + "2 is a PartitionRecord that does not fit",
        static=True,
    ),
    CorruptCase(
        "snapshot-topic-twice",
        snapshot(header, records(MV, metadata_value(topic()), metadata_value(topic())), footer),
        RECORD + "3 is a TopicRecord that does not fit",
        static=True,
    ),
    CorruptCase(
        "snapshot-transaction-ends",
        snapshot(header, records(MV, metadata_value(EndTransactionRecord())), footer),
        RECORD + "2 is a EndTransactionRecord",
        static=True,
    ),
    CorruptCase(
        "snapshot-metadata-version-99",
        snapshot(header, records(metadata_value(level("metadata.version", 99))), footer),
        RECORD + "1 is for metadata.version 99",
        static=True,
    ),
    CorruptCase(
        "snapshot-metadata-version-0",
        snapshot(header, records(metadata_value(level("metadata.version", 0))), footer),
        RECORD + "1 is for metadata.version 0",
        static=True,
    ),
    CorruptCase(
        "snapshot-without-metadata-version",
        snapshot(header, records(NO_OP), footer),
        accepted="active controller",
        static=True,
    ),
    CorruptCase(
        "snapshot-beyond-the-log-empty",
        snapshot(offset=99),
        r"99-0000000001\.checkpoint is damaged",
        static=True,
    ),
    CorruptCase(
        "snapshot-beyond-the-log-of-a-later-epoch",
        snapshot(header, records(MV), footer, offset=99, epoch=77),
        r"99-0000000077\.checkpoint is of epoch 77, but quorum-state of epoch 1",
        static=True,
    ),
    CorruptCase(
        "snapshot-name-huge",
        file("99999999999999999999-0000000001.checkpoint", b""),
        r"99999999999999999999-0000000001\.checkpoint",
        static=True,
    ),
    CorruptCase(
        "snapshot-name-epoch-huge",
        file("00000000000000000013-9999999999.checkpoint", b""),
        r"00000000000000000013-9999999999\.checkpoint",
        static=True,
    ),
    CorruptCase("segment-name-huge", file("99999999999999999999.log", b""), r"99999999999999999999\.log"),
    CorruptCase(
        "segment-name-beyond",
        file("09223372036854775807.log", b"x"),
        accepted=r"removed leftover .*09223372036854775807\.log",
    ),
    CorruptCase(
        "zero-checkpoint-kraft-version-99",
        zero_checkpoint(control(SnapshotHeaderRecord(), KRaftVersionRecord(kraft_version=99)), footer),
        r"0-0000000000\.checkpoint: at byte 0: kraft.version 99" + NEWER,
    ),
    CorruptCase(
        "zero-checkpoint-voters-none",
        zero_checkpoint(
            control(SnapshotHeaderRecord(), KRaftVersionRecord(kraft_version=1), VotersRecord()), footer
        ),
        r"0-0000000000\.checkpoint is damaged",
    ),
)
