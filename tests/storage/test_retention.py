"""Which snapshots are left to those who are fetching them."""

from __future__ import annotations

import pytest

from kraftctl.server.loop.snapshot_reads import HELD_MS_MAX, READING_MS, SnapshotReads
from kraftctl.storage.retention import next_to_delete
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch


def snapshot_id(offset: int) -> OffsetAndEpoch:
    return OffsetAndEpoch(offset, 1)


@pytest.mark.parametrize(
    ("offsets", "held", "deleted"),
    [
        pytest.param([], [], [], id="none"),
        pytest.param([5], [], [], id="the-newest"),
        pytest.param([5, 10, 15], [], [5, 10], id="no-fetch"),
        pytest.param([5, 10], [10], [5], id="the-newest-is-fetched"),
        pytest.param([5, 10], [5], [], id="the-older-of-two-is-fetched"),
        pytest.param([5, 10, 15], [5], [10], id="the-oldest-is-fetched"),
        pytest.param([5, 10, 15, 20], [10], [5, 15], id="one-in-between-is-fetched"),
        pytest.param([5, 10, 15, 20], [5, 10, 15], [10, 15], id="all-are-fetched"),
        pytest.param([10, 15], [5], [10], id="what-is-gone-is-fetched"),
    ],
)
def test_what_retention_deletes(offsets: list[int], held: list[int], deleted: list[int]) -> None:
    """With nothing but limits that are exceeded."""
    ids = [snapshot_id(offset) for offset in offsets]
    done = []
    while (doomed := next_to_delete(ids, {snapshot_id(offset) for offset in held})) is not None:
        ids.remove(doomed)
        done.append(doomed.offset)
    assert done == deleted
    assert len(ids) <= 2


def test_a_snapshot_is_held_while_slices_follow_each_other() -> None:
    reads = SnapshotReads()
    assert reads.held(0) == frozenset()
    reads.note(snapshot_id(5), 0)
    reads.note(snapshot_id(9), 10)
    assert reads.held(READING_MS) == {snapshot_id(5), snapshot_id(9)}
    assert reads.held(READING_MS + 5) == {snapshot_id(9)}
    assert reads.held(READING_MS + 11) == frozenset()
    reads.note(snapshot_id(5), READING_MS + 12)
    assert reads.held(READING_MS + 12) == {snapshot_id(5)}


def test_a_snapshot_is_not_held_for_ever() -> None:
    reads = SnapshotReads()
    for now_ms in range(1_000, 1_000 + HELD_MS_MAX, 1_000):
        reads.note(snapshot_id(5), now_ms)
        assert reads.held(now_ms) == {snapshot_id(5)}
    reads.note(snapshot_id(5), HELD_MS_MAX + 1_000)
    assert reads.held(HELD_MS_MAX + 1_000) == frozenset()
