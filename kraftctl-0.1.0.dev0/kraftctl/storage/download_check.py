"""Decodes the records of a checkpoint while it is being downloaded, not all at its end.

To decode a million records takes seconds. A replica that did so at the end would neither vote nor fetch
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
    """Takes the bytes in order. `CheckpointReader.verify_snapshot` finds out what is wrong."""

    def __init__(self) -> None:
        self._unfinished = b""
        self._is_sound = True

    @property
    def has_decoded_all(self) -> bool:
        """Returns whether every record of whole batches with the right checksums was decoded, with
        nothing left over.
        """
        return self._is_sound and not self._unfinished

    def take(self, data: bytes) -> None:
        """Takes the next bytes. After the first invalid batch, nothing more is decoded."""
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
    """Returns None when the batch is not whole yet. Raises DecodeError for a size that no batch has."""
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
