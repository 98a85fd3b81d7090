"""A controller's log that keeps growing: brokers that only register, and continuous administration."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from pathlib import Path

from kraftctl.dev.nodes import KraftctlController
from kraftctl.storage.metadata_log import MetadataLog
from kraftctl_protocol.generated.abort_transaction_record import AbortTransactionRecord
from kraftctl_protocol.generated.alter_client_quotas_request import (
    AlterClientQuotasRequest,
    EntityData,
    EntryData,
    OpData,
)
from kraftctl_protocol.generated.alter_client_quotas_response import AlterClientQuotasResponse
from kraftctl_protocol.generated.begin_transaction_record import BeginTransactionRecord
from kraftctl_protocol.generated.create_partitions_request import (
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from kraftctl_protocol.generated.create_partitions_response import CreatePartitionsResponse
from kraftctl_protocol.generated.create_topics_request import CreatableTopic, CreateTopicsRequest
from kraftctl_protocol.generated.create_topics_response import CreateTopicsResponse
from kraftctl_protocol.generated.delete_topics_request import DeleteTopicsRequest, DeleteTopicState
from kraftctl_protocol.generated.delete_topics_response import DeleteTopicsResponse
from kraftctl_protocol.generated.end_transaction_record import EndTransactionRecord
from kraftctl_protocol.generated.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kraftctl_protocol.generated.incremental_alter_configs_response import IncrementalAlterConfigsResponse
from kraftctl_protocol.generated.partition_record import PartitionRecord
from kraftctl_protocol.generated.topic_record import TopicRecord
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import encode_metadata_record
from kraftctl_protocol.record_batch import encode_batch
from tests.support.wire.controller_client import ControllerClient, StandInBroker

BROKERS = (1, 2, 3)
TOPIC = 2
SEGMENT_BYTES = 4 * 1024 * 1024
TOPICS_KEPT = 40

SETTINGS = {
    "default.replication.factor": "1",
    "min.insync.replicas": "1",
    "broker.session.timeout.ms": "9000",
    "internal.metadata.log.segment.bytes": str(SEGMENT_BYTES),
    "metadata.log.max.record.bytes.between.snapshots": str(SEGMENT_BYTES),
    "metadata.max.retention.bytes": str(4 * SEGMENT_BYTES),
}
"""Small segments, a snapshot for each, and only as much log as an export with little lag needs."""


class Churn:
    """Works in its own thread between `start` and `stop`."""

    def __init__(self, controller: KraftctlController, seed: int) -> None:
        self._controller = controller
        self._random = random.Random(seed)
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._topics: list[str] = []
        self._made = 0
        self.pause_s = 0.05
        self.burst = 0
        """How many partitions to create, and to delete again, as fast as possible."""
        self.failure: BaseException | None = None

    def start(self) -> None:
        self._stopping.clear()
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        if self._thread is not None:
            self._thread.join(60)
        if self.failure is not None:
            raise self.failure

    def _work(self) -> None:
        try:
            with ControllerClient(self._controller.port) as client:
                brokers = [StandInBroker(client, broker, self._controller.cluster_id) for broker in BROKERS]
                for broker in brokers:
                    while not broker.register():
                        self._stopping.wait(0.1)
                while not all(broker.is_unfenced() for broker in brokers):
                    self._stopping.wait(0.1)
                while not self._stopping.wait(0.0 if self.burst else self.pause_s):
                    for broker in brokers:
                        broker.heartbeat()
                    self._administer(client)
        except (OSError, AssertionError) as error:
            self.failure = error

    def _administer(self, client: ControllerClient) -> None:
        if self.burst:
            partitions = min(self.burst, 2000)
            self.burst -= partitions
            self._delete(client, self._create(client, partitions))
            return
        chores: list[Callable[[ControllerClient], object]] = [self._create, self._configure, self._set_quota]
        if self._topics:
            chores += [self._grow]
        if len(self._topics) > TOPICS_KEPT:
            chores = [self._delete]
        self._random.choice(chores)(client)

    def _create(self, client: ControllerClient, partitions: int = 0) -> str:
        self._made += 1
        topic = CreatableTopic(
            name=f"topic-{self._controller.cluster_id[:4]}-{self._made}",
            num_partitions=partitions or self._random.randrange(1, 30),
            replication_factor=1,
        )
        answer = client.call(CreateTopicsRequest(topics=[topic]), 7, CreateTopicsResponse)
        assert answer.topics[0].error_code == 0, answer
        self._topics.append(topic.name)
        return topic.name

    def _delete(self, client: ControllerClient, name: str = "") -> None:
        name = name or self._random.choice(self._topics)
        self._topics.remove(name)
        request = DeleteTopicsRequest(topics=[DeleteTopicState(name=name)], timeout_ms=30_000)
        answer = client.call(request, 6, DeleteTopicsResponse)
        assert answer.responses[0].error_code == 0, answer

    def _configure(self, client: ControllerClient) -> None:
        configs = [AlterableConfig(name="retention.ms", value=str(self._random.randrange(1_000_000)))]
        name = self._random.choice(self._topics) if self._topics else self._create(client)
        resource = AlterConfigsResource(resource_type=TOPIC, resource_name=name, configs=configs)
        request = IncrementalAlterConfigsRequest(resources=[resource])
        answer = client.call(request, 1, IncrementalAlterConfigsResponse)
        assert answer.responses[0].error_code == 0, answer

    def _grow(self, client: ControllerClient) -> None:
        name = self._create(client, 2)
        topic = CreatePartitionsTopic(name=name, count=self._random.randrange(3, 9), assignments=None)
        request = CreatePartitionsRequest(topics=[topic], timeout_ms=30_000)
        answer = client.call(request, 3, CreatePartitionsResponse)
        assert answer.results[0].error_code == 0, answer

    def _set_quota(self, client: ControllerClient) -> None:
        entity = [EntityData(entity_type="user", entity_name=f"user-{self._random.randrange(20)}")]
        value = float(self._random.randrange(1, 1_000_000))
        entry = EntryData(entity=entity, ops=[OpData(key="producer_byte_rate", value=value)])
        answer = client.call(AlterClientQuotasRequest(entries=[entry]), 1, AlterClientQuotasResponse)
        assert answer.entries[0].error_code == 0, answer


def append_transactions(controller: KraftctlController, records: int, seed: int) -> None:
    """Writes two metadata transactions and an open one into the log of a stopped controller.

    The first is ended, the second aborted; its next leader aborts the third (KIP-866).
    """
    log = MetadataLog.open(controller.metadata_directory, segment_bytes=SEGMENT_BYTES)
    uuids = random.Random(seed)
    for number, end in enumerate((EndTransactionRecord(), AbortTransactionRecord(reason="soak"), None)):
        topic_id = uuids.randbytes(16)
        made: list[Message] = [
            BeginTransactionRecord(name="soak"),
            TopicRecord(name=f"transaction-{seed}-{number}", topic_id=topic_id),
            *(_partition(topic_id, partition) for partition in range(records)),
        ]
        made += [] if end is None else [end]
        for first in range(0, len(made), 500):
            values = [
                encode_metadata_record(record, _version(record)) for record in made[first : first + 500]
            ]
            log.append(encode_batch(log.end_offset, log.last_epoch, 1_000 + number, values))
    log.flush()


def _version(record: Message) -> int:
    return 1 if isinstance(record, PartitionRecord) else 0


def _partition(topic_id: bytes, partition: int) -> PartitionRecord:
    return PartitionRecord(
        partition_id=partition,
        topic_id=topic_id,
        replicas=[1],
        isr=[1],
        leader=1,
        leader_epoch=0,
        partition_epoch=0,
        directories=[bytes([101]) * 16],
    )


class LogArchive:
    """Keeps every segment under a second name, even after the controller has deleted it."""

    def __init__(self, metadata_directory: Path, archive: Path) -> None:
        self._metadata_directory = metadata_directory
        self.archive = archive
        self._stopping = threading.Event()
        archive.mkdir()
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def _work(self) -> None:
        while not self._stopping.wait(0.1):
            self.take()

    def take(self) -> None:
        for segment in self._metadata_directory.glob("*.log"):
            kept = self.archive / segment.name
            if not kept.exists():
                try:
                    kept.hardlink_to(segment)
                except FileNotFoundError:
                    continue

    def close(self) -> None:
        self._stopping.set()
        self._thread.join(10)
        self.take()
