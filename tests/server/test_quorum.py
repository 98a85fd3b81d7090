"""Three controllers as processes: leaders are killed, nothing that was acknowledged is lost."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.support.effort import FIRST_SEED
from tests.support.quorum import Quorum, TopicCreator, topics_known_to

KILLS = 4


@pytest.mark.slow
@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
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
def test_a_leader_that_stops_hands_over_at_once(tmp_path: Path) -> None:
    """EndQuorumEpoch: nobody waits for a fetch timeout."""
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
    """What it appended but could not replicate is truncated; it follows from then on."""
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
