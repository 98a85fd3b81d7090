"""Three controllers as processes: leaders are killed, nothing that was acknowledged is lost."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from kraftctl.dev.polling import await_result
from kraftctl_protocol.log_file_names import PARTITION_DIRECTORY
from kraftctl_protocol.record_batch import read_batches
from tests.support.effort import FIRST_SEED
from tests.support.processes.quorum import Quorum, TopicCreator, topics_known_to

KILLS = 4


@pytest.mark.slow
@pytest.mark.parametrize(
    "dynamic", [pytest.param(False, id="static", marks=pytest.mark.long), pytest.param(True, id="dynamic")]
)
def test_leaders_are_killed_and_nothing_acknowledged_is_lost(tmp_path: Path, dynamic: bool) -> None:
    rng = random.Random(1 + FIRST_SEED)
    with Quorum(tmp_path, dynamic=dynamic) as quorum:
        creator = TopicCreator(quorum)
        for _ in range(KILLS):
            creator.create(rng.randrange(5, 25))
            leader = quorum.leader()
            leader.kill()
            creator.create(rng.randrange(5, 25))
            assert quorum.leader() is not leader
            leader.start()
        creator.create(5)
        quorum.await_equal_logs()
        for node in quorum.nodes:
            assert creator.acknowledged <= topics_known_to(node)
        creator.close()


@pytest.mark.slow
def test_a_leader_that_stops_hands_over_immediately(tmp_path: Path) -> None:
    """EndQuorumEpoch: the followers do not wait for the fetch timeout."""
    with Quorum(tmp_path, dynamic=True, settings={"controller.quorum.fetch.timeout.ms": "60000"}) as quorum:
        creator = TopicCreator(quorum)
        creator.create(3)
        leader = quorum.leader()
        assert leader.stop() == 0
        assert quorum.leader() is not leader
        creator.create(3)
        creator.close()


@pytest.mark.slow
def test_a_paused_leader_steps_down_when_it_wakes_up(tmp_path: Path) -> None:
    """What it appended but could not replicate is truncated, and it becomes a follower."""
    with Quorum(tmp_path, dynamic=False) as quorum:
        creator = TopicCreator(quorum)
        creator.create(3)
        former = quorum.leader()
        former.pause()
        others = [node for node in quorum.nodes if node is not former]
        quorum.nodes = others
        assert quorum.leader() in others
        creator.create(10)
        former.resume()
        quorum.nodes = [former, *others]
        creator.create(3)
        quorum.await_equal_logs()
        assert creator.acknowledged <= topics_known_to(former)
        creator.close()


@pytest.mark.prevents("endless-requests")
@pytest.mark.slow
def test_a_leader_that_cannot_read_its_own_log_resigns_and_stops(tmp_path: Path) -> None:
    """A bit flips in records that one follower has not fetched yet: no follower may wait for ever.

    They are notified: their fetch timeout is longer than the test.
    """
    with Quorum(tmp_path, dynamic=True, settings={"controller.quorum.fetch.timeout.ms": "60000"}) as quorum:
        creator = TopicCreator(quorum)
        creator.create(1)
        late = next(node for node in quorum.nodes if node is not quorum.leader())
        late.kill()
        creator.create(20)
        others = [node for node in quorum.nodes if node is not late]
        for node in others:
            assert node.stop() == 0
        for node in others:
            node.start(wait=False)  # nothing of what they wrote is in their memory now
        leader = quorum.leader()
        creator.create(1)
        flip_a_bit_in_the_middle(leader.log_directory / PARTITION_DIRECTORY / f"{0:020d}.log")
        late.start()
        process = leader.process
        assert process is not None
        assert process.wait(30.0) == 1
        assert "Cannot read the metadata log or a snapshot; resigning" in process.tail()
        assert "is corrupt at byte" in process.tail()
        assert "Next step" in process.tail()
        assert quorum.leader() is not leader
        creator.create(3)
        await_result(lambda: creator.acknowledged <= topics_known_to(late), "the late one knows every topic")
        creator.close()


def flip_a_bit_in_the_middle(segment: Path) -> None:
    """A bit of a record, while the process that wrote it is running."""
    content = segment.read_bytes()
    batches = read_batches(content)
    count = len(batches) // 2
    position = (
        sum(batch.header.size_bytes for batch in batches[:count]) + batches[count].header.size_bytes - 1
    )
    with segment.open("r+b") as file:
        file.seek(position)
        file.write(bytes([content[position] ^ 1]))
