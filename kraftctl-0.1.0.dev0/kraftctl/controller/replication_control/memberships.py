"""Memberships: the ISRs and ELRs that a broker has to leave, found slice by slice.

The indexes of the image have what is left: they are right whatever happens between two slices, also when the
broker has returned to an ISR. Each slice changes what it finds so that it is no longer there.
"""

from __future__ import annotations

from itertools import islice
from typing import Final

from kraftctl.controller.replication_control.partition_updates import PartitionUpdates
from kraftctl.controller.replication_control.partition_walk import (
    ElrWalk,
    IsrWalk,
    LastMemberWalk,
    PartitionWalk,
    in_order,
)
from kraftctl.controller.results.slice_budget import SliceBudget
from kraftctl.image.metadata_image import MetadataImage
from kraftctl_protocol.uuids import Uuid

TOPICS_PER_PLAN_MAX: Final = 4_096
"""This many topics are taken from an index together: a list of all would take too long for very many."""


class Memberships:
    """The memberships of one broker. With ELR it also leaves the ISRs in which it is alone (KIP-966).

    Without ELR it stays in these. They are visited once, as in Kafka: a replica that such a partition got
    while it had no leader is elected, if the topic allows unclean elections.
    """

    def __init__(self, broker_id: int) -> None:
        self._broker_id = broker_id
        self._walks: list[PartitionWalk] = []
        self._planned_count = 0
        self._has_visited_last = False

    def take(
        self, image: MetadataImage, updates: PartitionUpdates, budget: SliceBudget, *, leaves_elrs: bool
    ) -> bool:
        """Adds the changes of this slice to `updates`. Returns True if nothing is left after them."""
        is_all = False
        if not self._walks:
            is_all = self._plan(image, leaves_elrs=leaves_elrs)
        while self._walks:
            if not self._walks[0].take(image.topics, updates, budget):
                return False
            del self._walks[0]
        # If this took several slices, the next one looks at the indexes again, which usually are empty.
        return is_all

    def _plan(self, image: MetadataImage, *, leaves_elrs: bool) -> bool:
        """Walks through the first topics of the indexes. Returns whether these are all."""
        topics, broker_id = image.topics, self._broker_id
        self._planned_count = 0
        in_isrs = self._first(topics.isr_counts.get(broker_id))
        if image.features.elr_enabled:
            in_isrs = in_isrs | self._first(topics.last_member_counts.get(broker_id))
        elif not self._has_visited_last and broker_id in topics.last_member_counts:
            alone_in = in_order(topics.last_member_counts[broker_id])
            self._walks.append(LastMemberWalk(alone_in, image.cluster, broker_id))
        self._has_visited_last = True
        if in_isrs:
            self._walks.append(IsrWalk(in_order(in_isrs), broker_id, last=image.features.elr_enabled))
        in_elrs = self._first(topics.elr_counts.get(broker_id)) if leaves_elrs else {}
        if in_elrs:
            self._walks.append(ElrWalk(in_order(in_elrs), broker_id))
        return self._planned_count <= TOPICS_PER_PLAN_MAX

    def _first(self, counts: dict[Uuid, int] | None) -> dict[Uuid, int]:
        """Returns the first topics of an index, from which later slices remove them: the front is what
        is left.
        """
        if counts is None:
            return {}
        room = max(0, TOPICS_PER_PLAN_MAX - self._planned_count)
        self._planned_count += len(counts)
        return counts if len(counts) <= room else dict(islice(counts.items(), room))
