"""One read of a file serves the replicas that follow one another; never after the file was cut."""

from __future__ import annotations

from typing import Any

import pytest

from kraftctl.raft import effects
from kraftctl.server.loop.executor_protocols import RetentionDue
from kraftctl.server.loop.read_cache import KEPT_BYTES_MAX, KEPT_BYTES_MIN, ReadCache, SnapshotSlice
from kraftctl_protocol.generated.fetch_response import FetchableTopicResponse, FetchResponse, PartitionData
from kraftctl_protocol.generated.fetch_snapshot_response import (
    FetchSnapshotResponse,
    PartitionSnapshot,
    TopicSnapshot,
)
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from tests.server.executing import World

SNAPSHOT = OffsetAndEpoch(10, 1)
SLICE_BYTES = 1 << 20


class LongWorld(World):
    """Its files have something long everywhere."""

    slice_bytes = KEPT_BYTES_MIN

    def read(self, *wanted: int) -> bytes:
        self._called("read", *wanted)
        return bytes(self.slice_bytes)

    def read_snapshot_slice(self, *wanted: Any) -> bytes:
        self._called("read_snapshot_slice", *wanted)
        return bytes(self.slice_bytes)

    def reads(self) -> int:
        return sum(call[0].startswith("read") for call in self.calls)


def fetch(world: World, request_id: int, read_offset: int = 5, end_offset: int = 50) -> None:
    execute_fetch(world, request_id, read_offset, end_offset)
    world.run_all()


def execute_fetch(world: World, request_id: int, read_offset: int = 5, end_offset: int = 50) -> None:
    response = FetchResponse(responses=[FetchableTopicResponse(partitions=[PartitionData()])])
    world.executor.execute(effects.RespondFetch([request_id], response, read_offset, end_offset, SLICE_BYTES))


def fetch_snapshot(world: World, request_id: int, position: int) -> None:
    execute_fetch_snapshot(world, request_id, position)
    world.run_all()


def execute_fetch_snapshot(world: World, request_id: int, position: int) -> None:
    response = FetchSnapshotResponse(topics=[TopicSnapshot(partitions=[PartitionSnapshot()])])
    world.executor.execute(
        effects.RespondFetchSnapshot(request_id, response, SNAPSHOT, position, SLICE_BYTES)
    )


def records_of(world: World, request_id: int) -> bytes | None:
    answered = world.responses[request_id]
    assert isinstance(answered, FetchResponse)
    return answered.responses[0].partitions[0].records


def test_the_log_is_read_once_for_replicas_at_the_same_offset() -> None:
    world = LongWorld()
    for request_id in range(10):
        fetch(world, request_id)
    assert world.calls == [("read", 5, SLICE_BYTES, 50)]
    assert {id(records_of(world, request_id)) for request_id in range(10)} == {id(records_of(world, 0))}
    fetch(world, 11, read_offset=6)
    assert world.reads() == 2


def test_a_slice_of_a_snapshot_is_read_once() -> None:
    world = LongWorld()
    for request_id in range(10):
        fetch_snapshot(world, request_id, 100)
    assert world.calls == [("read_snapshot_slice", SNAPSHOT, 100, SLICE_BYTES)]


def test_what_is_kept_is_sent_without_the_storage_thread() -> None:
    world = LongWorld()
    fetch(world, 1)
    fetch_snapshot(world, 2, 100)
    execute_fetch(world, 3)
    execute_fetch_snapshot(world, 4, 100)
    assert world.waiting == []
    assert records_of(world, 3) is records_of(world, 1)
    assert 4 in world.responses


def test_what_was_read_for_a_voter_is_not_for_an_observer() -> None:
    """A voter gets what is not committed yet."""
    world = LongWorld()
    fetch(world, 1, end_offset=50)
    fetch(world, 2, end_offset=49)
    assert world.reads() == 2
    fetch(world, 3, end_offset=60)
    assert world.reads() == 2


