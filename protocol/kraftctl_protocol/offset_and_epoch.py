"""A position in the metadata log: an offset and the epoch of the record before it."""

from __future__ import annotations

from typing import NamedTuple


class OffsetAndEpoch(NamedTuple):
    """In the id of a snapshot `offset` is exclusive: the first offset that the snapshot does not contain."""

    offset: int
    epoch: int

    def __str__(self) -> str:
        return f"{self.offset}-{self.epoch}"


BOOTSTRAP_SNAPSHOT_ID = OffsetAndEpoch(0, 0)
"""Written when a dynamic quorum is formatted (KIP-853), with Kafka 4.4 any quorum (KIP-1170); never sent to
another replica."""
