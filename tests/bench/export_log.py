"""A long metadata log, generated without a cluster, that is consistent: a controller can load it.

Six brokers; 82 % of the records are PartitionChangeRecords (ISRs that shrink and grow, new leaders), the rest
are other events of a cluster. Same seed, same bytes.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from pathlib import Path

from kraftctl.storage.metadata_log import MetadataLog
from kraftctl_protocol.generated.access_control_entry_record import AccessControlEntryRecord
from kraftctl_protocol.generated.broker_registration_change_record import BrokerRegistrationChangeRecord
from kraftctl_protocol.generated.client_quota_record import ClientQuotaRecord, EntityData
from kraftctl_protocol.generated.config_record import ConfigRecord
from kraftctl_protocol.generated.feature_level_record import FeatureLevelRecord
from kraftctl_protocol.generated.no_op_record import NoOpRecord
from kraftctl_protocol.generated.partition_change_record import PartitionChangeRecord
from kraftctl_protocol.generated.partition_record import PartitionRecord
from kraftctl_protocol.generated.producer_ids_record import ProducerIdsRecord
from kraftctl_protocol.generated.register_broker_record import BrokerEndpoint, RegisterBrokerRecord
from kraftctl_protocol.generated.remove_access_control_entry_record import RemoveAccessControlEntryRecord
from kraftctl_protocol.generated.remove_topic_record import RemoveTopicRecord
from kraftctl_protocol.generated.topic_record import TopicRecord
from kraftctl_protocol.generated.user_scram_credential_record import UserScramCredentialRecord
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import encode_metadata_record
from kraftctl_protocol.record_batch import encode_batch

EPOCH = 1
SEED = 20
BROKERS = 6
BROKER_EPOCH = 100
TOPICS = 300
PARTITIONS_PER_TOPIC = 8
BATCH_RECORDS_MAX = 200
"""Batches hold 1 to this many records: what one request changes, or one broker's fencing."""
FIRST_TIMESTAMP_MS = 1_700_000_000_000
BATCH_INTERVAL_MS = 700
APPEND_BYTES = 4 << 20
METADATA_VERSION = 30

Drawn = tuple[Message, int]
"""A record and the version it is written in."""


