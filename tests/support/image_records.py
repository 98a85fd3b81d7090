"""The records that a snapshot of an image would have, to compare images."""

from __future__ import annotations

from kraftctl.image.image_writer import ImageWriter
from kraftctl.image.metadata_image import MetadataImage
from kraftctl_protocol.metadata_record import RecordAndVersion


def image_records(image: MetadataImage) -> list[RecordAndVersion]:
    """The present state, committed or not, in one list."""
    writer = ImageWriter(image, 1 << 62)
    records: list[RecordAndVersion] = []
    while slice_ := writer.next_records(10_000):
        records.extend(slice_)
    writer.close()
    return records
