"""The batches of a Fetch response that a reader may use (KIP-595)."""

from __future__ import annotations

from kraftctl_protocol.generated.fetch_response import PartitionData
from kraftctl_protocol.primitives import DecodeError
from kraftctl_protocol.record_batch import RecordBatch, read_batches


def committed_batches(data: PartitionData, offset: int, leader_epoch: int) -> list[RecordBatch]:
    """Returns the committed batches from the one with `offset` on, or a later one.

    Raises DecodeError when they are damaged, or none of a log that a leader of `leader_epoch` has.
    """
    found: list[RecordBatch] = []
    last_epoch = 0
    for batch in read_batches(data.records or b"", partial_tail=True):
        header = batch.header
        if not last_epoch <= header.partition_leader_epoch <= leader_epoch:
            raise DecodeError(
                f"batch {header.base_offset}-{header.last_offset} is of epoch {header.partition_leader_epoch}"
                f", after {last_epoch}, from a leader of {leader_epoch}"
            )
        if header.last_offset < offset or header.last_offset >= data.high_watermark:
            continue
        last_epoch = header.partition_leader_epoch
        found.append(batch)
    return found


def contents(data: PartitionData, offset: int) -> str:
    """Returns what a response without a usable batch has, for an error."""
    batches = read_batches(data.records or b"", partial_tail=True)
    offsets = "nothing"
    if batches:
        offsets = f"offsets {batches[0].header.base_offset} to {batches[-1].header.last_offset}"
    return f"asked for offset {offset}, it sent {offsets}, committed up to {data.high_watermark}"