class SyntheticLog:
    """Draws records, each valid after those before it."""

    def __init__(self, seed: int = SEED, topics: int = TOPICS) -> None:
        self._random = random.Random(seed)
        self._topics_max = topics
        self._topics: list[bytes] = []
        self._numbers = itertools.count()
        self._acls: list[bytes] = []
        self._pending: list[Drawn] = []
        self._replicas = list(itertools.permutations(range(BROKERS), 3))
        self._kinds = [
            (self._config, 4),
            (self._fencing, 3),
            (self._access_control_entry, 3),
            (self._topic, 1),
            (self._client_quota, 1),
            (self._scram, 1),
            (lambda: (ProducerIdsRecord(1, 1, 1000 * next(self._numbers)), 0), 1),
            (lambda: (NoOpRecord(), 0), 4),
        ]
        self._draws = [draw for draw, weight in self._kinds for _ in range(weight)]

    def records(self) -> Iterator[Drawn]:
        """Endless. After the beginning 82 % are PartitionChangeRecords."""
        yield from self._beginning()
        while True:
            if self._pending:
                yield self._pending.pop()
            elif self._random.random() < 0.885:
                yield self._partition_change(), 2
            else:
                yield self._random.choice(self._draws)()

    def _beginning(self) -> Iterator[Drawn]:
        yield FeatureLevelRecord(name="metadata.version", feature_level=METADATA_VERSION), 0
        for broker in range(BROKERS):
            endpoint = BrokerEndpoint(name="PLAINTEXT", host=f"b{broker}", port=9092, security_protocol=0)
            yield (
                RegisterBrokerRecord(
                    broker_id=broker,
                    incarnation_id=_id(0xB0, broker),
                    broker_epoch=BROKER_EPOCH,
                    end_points=[endpoint],
                    fenced=False,
                    log_dirs=[_id(0xD0, broker)],
                ),
                3,
            )
        for _ in range(self._topics_max):
            yield self._topic()
            yield from reversed(self._pending)
            self._pending.clear()

    def _topic(self) -> Drawn:
        """A new topic, followed by its partitions; the oldest topic is removed when there are enough."""
        number = next(self._numbers)
        topic_id = _id(0x70, number)
        self._topics.append(topic_id)
        for partition in reversed(range(PARTITIONS_PER_TOPIC)):
            self._pending.append((self._partition(topic_id, partition), 2))
        if len(self._topics) > self._topics_max:
            self._pending.append((RemoveTopicRecord(self._topics.pop(0)), 0))
        return TopicRecord(f"topic-{number}", topic_id), 0

    def _partition(self, topic_id: bytes, partition: int) -> PartitionRecord:
        replicas = list(self._random.choice(self._replicas))
        return PartitionRecord(
            partition_id=partition,
            topic_id=topic_id,
            replicas=replicas,
            isr=replicas,
            leader=replicas[0],
            directories=[_id(0xD0, replica) for replica in replicas],
        )

    def _partition_change(self) -> PartitionChangeRecord:
        """Any member of the ISR may lead, any replica may leave it; a replay treats them alike."""
        topic_id = self._random.choice(self._topics)
        replicas = self._random.choice(self._replicas)
        isr = list(replicas[: self._random.randint(1, 3)])
        change = PartitionChangeRecord(self._random.randrange(PARTITIONS_PER_TOPIC), topic_id, isr)
        if self._random.random() < 0.3:
            change.leader = isr[0]
        if len(isr) == 1:
            change.eligible_leader_replicas = [replicas[1]]
        return change

    def _fencing(self) -> Drawn:
        fenced = self._random.choice((-1, 1))
        return BrokerRegistrationChangeRecord(self._random.randrange(BROKERS), BROKER_EPOCH, fenced=fenced), 0

    def _config(self) -> Drawn:
        name = self._random.choice(
            ("retention.ms", "min.insync.replicas", "segment.bytes", "plugin.password")
        )
        resource = f"topic-{self._random.randrange(self._topics_max)}"
        return ConfigRecord(2, resource, name, str(self._random.randrange(1_000_000))), 0

    def _access_control_entry(self) -> Drawn:
        if len(self._acls) > 500:
            return RemoveAccessControlEntryRecord(self._acls.pop(0)), 0
        self._acls.append(_id(0xAC, next(self._numbers)))
        user = f"User:{self._random.randrange(100)}"
        return AccessControlEntryRecord(self._acls[-1], 2, "topic-", 4, user, "*", 3, 3), 0

    def _client_quota(self) -> Drawn:
        entity = [EntityData("user", f"user-{self._random.randrange(50)}")]
        return ClientQuotaRecord(entity, "producer_byte_rate", float(self._random.randrange(1, 9) << 20)), 0

    def _scram(self) -> Drawn:
        name = f"user-{self._random.randrange(50)}"
        key = self._random.randbytes(32)
        return UserScramCredentialRecord(name, 1, key[:16], key, key, 4096), 0


def _id(kind: int, number: int) -> bytes:
    return bytes([kind]) + number.to_bytes(15, "big")


def batches(count: int, seed: int = SEED, topics: int = TOPICS) -> Iterator[bytes]:
    """Encoded batches with `count` records in all, from offset 0."""
    drawn = SyntheticLog(seed, topics).records()
    values = (encode_metadata_record(record, version) for record, version in drawn)
    sizes = random.Random(seed)
    offset = 0
    timestamp_ms = FIRST_TIMESTAMP_MS
    while offset < count:
        size = min(sizes.randint(1, BATCH_RECORDS_MAX), count - offset)
        yield encode_batch(offset, EPOCH, timestamp_ms, list(itertools.islice(values, size)))
        offset += size
        timestamp_ms += BATCH_INTERVAL_MS


def write_log(metadata_directory: Path, count: int) -> int:
    """Fills the empty log of a formatted controller; returns its size in bytes."""
    log = MetadataLog.open(metadata_directory)
    held = bytearray()
    for batch in batches(count):
        held += batch
        if len(held) >= APPEND_BYTES:
            log.append(bytes(held))
            log.flush()
            held.clear()
    if held:
        log.append(bytes(held))
    size_bytes = log.size_bytes
    log.close()
    return size_bytes
