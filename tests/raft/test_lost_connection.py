"""KIP-595: a connection to the leader that ends is no reason for an election, even with a silent voter."""

from __future__ import annotations

import pytest

from kraftctl.raft.events import ResponseReceived
from kraftctl.raft.states import Follower
from kraftctl_protocol.api_keys import ApiKey
from kraftctl_protocol.generated.vote_request import VoteRequest
from kraftctl_protocol.record_batch import encode_batch
from tests.raft.test_early_elections import last_fetch
from tests.support.following import LEADER, Following
from tests.support.raft_names import endpoint
from tests.support.simulator.quorum import StartQuorum

BACKOFF_MS = 20
"""controller.quorum.retry.backoff.ms"""
OTHERS = {3, 4}
VOTER, OBSERVER = 1, 11


@pytest.mark.parametrize(
    ("node_id", "answered_ago_ms", "asks_others"),
    [
        pytest.param(VOTER, 0, False, id="now"),
        pytest.param(VOTER, 500, False, id="as-long-ago-as-a-fetch-waits"),
        pytest.param(VOTER, 999, False, id="just-within-half-a-fetch-timeout"),
        pytest.param(VOTER, 1_000, True, id="half-a-fetch-timeout-ago"),
        pytest.param(VOTER, None, True, id="never"),
        pytest.param(OBSERVER, 0, True, id="an-observer"),
        pytest.param(OBSERVER, None, True, id="an-observer-that-never-reached-it"),
    ],
)
def test_the_leader_is_asked_again_after_the_backoff(
    node_id: int, answered_ago_ms: int | None, asks_others: bool
) -> None:
    """A voter that has just heard from it waits for that. A replica that asks another one meanwhile, which
    may be silent, asks the leader beside it.
    """
    follower = Following(node_id)
    if answered_ago_ms is not None:
        follower.answered()
        follower.wait(answered_ago_ms)
    follower.asked()
    follower.lost()
    asked = follower.asked()
    assert (len(asked), set(asked) <= OTHERS) == (int(asks_others), True)
    follower.wait(BACKOFF_MS)
    assert follower.asked() == [LEADER]


def test_a_leader_that_stays_away_is_not_the_only_one_that_is_asked() -> None:
    """KAFKA-19354: after half a fetch timeout the others are asked too, each at a time, and the leader again
    and again beside them.
    """
    follower = Following(VOTER)
    follower.answered()
    for _ in range(60):
        follower.lost()
        follower.wait(BACKOFF_MS)
    asked = follower.asked()
    assert asked.count(LEADER) >= 50
    assert len([node_id for node_id in asked if node_id in OTHERS]) == 1, "the other has not answered yet"


def test_a_leader_that_backs_off_is_not_asked_as_a_bootstrap_server() -> None:
    """Its Fetch would wait there, beside the next one."""
    follower = Following(OBSERVER, voters=[LEADER])
    follower.node._core.config.bootstrap_servers = [endpoint(LEADER)]
    follower.lost()
    assert follower.asked() == []


def test_two_responses_to_the_same_fetch_are_taken_once() -> None:
    """The leader is reached at its address, and at a second one. The first response continues the log."""
    follower = Following(VOTER)
    follower.lost()
    (other,) = follower.asked()
    follower.wait(BACKOFF_MS)
    batch = encode_batch(0, 1, 0, [b"record"])
    follower.answered(LEADER, batch, 0)
    follower.answered(other, batch, 0)
    state = follower.node._core.state
    assert isinstance(state, Follower)
    assert (follower.node.end_offset, state.retry_at_ms) == (1, 0), "the second is not unusable, but late"


@pytest.mark.prevents("a-silent-voter-in-the-way")
@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("round_", range(4))
def test_writes_continue_when_a_connection_is_reset(
    round_: int, dynamic: bool, start_quorum: StartQuorum
) -> None:
    """Of three voters one is silent, so each write needs the follower whose connection ends."""
    quorum = start_quorum(41 + round_, [1, 2, 3], dynamic=dynamic)
    leader, epoch = quorum.led(), quorum.led().raft.epoch
    follower, silent = quorum.followers()
    quorum.wire.isolate(silent.node_id, [1, 2, 3])
    quorum.run_for(700 + 130 * round_)
    since = len(quorum.trace)
    follower.loop.offer(ResponseReceived(last_fetch(quorum, follower), None))
    quorum.append(leader, 1)
    quorum.run_for(100)
    assert leader.raft.high_watermark == leader.raft.end_offset
    quorum.run_for(5_000)
    assert (quorum.led(), leader.raft.epoch) == (leader, epoch), "StableLeadership"
    assert not [line for line in quorum.lines(follower.node_id, since) if "to Prospective" in line]


def test_each_request_names_the_epoch_in_which_it_was_made() -> None:
    """One that waits for its turn is dropped by it: a former leader would take it for word of the present."""
    voter = Following(VOTER)
    voter.answered()
    voter.lost(refused=True)
    voter.wait(60_000)
    epochs = [(effect.api_key, effect.epoch) for effect in voter.sent]
    assert {ApiKey.FETCH, ApiKey.VOTE} <= {key for key, _ in epochs}
    assert min(epoch for _, epoch in epochs) == 1
    for effect in voter.sent:
        if isinstance(effect.request, VoteRequest):
            assert effect.request.topics[0].partitions[0].replica_epoch == effect.epoch
