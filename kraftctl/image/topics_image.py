"""TopicsImage: topics, partitions, and the indexes that find partitions by broker (brokers_to_isrs)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from mypy_extensions import i64

from kraftctl.image.election_counts import ElectionCounts
from kraftctl.image.image_part import ImagePart
from kraftctl.image.short_isrs import NO_SHORT_ISRS, ShortIsrs
from kraftctl.image.topic_partitions import TopicPartitions
from kraftctl.image.undo_journal import MISSING, JournalView, UndoJournal
from kraftctl.metadata.interned_tuples import InternedTuples
from kraftctl.metadata.leader_recovery_state import RECOVERING
from kraftctl.metadata.partition_encoding import PartitionEncoder
from kraftctl.metadata.partition_registration import NO_LEADER, PartitionRegistration
from kraftctl_protocol.generated.clear_elr_record import ClearElrRecord
from kraftctl_protocol.generated.partition_change_record import PartitionChangeRecord
from kraftctl_protocol.generated.partition_record import PartitionRecord
from kraftctl_protocol.generated.topic_record import TopicRecord
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import encode_metadata_record
from kraftctl_protocol.uuids import Uuid


class TopicImage:
    """A topic, whose `partitions` only TopicsImage changes.

    `own_min_isr` is the min.insync.replicas of its configs, and 0 without a usable one. `short_counts` are
    the topic's part of `ShortIsrs`.
    """

    def __init__(self, name: str, topic_id: Uuid) -> None:
        self.name = name
        self.topic_id = topic_id
        self.partitions = TopicPartitions()
        self.own_min_isr = 0
        self.short_counts = NO_SHORT_ISRS

    @property
    def replication_factor(self) -> int:
        """Returns that of partition 0, which Kafka uses for the whole topic; 0 without partitions."""
        first = self.partitions.get(0)
        return 0 if first is None else len(first.replicas)

    def __repr__(self) -> str:
        return f"TopicImage({self.name}, {len(self.partitions)} partitions)"


def has_collision_chars(name: str) -> bool:
    """Returns whether the name has characters that metrics replace by `_`, so that two names can collide."""
    return "." in name or "_" in name


def unify_collision_chars(name: str) -> str:
    """Returns the name as metrics spell it."""
    return name.replace(".", "_")


class TopicsImage(ImagePart):
    """All topics.

    The indexes count, per broker, the partitions of each topic: a few bytes per (broker, topic)
    instead of an entry per replica. To find the partitions, scan those topics. Counts follow
    from partition states alone, so restoring a partition restores them.

    Each member of an ISR is counted once: in `last_member_counts` when it is alone in the ISR of a partition
    without leader, else in `isr_counts`. Without ELR (KIP-966) nothing changes for the former when the broker
    is fenced or leaves: it stays in that ISR. So a broker has left what it can when `isr_counts` has none.
    """

    def __init__(self, journal: UndoJournal) -> None:
        self._journal = journal
        self.tuples = InternedTuples()
        self.topics: dict[Uuid, TopicImage] = {}
        self.ids_by_name: dict[str, Uuid] = {}
        self.names_by_unified_name: dict[str, tuple[str, ...]] = {}
        self.partition_count = 0
        self.isr_counts: dict[int, dict[Uuid, int]] = {}
        self.last_member_counts: dict[int, dict[Uuid, int]] = {}
        self.elr_counts: dict[int, dict[Uuid, int]] = {}
        self.leader_counts: dict[int, int] = {}
        self.leaderless_counts: dict[Uuid, int] = {}
        self.imbalanced_counts: dict[Uuid, int] = {}
        self.reassigning_counts: dict[Uuid, int] = {}
        self.leaderless_count = 0
        self.imbalanced_count = 0
        self.reassigning_count = 0
        self.recovering_count = 0
        self.short_isrs = ShortIsrs()
        self.elections = ElectionCounts(journal)

    def topic(self, topic_id: Uuid) -> TopicImage | None:
        """Returns the topic with this id."""
        return self.topics.get(topic_id)

    def topic_by_name(self, name: str) -> TopicImage | None:
        """Returns the topic with this name."""
        topic_id = self.ids_by_name.get(name)
        return None if topic_id is None else self.topics[topic_id]

    def partition(self, topic_id: Uuid, index: int) -> PartitionRegistration | None:
        """Returns one partition, or None when the topic or the partition is unknown."""
        topic = self.topics.get(topic_id)
        return None if topic is None else topic.partitions.get(index)

    def has_leaderships(self, broker_id: int) -> bool:
        """Returns whether the broker leads any partition."""
        return broker_id in self.leader_counts

    def replay(self, record: Message, offset: int) -> None:
        """`kraftctl.image.replay` calls the functions for partitions itself: most records are theirs. It also
        removes topics, whose configs go with them."""
        if isinstance(record, TopicRecord):
            self._add_topic(record.name, record.topic_id)
        elif isinstance(record, ClearElrRecord):
            self._clear_elr(record.topic_name)
        else:
            super().replay(record, offset)

    def values(self, view: JournalView, metadata_version: int, elr_enabled: bool) -> Iterator[bytes]:
        """Yields the records; each topic is followed by its partitions."""
        encoder = PartitionEncoder(metadata_version, elr_enabled=elr_enabled)
        for _, topic in view.items(self.topics, self.topics):
            topic_id = topic.topic_id
            yield encode_metadata_record(TopicRecord(name=topic.name, topic_id=topic_id), 0)
            for index, partition in self._partitions_in_view(view, topic):
                yield encoder.encode(topic_id, index, partition)

    def _partitions_in_view(
        self, view: JournalView, topic: TopicImage
    ) -> Iterator[tuple[int, PartitionRegistration]]:
        """Yields them as they are in the view, which alone has removed partitions."""
        topic_id, partitions = topic.topic_id, topic.partitions
        groups = view.groups(self)
        indexes = partitions.keys()
        members = groups.get(topic_id)
        if members is not None:
            indexes += [index for index in members if index not in partitions]
        for index in indexes:
            value: object = partitions.get(index)
            members = groups.get(topic_id)
            if members is not None:
                value = members.get(index, value)
            if isinstance(value, PartitionRegistration):
                yield index, value

    def _add_topic(self, name: str, topic_id: Uuid) -> None:
        assert name not in self.ids_by_name, f"topic {name} exists already"
        assert topic_id not in self.topics, f"a topic with the id of {name} exists already"
        self._journal.put(self.topics, topic_id, TopicImage(name, topic_id))
        self._journal.put(self.ids_by_name, name, topic_id)
        if has_collision_chars(name):
            unified = unify_collision_chars(name)
            names = self.names_by_unified_name.get(unified, ())
            self._journal.put(self.names_by_unified_name, unified, tuple(sorted((*names, name))))

    def replay_remove_topic(self, topic_id: Uuid) -> str:
        """Removes a topic. Returns the name, under which the topic's configs are stored."""
        topic = self.topics[topic_id]
        self._journal.remember(self, topic_id, topic)
        self._journal.remove(self.topics, topic_id)
        self._uncount_topic(topic)
        self._journal.remove(self.ids_by_name, topic.name)
        if has_collision_chars(topic.name):
            unified = unify_collision_chars(topic.name)
            names = tuple(n for n in self.names_by_unified_name[unified] if n != topic.name)
            if names:
                self._journal.put(self.names_by_unified_name, unified, names)
            else:
                self._journal.remove(self.names_by_unified_name, unified)
        return topic.name

    def replay_partition(self, record: PartitionRecord) -> None:
        topic = self.topics[record.topic_id]
        index = record.partition_id
        registration = PartitionRegistration.from_record(record, self.tuples)
        self._set_partition(topic, index, topic.partitions.get(index), registration)

    def add_partition(self, topic: TopicImage, index: int, partition: PartitionRegistration) -> None:
        """Adds a partition that the topic does not have yet, while the journal does not record."""
        topic.partitions.put(index, partition)
        self._update_indexes(topic, None, partition)

    def replay_partition_change(self, record: PartitionChangeRecord) -> None:
        topic = self.topics[record.topic_id]
        current = topic.partitions[record.partition_id]
        self._set_partition(topic, record.partition_id, current, current.merge(record, self.tuples))

    def _clear_elr(self, topic_name: str) -> None:
        """Clears the ELR of a topic, for an empty name of all (KIP-966). Changed partitions get a new
        epoch.
        """
        if topic_name:
            topics = [self.topics[self.ids_by_name[topic_name]]]
        else:
            topics = list(self.topics.values())
        for topic in topics:
            for index, partition in topic.partitions.items():
                if partition.elr or partition.last_known_elr:
                    change = PartitionChangeRecord(
                        partition_id=index,
                        topic_id=topic.topic_id,
                        eligible_leader_replicas=[],
                        last_known_elr=[],
                    )
                    self._set_partition(topic, index, partition, partition.merge(change, self.tuples))

    def set_min_isr(self, topic_name: str, min_isr: int) -> None:
        """Takes the min.insync.replicas of a topic from its configs; 0 if it has none.

        Those of a removed topic change nothing: if the removal is undone, they are what they were.
        """
        topic = self.topic_by_name(topic_name)
        if topic is not None and topic.own_min_isr != min_isr:
            self.short_isrs.change_min_isr(topic.short_counts, topic.own_min_isr, min_isr)
            topic.own_min_isr = min_isr

    # Keys are a topic and a partition index, or a topic that was removed with all its partitions.

    def current(self, key: object) -> object:
        if isinstance(key, bytes):
            return MISSING  # only a removal is taken back, after which nothing was counted
        topic_id, index = cast("tuple[bytes, int]", key)
        partition = self.topics[topic_id].partitions.get(index)
        return MISSING if partition is None else partition

    def restore(self, key: object, old: object) -> None:
        if isinstance(key, bytes):
            self._restore_topic(key, old)
            return
        topic_id, index = cast("tuple[bytes, int]", key)
        topic = self.topics[topic_id]
        current = topic.partitions.get(index)
        if old is MISSING:
            topic.partitions.remove(index)
            self._update_indexes(topic, current, None)
            return
        assert isinstance(old, PartitionRegistration)
        topic.partitions.put(index, old)
        self._update_indexes(topic, current, old)

    def _restore_topic(self, topic_id: Uuid, old: object) -> None:
        """Restores a topic with its partitions; only the indexes have to follow."""
        if old is MISSING:
            self._uncount_topic(self.topics[topic_id])
            return
        assert isinstance(old, TopicImage)
        for partition in old.partitions.values():
            self._count(old, partition, 1)

    def _uncount_topic(self, topic: TopicImage) -> None:
        """Drops the counts of a topic as a whole: it may have 100,000 partitions."""
        topic_id, partitions = topic.topic_id, topic.partitions
        if len(partitions) <= len(self.isr_counts):
            for partition in partitions.values():
                self._count(topic, partition, -1)
            return
        self.partition_count -= len(partitions)
        self.short_isrs.drop(topic_id, topic.short_counts, topic.own_min_isr)
        for members in (self.isr_counts, self.last_member_counts, self.elr_counts):
            _drop_topic(members, topic_id)
        self.leaderless_count -= self.leaderless_counts.pop(topic_id, 0)
        self.imbalanced_count -= self.imbalanced_counts.pop(topic_id, 0)
        self.reassigning_count -= self.reassigning_counts.pop(topic_id, 0)
        led: dict[int, int] = {}
        for partition in partitions.values():
            if partition.leader_recovery_state == RECOVERING:
                self.recovering_count -= 1
            leader = int(partition.leader)
            led[leader] = led.get(leader, 0) + 1
        led.pop(NO_LEADER, None)
        for leader, count in led.items():
            left = self.leader_counts[leader] - count
            if left == 0:
                del self.leader_counts[leader]
            else:
                self.leader_counts[leader] = left

    def _set_partition(
        self, topic: TopicImage, index: int, old: PartitionRegistration | None, new: PartitionRegistration
    ) -> None:
        if self._journal.recording:
            self._journal.remember(self, (topic.topic_id, index), MISSING if old is None else old)
        topic.partitions.put(index, new)
        self._update_indexes(topic, old, new)
        if old is not None and old.leader != new.leader:
            self.elections.note(old, new)

    def _update_indexes(
        self, topic: TopicImage, old: PartitionRegistration | None, new: PartitionRegistration | None
    ) -> None:
        if old is None:
            if new is not None:
                self._count(topic, new, 1)
        elif new is None:
            self._count(topic, old, -1)
        else:
            self._count_difference(topic, old, new)

    def _count(self, topic: TopicImage, partition: PartitionRegistration, step: int) -> None:
        topic_id = topic.topic_id
        self.partition_count += step
        _add_members(self._isr_index(partition), topic_id, partition.isr, step)
        _add_members(self.elr_counts, topic_id, partition.elr, step)
        self._update_leader(topic_id, int(partition.leader), step)
        self._update_imbalanced(topic_id, partition, step)
        self._update_reassigning(topic_id, partition, step)
        self._update_short_isr(topic, partition, step)
        if partition.leader_recovery_state == RECOVERING:
            self.recovering_count += step

    def _count_difference(
        self, topic: TopicImage, old: PartitionRegistration, new: PartitionRegistration
    ) -> None:
        topic_id = topic.topic_id
        if old.isr is not new.isr or old.leader != new.leader:
            self._change_isr(topic_id, old, new)
        if old.isr is not new.isr or old.replicas is not new.replicas:
            self._update_short_isr(topic, old, -1)
            self._update_short_isr(topic, new, 1)
        if old.leader_recovery_state != new.leader_recovery_state:
            self.recovering_count += 1 if new.leader_recovery_state == RECOVERING else -1
        if old.elr is not new.elr:
            _change_members(self.elr_counts, topic_id, old.elr, new.elr)
        if old.leader != new.leader:
            self._update_leader(topic_id, int(old.leader), -1)
            self._update_leader(topic_id, int(new.leader), 1)
        if old.leader != new.leader or old.replicas is not new.replicas:
            self._update_imbalanced(topic_id, old, -1)
            self._update_imbalanced(topic_id, new, 1)
        if (
            old.removing_replicas is not new.removing_replicas
            or old.adding_replicas is not new.adding_replicas
        ):
            self._update_reassigning(topic_id, old, -1)
            self._update_reassigning(topic_id, new, 1)

    def _isr_index(self, partition: PartitionRegistration) -> dict[int, dict[Uuid, int]]:
        """Returns the index that counts the members of its ISR."""
        return self.last_member_counts if partition.waits_for_last_member else self.isr_counts

    def _change_isr(self, topic_id: Uuid, old: PartitionRegistration, new: PartitionRegistration) -> None:
        before, after = self._isr_index(old), self._isr_index(new)
        if before is not after:
            _add_members(before, topic_id, old.isr, -1)
            _add_members(after, topic_id, new.isr, 1)
        elif old.isr is not new.isr:
            _change_members(before, topic_id, old.isr, new.isr)

    def _update_leader(self, topic_id: Uuid, leader: int, step: int) -> None:
        if leader == NO_LEADER:
            self.leaderless_count += step
            _add(self.leaderless_counts, topic_id, step)
            return
        count = self.leader_counts.get(leader, 0) + step
        if count == 0:
            del self.leader_counts[leader]
        else:
            self.leader_counts[leader] = count

    def _update_imbalanced(self, topic_id: Uuid, partition: PartitionRegistration, step: int) -> None:
        if partition.leader != partition.preferred_replica:
            self.imbalanced_count += step
            _add(self.imbalanced_counts, topic_id, step)

    def _update_short_isr(self, topic: TopicImage, partition: PartitionRegistration, step: int) -> None:
        isr_size: i64 = len(partition.isr)
        if isr_size < len(partition.replicas):
            if topic.short_counts is NO_SHORT_ISRS:
                topic.short_counts = []
            self.short_isrs.add(topic.topic_id, topic.short_counts, topic.own_min_isr, isr_size, step)

    def _update_reassigning(self, topic_id: Uuid, partition: PartitionRegistration, step: int) -> None:
        if partition.reassigning:
            self.reassigning_count += step
            _add(self.reassigning_counts, topic_id, step)


