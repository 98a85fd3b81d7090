"""Random sequences of metadata records, each valid for the image it meets."""

from __future__ import annotations

import random

from kraftctl.image.metadata_image import MetadataImage
from kraftctl_protocol.generated.abort_transaction_record import AbortTransactionRecord
from kraftctl_protocol.generated.access_control_entry_record import AccessControlEntryRecord
from kraftctl_protocol.generated.begin_transaction_record import BeginTransactionRecord
from kraftctl_protocol.generated.broker_registration_change_record import BrokerRegistrationChangeRecord
from kraftctl_protocol.generated.clear_elr_record import ClearElrRecord
from kraftctl_protocol.generated.client_quota_record import ClientQuotaRecord, EntityData
from kraftctl_protocol.generated.config_record import ConfigRecord
from kraftctl_protocol.generated.delegation_token_record import DelegationTokenRecord
from kraftctl_protocol.generated.end_transaction_record import EndTransactionRecord
from kraftctl_protocol.generated.feature_level_record import FeatureLevelRecord
from kraftctl_protocol.generated.no_op_record import NoOpRecord
from kraftctl_protocol.generated.partition_change_record import PartitionChangeRecord
from kraftctl_protocol.generated.partition_record import PartitionRecord
from kraftctl_protocol.generated.producer_ids_record import ProducerIdsRecord
from kraftctl_protocol.generated.register_broker_record import (
    BrokerEndpoint,
    BrokerFeature,
    RegisterBrokerRecord,
)
from kraftctl_protocol.generated.register_controller_record import RegisterControllerRecord
from kraftctl_protocol.generated.remove_access_control_entry_record import RemoveAccessControlEntryRecord
from kraftctl_protocol.generated.remove_delegation_token_record import RemoveDelegationTokenRecord
from kraftctl_protocol.generated.remove_topic_record import RemoveTopicRecord
from kraftctl_protocol.generated.remove_user_scram_credential_record import RemoveUserScramCredentialRecord
from kraftctl_protocol.generated.topic_record import TopicRecord
from kraftctl_protocol.generated.unregister_broker_record import UnregisterBrokerRecord
from kraftctl_protocol.generated.unregister_controller_record import UnregisterControllerRecord
from kraftctl_protocol.generated.user_scram_credential_record import UserScramCredentialRecord
from kraftctl_protocol.message import Message

BROKERS = 6


def _uuid(rng: random.Random) -> bytes:
    return bytes([0xBB]) + rng.randbytes(15)


def _subset(rng: random.Random, ids: list[int], minimum: int) -> list[int]:
    return rng.sample(ids, rng.randint(min(minimum, len(ids)), len(ids)))


