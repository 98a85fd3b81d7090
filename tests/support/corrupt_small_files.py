"""quorum-state, meta.properties and the other small files, well-formed but mad."""

from __future__ import annotations

import json
from typing import Any

from kraftctl.storage.recovery_point import FILE_NAME, LINE_BYTES, _encode, read_recovery_point
from kraftctl_protocol.crc32c import crc32c
from kraftctl_protocol.generated.kraft_version_record import KRaftVersionRecord
from kraftctl_protocol.generated.snapshot_header_record import SnapshotHeaderRecord
from kraftctl_protocol.generated.topic_record import TopicRecord
from kraftctl_protocol.message import Message
from tests.support.corrupt_case import CorruptCase, Make
from tests.support.corrupt_directory import CorruptDirectory, Snapshot, metadata_value, voters_record
from tests.support.corrupt_logs import NEWER, level, partition

QUORUM_STATE = "__cluster_metadata-0/quorum-state"
UNUSABLE = QUORUM_STATE + " cannot be used: "


def state(**changes: object) -> Make:
    fields: dict[str, object] = {
        "leaderId": 3000,
        "leaderEpoch": 1,
        "votedId": -1,
        "votedDirectoryId": "AAAAAAAAAAAAAAAAAAAAAA",
        "data_version": 1,
    }

    def make(directory: CorruptDirectory) -> None:
        directory.write(QUORUM_STATE, json.dumps(fields | changes))

    return make


def state_0(**changes: object) -> Make:
    fields: dict[str, object] = {
        "clusterId": "",
        "leaderId": 3000,
        "leaderEpoch": 1,
        "votedId": -1,
        "appliedOffset": 0,
        "currentVoters": [],
        "data_version": 0,
    }
    return lambda directory: directory.write(QUORUM_STATE, json.dumps(fields | changes))


def text(content: str | bytes) -> Make:
    return lambda directory: directory.write(QUORUM_STATE, content)


def properties(old: str, new: str) -> Make:
    return lambda directory: directory.replace("meta.properties", old, new)


def other(name: str, content: str | bytes) -> Make:
    return lambda directory: directory.write(name, content)


def recovery_point(**changes: Any) -> Make:
    def make(directory: CorruptDirectory) -> None:
        point = read_recovery_point(directory.path)
        assert point is not None
        lines = _encode(98, point._replace(**changes)) + _encode(99, point._replace(**changes))
        directory.write(FILE_NAME, lines)

    return make


def recovery_point_of_a_later_version(directory: CorruptDirectory) -> None:
    words = (directory.path / FILE_NAME).read_bytes()[:LINE_BYTES].split()
    line = b" ".join([b"version=3", *words[1:-1]])
    line += b" crc32c=%08x" % crc32c(line)
    directory.write(FILE_NAME, (line.ljust(LINE_BYTES - 1) + b"\n") * 2)


def bootstrap(*values: bytes, control: tuple[Message, ...] = ()) -> Make:
    """The log is empty, so that the file is used."""

    def make(directory: CorruptDirectory) -> None:
        for path in directory.partition.glob("0*.[lit]*"):
            path.unlink()
        (directory.partition / "quorum-state").unlink()
        (directory.path / "metadata-recovery-point").unlink()
        content = Snapshot(0)
        first = content.control(SnapshotHeaderRecord(), *control)
        directory.write("bootstrap.checkpoint", first + content.records(*values) + content.footer())

    return make


MV = metadata_value(level("metadata.version", 30))


def other_directory(*voter_ids: int) -> Make:
    """The log has these voters, in other directories than this one."""
    return lambda directory: directory.append_control(voters_record(*voter_ids))


