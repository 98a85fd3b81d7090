"""A place in the metadata log that survives truncation: an offset and the epoch it was written in."""

from __future__ import annotations

from typing import NamedTuple


class OffsetAndEpoch(NamedTuple):
    """As the id of a snapshot, `offset` is exclusive: the first offset the snapshot does not hold."""

    offset: int
    epoch: int

    def __str__(self) -> str:
        return f"{self.offset}-{self.epoch}"


BOOTSTRAP_SNAPSHOT_ID = OffsetAndEpoch(0, 0)
"""Left behind by formatting a dynamic quorum (KIP-853), by Kafka 4.4 any quorum (KIP-1170); it never travels
to another replica."""
