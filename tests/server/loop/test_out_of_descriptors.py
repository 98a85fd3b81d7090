"""Without a descriptor a vote or a snapshot waits; nothing is answered before, and the process lives."""

from __future__ import annotations

import errno

import pytest

from kraftctl.node.events import WriteSnapshot
from kraftctl.raft import effects
from kraftctl.raft.election_state import ElectionState
from kraftctl.raft.events import SnapshotCreated
from kraftctl.storage.errors import StorageError
from kraftctl_protocol.generated.fetch_snapshot_response import (
    FetchSnapshotResponse,
    PartitionSnapshot,
    TopicSnapshot,
)
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from tests.server.executing import World

SNAPSHOT = OffsetAndEpoch(10, 1)
VOTE = effects.WriteQuorumState(ElectionState(epoch=5, voted_id=2))


def storage_error(number: int) -> StorageError:
    """As storage raises it."""
    error = StorageError("cannot write")
    error.__cause__ = OSError(number, "too many")
    return error


@pytest.mark.prevents("no-descriptor-left")
@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE])
def test_a_vote_is_written_when_there_is_a_descriptor_again(number: int) -> None:
    world = World()
    world.failing["write_quorum_state"] = storage_error(number)
    world.executor.execute(VOTE)
    for _ in range(3):
        world.run_all()
        assert world.executor.paused, "nothing that follows is carried out"
        assert (world.resumed, world.failures) == ([], [])
        world.timers.pop()()
    world.failing.clear()
    world.run_all()
    assert not world.executor.paused
    assert (world.resumed, world.failures, world.timers) == ([None], [], [])
    assert [call[0] for call in world.calls] == ["write_quorum_state"] * 4


def test_a_vote_that_is_tried_again_has_waited_since_the_first_time() -> None:
    world = World()
    world.failing["write_quorum_state"] = storage_error(errno.EMFILE)
    world.executor.execute(VOTE)
    for seconds in (1, 2, 3):
        world.run_all()
        world.time_ns = seconds * 1_000_000_000
        world.timers.pop()()
        assert world.executor.oldest_wait(world.time_ns) == ("WriteQuorumState", seconds)


def test_any_other_failure_of_a_vote_still_ends_the_process() -> None:
    world = World()
    world.failing["write_quorum_state"] = storage_error(errno.EIO)
    world.executor.execute(VOTE)
    world.run_all()
    assert world.failures == [world.failing["write_quorum_state"]]
    assert world.timers == []


def test_a_vote_that_waits_is_not_written_by_a_process_that_stops() -> None:
    world = World()
    world.failing["write_quorum_state"] = storage_error(errno.EMFILE)
    world.executor.execute(VOTE)
    world.run_all()
    world.executor.stop()
    world.timers.pop()()
    assert world.ended
    assert world.waiting == []


def test_a_snapshot_is_written_when_there_is_a_descriptor_again() -> None:
    world = World()
    world.failing["write_snapshot"] = storage_error(errno.EMFILE)
    world.executor.execute(WriteSnapshot(SNAPSHOT, [b"batch"]))
    world.run_all()
    assert (world.offered, world.failures) == ([], [])
    world.failing.clear()
    world.timers.pop()()
    world.run_all()
    assert world.offered[0] == SnapshotCreated(SNAPSHOT, 1)
    assert world.failures == []


def test_a_slice_that_could_not_be_read_is_empty_and_is_fetched_again() -> None:
    world = World()
    world.failing["read_snapshot_slice"] = storage_error(errno.EMFILE)
    response = FetchSnapshotResponse(topics=[TopicSnapshot(partitions=[PartitionSnapshot()])])
    world.executor.execute(effects.RespondFetchSnapshot(7, response, SNAPSHOT, 0, 100))
    world.run_all()
    answered = world.responses[7]
    assert isinstance(answered, FetchSnapshotResponse)
    assert answered.topics[0].partitions[0].unaligned_records == b""
    assert world.executor.unreadable is None
