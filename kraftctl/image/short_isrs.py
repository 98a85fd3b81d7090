"""ShortIsrs counts the partitions whose ISR lacks replicas: those under min.insync.replicas are among them.

A count by the size of the ISR stays right when the cluster-wide min.insync.replicas changes, and needs no
look at partitions.
"""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64

from kraftctl_protocol.uuids import Uuid

NO_SHORT_ISRS: Final[list[int]] = []
"""The counts of a topic that never had such a partition: one list for all, which is never changed."""


class IsrsOfSize:
    """The short ISRs of one size: the topics that have some, and a count of those of some topics.

    The count is a machine integer: a larger one in a list would be a new object at each change.
    """

    def __init__(self) -> None:
        self.topics: dict[Uuid, None] = {}
        self.inheriting_count: i64 = 0
        """The partitions of topics without min.insync.replicas of their own."""


class ShortIsrs:
    """The counts, by the size of the ISR. They follow from partitions and configs, and are undone with those.

    A partition is under min ISR when its ISR has fewer members than both min.insync.replicas and the replicas
    of the partition, as brokers compute it. Its ISR lacks replicas then, so the size alone decides here.

    Each topic keeps its own counts, a list in which the size is the place, because they change with every
    change of an ISR.
    """

    def __init__(self) -> None:
        self.sizes: list[IsrsOfSize] = []
        """By the size of the ISR, up to the largest."""
        self.own_under_count = 0
        """Partitions under the min.insync.replicas of their own topic."""

    def add(self, topic_id: Uuid, counts: list[int], own_min_isr: int, isr_size: int, step: int) -> None:
        """Counts `step` partitions of a topic; `own_min_isr` is 0 for one that inherits it."""
        if isr_size < len(counts):
            kept = counts[isr_size]
            if kept > 0 and kept + step > 0:  # nearly always: the topic stays among those of this size
                counts[isr_size] = kept + step
                self._add_to_sums(own_min_isr, isr_size, step)
                return
        self._add_first_or_last(topic_id, counts, own_min_isr, isr_size, step)

    def _add_first_or_last(
        self, topic_id: Uuid, counts: list[int], own_min_isr: int, isr_size: int, step: int
    ) -> None:
        while len(counts) <= isr_size:
            counts.append(0)
        while len(self.sizes) <= isr_size:
            self.sizes.append(IsrsOfSize())
        before = counts[isr_size]
        count = before + step
        assert count >= 0, "an index counts less than nothing"
        counts[isr_size] = count
        self._add_to_sums(own_min_isr, isr_size, step)
        if count == 0:
            del self.sizes[isr_size].topics[topic_id]
            self._trim(counts)
        elif before == 0:
            self.sizes[isr_size].topics[topic_id] = None

    def change_min_isr(self, counts: list[int], old: int, new: int) -> None:
        """Moves the partitions of a topic to another min.insync.replicas; 0 is the inherited one."""
        for isr_size, count in enumerate(counts):
            self._add_to_sums(old, isr_size, -count)
            self._add_to_sums(new, isr_size, count)

    def drop(self, topic_id: Uuid, counts: list[int], own_min_isr: int) -> None:
        """Drops a topic as a whole."""
        for isr_size, count in list(enumerate(counts)):
            if count > 0:
                self.add(topic_id, counts, own_min_isr, isr_size, -count)

    def under_min_isr_count(self, inherited_min_isr: int) -> int:
        """Returns the partitions under min ISR; there are as many sizes as replicas of a partition."""
        count = self.own_under_count
        for isrs in self.sizes[: max(inherited_min_isr, 0)]:
            count += isrs.inheriting_count
        return count

    def _trim(self, counts: list[int]) -> None:
        """Ends the lists with the largest size that there is, so that what is undone is as it was."""
        while counts and counts[-1] == 0:
            counts.pop()
        while self.sizes and not self.sizes[-1].topics:
            self.sizes.pop()

    def _add_to_sums(self, own_min_isr: int, isr_size: int, step: int) -> None:
        if own_min_isr == 0:
            self.sizes[isr_size].inheriting_count += step
        elif isr_size < own_min_isr:
            self.own_under_count += step
