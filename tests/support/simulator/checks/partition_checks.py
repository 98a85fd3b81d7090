"""The invariants of partitions, brokers and features, checked with each batch that becomes committed.

The batches are replayed into an image of the checks' own, record by record, so nothing here trusts the image
of a controller. Those are compared with it now and then, and so are snapshots.
"""

from __future__ import annotations

from collections.abc import Callable

from kraftctl.config.controller_config import ControllerConfig
from kraftctl.controller.state.effective_configs import TopicSettings
from kraftctl.image.replay import replay
from kraftctl.metadata import features
from kraftctl.metadata.endpoint import VersionRange
from kraftctl.metadata.partition_registration import PartitionRegistration
from kraftctl_protocol.generated.broker_registration_change_record import BrokerRegistrationChangeRecord
from kraftctl_protocol.generated.feature_level_record import FeatureLevelRecord
from kraftctl_protocol.generated.partition_change_record import PartitionChangeRecord
from kraftctl_protocol.generated.partition_record import PartitionRecord
from kraftctl_protocol.generated.register_broker_record import RegisterBrokerRecord
from kraftctl_protocol.generated.unregister_broker_record import UnregisterBrokerRecord
from kraftctl_protocol.message import Message
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from kraftctl_protocol.uuids import Uuid
from tests.support.simulator.checks.invariants import broken
from tests.support.simulator.checks.log_history import Batch
from tests.support.simulator.checks.partition_rules import (
    check_change,
    check_min_isr,
    check_new_isr,
    check_partition,
    check_unclean,
    min_isr_in_batch,
)
from tests.support.simulator.checks.process_view import ProcessView
from tests.support.simulator.checks.reference_image import (
    ReferenceImage,
    encoded_image,
    first_difference,
    snapshot_values,
)

UNSUPPORTED = VersionRange(0, 0)

PartitionKey = tuple[Uuid, int]