def _add(counts: dict[Uuid, int], topic_id: Uuid, step: int) -> None:
    count = counts.get(topic_id, 0) + step
    assert count >= 0, "an index counts less than nothing"
    if count == 0:
        del counts[topic_id]
    else:
        counts[topic_id] = count


def _add_members(
    counts: dict[int, dict[Uuid, int]], topic_id: Uuid, members: tuple[int, ...], step: int
) -> None:
    for member in members:
        _add_member(counts, topic_id, member, step)


def _add_member(counts: dict[int, dict[Uuid, int]], topic_id: Uuid, member: int, step: int) -> None:
    topics = counts.get(member)
    if topics is None:
        topics = {}
        counts[member] = topics
    _add(topics, topic_id, step)
    if len(topics) == 0:
        del counts[member]


def _drop_topic(counts: dict[int, dict[Uuid, int]], topic_id: Uuid) -> None:
    for member in list(counts):
        topics = counts[member]
        if topics.pop(topic_id, None) is not None and len(topics) == 0:
            del counts[member]


def _change_members(
    counts: dict[int, dict[Uuid, int]], topic_id: Uuid, old: tuple[int, ...], new: tuple[int, ...]
) -> None:
    """Updates the counts of brokers that left or joined."""
    for member in old:
        if member not in new:
            _add_member(counts, topic_id, member, -1)
    for member in new:
        if member not in old:
            _add_member(counts, topic_id, member, 1)
