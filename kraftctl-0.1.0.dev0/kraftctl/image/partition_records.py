"""Turns encoded PartitionRecords into partitions of an image without messages and lists in between.

Nearly all records of a large cluster are PartitionRecords, and most of their bytes repeat: the lists of
replicas, the directories, the tagged fields. The bytes of each of these are looked up as a whole, after the
ordinary decoder has decoded them once. It also decodes every record that is unusual in any way: only it
knows what is valid.
"""

from __future__ import annotations

from typing import Final

from librt.strings import read_i32_be
from mypy_extensions import i32, i64, mypyc_attr

from kraftctl.image.metadata_image import MetadataImage
from kraftctl.image.topics_image import TopicImage
from kraftctl.metadata.interned_tuples import INTERNED_TUPLES_MAX
from kraftctl.metadata.partition_registration import PartitionRegistration
from kraftctl.metadata.shared_state import SharedState
from kraftctl_protocol.generated.partition_record import PartitionRecord
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import FRAME_VERSION
from kraftctl_protocol.uuids import Uuid

PARTITION_RECORD: Final = 3
"""PartitionRecord.API_KEY, as a constant for the compiler."""

VERSION: Final = 2
"""The only version that is decoded here: all that metadata.version 4.0 and later write."""

FIXED_BYTES: Final = 3 + 4 + 16
"""These fields have a fixed length: frame version, record type, version, partition id, topic id."""

EPOCHS_BYTES: Final = 12
"""These fields follow the lists: leader, leader epoch, partition epoch."""

ONE_BYTE_MAX: Final = 0x7F
"""A varint up to this value has one byte."""

KNOWN_MAX: Final = 2 * INTERNED_TUPLES_MAX
"""The number of keys of all kinds that are kept before the tables start over."""


@mypyc_attr(acyclic=True)
class ReplicaLists:
    """The decoded lists of replicas for some bytes.

    `shared` and `packed_directories` are the results for `directories` and `tagged`, which most partitions
    with these lists have.
    """

    def __init__(
        self, partition: PartitionRegistration, directories: list[Uuid], tagged: SharedState
    ) -> None:
        self.count: i64 = len(partition.replicas)
        self.replicas = partition.replicas
        self.isr = partition.isr
        self.removing_replicas = partition.removing_replicas
        self.adding_replicas = partition.adding_replicas
        self.directories = directories
        self.tagged = tagged
        self.shared = partition.shared
        self.packed_directories = partition.packed_directories


class PartitionRecords:
    """Adds partitions to the topics of one image."""

    def __init__(self, image: MetadataImage) -> None:
        self._journal = image.journal
        self._topics = image.topics
        self._topic: TopicImage | None = None
        self._topic_id: Uuid = b""
        self._lists: dict[bytes, ReplicaLists] = {}
        self._directories: dict[bytes, list[Uuid]] = {}
        self._tagged: dict[bytes, SharedState] = {}
        """Maps the bytes of the tagged fields to a state with nothing else."""
        self._unknown: tuple[bytes, bytes, bytes] | None = None

    def take(self, buffer: bytes, start: i64, end: i64) -> bool:
        """Applies the metadata record between two positions.

        It returns False, and changes nothing, for a record that has to be decoded as any other; then call
        `replayed` with it.
        """
        self._unknown = None
        if start < 0 or end - start < FIXED_BYTES or end > len(buffer):
            return False
        if buffer[start] != FRAME_VERSION or buffer[start + 1] != PARTITION_RECORD:
            return False
        if buffer[start + 2] != VERSION or self._journal.recording:
            return False
        index: i32 = read_i32_be(buffer, start + 3)
        topic = self._find_topic(buffer[start + 7 : start + FIXED_BYTES])
        if topic is None or index in topic.partitions:
            return False

        lists_start: i64 = start + FIXED_BYTES
        epochs: i64 = _end_of_lists(buffer, lists_start, end)
        directories_start: i64 = epochs + EPOCHS_BYTES
        if epochs < 0 or directories_start >= end:
            return False
        directories_count: i64 = i64(buffer[directories_start]) - 1
        tagged_start: i64 = directories_start + 1 + 16 * directories_count
        if directories_count <= 0 or directories_count >= ONE_BYTE_MAX or tagged_start >= end:
            return False

        lists_key = buffer[lists_start:epochs]
        directories_key = buffer[directories_start:tagged_start]
        tagged_key = buffer[tagged_start:end]
        lists = self._lists.get(lists_key)
        directories = self._directories.get(directories_key)
        tagged = self._tagged.get(tagged_key)
        if lists is None or directories is None or tagged is None:
            self._unknown = (lists_key, directories_key, tagged_key)
            return False
        if lists.count != directories_count:
            return False
        if lists.directories is not directories or lists.tagged is not tagged:
            self._combine(lists, directories, tagged)
        partition = PartitionRegistration(
            replicas=lists.replicas,
            isr=lists.isr,
            shared=lists.shared,
            packed_directories=lists.packed_directories,
            leader=read_i32_be(buffer, epochs),
            leader_epoch=read_i32_be(buffer, epochs + 4),
            partition_epoch=read_i32_be(buffer, epochs + 8),
        )
        self._topics.add_partition(topic, index, partition)
        return True

    def replayed(self, record: Message) -> None:
        """Learns the bytes of a record that `take` refused, after it was decoded and replayed."""
        if not isinstance(record, PartitionRecord):
            # It may have removed the topic.
            self._topic, self._topic_id = None, b""
            return
        if self._unknown is None:
            return
        lists_key, directories_key, tagged_key = self._unknown
        self._unknown = None
        partition = self._topics.partition(record.topic_id, record.partition_id)
        assert partition is not None, "it was replayed"
        if len(self._lists) + len(self._directories) + len(self._tagged) >= KNOWN_MAX:
            self._lists.clear()
            self._directories.clear()
            self._tagged.clear()
        directories = list(partition.directories)
        tagged = self._topics.tuples.shared_state(
            removing_replicas=(),
            adding_replicas=(),
            elr=partition.elr,
            last_known_elr=partition.last_known_elr,
            leader_recovery_state=partition.leader_recovery_state,
            directories=None,
        )
        self._lists[lists_key] = ReplicaLists(partition, directories, tagged)
        self._directories[directories_key] = directories
        self._tagged[tagged_key] = tagged

    def _combine(self, lists: ReplicaLists, directories: list[Uuid], tagged: SharedState) -> None:
        tuples = self._topics.tuples
        packed = tuples.broker_directories.pack(lists.replicas, directories)
        lists.shared = tuples.shared_state(
            removing_replicas=lists.removing_replicas,
            adding_replicas=lists.adding_replicas,
            elr=tagged.elr,
            last_known_elr=tagged.last_known_elr,
            leader_recovery_state=tagged.leader_recovery_state,
            directories=tuples.directories(packed, directories),
        )
        lists.packed_directories = packed
        lists.directories = directories
        lists.tagged = tagged

    def _find_topic(self, topic_id: Uuid) -> TopicImage | None:
        if topic_id != self._topic_id:
            self._topic = self._topics.topics.get(topic_id)
            self._topic_id = topic_id
        return self._topic


def _end_of_lists(buffer: bytes, at: i64, end: i64) -> i64:
    """Returns where four short lists of int32 end that begin at `at`; -1 when there is anything else."""
    left: i64 = 4
    while left > 0:
        if at >= end:
            return -1
        length: i64 = buffer[at]
        if length == 0 or length > ONE_BYTE_MAX:
            return -1
        at += 4 * length - 3
        left -= 1
    return at
