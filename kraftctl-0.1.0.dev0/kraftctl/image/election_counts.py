"""Counts elections that lose records, and those among eligible replicas (KIP-966)."""

from __future__ import annotations

from typing import Final

from kraftctl.image.undo_journal import UndoJournal
from kraftctl.metadata.leader_recovery_state import RECOVERING
from kraftctl.metadata.partition_registration import PartitionRegistration

UNCLEAN: Final = "unclean"
FROM_ELR: Final = "from ELR"


class ElectionCounts:
    """Counts as Kafka's TopicDelta does; elections before `begin` are history.

    The journal has each count: an election of records that are never committed did not happen.
    """

    def __init__(self, journal: UndoJournal) -> None:
        self._journal = journal
        self._counts: dict[str, int] = {}
        self._history: dict[str, int] = {}

    @property
    def unclean_count(self) -> int:
        """Leaders that may lack records."""
        return self._since_begin(UNCLEAN)

    @property
    def from_elr_count(self) -> int:
        """Leaders that were outside of the ISR, and have all records."""
        return self._since_begin(FROM_ELR)

    def begin(self) -> None:
        self._history = dict(self._counts)

    def note(self, old: PartitionRegistration, new: PartitionRegistration) -> None:
        """Notes that a partition has another leader, or none."""
        if new.leader_recovery_state == RECOVERING and old.leader_recovery_state != RECOVERING:
            self._add(UNCLEAN)
        if int(new.leader) in old.elr:
            self._add(FROM_ELR)

    def _add(self, kind: str) -> None:
        self._journal.put(self._counts, kind, self._counts.get(kind, 0) + 1)

    def _since_begin(self, kind: str) -> int:
        """Returns the count; what was undone may have been counted before `begin`."""
        return max(0, self._counts.get(kind, 0) - self._history.get(kind, 0))
