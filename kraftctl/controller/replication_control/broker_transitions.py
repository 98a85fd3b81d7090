"""Records when a broker is fenced, unfenced, shuts down, leaves, or loses directories (KIP-841, KIP-966).

Every function reads the image as it is *before* the transition and returns all records of it. The
lists need not be atomic: each prefix of them leaves the cluster in a state that is safe.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from kraftctl.config.controller_config import ControllerConfig
from kraftctl.controller.replication_control.leader_acceptor import LeaderAcceptor
from kraftctl.controller.replication_control.partition_changes import PartitionChanges
from kraftctl.image.metadata_image import MetadataImage
from kraftctl.image.topics_image import TopicImage
from kraftctl.metadata.broker_registration_change import (
    controlled_shutdown_record,
    fencing_record,
    log_dirs_record,
    unfencing_record,
)
from kraftctl.metadata.partition_registration import NO_LEADER, PartitionRegistration
from kraftctl_protocol.generated.unregister_broker_record import UnregisterBrokerRecord
from kraftctl_protocol.metadata_record import RecordAndVersion
from kraftctl_protocol.uuids import Uuid

PARTITIONS_PER_SLICE: Final = 2_000
"""Changed in one turn of the loop when a session runs out: about 10 ms, so heartbeats are not late."""


def records_for_fenced_broker(
    image: MetadataImage, config: ControllerConfig, broker_id: int
) -> list[RecordAndVersion]:
    """The broker leaves all ISRs, then it is fenced: no fenced broker is ever seen in an ISR (KIP-841)."""
    registration = image.cluster.brokers[broker_id]
    updates = _Updates(image, config, removed=broker_id)
    updates.add_partitions_with_isr_member(broker_id)
    updates.records.append(fencing_record(registration))
    return updates.records


def records_before_fencing(
    image: MetadataImage, config: ControllerConfig, broker_id: int, after: Uuid
) -> tuple[list[RecordAndVersion], Uuid]:
    """The next slice of what fencing will do to partitions, and the topic id where it ended.

    Topics are taken in order of their ids, from the first one above `after`. Without records nothing is left
    that `records_for_fenced_broker` could not do in one batch.
    """
    updates = _Updates(image, config, removed=broker_id)
    for topic in image.topics.topics_with_isr_member(broker_id):
        if len(updates.records) >= PARTITIONS_PER_SLICE:
            break
        if topic.topic_id > after:
            updates.add_topic_with_isr_member(topic, broker_id)
            after = topic.topic_id
    return updates.records, after


def records_for_unfenced_broker(
    image: MetadataImage,
    config: ControllerConfig,
    broker_id: int,
    offline_directories: Sequence[Uuid] = (),
) -> list[RecordAndVersion]:
    """The broker is unfenced, then partitions without leader may elect it.

    Not those in `offline_directories`, which it reports with the same heartbeat. Kafka's controller elects it
    there, and later reports of these directories change nothing.
    """
    registration = image.cluster.brokers[broker_id]
    updates = _Updates(image, config, added=broker_id, offline=offline_directories)
    updates.records.append(unfencing_record(registration))
    updates.add_leaderless_partitions()
    return updates.records


def records_for_controlled_shutdown(
    image: MetadataImage, config: ControllerConfig, broker_id: int
) -> list[RecordAndVersion]:
    """The broker is marked first, so that no ISR change can bring it back (KIP-841); then it leaves ISRs."""
    registration = image.cluster.brokers[broker_id]
    updates = _Updates(image, config, removed=broker_id)
    if not registration.in_controlled_shutdown:
        updates.records.append(controlled_shutdown_record(registration))
    updates.add_partitions_with_isr_member(broker_id)
    return updates.records


def records_for_unregistered_broker(
    image: MetadataImage, config: ControllerConfig, broker_id: int
) -> list[RecordAndVersion]:
    """The broker leaves all ISRs, then its registration goes. It stays in `replicas`."""
    registration = image.cluster.brokers[broker_id]
    updates = _Updates(image, config, removed=broker_id)
    updates.add_partitions_with_isr_member(broker_id)
    updates.add_partitions_with_elr_member(broker_id)
    record = UnregisterBrokerRecord(broker_id=broker_id, broker_epoch=registration.epoch)
    updates.records.append(RecordAndVersion(record, 0))
    return updates.records


def records_for_new_incarnation(
    image: MetadataImage, config: ControllerConfig, broker_id: int, *, clean_shutdown: bool
) -> list[RecordAndVersion]:
    """What the previous incarnation leaves behind; the caller appends the RegisterBrokerRecord.

    After an unclean shutdown the broker may have lost the tail of its logs, so that with KIP-966 it
    is neither in sync nor eligible any more (KAFKA-15586).
    """
    if image.features.elr_enabled and not clean_shutdown:
        updates = _Updates(image, config, unclean=broker_id)
        updates.add_partitions_with_isr_member(broker_id)
        updates.add_partitions_with_elr_member(broker_id)
    else:
        updates = _Updates(image, config, removed=broker_id)
        updates.add_partitions_with_isr_member(broker_id)
    return updates.records


def records_for_offline_directories(
    image: MetadataImage, config: ControllerConfig, broker_id: int, offline_directories: Sequence[Uuid]
) -> list[RecordAndVersion]:
    """KIP-858: replicas in directories that just failed leave their ISRs, then the directories go.

    Empty when none of `offline_directories` is registered.
    """
    registration = image.cluster.brokers[broker_id]
    newly_offline = [d for d in registration.directories if d in offline_directories]
    if not newly_offline:
        return []
    updates = _Updates(image, config, removed=broker_id)
    for directory in newly_offline:
        updates.add_partitions_in_directory(broker_id, directory)
    left = [d for d in registration.directories if d not in offline_directories]
    updates.records.append(log_dirs_record(registration, left))
    return updates.records


def records_for_failed_assignments(
    image: MetadataImage, config: ControllerConfig, broker_id: int, partitions: list[tuple[Uuid, int]]
) -> list[RecordAndVersion]:
    """KIP-858: the broker leaves the ISR of replicas that it put into a directory that is offline."""
    updates = _Updates(image, config, removed=broker_id)
    for topic_id, index in partitions:
        topic = image.topics.topics[topic_id]
        updates.add_partition(topic, index, topic.partitions[index])
    return updates.records


class _Updates:
    """Collects ISR, ELR and leader updates for one broker's transition.

    `removed` leaves ISR and leadership; `added` counts as unfenced; `unclean` leaves the ELR too.
    """

    def __init__(
        self,
        image: MetadataImage,
        config: ControllerConfig,
        *,
        removed: int = NO_LEADER,
        added: int = NO_LEADER,
        unclean: int = NO_LEADER,
        offline: Sequence[Uuid] = (),
    ) -> None:
        acceptor = LeaderAcceptor(
            image.cluster, removed=removed, added=added, unclean=unclean, offline=offline
        )
        self._topics = image.topics
        self._changes = PartitionChanges(image, config, acceptor)
        self._leaving = removed if removed != NO_LEADER else unclean
        self._unclean = unclean
        self.records: list[RecordAndVersion] = []

    def add_partitions_with_isr_member(self, broker_id: int) -> None:
        for topic in self._topics.topics_with_isr_member(broker_id):
            self.add_topic_with_isr_member(topic, broker_id)

    def add_topic_with_isr_member(self, topic: TopicImage, broker_id: int) -> None:
        min_isr = self._changes.settings.min_isr(topic)
        election = self._changes.automatic_election(topic)
        for index, partition in topic.partitions.items():
            if broker_id in partition.isr:
                self._add(topic, index, partition, min_isr, election)

    def add_partitions_with_elr_member(self, broker_id: int) -> None:
        for topic in self._topics.topics_with_elr_member(broker_id):
            min_isr = self._changes.settings.min_isr(topic)
            election = self._changes.automatic_election(topic)
            for index, partition in topic.partitions.items():
                if broker_id in partition.elr:
                    self._add(topic, index, partition, min_isr, election)

    def add_leaderless_partitions(self) -> None:
        for topic in self._topics.leaderless_topics():
            min_isr = self._changes.settings.min_isr(topic)
            election = self._changes.automatic_election(topic)
            for index, partition in topic.partitions.items():
                if partition.leader == NO_LEADER:
                    self._add(topic, index, partition, min_isr, election)

    def add_partitions_in_directory(self, broker_id: int, directory: Uuid) -> None:
        """Only partitions whose ISR has the broker: nothing changes for the others."""
        for topic in self._topics.topics_with_isr_member(broker_id):
            min_isr = self._changes.settings.min_isr(topic)
            election = self._changes.automatic_election(topic)
            for index, partition in topic.partitions.items():
                if broker_id in partition.isr and partition.directory(broker_id) == directory:
                    self._add(topic, index, partition, min_isr, election)

    def add_partition(self, topic: TopicImage, index: int, partition: PartitionRegistration) -> None:
        election = self._changes.automatic_election(topic)
        self._add(topic, index, partition, self._changes.settings.min_isr(topic), election)

    def _add(
        self, topic: TopicImage, index: int, partition: PartitionRegistration, min_isr: int, election: int
    ) -> None:
        builder = self._changes.builder_for(topic, index, partition, min_isr)
        builder.election = election
        builder.unclean_shutdown_replica = self._unclean
        leaving = self._leaving
        if leaving in partition.isr:
            builder.target_isr = tuple([replica for replica in partition.isr if replica != leaving])
        record = builder.build()
        if record is not None:
            self.records.append(record)
