"""ProducerIdsImage: where the next block of producer ids starts (KIP-730)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from kraftctl.image.image_part import ImagePart
from kraftctl.image.undo_journal import JournalView, UndoJournal
from kraftctl_protocol.generated.producer_ids_record import ProducerIdsRecord
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import encode_metadata_record


class ProducerIdsImage(ImagePart):
    """The next block; `next_producer_id` is -1 before any block was given out."""

    def __init__(self, journal: UndoJournal) -> None:
        self._journal = journal
        self.next_producer_id = -1

    def replay(self, record: Message, offset: int) -> None:
        assert isinstance(record, ProducerIdsRecord)
        self._journal.remember(self, None, self.next_producer_id)
        self.next_producer_id = record.next_producer_id

    def values(self, view: JournalView, metadata_version: int, elr_enabled: bool) -> Iterator[bytes]:
        """Yields the record of Kafka's snapshots, without the broker that got the last block."""
        next_producer_id = cast(int, view.value(self, None, self.next_producer_id))
        if next_producer_id >= 0:
            record = ProducerIdsRecord(broker_id=-1, broker_epoch=-1, next_producer_id=next_producer_id)
            yield encode_metadata_record(record, 0)

    def current(self, key: object) -> object:
        return self.next_producer_id

    def restore(self, key: object, old: object) -> None:
        assert isinstance(old, int)
        self.next_producer_id = old