class PartitionChecks:
    """`leaders` has the broker that the log names for each (topic id, partition, leader epoch)."""

    def __init__(self, config: ControllerConfig) -> None:
        self.reference = ReferenceImage()
        self.image = self.reference.image
        self.leaders: dict[tuple[Uuid, int, int], int] = {}
        self.may_ask_for_unclean = True
        self.may_join_appends = False
        """Whether a batch may have the records of several appends, as in the logs of Kafka's controllers."""
        """Whether an administrator may ask for an unclean election: the log does not say why it was held."""
        self._config = config
        self._batch_base = 0
        self._broker_epochs: dict[int, int] = {}
        self._changed: dict[PartitionKey, PartitionRegistration | None] = {}
        """Partitions of the batch in progress, as they were before it; None: new."""
        self._changed_brokers: dict[int, bool] = {}
        """Brokers of the batch in progress, and whether they were unfenced before it."""
        self._by_type: dict[type, Callable[[Message, int], None]] = {
            PartitionChangeRecord: self._partition_change,
            PartitionRecord: self._partition,
            RegisterBrokerRecord: self._register_broker,
            BrokerRegistrationChangeRecord: self._change_broker,
            UnregisterBrokerRecord: self._unregister_broker,
            FeatureLevelRecord: self._feature_level,
        }

    def committed(self, batch: Batch) -> None:
        """The next committed batch: one append, unless that was too large for one."""
        self._batch_base = offset = batch.base_offset
        for record in batch.messages:
            check = self._by_type.get(type(record))
            if check is None:
                self._replay(record, offset)
            else:
                check(record, offset)
            offset += 1
        self.reference.end_offset = batch.end
        if self._changed:
            self._check_partitions()
        if self._changed_brokers:
            self._check_brokers()

    def _replay(self, record: Message, offset: int) -> None:
        try:
            replay(self.image, record, offset)
        except (AssertionError, KeyError) as error:
            broken("NoIllegalState", f"the record at offset {offset} does not fit: {error!r}, {record!r}")

    # Partitions.

    def _partition_change(self, record: Message, offset: int) -> None:
        assert isinstance(record, PartitionChangeRecord)
        key = (record.topic_id, record.partition_id)
        before = self.image.topics.partition(*key)
        self._replay(record, offset)
        after = self.image.topics.partition(*key)
        assert before is not None
        assert after is not None
        name = f"{record.topic_id.hex()}-{record.partition_id} at offset {offset}"
        check_change(name, before, after, elr_enabled=self.image.features.elr_enabled)
        self._changed.setdefault(key, before)
        if after.leader_epoch != before.leader_epoch:
            self.leaders[record.topic_id, record.partition_id, int(after.leader_epoch)] = int(after.leader)

    def _partition(self, record: Message, offset: int) -> None:
        assert isinstance(record, PartitionRecord)
        key = (record.topic_id, record.partition_id)
        before = self.image.topics.partition(*key)
        if before is not None:
            broken("PartitionEpochOnlyRises", f"offset {offset} creates {before!r} again")
        self._replay(record, offset)
        self._changed.setdefault(key, None)
        self.leaders[record.topic_id, record.partition_id, record.leader_epoch] = record.leader

    def _check_partitions(self) -> None:
        changed, self._changed = self._changed, {}
        image = self.image
        settings = TopicSettings(image, self._config)
        for (topic_id, index), before in changed.items():
            topic = image.topics.topics.get(topic_id)
            partition = None if topic is None else topic.partitions.get(index)
            if topic is None or partition is None:
                continue
            name = f"{topic.name}-{index} at offset {self._batch_base}"
            check_partition(image, name, before, partition)
            if image.features.elr_enabled and partition.elr:
                first = changed.get((topic_id, 0))
                check_min_isr(name, before, partition, min_isr_in_batch(settings, topic, first))
            may_be_unclean = self.may_ask_for_unclean or settings.unclean_election_enabled(topic.name)
            if before is not None and not may_be_unclean:
                check_unclean(name, before, partition)
            if before is not None and before.isr != partition.isr:
                check_new_isr(image, name, before, partition)

    # Brokers.

    def _note_broker(self, broker_id: int) -> None:
        known = self.image.cluster.brokers.get(broker_id)
        self._changed_brokers.setdefault(broker_id, known is not None and not known.fenced)

    def _register_broker(self, record: Message, offset: int) -> None:
        """KAFKA-15213: the epoch is the offset of the first record of the append."""
        assert isinstance(record, RegisterBrokerRecord)
        self._note_broker(record.broker_id)
        former = self.image.cluster.brokers.get(record.broker_id)
        same = former is not None and former.incarnation_id == record.incarnation_id
        expected = former.epoch if former is not None and same else self._batch_base
        if self.may_join_appends and not same and expected <= record.broker_epoch <= offset:
            expected = record.broker_epoch
        known = self._broker_epochs.get(record.broker_id, -1)
        if record.broker_epoch != expected or (not same and expected <= known):
            broken(
                "BrokerEpochOnlyRises",
                f"broker {record.broker_id} gets epoch {record.broker_epoch} at {offset}, after {known}",
            )
        self._broker_epochs[record.broker_id] = record.broker_epoch
        self._replay(record, offset)
        supported = self.image.cluster.brokers[record.broker_id].supported_features
        levels = {
            **self.image.features.finalized,
            features.METADATA_VERSION: self.image.features.metadata_version,
        }
        for name in sorted(levels):
            _check_level(f"broker {record.broker_id}", offset, supported, name, levels[name])

    def _change_broker(self, record: Message, offset: int) -> None:
        assert isinstance(record, BrokerRegistrationChangeRecord)
        self._note_broker(record.broker_id)
        self._replay(record, offset)

    def _unregister_broker(self, record: Message, offset: int) -> None:
        assert isinstance(record, UnregisterBrokerRecord)
        self._note_broker(record.broker_id)
        self._replay(record, offset)

    def _check_brokers(self) -> None:
        changed, self._changed_brokers = self._changed_brokers, {}
        for broker_id, was_unfenced in changed.items():
            registration = self.image.cluster.brokers.get(broker_id)
            if registration is None or registration.fenced:
                self._check_gone(broker_id, was_unfenced)

    def _check_gone(self, broker_id: int, was_unfenced: bool) -> None:
        """A broker that shuts down is only marked by then: it leaves its partitions in several appends."""
        topics = self.image.topics
        name = f"broker {broker_id}, fenced or unregistered at offset {self._batch_base},"
        if topics.has_leaderships(broker_id):
            broken("ValidControllerState", f"{name} leads partitions")
        newly = was_unfenced and self.image.features.elr_enabled
        in_isrs = topics.isr_counts.get(broker_id, {}) | topics.last_member_counts.get(broker_id, {})
        for topic in (topics.topics[topic_id] for topic_id in sorted(in_isrs)):
            for index, partition in topic.partitions.items():
                if broker_id in partition.isr and (newly or len(partition.isr) > 1):
                    broken("ValidControllerState", f"{name} is in the ISR of {topic.name}-{index}")

    # Features.

    def _feature_level(self, record: Message, offset: int) -> None:
        assert isinstance(record, FeatureLevelRecord)
        self._replay(record, offset)
        if record.name == features.KRAFT_VERSION:
            return
        cluster = self.image.cluster
        for broker_id in sorted(cluster.brokers):
            supported = cluster.brokers[broker_id].supported_features
            _check_level(f"broker {broker_id}", offset, supported, record.name, record.feature_level)
        for node_id in sorted(cluster.controllers):
            supported = cluster.controllers[node_id].supported_features
            _check_level(f"controller {node_id}", offset, supported, record.name, record.feature_level)

    # Images and snapshots.

    def check_image(self, process: ProcessView) -> None:
        """What `process` knows to be committed is what a replay of the committed log gives."""
        controller = process.controller
        end_offset = process.raft.high_watermark if controller.active else controller.next_replay_offset
        if controller.last_stable_offset + 1 != end_offset or end_offset > self.reference.end_offset:
            return
        found = encoded_image(controller.image, end_offset)
        expected = self.reference.encoded_at(end_offset)
        if found != expected:
            broken(
                "AllCommittedImagesAgree",
                f"node {process.node_id} at offset {end_offset}: {first_difference(found, expected)}",
            )
        if not controller.active and end_offset == self.reference.end_offset:
            self._check_indexes(process)

    def _check_indexes(self, process: ProcessView) -> None:
        own, other = process.controller.image.topics, self.image.topics
        for mine, expected in (
            (own.isr_counts, other.isr_counts),
            (own.last_member_counts, other.last_member_counts),
            (own.elr_counts, other.elr_counts),
            (own.leader_counts, other.leader_counts),
            (own.leaderless_counts, other.leaderless_counts),
        ):
            if mine == expected:
                continue
            broken(
                "AllCommittedImagesAgree",
                f"node {process.node_id} at offset {self.reference.end_offset}: indexes differ",
            )
        self._check_offsets(process)

    def _check_offsets(self, process: ProcessView) -> None:
        """KAFKA-15213: a record is replayed with its own offset, or with the end of the snapshot it is in."""
        own, other = process.controller.image.cluster, self.image.cluster
        for broker_id, offset in other.registration_offsets.items():
            if own.registration_offsets[broker_id] < offset:
                broken(
                    "AllCommittedImagesAgree",
                    f"node {process.node_id} has the registration of broker {broker_id} at"
                    f" {own.registration_offsets[broker_id]}, not {offset}",
                )

    def check_snapshot(self, who: str, snapshot_id: OffsetAndEpoch, data: bytes) -> None:
        """It has what the log before its end says."""
        found = snapshot_values(data)
        expected = self.reference.encoded_at(snapshot_id.offset)
        if found != expected:
            broken("SnapshotEqualsLog", f"{who}, {snapshot_id}: {first_difference(found, expected)}")


def _check_level(
    node: str, offset: int, supported: dict[str, VersionRange], feature: str, level: int
) -> None:
    if level != 0 and not supported.get(feature, UNSUPPORTED).contains(level):
        broken("FeaturesAreSupported", f"{feature} {level} at offset {offset}: {node} has {supported}")
