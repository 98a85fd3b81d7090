"""The records that a snapshot of an image would have, and the lines by which images are compared."""

from __future__ import annotations

from kraftctl.image.image_writer import ImageWriter
from kraftctl.image.metadata_image import MetadataImage
from kraftctl.image.replay import replay
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import RecordAndVersion, decode_metadata_record


def image_of(*records: Message) -> MetadataImage:
    """Returns the image of a log with these records."""
    image = MetadataImage()
    for offset, record in enumerate(records):
        replay(image, record, offset)
    return image


def next_records(writer: ImageWriter, count_max: int) -> list[RecordAndVersion]:
    """The next slice, decoded."""
    return [decode_metadata_record(value) for value in writer.next_values(count_max)]


def image_records(image: MetadataImage) -> list[RecordAndVersion]:
    """The present state, committed or not, in one list, as a snapshot has it."""
    writer = ImageWriter(image, 1 << 62)
    records: list[RecordAndVersion] = []
    while slice_ := next_records(writer, 10_000):
        records.extend(slice_)
    writer.close()
    return records


def image_lines(image: MetadataImage) -> list[str]:
    """The same, sorted: equal images may have come about in different orders."""
    return sorted(repr((entry.version, entry.record)) for entry in image_records(image))
