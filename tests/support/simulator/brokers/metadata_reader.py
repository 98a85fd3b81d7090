"""The raft client of a model broker: an observer finds the leader and fetches the metadata log (KIP-595).

Where a real broker ends its process (a high watermark that falls, an invalid leader, divergence below its
high watermark), this fails with an AssertionError. Otherwise it reacts as Kafka's KafkaRaftClient:

| answer | reaction |
|---|---|
| FENCED_LEADER_EPOCH, NOT_LEADER_OR_FOLLOWER | follows the leader named, else asks a bootstrap server |
| of an earlier epoch, UNKNOWN_LEADER_EPOCH, BROKER_NOT_AVAILABLE | fetches again |
| a snapshot id | FetchSnapshot, until it is complete; SNAPSHOT_NOT_FOUND: fetches again |
| none | asks any bootstrap server |
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from typing import Final

from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.fetch_request import FetchPartition, FetchRequest, FetchTopic, ReplicaState
from kraftctl_protocol.generated.fetch_response import FetchResponse, PartitionData
from kraftctl_protocol.generated.fetch_snapshot_request import (
    FetchSnapshotRequest,
    PartitionSnapshot,
    SnapshotId,
    TopicSnapshot,
)
from kraftctl_protocol.generated.fetch_snapshot_response import FetchSnapshotResponse
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_topic import METADATA_TOPIC, METADATA_TOPIC_ID
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from kraftctl_protocol.primitives import DecodeError
from kraftctl_protocol.uuids import Uuid
from tests.support.simulator.brokers.broker_image import BrokerImage, DecodedBatches
from tests.support.simulator.brokers.broker_profiles import BrokerProfile
from tests.support.simulator.brokers.client_mix import ClientMix
from tests.support.simulator.brokers.clients import BrokerWatch, Network, Time

NO_LEADER = -1
FETCH_WAIT_MS = 500
FETCH_BYTES_MAX = 1_048_576
RETRY_US = 20_000
"""Kafka's raft client refetches immediately after some errors; the pause saves events."""
SILENT_US = 100_000
CHANNEL = "raft"
REPLICA_STATE_FROM_VERSION = 15
ENDPOINTS_FROM_VERSION = 17
"""The field exists since 16."""

REFETCHED: Final = frozenset(
    {
        int(Errors.FENCED_LEADER_EPOCH),
        int(Errors.NOT_LEADER_OR_FOLLOWER),
        int(Errors.UNKNOWN_LEADER_EPOCH),
        int(Errors.BROKER_NOT_AVAILABLE),
        int(Errors.UNKNOWN_SERVER_ERROR),
    }
)


