"""ShortIsrs counts the partitions whose ISR lacks replicas: those under min.insync.replicas are among them.

A count by the size of the ISR stays right when the cluster-wide min.insync.replicas changes, and needs no
look at partitions.
"""

from __future__ import annotations

from typing import Final

from kraftctl_protocol.uuids import Uuid

NO_SHORT_ISRS: Final[list[int]] = []
"""The counts of a topic that never had such a partition: one list for all, which is never changed."""


class ShortIsrs:
    """The counts, by the size of the ISR. They follow from partitions and configs, and are undone with those.

    A partition is under min ISR when its ISR has fewer members than both min.insync.replicas and the replicas
    of the partition, as brokers compute it. Its ISR lacks replicas then, so the size alone decides here.

    Each topic keeps its own counts, a list in which the size is the place, because they change with every
    change of an ISR.
    """

    def __init__(self) -> None:
        self.topics: list[dict[Uuid, None]] = []
        """The topics with such partitions, by the size of the ISR."""
        self.inheriting_counts: list[int] = []
        """The partitions of topics without min.insync.replicas of their own."""
        self.own_under_count = 0
        """Partitions under the min.insync.replicas of their own topic."""

    def add(self, topic_id: Uuid, counts: list[int], own_min_isr: int, isr_size: int, step: int) -> None:
        """Counts `step` partitions of a topic; `own_min_isr` is 0 for one that inherits it."""
        while len(counts) <= isr_size:
            counts.append(0)
        while len(self.topics) <= isr_size:
            self.topics.append({})
            self.inheriting_counts.append(0)
        before = counts[isr_size]
        count = before + step
        assert count >= 0, "an index counts less than nothing"
        counts[isr_size] = count
        self._add_to_sums(own_min_isr, isr_size, step)
        if count == 0:
            del self.topics[isr_size][topic_id]
            self._trim(counts)
        elif before == 0:
            self.topics[isr_size][topic_id] = None

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
        for inheriting in self.inheriting_counts[: max(inherited_min_isr, 0)]:
            count += inheriting
        return count

    def _trim(self, counts: list[int]) -> None:
        """Ends the lists with the largest size that there is: what is undone is as it was."""
        while counts and counts[-1] == 0:
            counts.pop()
        while self.topics and not self.topics[-1]:
            self.topics.pop()
            self.inheriting_counts.pop()

    def _add_to_sums(self, own_min_isr: int, isr_size: int, step: int) -> None:
        if own_min_isr == 0:
            self.inheriting_counts[isr_size] += step
        elif isr_size < own_min_isr:
            self.own_under_count += step
