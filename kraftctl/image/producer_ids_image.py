"""ProducerIdsImage: where the next block of producer ids starts (KIP-730)."""

from __future__ import annotations

from kraftctl.image.undo_journal import Restorable, UndoJournal
from kraftctl_protocol.generated.producer_ids_record import ProducerIdsRecord


class ProducerIdsImage(Restorable):
    """`next_producer_id` is -1 before any block was given out."""

    def __init__(self, journal: UndoJournal) -> None:
        self._journal = journal
        self.next_producer_id = -1

    def replay(self, record: ProducerIdsRecord) -> None:
        self._journal.remember(self, None, self.next_producer_id)
        self.next_producer_id = record.next_producer_id

    def current(self, key: object) -> object:
        return self.next_producer_id

    def restore(self, key: object, old: object) -> None:
        assert isinstance(old, int)
        self.next_producer_id = old
