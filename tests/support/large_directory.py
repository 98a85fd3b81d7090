"""The directory of a controller with millions of partitions, written without asking for each."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

from kraftctl.config.controller_config import ControllerConfig
from kraftctl.dev.nodes import KraftctlController
from kraftctl.dev.polling import await_result
from kraftctl.image.image_writer import ImageWriter
from kraftctl.image.metadata_image import MetadataImage
from kraftctl.image.replay import replay
from kraftctl.metadata.snapshot_batches import SnapshotBatches
from kraftctl.server.controller_server import open_partition
from kraftctl.storage.meta_properties import read_meta_properties
from kraftctl.storage.metadata_partition import MetadataPartition
from kraftctl_protocol.generated.partition_record import PartitionRecord
from kraftctl_protocol.generated.topic_record import TopicRecord
from kraftctl_protocol.java_properties import parse_properties
from kraftctl_protocol.metadata_record import decode_metadata_record, encode_metadata_record
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from kraftctl_protocol.record_batch import encode_batch, read_batches
from tests.support.image_records import next_records
from tests.support.wire.controller_client import ControllerClient, StandInBroker, log_directory_of

FIRST_BROKER_ID = 1
RECORDS_PER_BATCH_MAX = 10_000
READ_BYTES = 4 * 1024 * 1024
PARTITION_RECORD_VERSION = 2


def topic_values(number: int, partitions: int, brokers: int, replication_factor: int) -> list[bytes]:
    """The encoded records of one topic. All of its replicas are in sync."""
    topic_id = number.to_bytes(16, "big")
    values = [encode_metadata_record(TopicRecord(name=f"topic-{number}", topic_id=topic_id), 0)]
    shift = 1 + number % max(1, brokers - replication_factor)
    for index in range(partitions):
        replicas = [
            FIRST_BROKER_ID + (number + index + (shift + at if at else 0)) % brokers
            for at in range(replication_factor)
        ]
        record = PartitionRecord(
            partition_id=index,
            topic_id=topic_id,
            replicas=replicas,
            isr=list(replicas),
            leader=replicas[0],
            leader_epoch=0,
            partition_epoch=0,
            directories=[log_directory_of(replica) for replica in replicas],
        )
        values.append(encode_metadata_record(record, PARTITION_RECORD_VERSION))
    return values


def register_brokers(node: KraftctlController, brokers: int) -> None:
    """Stand-in brokers, which then send no heartbeat. The controller runs."""
    with ControllerClient(node.port) as client:
        for broker_id in range(FIRST_BROKER_ID, FIRST_BROKER_ID + brokers):
            broker = StandInBroker(client, broker_id, node.cluster_id)
            await_result(broker.register, "the controller is active")


def write_partitions(
    node: KraftctlController,
    *,
    topics: int,
    partitions: int,
    brokers: int,
    replication_factor: int = 3,
    topics_in_snapshot: int = 0,
) -> None:
    """Append to the log of a controller that is stopped, and has `brokers` registered.

    A snapshot follows the first `topics_in_snapshot` topics.
    """
    config = ControllerConfig(parse_properties(node.properties_file.read_text()))
    meta = read_meta_properties(Path(config.metadata_log_dir))
    assert meta is not None
    partition = open_partition(config, meta, lambda: int(time.monotonic() * 1000))
    values: list[bytes] = []
    for number in range(1, topics + 1):
        values += topic_values(number, partitions, brokers, replication_factor)
        is_last = number in (topics_in_snapshot, topics)
        if is_last or len(values) + partitions + 1 > RECORDS_PER_BATCH_MAX:
            _append(partition, values)
            values = []
        if number == topics_in_snapshot:
            _write_snapshot(partition)
    partition.close()


def _append(partition: MetadataPartition, values: list[bytes]) -> None:
    log = partition.log
    log.append(encode_batch(log.end_offset, log.last_epoch, int(time.time() * 1000), values))
    partition.flush()


def _write_snapshot(partition: MetadataPartition) -> None:
    log = partition.log
    image = MetadataImage()
    image.journal.enabled = False
    offset = log.start_offset
    while offset < log.end_offset:
        for batch in read_batches(log.read(offset, READ_BYTES)):
            if not batch.header.is_control:
                for record in batch.records:
                    replay(image, decode_metadata_record(record.value or b"").record, record.offset)
            offset = batch.header.last_offset + 1
    snapshot_id = OffsetAndEpoch(offset, log.last_epoch)
    partition.snapshots.write(snapshot_id, _snapshot_of(image, snapshot_id))


def _snapshot_of(image: MetadataImage, snapshot_id: OffsetAndEpoch) -> Iterator[bytes]:
    wall_ms = int(time.time() * 1000)
    encoder = SnapshotBatches(snapshot_id.epoch, wall_ms)
    writer = ImageWriter(image, snapshot_id.offset)
    yield encoder.header(wall_ms)
    while records := next_records(writer, RECORDS_PER_BATCH_MAX):
        yield from encoder.records(records)
    yield encoder.footer()
    writer.close()