QUORUM_STATES = (
    CorruptCase(
        "quorum-state-epoch-2-40", state(leaderEpoch=2**40), UNUSABLE + "leaderEpoch 1099511627776 is not"
    ),
    CorruptCase("quorum-state-epoch-negative", state(leaderEpoch=-2), UNUSABLE + "leaderEpoch -2 is not"),
    CorruptCase(
        "quorum-state-epoch-last", state(leaderEpoch=2**31 - 1), "no election can follow epoch 2147483647"
    ),
    CorruptCase("quorum-state-epoch-float", state(leaderEpoch=1.5), UNUSABLE),
    CorruptCase("quorum-state-epoch-text", state(leaderEpoch="1"), UNUSABLE),
    CorruptCase("quorum-state-epoch-true", state(leaderEpoch=True), UNUSABLE),
    CorruptCase("quorum-state-epoch-null", state(leaderEpoch=None), UNUSABLE),
    CorruptCase(
        "quorum-state-epoch-behind-the-log",
        state(leaderEpoch=0),
        "is of epoch 0, but this replica took part in epoch 1",
    ),
    CorruptCase("quorum-state-leader-huge", state(leaderId=2**31), UNUSABLE + "leaderId 2147483648 is not"),
    CorruptCase("quorum-state-leader-negative", state(leaderId=-2), UNUSABLE + "leaderId -2 is not"),
    CorruptCase("quorum-state-voted-huge", state(votedId=2**63), UNUSABLE + "votedId"),
    CorruptCase("quorum-state-voted-negative", state(votedId=-7), UNUSABLE + "votedId -7 is not"),
    CorruptCase("quorum-state-voted-directory-number", state(votedDirectoryId=7), UNUSABLE),
    CorruptCase("quorum-state-voted-directory-short", state(votedDirectoryId="AAAA"), UNUSABLE),
    CorruptCase("quorum-state-deep", text('{"a":' * 100_000 + "1" + "}" * 100_000), UNUSABLE),
    CorruptCase("quorum-state-deep-list", text("[" * 100_000), UNUSABLE),
    CorruptCase(
        "quorum-state-digits", text('{"data_version":1,"leaderEpoch":' + "9" * 100_000 + "}"), UNUSABLE
    ),
    CorruptCase("quorum-state-nan", text('{"data_version":NaN}'), UNUSABLE),
    CorruptCase("quorum-state-null", text("null"), UNUSABLE),
    CorruptCase("quorum-state-empty", text(""), UNUSABLE),
    CorruptCase("quorum-state-not-utf-8", text(b"\xff\xfe"), UNUSABLE),
    CorruptCase("quorum-state-large", text(" " * (1 << 21)), UNUSABLE + "it has 2097152 bytes"),
    CorruptCase("quorum-state-surrogate", state(votedDirectoryId="\ud800"), UNUSABLE),
    CorruptCase("quorum-state-0-voters-text", state_0(currentVoters="x"), UNUSABLE),
    CorruptCase("quorum-state-0-voters-number", state_0(currentVoters=7), UNUSABLE),
    CorruptCase("quorum-state-0-voters-huge", state_0(currentVoters=[{"voterId": 2**40}]), UNUSABLE),
    CorruptCase("quorum-state-version-2", state(data_version=2), UNUSABLE + "data_version 2"),
    CorruptCase("quorum-state-other-leader", state(leaderId=7, leaderEpoch=5), accepted="active controller"),
)

PROPERTIES = (
    CorruptCase(
        "voters-in-another-directory",
        other_directory(3000, 3001),
        accepted=r"WARNING .*but the voter in the log is 3000:bGzDaR4ySNmJaPXzonU2CA: this node is an"
        r" observer.*Next step: .* add-controller",
        until="is an observer",
    ),
    CorruptCase(
        "voters-without-this-one",
        other_directory(3001, 3002),
        accepted=r"WARNING This node, 3000:.*, is an observer: .* Next step: .* add-controller",
        until="is an observer",
    ),
    CorruptCase(
        "only-voter-in-another-directory", other_directory(3000), "the only voter of the quorum is 3000:"
    ),
    CorruptCase("meta-node-id", properties("node.id=3000", "node.id=3001"), "node.id 3001, expected 3000"),
    CorruptCase(
        "meta-node-id-text",
        properties("node.id=3000", "node.id=x"),
        "meta.properties cannot be used: node.id 'x'",
    ),
    CorruptCase(
        "meta-node-id-missing",
        properties("node.id=3000", ""),
        "meta.properties cannot be used: node.id is missing",
    ),
    CorruptCase(
        "meta-node-id-huge",
        properties("node.id=3000", "node.id=" + "9" * 5000),
        "meta.properties cannot be used",
    ),
    CorruptCase(
        "meta-cluster-id-missing",
        properties("cluster.id=.*", ""),
        "meta.properties cannot be used: cluster.id is missing",
    ),
    CorruptCase(
        "meta-cluster-id-empty", properties("cluster.id=.*", "cluster.id="), accepted="active controller"
    ),
    CorruptCase(
        "meta-cluster-id-changed",
        properties("cluster.id=.*", "cluster.id=AnotherClusterAnother1"),
        accepted="active controller",
    ),
    CorruptCase(
        "meta-version-9", properties("version=1", "version=9"), "meta.properties cannot be used: version 9"
    ),
    CorruptCase(
        "meta-version-0",
        properties("version=1", "version=0"),
        "version 0, from a cluster that was not in KRaft mode",
    ),
    CorruptCase(
        "meta-directory-id-text",
        properties("directory.id=.*", "directory.id=x"),
        "meta.properties cannot be used",
    ),
    CorruptCase(
        "meta-directory-id-reserved",
        properties("directory.id=.*", "directory.id=AAAAAAAAAAAAAAAAAAAAAg"),
        "reserved directory.id",
    ),
    CorruptCase(
        "meta-directory-id-changed",
        properties("directory.id=.*", "directory.id=bGzDaR4ySNmJaPXzonU2CA"),
        r"has directory\.id bGzDaR4ySNmJaPXzonU2CA, but the only voter of the quorum is 3000:",
    ),
    CorruptCase("meta-directory-id-missing", properties("directory.id=.*", ""), accepted="active controller"),
    CorruptCase(
        "meta-directory-id-changed-static",
        properties("directory.id=.*", "directory.id=bGzDaR4ySNmJaPXzonU2CA"),
        accepted="is of an earlier replica",
        static=True,
    ),
    CorruptCase("meta-not-utf-8", other("meta.properties", b"\xff\xfe\x00"), "meta.properties"),
    CorruptCase("meta-bad-escape", properties("version=1", r"version=\\u00zz"), "meta.properties"),
)

