"""Parts of our own snapshot: in order, together while the disk is busy, and never more than memory allows."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from kraftctl.node.events import AbandonSnapshot, NodeEffect, TakeTurn, WriteSnapshot, WriteSnapshotPart
from kraftctl.node.long_work import SLICES, SNAPSHOT
from kraftctl.raft.events import SnapshotCreated
from kraftctl.server.loop.snapshot_writing import WAITING_BYTES_MAX
from kraftctl.storage.errors import StorageError
from kraftctl.storage.snapshots import SnapshotStore
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from tests.server.executing import World

ID, LATER = OffsetAndEpoch(7, 1), OffsetAndEpoch(9, 1)


def part(data: bytes, position: int) -> WriteSnapshotPart:
    return WriteSnapshotPart(ID, [data], position)


def carry_out(world: World, *effects: NodeEffect) -> None:
    for effect in effects:
        world.executor.execute(effect)


def storage_error(number: int) -> StorageError:
    error = StorageError("planned")
    error.__cause__ = OSError(number, "planned")
    return error


def test_parts_that_wait_are_written_together() -> None:
    world = World()
    carry_out(world, part(b"a", 0), part(b"bc", 1), part(b"d", 3), WriteSnapshot(ID, [b"e"], 4))
    world.run_next()
    assert world.calls == [("write_snapshot_part", ID, [b"a"], 0)]
    world.run_next()
    assert world.calls[1:] == [("write_snapshot", ID, [b"bc", b"d", b"e"], 1)]
    assert world.offered[0] == SnapshotCreated(ID, 1)
    assert world.waiting == []


def test_what_is_abandoned_is_removed_before_the_next_one_begins() -> None:
    world = World()
    carry_out(world, part(b"a", 0), part(b"b", 1), AbandonSnapshot(ID), WriteSnapshot(LATER, [b"c"]))
    world.run_all()
    assert world.calls == [
        ("write_snapshot_part", ID, [b"a"], 0),
        ("write_snapshot_part", ID, [b"b"], 1),
        ("abandon_snapshot",),
        ("write_snapshot", LATER, [b"c"], 0),
    ]


def test_no_turn_is_taken_while_much_waits_for_the_disk() -> None:
    world = World()
    large = bytes(WAITING_BYTES_MAX)
    carry_out(world, part(large, 0), TakeTurn(SNAPSHOT, 1))
    assert len(world.soon) == 1
    carry_out(world, part(b"b", len(large)), TakeTurn(SNAPSHOT, 1))
    assert len(world.soon) == 1
    carry_out(world, TakeTurn(SLICES, 1))
    assert len(world.soon) == 2
    world.run_next()
    assert len(world.soon) == 3


@pytest.mark.parametrize("first_fails", [True, False])
def test_parts_wait_for_a_descriptor(first_fails: bool) -> None:
    world = World()
    effects = (part(b"a", 0), WriteSnapshot(ID, [b"b"], 1))
    world.failing["write_snapshot_part" if first_fails else "write_snapshot"] = storage_error(errno.EMFILE)
    carry_out(world, *effects)
    world.run_all()
    assert (world.offered, world.failures) == ([], [])
    world.failing.clear()
    world.timers.pop()()
    world.run_all()
    assert world.calls[-1] == ("write_snapshot", ID, [b"b"], 1)
    assert world.offered[0] == SnapshotCreated(ID, 1)


def test_a_part_that_cannot_be_written_ends_the_processing() -> None:
    world = World()
    world.failing["write_snapshot_part"] = storage_error(errno.ENOSPC)
    carry_out(world, part(b"a", 0), part(b"b", 1))
    world.run_all()
    assert world.failures == [world.failing["write_snapshot_part"]]
    assert len(world.calls) == 1


def test_a_process_that_stops_begins_no_part() -> None:
    world = World()
    carry_out(world, part(b"a", 0), part(b"b", 1))
    world.executor.stop()
    world.run_all()
    assert len(world.calls) == 1


# On a disk.


def names(directory: Path) -> list[str]:
    return sorted(path.name.partition(".")[2] for path in directory.iterdir())


def test_a_snapshot_has_its_name_after_its_last_part(tmp_path: Path) -> None:
    store = SnapshotStore.open(tmp_path)
    store.write_part(ID, [b"a", b"b"], 0)
    store.write_part(ID, [b"c"], 2)
    assert (names(tmp_path), store.ids()) == (["checkpoint.part"], [])
    assert store.write(ID, [b"d"], 3).size_bytes == 4
    assert (names(tmp_path), store.ids()) == (["checkpoint"], [ID])
    assert store.path(ID).read_bytes() == b"abcd"


@pytest.mark.parametrize("position", [0, 2, 4])
def test_a_part_is_neither_skipped_nor_repeated(tmp_path: Path, position: int) -> None:
    store = SnapshotStore.open(tmp_path)
    store.write_part(ID, [b"abc"], 0)
    with pytest.raises(AssertionError):
        store.write(ID if position else LATER, [b"d"], position or 3)
    assert store.ids() == []


def test_what_is_left_of_an_unfinished_snapshot_is_removed(tmp_path: Path) -> None:
    store = SnapshotStore.open(tmp_path)
    store.write_part(ID, [b"abc"], 0)
    store.abandon()
    assert names(tmp_path) == []
    store.write_part(ID, [b"abc"], 0)
    store.write_part(LATER, [b"x"], 0)
    assert names(tmp_path) == ["checkpoint.part"]
    assert SnapshotStore.open(tmp_path).ids() == []
    assert names(tmp_path) == []
