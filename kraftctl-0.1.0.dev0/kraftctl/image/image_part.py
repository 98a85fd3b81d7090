"""ImagePart is the interface of each part of the image: what it learns from records is in snapshots, too."""

from __future__ import annotations

from collections.abc import Iterator

from kraftctl.image.undo_journal import JournalView, Restorable
from kraftctl_protocol.message import Message


class ImagePart(Restorable):
    """A state of its own with the records that change it. `MetadataImage.parts` has all of them."""

    def replay(self, record: Message, offset: int) -> None:
        """Applies a record whose row in `kraftctl_protocol.record_types` names this part."""
        raise AssertionError(f"{type(self).__name__} does not replay {record.NAME}")

    def values(self, view: JournalView, metadata_version: int, elr_enabled: bool) -> Iterator[bytes]:
        """Yields the encoded records from which a new image gets what this one has in `view`.

        The levels are those in the view. What they do not allow is left out, as in Kafka's snapshots.
        """
        raise AssertionError(f"{type(self).__name__} is in no snapshot")
