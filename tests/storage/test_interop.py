"""Kafka's tools and controller read kraftctl's files, and kraftctl reads theirs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from kraftctl.cli import main
from kraftctl.dev.polling import await_result
from kraftctl.metadata.snapshot_batches import SnapshotBatches
from kraftctl.raft.election_state import ElectionState
from kraftctl.storage.directory_lock import DirectoryLock
from kraftctl.storage.errors import StorageError
from kraftctl.storage.metadata_partition import MetadataPartition
from kraftctl_protocol.control_record import decode_control_record, encode_control_record
from kraftctl_protocol.generated.config_record import ConfigRecord
from kraftctl_protocol.generated.feature_level_record import FeatureLevelRecord
from kraftctl_protocol.generated.leader_change_message import LeaderChangeMessage, Voter
from kraftctl_protocol.generated.no_op_record import NoOpRecord
from kraftctl_protocol.generated.voters_record import VotersRecord
from kraftctl_protocol.metadata_record import (
    RecordAndVersion,
    decode_metadata_record,
    encode_metadata_record,
)
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from kraftctl_protocol.record_batch import RecordBatch, encode_batch, encode_control_batch, read_batches
from tests.support.partitions import open_partition
from tests.support.processes.kafka import JavaController, dump_log, kafka, random_id, tools

pytestmark = pytest.mark.interop

NODE_ID = 3000
WALL_MS = 1_795_245_851_000
NO_OP = encode_metadata_record(NoOpRecord(), 0)


class FormattedByUs(JavaController):
    """Kafka's controller in a directory that `kraftctl format` has prepared."""

    def format(self) -> None:
        self.write_configuration()
        flags = ["-t", self.cluster_id, "-c", str(self.properties_file), "--standalone"]
        scram = "SCRAM-SHA-512=[name=alice,password=alice-secret]"
        assert main(["format", *flags, "--add-scram", scram]) == 0


@pytest.fixture(scope="module")
def java(tmp_path_factory: pytest.TempPathFactory) -> Iterator[JavaController]:
    directory = tmp_path_factory.mktemp("java-controller")
    controller = FormattedByUs(kafka(), NODE_ID, directory, random_id())
    controller.format()
    yield controller
    if controller.running:
        controller.kill()


def _all_batches(partition: MetadataPartition) -> list[RecordBatch]:
    batches: list[RecordBatch] = []
    offset = partition.log.start_offset
    while offset < partition.log.end_offset:
        batches += read_batches(partition.log.read(offset, 100_000))
        offset = batches[-1].header.last_offset + 1
    return batches


def _has_bootstrapped(java: JavaController) -> bool:
    written = [read_batches(segment.read_bytes()) for segment in java.metadata_directory.glob("*.log")]
    return "EndTransactionRecord" in [item.record.NAME for batches in written for item in _records(batches)]


def _records(batches: list[RecordBatch]) -> list[RecordAndVersion]:
    data = [batch for batch in batches if not batch.header.is_control]
    return [decode_metadata_record(record.value or b"") for batch in data for record in batch.records]


def test_1_kafka_storage_accepts_the_directory(java: JavaController) -> None:
    info = tools().output("kafka-storage", "info", "-c", str(java.properties_file))
    assert f"cluster.id={java.cluster_id}" in info
    assert f"node.id={NODE_ID}" in info
    assert "problem" not in info


def test_2_dump_log_reads_the_formatted_files(java: JavaController) -> None:
    (checkpoint,) = java.metadata_directory.glob("*.checkpoint")
    dumped = dump_log(checkpoint)
    assert '"kRaftVersion":1' in dumped
    assert f'"voterId":{NODE_ID}' in dumped
    renamed = java.directory / "00000000000000000000-0000000001.checkpoint"
    renamed.write_bytes((java.log_directory / "bootstrap.checkpoint").read_bytes())
    bootstrap = dump_log(renamed)
    assert '"name":"metadata.version","featureLevel":30' in bootstrap
    assert '"type":"USER_SCRAM_CREDENTIAL_RECORD"' in bootstrap


def test_3_a_running_kafka_controller_locks_us_out(java: JavaController) -> None:
    java.start()
    with pytest.raises(StorageError, match="another process"):
        DirectoryLock.acquire(java.log_directory)
    await_result(partial(_has_bootstrapped, java), "the records of bootstrap.checkpoint are in the log")
    java.kill()
    DirectoryLock.acquire(java.log_directory).release()


