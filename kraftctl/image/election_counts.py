"""Counts elections that lose records, and those among eligible replicas (KIP-966)."""

from __future__ import annotations

from kraftctl.metadata.leader_recovery_state import RECOVERING
from kraftctl.metadata.partition_registration import PartitionRegistration


class ElectionCounts:
    """Counts as Kafka's TopicDelta does; elections before `begin` are history."""

    def __init__(self) -> None:
        self.unclean_count = 0
        self.from_elr_count = 0

    def begin(self) -> None:
        self.unclean_count = self.from_elr_count = 0

    def note(self, old: PartitionRegistration, new: PartitionRegistration) -> None:
        """Notes that a partition has another leader, or none."""
        if new.leader_recovery_state == RECOVERING and old.leader_recovery_state != RECOVERING:
            self.unclean_count += 1
        if int(new.leader) in old.elr:
            self.from_elr_count += 1
