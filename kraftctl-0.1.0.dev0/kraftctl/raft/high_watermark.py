"""Computes the offset below which every record is committed from the voters' end offsets (KIP-595)."""

from __future__ import annotations

UNKNOWN_OFFSET = -1
"""The end offset of a voter that has not fetched in this epoch; also Kafka's unknown high watermark."""


def high_watermark(end_offsets: list[int]) -> int:
    """Returns the highest offset (exclusive) that a majority of voters has reached.

    One entry per voter, the leader's own included while it votes; `UNKNOWN_OFFSET` where a voter has not
    fetched yet. Returns `UNKNOWN_OFFSET` while no majority is known.
    """
    assert end_offsets, "a quorum without voters commits nothing"
    if len(end_offsets) == 1:
        return end_offsets[0]
    return sorted(end_offsets, reverse=True)[len(end_offsets) // 2]
