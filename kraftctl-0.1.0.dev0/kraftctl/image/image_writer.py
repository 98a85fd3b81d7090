"""image_writer: the image as records, in the order of Kafka's snapshots (KIP-630).

The records are produced in slices, so that a snapshot of a large cluster never holds up the event
loop; a JournalView keeps the slices consistent with each other while the image changes. Within a kind
nothing is sorted, as in Kafka's: sorting a million topics takes seconds. Topics, brokers, ACLs and so on
are in the order in which they came into the image, and each topic is followed by its partitions.
"""

from __future__ import annotations

from collections.abc import Iterator

from kraftctl.image.image_part import ImagePart
from kraftctl.image.metadata_image import MetadataImage
from kraftctl.metadata import features


class ImageWriter:
    """Writes the image as it was before the record at `end_offset`.

    Take slices with `next_values` until it returns an empty list, then `close`. Everything from
    `end_offset` on must still be in the journal, so it is at least the high watermark of now.
    """

    def __init__(self, image: MetadataImage, end_offset: int) -> None:
        self._image = image
        self._view = image.journal.open_view(end_offset)
        committed = image.features.in_view(self._view)
        self._metadata_version = committed.metadata_version
        self._elr_enabled = committed.levels.get(features.ELIGIBLE_LEADER_REPLICAS_VERSION, 0) >= 1
        self._parts_left: list[ImagePart] = list(image.parts.values())
        self._values: Iterator[bytes] = iter([])
        self._closed = False

    def next_values(self, count_max: int) -> list[bytes]:
        """Returns up to `count_max` further records, encoded; empty when all have been written."""
        values: list[bytes] = []
        while len(values) < count_max:
            value = next(self._values, None)
            if value is not None:
                values.append(value)
            elif self._parts_left:
                part = self._parts_left.pop(0)
                self._values = part.values(self._view, self._metadata_version, self._elr_enabled)
            else:
                break
        return values

    def close(self) -> None:
        """Ends keeping old values for this writer; further calls have no effect."""
        if not self._closed:
            self._closed = True
            self._image.journal.close_view(self._view)

    def free_some(self, count_max: int) -> bool:
        """Frees about that many old values after `close`. Returns whether any are left."""
        return self._view.free_some(count_max)
