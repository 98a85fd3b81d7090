"""A voter that is loading the metadata lets others be elected, for a while."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kraftctl.raft.events import LoadingChanged
from kraftctl_protocol.api_keys import ApiKey
from tests.raft.test_early_elections import SLOW, VOTERS
from tests.support.following import Following
from tests.support.simulator.quorum import StartQuorum

FETCH_TIMEOUT_MS = 2_000
ELECTION_MS_MAX = 2_000


def fetch_timeout(voter: Following) -> None:
    voter.wait(FETCH_TIMEOUT_MS)


def resignation(voter: Following) -> None:
    """It names this voter as the first of its successors."""
    voter.transcript.replica.pass_time(voter.now_ms)
    voter.transcript.run("end-quorum-epoch leader=2 epoch=1 successors=1")
    voter.wait(0)


def refusals(voter: Following) -> None:
    for _ in range(5):
        voter.lost(refused=True)
        voter.wait(20)


def begun(voter: Following) -> bool:
    """Whether it has asked for votes or pre-votes."""
    return bool(voter.asked(ApiKey.VOTE))


REASONS = [fetch_timeout, resignation, refusals]


@pytest.mark.parametrize("reason", REASONS)
def test_an_election_is_put_off_for_a_fetch_timeout(reason: Callable[[Following], None]) -> None:
    voter = Following(1)
    voter.answered()
    voter.step(LoadingChanged(True))
    reason(voter)
    voter.wait(FETCH_TIMEOUT_MS - 150)
    assert not begun(voter)
    answer = voter.transcript.run("vote candidate=3 epoch=1 pre-vote=yes voter=1")
    assert "vote_granted=True" in answer, "it helps others to be elected"
    voter.wait(150)
    assert begun(voter), "one fetch timeout, and not longer"


@pytest.mark.parametrize("reason", REASONS)
@pytest.mark.parametrize(
    ("has_followed", "is_loading"),
    [
        pytest.param(True, False, id="loaded"),
        pytest.param(False, True, id="all-have-just-started"),
    ],
)
def test_an_election_is_not_put_off(
    has_followed: bool, is_loading: bool, reason: Callable[[Following], None]
) -> None:
    if reason is refusals and not has_followed:
        return  # an address where the leader has not answered is no hint
    voter = Following(1)
    if has_followed:
        voter.answered()
    voter.step(LoadingChanged(True))
    voter.step(LoadingChanged(is_loading))
    reason(voter)
    assert begun(voter)


@pytest.mark.parametrize("reason", REASONS)
def test_it_begins_when_everything_is_loaded(reason: Callable[[Following], None]) -> None:
    voter = Following(1)
    voter.answered()
    voter.step(LoadingChanged(True))
    reason(voter)
    assert not begun(voter)
    voter.step(LoadingChanged(False))
    voter.wait(0)
    assert begun(voter)


def test_a_leader_that_answers_again_is_waited_for_as_before() -> None:
    voter = Following(1)
    voter.answered()
    voter.step(LoadingChanged(True))
    for _ in range(3):
        voter.wait(FETCH_TIMEOUT_MS - 1)
        voter.answered()
    voter.step(LoadingChanged(False))
    voter.wait(FETCH_TIMEOUT_MS - 1)
    assert not begun(voter)
    voter.wait(1)
    assert begun(voter)


@pytest.mark.prevents("elected-while-it-loads")
def test_another_voter_is_elected_without_waiting(start_quorum: StartQuorum) -> None:
    """Its leader refuses connections. The voter with the lowest id would begin."""
    quorum = start_quorum(51, VOTERS, properties=SLOW)
    leader = quorum.led()
    first, second = quorum.followers()
    first.raft._core.loading.changed(True)
    leader.kill()
    quorum.run_for(500)
    assert quorum.led() is second
    quorum.end_well()


def test_it_is_elected_when_no_other_can_be(start_quorum: StartQuorum) -> None:
    quorum = start_quorum(52, VOTERS)
    leader = quorum.led()
    first, second = quorum.followers()
    quorum.append(leader, 1)
    quorum.run_for(100)
    second.hold_flushes()
    quorum.append(leader, 1)
    quorum.run_for(100)
    first.raft._core.loading.changed(True)
    leader.kill()
    quorum.run_for(FETCH_TIMEOUT_MS + ELECTION_MS_MAX)
    assert quorum.led() is first, "the other lacks a record that is committed"


@pytest.mark.prevents("elected-while-it-loads")
def test_it_hands_over_once_to_one_that_has_everything(start_quorum: StartQuorum) -> None:
    quorum = start_quorum(53, VOTERS)
    first = quorum.followers()[0]
    epoch = first.raft.epoch
    for process in quorum.running():
        process.raft._core.loading.changed(True)
    first.raft._core.loading.put_off_until_ms = 0
    quorum.led().kill()
    quorum.run_for(5_000)
    assert any("Resigning from epoch" in line for line in quorum.lines(first.node_id))
    assert quorum.led().raft.epoch <= epoch + 1 + len(VOTERS), "each of them resigns once"
    led = quorum.led().raft.epoch
    quorum.run_for(5_000)
    assert quorum.led().raft.epoch == led, "StableLeadership"
    for process in quorum.running():
        process.raft._core.loading.changed(False)
    quorum.end_well()


def test_a_voter_that_loads_a_snapshot_says_so(start_quorum: StartQuorum) -> None:
    """Raft has everything before the image has."""
    quorum = start_quorum(54, VOTERS)
    behind = quorum.follower_behind_a_snapshot()
    behind.start()
    loading = behind.raft._core.loading
    seen = [False]
    while not (seen[-1] is False and behind.raft.high_watermark > 0 and quorum.agree()):
        quorum.time.run_for(20)
        if seen[-1] != loading.is_loading:
            seen.append(loading.is_loading)
    assert seen == [False, True, False]
