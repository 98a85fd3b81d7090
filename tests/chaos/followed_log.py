"""The committed metadata log of a cluster, read from its leaders while they change, and checked."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from kraftctl.config.controller_config import ControllerConfig
from kraftctl.image.metadata_image import MetadataImage
from kraftctl.image.replay import replay
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kraftctl_protocol.generated.fetch_response import FetchResponse
from kraftctl_protocol.generated.fetch_response import PartitionData as FetchedPartition
from kraftctl_protocol.metadata_topic import METADATA_TOPIC_ID
from kraftctl_protocol.record_batch import read_batches
from tests.chaos.finding import FindError
from tests.chaos.ledger import FoundTopic
from tests.support.controller_properties import controller_properties
from tests.support.simulator.checks.log_history import Batch
from tests.support.simulator.checks.partition_checks import PartitionChecks
from tests.support.wire.controller_client import ControllerClient

FETCH_VERSION = 17
FETCH_BYTES = 1 << 20
TOPIC_RESOURCE = 2

CONFIG = controller_properties(more={"min.insync.replicas": "2", "default.replication.factor": "3"})
"""What the checks take defaults of topics from: those of the cluster."""

T = TypeVar("T")


@dataclass(frozen=True)
class SeenLeader:
    """What a response to Fetch says about its sender."""

    leader_epoch: int
    high_watermark: int


class FollowedLog:
    """Batches by base offset, as bytes, and the image that they give. Thread-safe."""

    def __init__(self, cluster_id: str, *, of_kafka: bool = False) -> None:
        self.batches: dict[int, bytes] = {}
        self.image = MetadataImage()
        self.checks = PartitionChecks(ControllerConfig(CONFIG))
        self.checks.may_ask_for_unclean = False
        self.checks.may_join_appends = of_kafka
        self._cluster_id = cluster_id
        self._lock = threading.Lock()
        self._last: Batch | None = None
        self._leader_epoch = 0
        """The latest that a controller has named: a leader of an earlier one does not answer then."""

    @property
    def end_offset(self) -> int:
        """Exclusive."""
        return 0 if self._last is None else self._last.end

    def read(self, question: Callable[[MetadataImage], T]) -> T:
        """The image does not change meanwhile."""
        with self._lock:
            return question(self.image)

    def topics(self) -> dict[str, FoundTopic]:
        def found(image: MetadataImage) -> dict[str, FoundTopic]:
            return {
                topic.name: FoundTopic(
                    len(topic.partitions), image.configurations.config(TOPIC_RESOURCE, topic.name)
                )
                for topic in image.topics.topics.values()
            }

        return self.read(found)

    def fetch(self, client: ControllerClient) -> SeenLeader | None:
        """Reads on from a leader; None if the controller is none. FindError for a log that is another one."""
        epoch = 0 if self._last is None else self._last.epoch
        data = self._ask(client, self.end_offset, epoch)
        if data is not None and data.snapshot_id.epoch >= 0 and self._last is None:
            # A leader offers its 0-0 checkpoint for offset 0; the next one is in the same batch.
            data = self._ask(client, 1, self._leader_epoch)
        if data is None:
            return None
        if data.diverging_epoch.epoch >= 0:
            raise FindError(
                f"LeaderHasAllAckedValues: the log was read to {self.end_offset}, and now ends at"
                f" {data.diverging_epoch.end_offset} in epoch {data.diverging_epoch.epoch}"
            )
        if data.snapshot_id.epoch >= 0:
            raise FindError(
                f"the log was deleted to {data.snapshot_id.end_offset}, and read to {self.end_offset} only"
            )
        with self._lock:
            self.take(data.records or b"", data.high_watermark)
        return SeenLeader(self._leader_epoch, data.high_watermark)

    def take(self, data: bytes, high_watermark: int) -> None:
        """Batches from `end_offset` on, of which those below the high watermark count. AssertionError."""
        position = 0
        for batch in read_batches(data, partial_tail=True):
            header = batch.header
            raw = data[position : position + header.size_bytes]
            position += header.size_bytes
            if header.last_offset >= high_watermark or header.last_offset < self.end_offset:
                continue
            if header.base_offset != self.end_offset:
                raise FindError(f"NoLogDivergence: {header.base_offset} follows {self.end_offset} in the log")
            if self._last is not None and header.partition_leader_epoch < self._last.epoch:
                raise FindError(f"MonotonicEpoch: that of the batch at {header.base_offset} is lower")
            self.batches[header.base_offset] = raw
            self._last = Batch(
                header.base_offset,
                header.last_offset + 1,
                header.partition_leader_epoch,
                raw,
                header.is_control,
                self._last,
            )
            self.checks.committed(self._last)
            for offset, record in enumerate(self._last.messages, self._last.base_offset):
                replay(self.image, record, offset)

    def _ask(self, client: ControllerClient, offset: int, epoch: int) -> FetchedPartition | None:
        asked_epoch = self._leader_epoch
        partition = FetchPartition(
            partition=0,
            current_leader_epoch=asked_epoch,
            fetch_offset=offset,
            last_fetched_epoch=epoch,
        )
        topic = FetchTopic(topic_id=METADATA_TOPIC_ID, partitions=[partition])
        request = FetchRequest(
            cluster_id=self._cluster_id, max_wait_ms=0, max_bytes=FETCH_BYTES, topics=[topic]
        )
        answer = client.call(request, FETCH_VERSION, FetchResponse)
        if answer.error_code != Errors.NONE or not answer.responses:
            return None
        data = answer.responses[0].partitions[0]
        self._leader_epoch = max(self._leader_epoch, data.current_leader.leader_epoch)
        return data if data.error_code == Errors.NONE else None