def test_4_we_read_what_a_killed_kafka_controller_wrote(java: JavaController) -> None:
    partition = open_partition(java.log_directory)
    batches = _all_batches(partition)
    first = [decode_control_record(record.key, record.value).message for record in batches[0].records]
    assert [type(message).__name__ for message in first] == [
        "LeaderChangeMessage",
        "KRaftVersionRecord",
        "VotersRecord",
    ]
    names = [record.record.NAME for record in _records(batches)]
    assert names[0] == "BeginTransactionRecord"
    assert {"FeatureLevelRecord", "UserScramCredentialRecord"} <= set(names)
    assert partition.log.epochs == [(1, 0)]
    state = partition.read_quorum_state()
    assert state is not None
    assert (state.epoch, state.leader_id, state.data_version) == (1, NODE_ID, 1)
    partition.close()


def test_5_kafka_continues_with_what_we_appended(java: JavaController) -> None:
    """Several small segments, a leader change of ours and records in two epochs."""
    partition = open_partition(java.log_directory, segment_bytes=10_000)
    log = partition.log
    leader = LeaderChangeMessage(leader_id=NODE_ID, voters=[Voter(voter_id=NODE_ID)])
    partition.write_quorum_state(ElectionState(epoch=5, leader_id=NODE_ID, data_version=1))
    log.append(encode_control_batch(log.end_offset, 5, WALL_MS, [encode_control_record(leader)]))
    for _ in range(500):
        log.append(encode_batch(log.end_offset, 5, WALL_MS, [NO_OP]))
    log.flush()
    end_offset = log.end_offset
    partition.close()
    assert len(list(java.metadata_directory.glob("*.log"))) >= 4

    java.start()
    java.stop()
    partition = open_partition(java.log_directory)
    assert partition.log.end_offset > end_offset
    assert [epoch for epoch, _ in partition.log.epochs] == [1, 5, 6]
    partition.close()


def test_6_kafka_starts_from_our_snapshot(java: JavaController) -> None:
    """The log is gone: what Kafka's controller knows afterwards it has from our checkpoint."""
    partition = open_partition(java.log_directory)
    batches = _all_batches(partition)
    voters = _last_voters(batches)
    kinds = (FeatureLevelRecord, ConfigRecord)
    kept = [item for item in _records(batches) if isinstance(item.record, kinds)]
    snapshot_id = OffsetAndEpoch(partition.log.end_offset, partition.log.last_epoch)
    content = SnapshotBatches(snapshot_id.epoch, WALL_MS)
    header = content.header(WALL_MS, 1, voters)
    partition.write_snapshot(snapshot_id, [header, *content.records(kept), content.footer()])
    partition.start_over_at(snapshot_id)
    path = partition.snapshots.path(snapshot_id)
    partition.close()
    dumped = dump_log(path)
    assert f"Snapshot end offset: {snapshot_id.offset}, epoch: {snapshot_id.epoch}" in dumped
    assert dumped.count('"type":"FEATURE_LEVEL_RECORD"') == 6

    java.start()
    java.stop()
    partition = open_partition(java.log_directory)
    assert partition.log.start_offset == snapshot_id.offset
    assert partition.log.epochs == [(7, snapshot_id.offset)]
    names = [record.record.NAME for record in _records(_all_batches(partition))]
    assert "BeginTransactionRecord" not in names, "metadata.version came from the snapshot"
    partition.close()


def _last_voters(batches: list[RecordBatch]) -> VotersRecord:
    control = [record for batch in batches if batch.header.is_control for record in batch.records]
    messages = [decode_control_record(record.key, record.value).message for record in control]
    return [message for message in messages if isinstance(message, VotersRecord)][-1]


def test_index_files_are_sane_to_kafka(tmp_path: Path) -> None:
    partition = open_partition(tmp_path, segment_bytes=60_000)
    for offset in range(3000):
        partition.log.append(encode_batch(offset, 1, WALL_MS + offset, [NO_OP]))
    partition.close()
    directory = partition.log.directory
    files = sorted([*directory.glob("*.log"), *directory.glob("*index")])
    assert len(files) == 12
    names = ",".join(map(str, files))
    checked = tools().output("kafka-dump-log", "--index-sanity-check", "--files", names)
    assert len(re.findall(r"passed sanity check", checked)) == 8, checked
    verified = tools().output("kafka-dump-log", "--verify-index-only", "--files", names)
    assert "Mismatches" not in verified, verified
    assert "Found" not in verified, verified
