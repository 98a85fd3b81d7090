"""RecordMarks notes which record set what an explanation is about.

The image has the state alone. Marks of partitions are kept for the topics that are asked about, and for those
that are being reassigned: a cluster may have a million others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kraftctl.explain.mark import Mark
from kraftctl.image.metadata_image import MetadataImage
from kraftctl.metadata.broker_registration_change import FENCE, IN_CONTROLLED_SHUTDOWN, UNFENCE
from kraftctl.metadata.config_definitions.min_insync_replicas import MIN_INSYNC_REPLICAS
from kraftctl.metadata.partition_registration import NO_LEADER, PartitionRegistration
from kraftctl_protocol.config_resource import BROKER, CLUSTER_DEFAULT, TOPIC
from kraftctl_protocol.generated.broker_registration_change_record import BrokerRegistrationChangeRecord
from kraftctl_protocol.generated.clear_elr_record import ClearElrRecord
from kraftctl_protocol.generated.config_record import ConfigRecord
from kraftctl_protocol.generated.feature_level_record import FeatureLevelRecord
from kraftctl_protocol.generated.fence_broker_record import FenceBrokerRecord
from kraftctl_protocol.generated.partition_change_record import PartitionChangeRecord
from kraftctl_protocol.generated.partition_record import PartitionRecord
from kraftctl_protocol.generated.register_broker_record import RegisterBrokerRecord
from kraftctl_protocol.generated.register_controller_record import RegisterControllerRecord
from kraftctl_protocol.generated.remove_topic_record import RemoveTopicRecord
from kraftctl_protocol.generated.topic_record import TopicRecord
from kraftctl_protocol.generated.unfence_broker_record import UnfenceBrokerRecord
from kraftctl_protocol.generated.unregister_broker_record import UnregisterBrokerRecord
from kraftctl_protocol.generated.unregister_controller_record import UnregisterControllerRecord
from kraftctl_protocol.message import Message
from kraftctl_protocol.uuids import Uuid


@dataclass
class BrokerMarks:
    """The records about one incarnation of a broker; None for what has not happened to it."""

    registered: Mark
    directories_count: int
    """The number of log directories with which it registered."""
    fenced: Mark | None = None
    """The record that fenced it; the registration itself, if it has not been unfenced after that."""
    unfenced: Mark | None = None
    leaves: Mark | None = None
    """The record that began its controlled shutdown."""
    lost_directories: Mark | None = None
    lost_leadership: Mark | None = None
    """The newest record that gave a partition of which it was the leader another one."""
    left_isr: Mark | None = None
    """The newest record that removed it from an ISR."""

    @property
    def left(self) -> Mark | None:
        """The last change of its controlled shutdown: the others have to read it."""
        if self.leaves is None:
            return None
        changes = [self.leaves, self.lost_leadership or self.leaves, self.left_isr or self.leaves]
        return max(changes, key=lambda each: each.offset)


@dataclass
class PartitionMarks:
    """The records that set the present state of one partition.

    Where only its reassignment is watched, what is older than that is None.
    """

    leader: Mark | None
    isr: Mark | None
    reassigning: Mark | None = None
    elr: Mark | None = None
    """The record that changed the ELR (KIP-966)."""


class RecordMarks:
    """The marks after all records that `note` has seen."""

    def __init__(self, is_watched: Callable[[str], bool]) -> None:
        """Takes `is_watched`, which decides by the name of a topic whether its partitions have marks that do
        not begin and end with a reassignment.
        """
        self._is_watched = is_watched
        self._watched: set[Uuid] = set()
        self.brokers: dict[int, BrokerMarks] = {}
        self.unregistered_brokers: dict[int, Mark] = {}
        self.controllers: dict[int, Mark] = {}
        self.unregistered_controllers: dict[int, Mark] = {}
        self.deleted_topics: dict[str, Mark] = {}
        self.topics: dict[str, Mark] = {}
        self.partitions: dict[tuple[Uuid, int], PartitionMarks] = {}
        self.features: dict[str, Mark] = {}
        self.min_isr_configs: dict[str, Mark] = {}
        """The newest records of min.insync.replicas by topic; the empty name is the cluster's default."""

    def note(self, image: MetadataImage, record: Message, mark: Mark) -> None:
        """Notes a record before it is replayed into `image`."""
        if isinstance(record, PartitionChangeRecord):
            self._note_partition_change(image, record, mark)
        elif isinstance(record, PartitionRecord):
            begun = mark if record.adding_replicas or record.removing_replicas else None
            if record.topic_id in self._watched or begun is not None:
                marks = PartitionMarks(mark, mark, begun)
                self.partitions[record.topic_id, record.partition_id] = marks
        elif isinstance(record, TopicRecord):
            self.deleted_topics.pop(record.name, None)
            if self._is_watched(record.name):
                self._watched.add(record.topic_id)
                self.topics[record.name] = mark
        elif isinstance(record, RemoveTopicRecord):
            self._note_deletion(image, record.topic_id, mark)
        elif isinstance(record, ConfigRecord):
            if record.name == MIN_INSYNC_REPLICAS and self._is_of_partitions(record):
                self.min_isr_configs[record.resource_name] = mark
        elif isinstance(record, ClearElrRecord):
            self._note_cleared_elrs(image, record.topic_name, mark)
        elif isinstance(record, FeatureLevelRecord):
            self.features[record.name] = mark
        elif isinstance(record, RegisterControllerRecord):
            self.controllers[record.controller_id] = mark
            self.unregistered_controllers.pop(record.controller_id, None)
        elif isinstance(record, UnregisterControllerRecord):
            self.unregistered_controllers[record.controller_id] = mark
        else:
            self._note_broker(image, record, mark)

    def partition(self, topic_id: Uuid, index: int) -> PartitionMarks | None:
        """Returns the marks of a partition; None if neither its topic nor a reassignment is watched."""
        return self.partitions.get((topic_id, index))

    def _note_broker(self, image: MetadataImage, record: Message, mark: Mark) -> None:
        if isinstance(record, RegisterBrokerRecord):
            self._note_registration(image, record, mark)
        elif isinstance(record, UnregisterBrokerRecord):
            self.unregistered_brokers[record.broker_id] = mark
            self.brokers.pop(record.broker_id, None)
        elif isinstance(record, FenceBrokerRecord):
            self._note_fencing(image, record.id, FENCE, mark)
        elif isinstance(record, UnfenceBrokerRecord):
            self._note_fencing(image, record.id, UNFENCE, mark)
        elif isinstance(record, BrokerRegistrationChangeRecord):
            self._note_fencing(image, record.broker_id, record.fenced, mark)
            marks = self.brokers.get(record.broker_id)
            before = image.cluster.brokers.get(record.broker_id)
            if marks is None or before is None:
                return
            if record.in_controlled_shutdown == IN_CONTROLLED_SHUTDOWN and not before.in_controlled_shutdown:
                marks.leaves = mark
            if record.log_dirs and len(record.log_dirs) < len(before.directories):
                marks.lost_directories = mark

    def _note_registration(self, image: MetadataImage, record: RegisterBrokerRecord, mark: Mark) -> None:
        before = image.cluster.brokers.get(record.broker_id)
        known = self.brokers.get(record.broker_id)
        marks = BrokerMarks(registered=mark, directories_count=len(record.log_dirs))
        is_same = before is not None and before.incarnation_id == record.incarnation_id
        if is_same and known is not None:
            marks.fenced, marks.unfenced, marks.leaves = known.fenced, known.unfenced, known.leaves
        if record.fenced and marks.fenced is None:
            marks.fenced = mark
        if not record.fenced and marks.unfenced is None:
            marks.unfenced = mark
        if record.in_controlled_shutdown and marks.leaves is None:
            marks.leaves = mark
        self.unregistered_brokers.pop(record.broker_id, None)
        self.brokers[record.broker_id] = marks

    def _note_fencing(self, image: MetadataImage, broker_id: int, change: int, mark: Mark) -> None:
        """Notes a change only: each heartbeat of a broker that stops may repeat that it is fenced."""
        marks, before = self.brokers.get(broker_id), image.cluster.brokers.get(broker_id)
        if marks is None or before is None:
            return
        if change == FENCE and not before.fenced:
            marks.fenced = mark
        elif change == UNFENCE and before.fenced:
            marks.fenced, marks.unfenced = None, mark

    def _note_partition_change(self, image: MetadataImage, record: PartitionChangeRecord, mark: Mark) -> None:
        before = image.topics.partition(record.topic_id, record.partition_id)
        if before is None:
            return
        leader = int(before.leader)
        has_other_leader = before.leader_after(record) != leader
        if has_other_leader and leader != NO_LEADER and leader in self.brokers:
            self.brokers[leader].lost_leadership = mark
        has_other_isr = record.isr is not None and set(record.isr) != set(before.isr)
        if has_other_isr and (leader != NO_LEADER or len(before.isr) > 1):
            for broker_id in set(before.isr).difference(record.isr or ()):
                if broker_id in self.brokers:
                    self.brokers[broker_id].left_isr = mark
        marks = self._marks_after(before, record)
        if marks is None:
            return
        if has_other_leader:
            marks.leader = mark
        if has_other_isr:
            marks.isr = mark
        elr = record.eligible_leader_replicas
        if elr is not None and set(elr) != set(before.elr):
            marks.elr = mark
        if record.adding_replicas or record.removing_replicas:
            marks.reassigning = mark

    def _marks_after(
        self, before: PartitionRegistration, record: PartitionChangeRecord
    ) -> PartitionMarks | None:
        """Returns the marks that a change of a partition continues: a reassignment begins and ends some."""
        key = record.topic_id, record.partition_id
        is_of_reassignment = record.adding_replicas is not None or record.removing_replicas is not None
        if record.topic_id in self._watched or not is_of_reassignment:
            return self.partitions.get(key)
        adding = before.adding_replicas if record.adding_replicas is None else record.adding_replicas
        removing = before.removing_replicas if record.removing_replicas is None else record.removing_replicas
        if not adding and not removing:
            self.partitions.pop(key, None)
            return None
        return self.partitions.setdefault(key, PartitionMarks(None, None))

    def _is_of_partitions(self, record: ConfigRecord) -> bool:
        if record.resource_type == TOPIC:
            return self._is_watched(record.resource_name)
        return record.resource_type == BROKER and record.resource_name == CLUSTER_DEFAULT

    def _note_cleared_elrs(self, image: MetadataImage, topic_name: str, mark: Mark) -> None:
        """Notes the partitions that have an ELR; without a name those of all topics lose it."""
        for (topic_id, index), marks in self.partitions.items():
            topic = image.topics.topics.get(topic_id)
            if topic is not None and topic_name in ("", topic.name) and topic.partitions[index].elr:
                marks.elr = mark

    def _note_deletion(self, image: MetadataImage, topic_id: Uuid, mark: Mark) -> None:
        topic = image.topics.topics.get(topic_id)
        if topic is None:
            return
        self.deleted_topics[topic.name] = mark
        if topic_id in self._watched or topic_id in image.topics.reassigning_counts:
            self.topics.pop(topic.name, None)
            for index in topic.partitions:
                self.partitions.pop((topic_id, index), None)
        self._watched.discard(topic_id)
        self.min_isr_configs.pop(topic.name, None)
