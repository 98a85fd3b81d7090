"""Chooses the snapshot that retention deletes next, while others may be reading one (KIP-630)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch


class Cleaned(NamedTuple):
    """The result of retention: the log starts at `start_offset` now, and these snapshots are gone."""

    start_offset: int
    deleted: list[OffsetAndEpoch]


def next_to_delete(ids: Sequence[OffsetAndEpoch], held: Collection[OffsetAndEpoch]) -> OffsetAndEpoch | None:
    """Returns the oldest of `ids`, which rise; None when nothing may be deleted.

    The newest always stays. Of those before it the oldest that is in `held` stays as well, and with it the
    log from its end on, so that the replica that fetches it can continue from there. So no more than two are
    left, however many are written meanwhile; a replica that fetches another one starts over.
    """
    kept = next((snapshot_id for snapshot_id in ids[:-1] if snapshot_id in held), None)
    return next((snapshot_id for snapshot_id in ids[:-1] if snapshot_id != kept), None)
