"""PartitionWalk finds partitions of many topics, a slice at a time, while they change.

A walk has a list of topics from its beginning, and a place in it. A topic that is deleted in the meantime is
skipped. Partitions that appear behind the place are not seen: a caller that has to find everything reads the
indexes again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from kraftctl.controller.replication_control.leader_acceptor import LeaderAcceptor
from kraftctl.controller.replication_control.partition_updates import PartitionUpdates
from kraftctl.controller.results.slice_budget import SliceBudget
from kraftctl.image.cluster_image import ClusterImage
from kraftctl.image.metadata_image import MetadataImage
from kraftctl.image.topics_image import TopicImage, TopicsImage
from kraftctl.metadata.partition_registration import NO_LEADER, PartitionRegistration
from kraftctl_protocol.uuids import Uuid

SORTED_TOPICS_MAX: Final = 1_000
"""This many are taken in the order of their ids, whatever happened before; sorting more takes too long."""


def in_order(topic_ids: dict[Uuid, int]) -> list[Uuid]:
    """Returns the topics of an index, in the order in which a walk takes them."""
    return sorted(topic_ids) if len(topic_ids) <= SORTED_TOPICS_MAX else list(topic_ids)


class PartitionWalk:
    """Walks through the topics in `topic_ids`."""

    def __init__(self, topic_ids: list[Uuid]) -> None:
        self._topic_ids = topic_ids
        self._next_topic = 0
        self._indexes: list[int] = []
        self._next_index = 0

    @property
    def is_over(self) -> bool:
        """Whether every topic was visited."""
        return self._next_index == len(self._indexes) and self._next_topic == len(self._topic_ids)

    def wanted(self, partition: PartitionRegistration) -> bool:
        """Returns whether the walk is about this partition."""
        raise AssertionError(f"{type(self).__name__} looks for nothing")

    def wants_topic(self, topic: TopicImage, updates: PartitionUpdates) -> bool:
        """Returns whether the walk is about any partition of the topic."""
        return True

    def take(self, topics: TopicsImage, updates: PartitionUpdates, budget: SliceBudget) -> bool:
        """Adds partitions to `updates` until the slice is full. Returns whether the walk is over."""
        while budget.is_left and not self.is_over:
            if self._next_index < len(self._indexes):
                self._take_topic(topics, self._topic_ids[self._next_topic - 1], updates, budget)
                continue
            topic = topics.topics.get(self._topic_ids[self._next_topic])
            self._next_topic += 1
            self._next_index = 0
            budget.look()
            wanted = topic is not None and self.wants_topic(topic, updates)
            self._indexes = topic.partitions.keys() if topic is not None and wanted else []
        return self.is_over

    def _take_topic(
        self, topics: TopicsImage, topic_id: Uuid, updates: PartitionUpdates, budget: SliceBudget
    ) -> None:
        topic = topics.topics.get(topic_id)
        if topic is None:
            self._next_index = len(self._indexes)
            return
        updates.begin_topic(topic)
        while self._next_index < len(self._indexes) and budget.is_left:
            index = self._indexes[self._next_index]
            self._next_index += 1
            partition = topic.partitions[index]
            if self.wanted(partition):
                updates.add(index, partition)
                budget.look_closely()
            else:
                budget.look()


class IsrWalk(PartitionWalk):
    """Finds partitions whose ISR has the broker; without `last`, none of those of `LastMemberWalk`."""

    def __init__(self, topic_ids: list[Uuid], broker_id: int, *, last: bool) -> None:
        super().__init__(topic_ids)
        self._broker_id = broker_id
        self._last = last

    def wanted(self, partition: PartitionRegistration) -> bool:
        return self._broker_id in partition.isr and (self._last or not partition.waits_for_last_member)


class ElrWalk(PartitionWalk):
    """Finds partitions whose ELR has the broker."""

    def __init__(self, topic_ids: list[Uuid], broker_id: int) -> None:
        super().__init__(topic_ids)
        self._broker_id = broker_id

    def wanted(self, partition: PartitionRegistration) -> bool:
        return self._broker_id in partition.elr


class DirectoryWalk(PartitionWalk):
    """Finds partitions whose ISR has the broker, with its replica in one of `directories`."""

    def __init__(self, topic_ids: list[Uuid], broker_id: int, directories: Sequence[Uuid]) -> None:
        super().__init__(topic_ids)
        self._broker_id = broker_id
        self._directories = directories

    def wanted(self, partition: PartitionRegistration) -> bool:
        broker_id = self._broker_id
        return broker_id in partition.isr and partition.directory(broker_id) in self._directories


class LeaderlessWalk(PartitionWalk):
    """Finds leaderless partitions of which an active broker has a replica; `added` counts as active.

    Those in whose ISR it is with a directory of `offline` are left to `DirectoryWalk`.

    As in Kafka, also others in which something changes, though they stay without leader: a reassignment ends
    if the ISR has what it waits for, and an ELR ends without the feature (KIP-966).
    """

    def __init__(
        self,
        topic_ids: list[Uuid],
        image: MetadataImage,
        added: int = NO_LEADER,
        offline: Sequence[Uuid] = (),
    ) -> None:
        super().__init__(topic_ids)
        self._cluster = image.cluster
        self._keeps_elrs = image.features.elr_enabled
        self._added = added
        self._offline = offline

    def wanted(self, partition: PartitionRegistration) -> bool:
        if partition.leader != NO_LEADER or (self._offline and self._leaves(partition)):
            return False
        if partition.reassigning or (partition.elr and not self._keeps_elrs):
            return True
        for replica in partition.replicas:  # noqa: SIM110 - a generator is slow when compiled
            if replica == self._added or self._cluster.active(replica):
                return True
        return False

    def _leaves(self, partition: PartitionRegistration) -> bool:
        return self._added in partition.isr and partition.directory(self._added) in self._offline


class LastMemberWalk(PartitionWalk):
    """Finds leaderless partitions whose ISR has the broker alone, and of which another broker, an active one,
    has a replica; without the feature also those with an ELR (KIP-966).
    """

    def __init__(self, topic_ids: list[Uuid], cluster: ClusterImage, broker_id: int) -> None:
        super().__init__(topic_ids)
        self._cluster = cluster
        self._broker_id = broker_id

    def wanted(self, partition: PartitionRegistration) -> bool:
        if not partition.waits_for_last_member or self._broker_id not in partition.isr:
            return False
        if partition.elr:
            return True
        for replica in partition.replicas:
            if replica != self._broker_id and self._cluster.active(replica):
                return True
        return False


class UncleanWalk(LeaderlessWalk):
    """Finds leaderless partitions of topics that allow unclean elections."""

    def wants_topic(self, topic: TopicImage, updates: PartitionUpdates) -> bool:
        return updates.changes.settings.unclean_election_enabled(topic.name)


class ImbalancedWalk(PartitionWalk):
    """Finds partitions that the preferred replica does not lead, but could lead."""

    def __init__(self, topic_ids: list[Uuid], acceptor: LeaderAcceptor) -> None:
        super().__init__(topic_ids)
        self._acceptor = acceptor

    def wanted(self, partition: PartitionRegistration) -> bool:
        preferred = partition.preferred_replica
        return partition.leader != preferred and self._acceptor.accepts(partition, preferred)
