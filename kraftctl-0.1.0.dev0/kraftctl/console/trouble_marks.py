"""TroubleMarks: the marks of all partitions that have changed since a snapshot, in bounded memory."""

from __future__ import annotations

from typing import Final

from kraftctl.explain.mark import Mark
from kraftctl.explain.record_marks import PartitionMarks, RecordMarks
from kraftctl.image.metadata_image import MetadataImage
from kraftctl.metadata.partition_registration import PartitionRegistration
from kraftctl_protocol.generated.partition_change_record import PartitionChangeRecord
from kraftctl_protocol.generated.partition_record import PartitionRecord
from kraftctl_protocol.message import Message
from kraftctl_protocol.uuids import Uuid

KEPT_MAX: Final = 200_000
"""The marks of this many partitions take some 100 megabytes."""


DELETED_MAX: Final = 1_000
"""The console follows a log for months; of the topics that were deleted, it knows the latest ones."""


class TroubleMarks(RecordMarks):
    """The marks of a whole cluster: a snapshot has the same one for all of its partitions."""

    def __init__(self, kept_max: int = KEPT_MAX) -> None:
        """Keeps the marks of `kept_max` partitions, and of more only while something is wrong with those."""
        super().__init__(lambda _: True)
        self._of_snapshot: PartitionMarks | None = None
        """Those of partitions that have not changed; None if marks were dropped, or without a snapshot."""
        self._kept_max = self._limit = kept_max

    def note(self, image: MetadataImage, record: Message, mark: Mark) -> None:
        """Notes a record before it is replayed into `image`."""
        if isinstance(record, PartitionRecord) and mark.is_latest_possible:
            if self._of_snapshot is None:
                self._of_snapshot = PartitionMarks(mark, mark, mark, mark)
            return
        if isinstance(record, PartitionChangeRecord):
            self._begin(record.topic_id, record.partition_id, mark)
        super().note(image, record, mark)
        if len(self.deleted_topics) > DELETED_MAX:
            del self.deleted_topics[next(iter(self.deleted_topics))]

    def partition(self, topic_id: Uuid, index: int) -> PartitionMarks | None:
        """Returns the marks of a partition; None if they were dropped."""
        return self.partitions.get((topic_id, index), self._of_snapshot)

    def sweep(self, image: MetadataImage) -> None:
        """Drops the marks of sound partitions when there are too many; to be called between batches."""
        if len(self.partitions) <= self._limit:
            return
        self.partitions = {
            (topic_id, index): marks
            for (topic_id, index), marks in self.partitions.items()
            if not _is_sound(image.topics.partition(topic_id, index))
        }
        self._of_snapshot = None
        self._limit = max(self._kept_max, 2 * len(self.partitions))

    def _begin(self, topic_id: Uuid, index: int, mark: Mark) -> None:
        """Begins with what is known of a partition whose first change is noted."""
        if (topic_id, index) in self.partitions:
            return
        first = self._of_snapshot
        if first is None:
            earlier = Mark(mark.offset, mark.timestamp_ms, is_latest_possible=True)
            first = PartitionMarks(earlier, earlier)
        self.partitions[topic_id, index] = PartitionMarks(
            first.leader, first.isr, first.reassigning, first.elr
        )


def _is_sound(state: PartitionRegistration | None) -> bool:
    """Returns whether nothing is wrong with a partition, or there is none."""
    if state is None:
        return True
    return state.has_preferred_leader and len(state.isr) == len(state.replicas) and not state.reassigning
