"""The image that a replay of the committed log gives, as of any committed offset."""

from __future__ import annotations

from kraftctl.image.image_writer import ImageWriter
from kraftctl.image.metadata_image import MetadataImage
from kraftctl_protocol.metadata_record import decode_metadata_record
from kraftctl_protocol.record_batch import read_batches

RECORDS_MAX = 1 << 40


def encoded_image(image: MetadataImage, end_offset: int) -> list[bytes]:
    """The image without the records from `end_offset` on, as the records of a snapshot, encoded and
    sorted: equal images may have come about in different orders."""
    writer = ImageWriter(image, end_offset)
    try:
        values = writer.next_values(RECORDS_MAX)
    finally:
        writer.close()
    return sorted(values)


def snapshot_values(data: bytes) -> list[bytes]:
    """The records of a checkpoint file, without those of the raft layer, sorted."""
    return sorted(
        record.value or b""
        for batch in read_batches(data)
        if not batch.header.is_control
        for record in batch.records
    )


def first_difference(found: list[bytes], expected: list[bytes]) -> str:
    """Readable, for an error text."""
    for at in range(max(len(found), len(expected))):
        one = found[at] if at < len(found) else None
        other = expected[at] if at < len(expected) else None
        if one != other:
            return f"record {at} is {_decoded(one)}, not {_decoded(other)}"
    return "none"


def _decoded(value: bytes | None) -> str:
    return "missing" if value is None else repr(decode_metadata_record(value).record)


class ReferenceImage:
    """Its journal never forgets, so it can be read as of any offset. Offsets are ends (exclusive)."""

    def __init__(self) -> None:
        self.image = MetadataImage()
        self.end_offset = 0
        self._encoded: dict[int, list[bytes]] = {}

    def encoded_at(self, end_offset: int) -> list[bytes]:
        """As `encoded_image`; remembered until `forget`."""
        encoded = self._encoded.get(end_offset)
        if encoded is None:
            encoded = self._encoded[end_offset] = encoded_image(self.image, end_offset)
        return encoded

    def forget(self) -> None:
        self._encoded.clear()