@pytest.mark.parametrize(
    "cutting",
    [effects.TruncateLog(20), effects.StartOver(SNAPSHOT), RetentionDue()],
    ids=lambda e: type(e).__name__,
)
def test_after_the_files_are_cut_they_are_read_again(cutting: Any) -> None:
    world = LongWorld()
    fetch(world, 1)
    fetch_snapshot(world, 2, 100)
    world.executor.execute(cutting)
    world.run_all()
    fetch(world, 3)
    fetch_snapshot(world, 4, 100)
    assert world.reads() == 4


def test_the_oldest_make_room() -> None:
    world = LongWorld()
    world.slice_bytes = SLICE_BYTES
    places = range(KEPT_BYTES_MAX // SLICE_BYTES)
    for place in places:
        fetch_snapshot(world, place, place)
    fetch_snapshot(world, 100, 0)
    assert world.reads() == len(places)
    fetch_snapshot(world, 101, len(places))
    fetch_snapshot(world, 102, 1)
    assert world.reads() == len(places) + 1
    fetch_snapshot(world, 103, 0)
    assert world.reads() == len(places) + 2


def test_what_is_short_is_read_each_time() -> None:
    """The end of a log has more soon."""
    world = LongWorld()
    world.slice_bytes = KEPT_BYTES_MIN - 1
    fetch(world, 1)
    fetch(world, 2)
    assert world.reads() == 2


def _long(name: str) -> bytes:
    return name.encode().ljust(KEPT_BYTES_MIN)


@pytest.mark.parametrize(
    "other",
    [
        pytest.param((OffsetAndEpoch(11, 1), 0, SLICE_BYTES), id="offset-of-the-snapshot"),
        pytest.param((OffsetAndEpoch(10, 2), 0, SLICE_BYTES), id="epoch-of-the-snapshot"),
        pytest.param((SNAPSHOT, 1, SLICE_BYTES), id="position"),
        pytest.param((SNAPSHOT, 0, SLICE_BYTES - 1), id="size"),
        pytest.param((OffsetAndEpoch(0, SLICE_BYTES), 0, 10), id="all-but-the-numbers"),
    ],
)
def test_a_slice_of_a_snapshot_is_kept_under_all_that_it_depends_on(other: SnapshotSlice) -> None:
    cache = ReadCache()
    kept = (SNAPSHOT, 0, SLICE_BYTES)
    assert cache.of_snapshot(kept, lambda: _long("kept")) == _long("kept")
    assert cache.find_of_snapshot(kept) == _long("kept")
    assert cache.find_of_snapshot(other) is None
    assert cache.of_snapshot(other, lambda: _long("other")) == _long("other")
    assert cache.find_of_snapshot(kept) == _long("kept")


@pytest.mark.parametrize(
    ("offset", "size_bytes", "end_offset"),
    [
        pytest.param(6, SLICE_BYTES, 50, id="offset"),
        pytest.param(5, SLICE_BYTES - 1, 50, id="size"),
        pytest.param(5, SLICE_BYTES, 49, id="lower-end"),
    ],
)
def test_a_slice_of_the_log_is_kept_under_all_that_it_depends_on(
    offset: int, size_bytes: int, end_offset: int
) -> None:
    cache = ReadCache()
    cache.of_log((5, SLICE_BYTES), 50, lambda: _long("kept"))
    assert cache.find_of_log((offset, size_bytes), end_offset) is None
    assert cache.of_log((offset, size_bytes), end_offset, lambda: _long("other")) == _long("other")


def test_a_slice_of_a_snapshot_is_no_slice_of_the_log() -> None:
    """What is kept of both lies together."""
    cache = ReadCache()
    cache.of_log((5, SLICE_BYTES), 0, lambda: _long("log"))
    assert cache.find_of_snapshot((SNAPSHOT, 5, SLICE_BYTES)) is None


def test_what_is_read_again_takes_its_own_room() -> None:
    """Of a replica that may read less than the one before, the same place is read from the file again."""
    world = LongWorld()
    world.slice_bytes = SLICE_BYTES
    ends = range(80, 80 - KEPT_BYTES_MAX // SLICE_BYTES, -1)
    for end_offset in ends:
        fetch(world, end_offset, end_offset=end_offset)
    fetch_snapshot(world, 100, 0)
    assert world.reads() == len(ends) + 1
    fetch(world, 101, end_offset=80)
    assert world.reads() == len(ends) + 1