class RecordSequence:
    """Draws the next record for `image`, from all record types."""

    def __init__(self, seed: int, image: MetadataImage) -> None:
        self.rng = random.Random(seed)
        self.image = image
        self._draws = [
            (self._topic, 4),
            (self._partition, 8),
            (self._partition_change, 20),
            (self._remove_topic, 1),
            (self._clear_elr, 1),
            (self._register_broker, 3),
            (self._broker_change, 4),
            (self._unregister_broker, 1),
            (self._unregister_controller, 1),
            (self._register_controller, 1),
            (self._config, 5),
            (self._feature, 1),
            (self._quota, 3),
            (self._producer_ids, 1),
            (self._acl, 2),
            (self._scram, 2),
            (self._token, 2),
            (self._transaction, 3),
        ]

    def next(self) -> Message:
        drawn = self.rng.choices([d for d, _ in self._draws], [weight for _, weight in self._draws])
        return drawn[0]() or NoOpRecord()

    def _topic(self) -> Message | None:
        name = f"{self.rng.choice('abc')}{self.rng.choice('._-')}{self.rng.randint(0, 5)}"
        if name in self.image.topics.ids_by_name:
            return None
        return TopicRecord(name=name, topic_id=_uuid(self.rng))

    def _any_topic(self) -> bytes | None:
        topics = sorted(self.image.topics.topics)
        return self.rng.choice(topics) if topics else None

    def _partition(self) -> Message | None:
        topic_id = self._any_topic()
        if topic_id is None:
            return None
        replicas = _subset(self.rng, list(range(BROKERS)), 1)
        isr = _subset(self.rng, replicas, 0)
        rest = [replica for replica in replicas if replica not in isr]
        return PartitionRecord(
            topic_id=topic_id,
            partition_id=self.rng.randint(0, 4),
            replicas=replicas,
            isr=isr,
            leader=isr[0] if isr else -1,
            leader_epoch=self.rng.randint(0, 9),
            partition_epoch=self.rng.randint(0, 9),
            directories=[_uuid(self.rng) for _ in replicas],
            eligible_leader_replicas=_subset(self.rng, rest, 0) or None,
        )

    def _partition_change(self) -> Message | None:
        topic_id = self._any_topic()
        if topic_id is None or not self.image.topics.topics[topic_id].partitions:
            return None
        partitions = self.image.topics.topics[topic_id].partitions
        index = self.rng.choice(sorted(partitions))
        replicas = list(partitions[index].replicas)
        change = PartitionChangeRecord(topic_id=topic_id, partition_id=index)
        if self.rng.random() < 0.6:
            change.isr = _subset(self.rng, replicas, 0)
        if self.rng.random() < 0.5:
            change.leader = self.rng.choice([*replicas, -1])
        if self.rng.random() < 0.3:
            change.eligible_leader_replicas = _subset(self.rng, replicas, 0)
            change.last_known_elr = [self.rng.choice(replicas)]
        if self.rng.random() < 0.2:
            self._reassign(change)
        if self.rng.random() < 0.2:
            change.leader_recovery_state = self.rng.choice([0, 1])
        return change

    def _reassign(self, change: PartitionChangeRecord) -> None:
        replicas = _subset(self.rng, list(range(BROKERS)), 1)
        change.replicas = replicas
        change.directories = [_uuid(self.rng) for _ in replicas]
        change.adding_replicas = _subset(self.rng, replicas, 0)
        change.removing_replicas = []

    def _remove_topic(self) -> Message | None:
        topic_id = self._any_topic()
        return None if topic_id is None else RemoveTopicRecord(topic_id=topic_id)

    def _clear_elr(self) -> Message | None:
        topic_id = self._any_topic()
        if topic_id is None or self.rng.random() < 0.3:
            return ClearElrRecord(topic_name="")
        return ClearElrRecord(topic_name=self.image.topics.topics[topic_id].name)

    def _register_broker(self) -> Message | None:
        return RegisterBrokerRecord(
            broker_id=self.rng.randrange(BROKERS),
            broker_epoch=self.rng.randrange(1000),
            incarnation_id=_uuid(self.rng),
            end_points=[BrokerEndpoint(name="PLAINTEXT", host="b", port=9092, security_protocol=0)],
            features=[
                BrokerFeature(name="metadata.version", min_supported_version=7, max_supported_version=30)
            ],
            rack=self.rng.choice([None, "r1", "r2"]),
            fenced=self.rng.random() < 0.5,
            log_dirs=sorted(_uuid(self.rng) for _ in range(self.rng.randint(0, 2))),
        )

    def _any_broker(self) -> int | None:
        brokers = sorted(self.image.cluster.brokers)
        return self.rng.choice(brokers) if brokers else None

    def _broker_change(self) -> Message | None:
        broker_id = self._any_broker()
        if broker_id is None:
            return None
        return BrokerRegistrationChangeRecord(
            broker_id=broker_id,
            broker_epoch=self.image.cluster.brokers[broker_id].epoch,
            fenced=self.rng.choice([-1, 0, 1]),
            in_controlled_shutdown=self.rng.choice([0, 1]),
            log_dirs=self.rng.choice([[], [_uuid(self.rng)]]),
            cordoned_log_dirs=self.rng.choice([None, [], [_uuid(self.rng)]]),
        )

    def _unregister_broker(self) -> Message | None:
        broker_id = self._any_broker()
        if broker_id is None:
            return None
        epoch = self.image.cluster.brokers[broker_id].epoch
        return UnregisterBrokerRecord(broker_id=broker_id, broker_epoch=epoch)

    def _register_controller(self) -> Message | None:
        return RegisterControllerRecord(
            controller_id=3000 + self.rng.randrange(3), incarnation_id=_uuid(self.rng)
        )

    def _unregister_controller(self) -> Message | None:
        controllers = sorted(self.image.cluster.controllers)
        if not controllers:
            return None
        return UnregisterControllerRecord(controller_id=self.rng.choice(controllers))

    def _config(self) -> Message | None:
        topic_id = self._any_topic()
        resource = (4, self.rng.choice(["", "1"]))
        if topic_id is not None and self.rng.random() < 0.7:
            resource = (2, self.image.topics.topics[topic_id].name)
        return ConfigRecord(
            resource_type=resource[0],
            resource_name=resource[1],
            name=self.rng.choice(["retention.ms", "min.insync.replicas"]),
            value=self.rng.choice([None, "1", "2"]),
        )

    def _feature(self) -> Message | None:
        name = self.rng.choice(["metadata.version", "group.version", "transaction.version", "kraft.version"])
        level = 30 if name == "metadata.version" else self.rng.randint(0, 1)
        return FeatureLevelRecord(name=name, feature_level=level)

    def _quota(self) -> Message | None:
        kind, key = self.rng.choice([("user", "producer_byte_rate"), ("ip", "connection_creation_rate")])
        return ClientQuotaRecord(
            entity=[EntityData(entity_type=kind, entity_name=self.rng.choice([None, "x"]))],
            key=key,
            value=float(self.rng.randint(1, 5)),
            remove=self.rng.random() < 0.4,
        )

    def _producer_ids(self) -> Message | None:
        return ProducerIdsRecord(broker_id=1, broker_epoch=1, next_producer_id=self.rng.randrange(10) * 1000)

    def _acl(self) -> Message | None:
        if self.image.acls.acls and self.rng.random() < 0.4:
            return RemoveAccessControlEntryRecord(id=self.rng.choice(sorted(self.image.acls.acls)))
        return AccessControlEntryRecord(
            id=_uuid(self.rng),
            resource_type=2,
            resource_name=self.rng.choice("ab"),
            pattern_type=self.rng.choice([3, 4]),
            principal="User:a",
            host="*",
            operation=3,
            permission_type=3,
        )

    def _scram(self) -> Message | None:
        user = self.rng.choice("uvw")
        if self.rng.random() < 0.4:
            return RemoveUserScramCredentialRecord(name=user, mechanism=1)
        return UserScramCredentialRecord(
            name=user,
            mechanism=1,
            salt=self.rng.randbytes(4),
            stored_key=b"s",
            server_key=b"k",
            iterations=4096,
        )

    def _token(self) -> Message | None:
        token_id = self.rng.choice("tu")
        if self.rng.random() < 0.4:
            return RemoveDelegationTokenRecord(token_id=token_id)
        return DelegationTokenRecord(
            owner="User:o",
            requester="User:o",
            renewers=["User:r"],
            issue_timestamp=1,
            max_timestamp=self.rng.randint(2, 9),
            expiration_timestamp=2,
            token_id=token_id,
        )

    def _transaction(self) -> Message | None:
        if self.image.journal.transaction_start is None:
            return BeginTransactionRecord()
        return self.rng.choice([EndTransactionRecord(), AbortTransactionRecord()])


