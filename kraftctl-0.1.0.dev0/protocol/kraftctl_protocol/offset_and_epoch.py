"""A position in the metadata log: an offset and the epoch of the record before it."""

from __future__ import annotations

from typing import NamedTuple


class OffsetAndEpoch(NamedTuple):
    """The position; in the id of a snapshot `offset` is the first offset that the snapshot does not
    contain.
    """

    offset: int
    epoch: int

    def __str__(self) -> str:
        return f"{self.offset}-{self.epoch}"


BOOTSTRAP_SNAPSHOT_ID = OffsetAndEpoch(0, 0)
"""`kraftctl format` writes this snapshot for a dynamic quorum (KIP-853), and Kafka 4.4 for any quorum
(KIP-1170); it is never sent to another replica."""
