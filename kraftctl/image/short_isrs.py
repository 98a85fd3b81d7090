"""ShortIsrs counts the partitions whose ISR lacks replicas: those under min.insync.replicas are among them.

A count by the size of the ISR stays right when the cluster-wide min.insync.replicas changes, and needs no
look at partitions.
"""

from __future__ import annotations

from kraftctl_protocol.uuids import Uuid


class ShortIsrs:
    """The counts, by the size of the ISR. They follow from partitions and configs, and are undone with those.

    A partition is under min ISR when its ISR has fewer members than both min.insync.replicas and the replicas
    of the partition, as brokers compute it. Its ISR lacks replicas then, so the size alone decides here.
    """

    def __init__(self) -> None:
        self.topic_counts: list[dict[Uuid, int]] = []
        self.inheriting_counts: list[int] = []
        """Those of topics without min.insync.replicas of their own."""
        self.own_under_count = 0
        """Partitions under the min.insync.replicas of their own topic."""

    def add(self, topic_id: Uuid, own_min_isr: int, isr_size: int, step: int) -> None:
        """Counts `step` partitions; `own_min_isr` is 0 for a topic that inherits it."""
        while len(self.topic_counts) <= isr_size:
            self.topic_counts.append({})
            self.inheriting_counts.append(0)
        topics = self.topic_counts[isr_size]
        count = topics.get(topic_id, 0) + step
        assert count >= 0, "an index counts less than nothing"
        if count > 0:
            topics[topic_id] = count
        else:
            del topics[topic_id]
        self._add_to_sums(own_min_isr, isr_size, step)

    def change_min_isr(self, topic_id: Uuid, old: int, new: int) -> None:
        """Moves the partitions of a topic to another min.insync.replicas; 0 is the inherited one."""
        for isr_size, topics in enumerate(self.topic_counts):
            count = topics.get(topic_id, 0)
            if count > 0:
                self._add_to_sums(old, isr_size, -count)
                self._add_to_sums(new, isr_size, count)

    def drop(self, topic_id: Uuid, own_min_isr: int) -> None:
        """Drops a topic as a whole."""
        for isr_size, topics in enumerate(self.topic_counts):
            count = topics.get(topic_id, 0)
            if count > 0:
                self.add(topic_id, own_min_isr, isr_size, -count)

    def under_min_isr_count(self, inherited_min_isr: int) -> int:
        """Returns the partitions under min ISR; there are as many sizes as replicas of a partition."""
        count = self.own_under_count
        for inheriting in self.inheriting_counts[: max(inherited_min_isr, 0)]:
            count += inheriting
        return count

    def _add_to_sums(self, own_min_isr: int, isr_size: int, step: int) -> None:
        if own_min_isr > 0:
            if isr_size < own_min_isr:
                self.own_under_count += step
        else:
            self.inheriting_counts[isr_size] += step
