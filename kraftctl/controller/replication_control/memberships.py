"""Memberships: the ISRs and ELRs that a broker has to leave, found slice by slice.

The indexes of the image say what is left: they are right whatever happens between two slices, also when the
broker has come back into an ISR. Each slice changes what it finds so that it is no longer there.
"""

from __future__ import annotations

from kraftctl.controller.replication_control.partition_updates import PartitionUpdates
from kraftctl.controller.replication_control.partition_walk import ElrWalk, IsrWalk, PartitionWalk, in_order
from kraftctl.controller.slice_budget import SliceBudget
from kraftctl.image.metadata_image import MetadataImage


class Memberships:
    """Those of one broker. With ELR it also leaves the ISRs in which it is alone (KIP-966)."""

    def __init__(self, broker_id: int) -> None:
        self._broker_id = broker_id
        self._walks: list[PartitionWalk] = []

    def take(
        self, image: MetadataImage, updates: PartitionUpdates, budget: SliceBudget, *, leaves_elrs: bool
    ) -> bool:
        """Add what changes in this slice to `updates`. True if nothing is left after them."""
        in_one_slice = not self._walks
        if in_one_slice:
            self._walks = self._plan(image, leaves_elrs=leaves_elrs)
        while self._walks:
            if not self._walks[0].take(image.topics, updates, budget):
                return False
            del self._walks[0]
        # After several slices the next one looks at the indexes again, which usually are empty.
        return in_one_slice

    def _plan(self, image: MetadataImage, *, leaves_elrs: bool) -> list[PartitionWalk]:
        topics, broker_id = image.topics, self._broker_id
        in_isrs = topics.isr_counts.get(broker_id, {})
        if image.features.elr_enabled and broker_id in topics.last_member_counts:
            in_isrs = in_isrs | topics.last_member_counts[broker_id]
        walks: list[PartitionWalk] = []
        if in_isrs:
            walks.append(IsrWalk(in_order(in_isrs), broker_id))
        in_elrs = topics.elr_counts.get(broker_id)
        if leaves_elrs and in_elrs is not None:
            walks.append(ElrWalk(in_order(in_elrs), broker_id))
        return walks