class MetadataReader:
    """One broker process. `leader_id` is the leader as this broker knows it, -1 without one.

    `high_watermark` is -1 until a leader has named one to this process. `loaded` takes the image after
    a snapshot, `news` follows each change of it.
    """

    def __init__(
        self,
        *,
        broker_id: int,
        life: int,
        client: str,
        cluster_id: str,
        directory_id: Uuid,
        bootstrap: list[int],
        static_voter_ids: list[int],
        profile: BrokerProfile,
        image: BrokerImage,
        decoded: DecodedBatches,
        network: Network,
        time: Time,
        watch: BrokerWatch,
        rng: random.Random,
        counts: Counter[str],
        loaded: Callable[[BrokerImage], None],
        damage_is_possible: Callable[[], bool],
        news: Callable[[], None],
        mix: ClientMix,
    ) -> None:
        self._loaded = loaded
        self._damage_is_possible = damage_is_possible
        self._broker_id = broker_id
        self._life = life
        self._client = client
        self._cluster_id = cluster_id
        self._directory_id = directory_id
        self._bootstrap = bootstrap
        self._static_voter_ids = static_voter_ids
        self._fetch_version = profile.version(FetchRequest)
        self._snapshot_version = profile.version(FetchSnapshotRequest)
        self._image = image
        self._decoded = decoded
        self._network = network
        self._time = time
        self._watch = watch
        self._rng = rng
        self._counts = counts
        self._news = news
        self._mix = mix
        self._ended = False
        self._snapshot: OffsetAndEpoch | None = None
        self._slices = bytearray()
        self._slice_bytes = rng.choice([700, 16_384, FETCH_BYTES_MAX])
        self._leader_is_silent = False
        self.leader_id = NO_LEADER
        self.leader_epoch = image.epoch
        self.high_watermark = -1

    def start(self) -> None:
        self._ask()

    def end(self) -> None:
        """The process has ended."""
        self._ended = True

    @property
    def caught_up(self) -> bool:
        """Whether everything is replayed that the broker has heard to be committed."""
        return self.high_watermark > 0 and self._image.end_offset >= self.high_watermark

    def _again(self, delay_us: int) -> None:
        self._time.call_after(delay_us, self._ask)

    def _ask(self) -> None:
        if self._ended:
            return
        if self._snapshot is not None and self.leader_id != NO_LEADER and not self._leader_is_silent:
            self._fetch_snapshot(self._snapshot)
            return
        self._snapshot = None
        node_id = self.leader_id
        if node_id == NO_LEADER or self._leader_is_silent:
            node_id = self._rng.choice(self._bootstrap)
        self._network.call(
            self._client,
            node_id,
            self._fetch_request(),
            self._fetched,
            channel=CHANNEL,
            version=self._fetch_version,
        )

    def _fetch_request(self) -> FetchRequest:
        image = self._image
        partition = FetchPartition(
            partition=0,
            current_leader_epoch=self.leader_epoch,
            fetch_offset=image.end_offset,
            last_fetched_epoch=image.epoch,
            replica_directory_id=self._directory_id,
            high_watermark=self.high_watermark,
        )
        topic = FetchTopic(topic=METADATA_TOPIC, topic_id=METADATA_TOPIC_ID, partitions=[partition])
        request = FetchRequest(
            cluster_id=self._cluster_id,
            max_wait_ms=FETCH_WAIT_MS,
            min_bytes=0,
            max_bytes=FETCH_BYTES_MAX,
            topics=[topic],
        )
        if self._fetch_version >= REPLICA_STATE_FROM_VERSION:
            request.replica_state = ReplicaState(replica_id=self._broker_id)
        else:
            request.replica_id = self._broker_id
        return request

    def _is_lost(self, response: Message | None) -> bool:
        """Whether there was no response: then the next node is asked later."""
        if response is None:
            self._leader_is_silent = True
            self._again(SILENT_US)
        return response is None

    def _fetched(self, response: Message | None) -> None:
        if self._ended or self._is_lost(response):
            return
        assert isinstance(response, FetchResponse)
        assert response.error_code == Errors.NONE, (
            f"broker {self._broker_id}: Fetch is refused with {Errors(response.error_code).name}"
        )
        data = response.responses[0].partitions[0]
        leader = data.current_leader
        if not self._follow(leader.leader_id, leader.leader_epoch, bool(response.node_endpoints)):
            self._again(RETRY_US)
        elif data.error_code != Errors.NONE:
            assert data.error_code in REFETCHED, (
                f"broker {self._broker_id} halts on {Errors(data.error_code).name} to its Fetch"
            )
            self._again(RETRY_US)
        else:
            self._leader_is_silent = False
            self._take_in(data)

    def _follow(self, leader_id: int, epoch: int, has_endpoints: bool) -> bool:
        """Whether the response is of the newest epoch. Fails where a real broker ends its process."""
        if epoch < self.leader_epoch:
            return False
        named = leader_id != NO_LEADER
        assert leader_id != self._broker_id, f"broker {self._broker_id} is named as the leader of the quorum"
        if named and not has_endpoints and (epoch > self.leader_epoch or self.leader_id == NO_LEADER):
            self._find_endpoint(leader_id, epoch)
        if epoch > self.leader_epoch:
            self.leader_epoch = epoch
            self.leader_id = leader_id
            self._leader_is_silent = False
            self._counts["quorum_epochs_seen"] += 1
        elif named and self.leader_id == NO_LEADER:
            self.leader_id = leader_id
            self._leader_is_silent = False
        else:
            assert not named or leader_id == self.leader_id, (
                f"SingleLeader: broker {self._broker_id} knows leader {self.leader_id} of epoch {epoch}, and"
                f" is given {leader_id}"
            )
            if self._leader_is_silent and named:
                self._leader_is_silent = False
        return True

    def _find_endpoint(self, leader_id: int, epoch: int) -> None:
        """Answers of older versions never have it; otherwise the newest voter set must."""
        assert self._fetch_version < ENDPOINTS_FROM_VERSION or leader_id in self._known_voter_ids(), (
            f"broker {self._broker_id} halts: leader {leader_id} of epoch {epoch} without an endpoint"
        )

    def _known_voter_ids(self) -> list[int]:
        """From the log, or the configuration."""
        return self._image.voter_ids or self._static_voter_ids

    def _take_in(self, data: PartitionData) -> None:
        """A leader's response."""
        assert data.diverging_epoch.epoch < 0, (
            f"NoCommittedRecordLost: broker {self._broker_id} has committed records up to"
            f" {self._image.end_offset} and is to truncate to {data.diverging_epoch!r}"
        )
        if data.snapshot_id.epoch >= 0:
            self._snapshot = OffsetAndEpoch(data.snapshot_id.end_offset, data.snapshot_id.epoch)
            self._slices.clear()
            self._ask()
            return
        high_watermark = data.high_watermark
        if high_watermark >= 0:
            assert high_watermark >= self.high_watermark, (
                f"MonotonicHighWatermark: broker {self._broker_id} knows {self.high_watermark} and is given"
                f" {high_watermark} in epoch {self.leader_epoch}"
            )
            self._watch.told_high_watermark(self._broker_id, self._life, high_watermark)
            self.high_watermark = high_watermark
        records = data.records
        if records:
            self._replay(records, high_watermark)
        late_us_max = self._mix.metadata_delay_us_max
        if late_us_max:
            self._again(self._rng.randint(0, late_us_max))
        else:
            self._ask()

    def _replay(self, records: bytes, high_watermark: int) -> None:
        image = self._image
        for decoded in self._decoded.decode(records):
            assert decoded.batch.header.last_offset < high_watermark, (
                f"broker {self._broker_id} is given {decoded.batch.header!r} above the high watermark"
                f" {high_watermark}"
            )
            image.apply(decoded)
            self._watch.applied(self._broker_id, self._life, decoded.batch, decoded.data)
        self._news()

    def _fetch_snapshot(self, snapshot: OffsetAndEpoch) -> None:
        partition = PartitionSnapshot(
            partition=0,
            current_leader_epoch=self.leader_epoch,
            snapshot_id=SnapshotId(end_offset=snapshot.offset, epoch=snapshot.epoch),
            position=len(self._slices),
            replica_directory_id=self._directory_id,
        )
        request = FetchSnapshotRequest(
            cluster_id=self._cluster_id,
            replica_id=self._broker_id,
            max_bytes=self._slice_bytes,
            topics=[TopicSnapshot(name=METADATA_TOPIC, partitions=[partition])],
        )
        self._network.call(
            self._client,
            self.leader_id,
            request,
            self._snapshot_fetched,
            channel=CHANNEL,
            version=self._snapshot_version,
        )

    def _snapshot_fetched(self, response: Message | None) -> None:
        if self._ended or self._is_lost(response):
            return
        assert isinstance(response, FetchSnapshotResponse)
        assert response.error_code == Errors.NONE, (
            f"broker {self._broker_id}: FetchSnapshot is refused with {Errors(response.error_code).name}"
        )
        data = response.topics[0].partitions[0]
        leader = data.current_leader
        wanted = self._snapshot
        if leader.leader_epoch > self.leader_epoch or data.error_code != Errors.NONE or wanted is None:
            self._snapshot = None
            self._counts["snapshot_fetches_ended"] += 1
            self._again(RETRY_US)
            return
        answered = (data.snapshot_id.end_offset, data.snapshot_id.epoch, data.position)
        assert answered == (*wanted, len(self._slices)), (
            f"broker {self._broker_id} halts: asked for {wanted} at {len(self._slices)}, got {answered}"
        )
        self._slices += data.unaligned_records or b""
        self._counts["snapshot_slices"] += 1
        if len(self._slices) >= data.size and not self._load(wanted):
            self._again(SILENT_US)
        else:
            self._ask()

    def _load(self, snapshot: OffsetAndEpoch) -> bool:
        """Whether it could be read: of a damaged one nothing is used."""
        self._snapshot = None
        content = bytes(self._slices)
        self._slices.clear()
        assert snapshot.offset >= self._image.end_offset, (
            f"broker {self._broker_id} has everything up to {self._image.end_offset}, and a leader makes it"
            f" load the snapshot {snapshot}"
        )
        try:
            self._image.load(snapshot, content)
        except DecodeError:
            assert self._damage_is_possible(), f"broker {self._broker_id} was sent the damaged {snapshot}"
            self._counts["damaged_snapshots_fetched"] += 1
            return False
        self._loaded(self._image)
        self._watch.loaded(self._broker_id, self._life, snapshot, content)
        self._counts["snapshots_fetched"] += 1
        self._news()
        return True