def fingerprint(image: MetadataImage) -> dict[str, object]:
    """The parts of an image that must be equal at the same offset, however it was reached; with indexes."""
    topics = image.topics
    return {
        "features": (image.features.metadata_version, dict(image.features.finalized)),
        "features epoch": image.features.last_change_offset,
        "brokers": dict(image.cluster.brokers),
        "controllers": dict(image.cluster.controllers),
        "registration offsets": dict(image.cluster.registration_offsets),
        "topics": {t.topic_id: (t.name, dict(t.partitions)) for t in topics.topics.values()},
        "topic names": dict(topics.ids_by_name),
        "unified names": dict(topics.names_by_unified_name),
        "partition count": topics.partition_count,
        "isr index": {broker: dict(counts) for broker, counts in topics.isr_counts.items()},
        "last member index": {broker: dict(counts) for broker, counts in topics.last_member_counts.items()},
        "elr index": {broker: dict(counts) for broker, counts in topics.elr_counts.items()},
        "leader index": dict(topics.leader_counts),
        "leaderless index": dict(topics.leaderless_counts),
        "imbalanced index": dict(topics.imbalanced_counts),
        "reassigning index": dict(topics.reassigning_counts),
        "configs": {resource: dict(configs) for resource, configs in image.configurations.resources.items()},
        "quotas": dict(image.client_quotas.quotas),
        "producer ids": image.producer_ids.next_producer_id,
        "acls": dict(image.acls.acls),
        "acl index": {acl for acls in image.acls.index.types() for p in acls.all() for acl in p.all()},
        "scram": dict(image.scram.credentials),
        "tokens": dict(image.delegation_tokens.tokens),
        "transaction": image.journal.transaction_start,
    }