OTHERS = (
    CorruptCase(
        "leader-epochs-version",
        other("__cluster_metadata-0/leader-epoch-checkpoint", "9\n1\n1 0\n"),
        "leader-epoch-checkpoint is malformed: version 9",
    ),
    CorruptCase(
        "leader-epochs-negative",
        other("__cluster_metadata-0/leader-epoch-checkpoint", "0\n1\n-5 -5\n"),
        "leader-epoch-checkpoint",
    ),
    CorruptCase(
        "leader-epochs-huge",
        other("__cluster_metadata-0/leader-epoch-checkpoint", f"0\n1\n{2**40} 0\n"),
        "leader-epoch-checkpoint",
    ),
    CorruptCase(
        "leader-epochs-falling",
        other("__cluster_metadata-0/leader-epoch-checkpoint", "0\n2\n2 0\n1 5\n"),
        "leader-epoch-checkpoint is malformed",
    ),
    CorruptCase(
        "leader-epochs-count",
        other("__cluster_metadata-0/leader-epoch-checkpoint", "0\n999999999999\n1 0\n"),
        "leader-epoch-checkpoint is malformed",
    ),
    CorruptCase(
        "leader-epochs-digits",
        other("__cluster_metadata-0/leader-epoch-checkpoint", "0\n1\n" + "9" * 5000 + " 0\n"),
        "leader-epoch-checkpoint is malformed",
    ),
    CorruptCase(
        "leader-epochs-not-utf-8",
        other("__cluster_metadata-0/leader-epoch-checkpoint", b"\xff\n"),
        "leader-epoch-checkpoint is malformed",
    ),
    CorruptCase(
        "leader-epochs-empty",
        other("__cluster_metadata-0/leader-epoch-checkpoint", b""),
        "leader-epoch-checkpoint is malformed",
    ),
    CorruptCase(
        "partition-metadata-other-topic",
        other("__cluster_metadata-0/partition.metadata", "version: 0\ntopic_id: bGzDaR4ySNmJaPXzonU2CA"),
        "partition.metadata does not name",
    ),
    CorruptCase(
        "partition-metadata-not-utf-8",
        other("__cluster_metadata-0/partition.metadata", b"\xff: \xff\n"),
        "partition.metadata does not name",
    ),
    CorruptCase("recovery-point-end-negative", recovery_point(end_offset=-5), "metadata-recovery-point"),
    CorruptCase("recovery-point-end-huge", recovery_point(end_offset=2**70), "metadata-recovery-point"),
    CorruptCase("recovery-point-epoch-2-40", recovery_point(quorum_epoch=2**40), "metadata-recovery-point"),
    CorruptCase("recovery-point-epoch-negative", recovery_point(quorum_epoch=-1), "metadata-recovery-point"),
    CorruptCase("recovery-point-voted", recovery_point(voted_id=-9), "metadata-recovery-point"),
    CorruptCase("recovery-point-version-3", recovery_point_of_a_later_version, "version 3, 2 is supported"),
    CorruptCase(
        "bootstrap-without-version",
        bootstrap(metadata_value(TopicRecord(name="x"))),
        "no FeatureLevelRecord for metadata.version",
    ),
    CorruptCase(
        "bootstrap-version-99",
        bootstrap(metadata_value(level("metadata.version", 99))),
        "metadata.version 99",
    ),
    CorruptCase(
        "bootstrap-version-0", bootstrap(metadata_value(level("metadata.version", 0))), "metadata.version 0"
    ),
    CorruptCase("bootstrap-unknown-record", bootstrap(MV, b"\x01\x63\x00\x00"), "type 99"),
    CorruptCase("bootstrap-record-cut", bootstrap(MV, MV[:-4]), "bootstrap.checkpoint is damaged"),
    CorruptCase(
        "bootstrap-does-not-fit",
        bootstrap(MV, metadata_value(partition())),
        "bootstrap.checkpoint.* PartitionRecord",
    ),
    CorruptCase(
        "bootstrap-kraft-version-99",
        bootstrap(MV, control=(KRaftVersionRecord(kraft_version=99),)),
        "bootstrap.checkpoint: at byte 0: kraft.version 99" + NEWER,
    ),
    CorruptCase("bootstrap-empty", other("bootstrap.checkpoint", b""), "bootstrap.checkpoint is damaged"),
)

CASES = QUORUM_STATES + PROPERTIES + OTHERS
