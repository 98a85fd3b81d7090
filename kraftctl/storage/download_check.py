"""The records of a checkpoint that is being downloaded, decoded as its bytes come in, not all at its end.

To decode a million records takes seconds. A replica that did so in the end would neither vote nor fetch
meanwhile, and then look for another leader.
"""

from __future__ import annotations

from typing import Final

from kraftctl_protocol.batch_framing import HEADER_BYTES, batch_size
from kraftctl_protocol.metadata_record import UnknownRecordError, decode_metadata_record
from kraftctl_protocol.primitives import DecodeError
from kraftctl_protocol.record_batch import read_batch

BATCH_BYTES_MAX: Final = 64 * 1024 * 1024
"""Larger batches are not gathered here: no controller writes more than 8 MiB."""


class DownloadCheck:
    """Takes the bytes in order. It does not say what is wrong: `CheckpointReader.verify_snapshot` does."""

    def __init__(self) -> None:
        self._unfinished = b""
        self._is_sound = True

    @property
    def has_decoded_all(self) -> bool:
        """Every record of whole batches with the right checksums; nothing is left over."""
        return self._is_sound and not self._unfinished

    def take(self, data: bytes) -> None:
        """The next bytes. After the first batch that is not sound, nothing more is decoded."""
        if not self._is_sound:
            return
        buffer = self._unfinished + data
        position = 0
        try:
            while (end := _batch_end(buffer, position)) is not None:
                _decode(buffer, position)
                position = end
        except (DecodeError, UnknownRecordError):
            self._is_sound = False
            self._unfinished = b""
        else:
            self._unfinished = buffer[position:]


def _batch_end(buffer: bytes, position: int) -> int | None:
    """None when the batch is not whole yet. Raises DecodeError for a size that no batch has."""
    if len(buffer) - position < HEADER_BYTES:
        return None
    size_bytes = batch_size(buffer, position)
    if not HEADER_BYTES <= size_bytes <= BATCH_BYTES_MAX:
        raise DecodeError(f"a batch of {size_bytes} bytes")
    end = position + size_bytes
    return end if end <= len(buffer) else None


def _decode(buffer: bytes, position: int) -> None:
    batch = read_batch(buffer, position)
    if not batch.header.is_control:
        for record in batch.records:
            decode_metadata_record(record.value or b"")
