"""Whether a controller may stop: the rule, and what controllers and the command say in a real quorum."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from kraftctl.cli.quorum.may_stop import MayNotStopError, permission_to_stop
from kraftctl.cli.quorum.quorum_info import QuorumInfo, QuorumReplica
from kraftctl.dev.polling import await_result
from kraftctl.operate.restart import NOT_NOW, ONLY_WITH_AN_OUTAGE, YES, Verdict, VoterProgress, may_stop
from kraftctl.operate.shared_result import SHARED_SECONDS, SharedResult
from tests.operate.operated_quorum import OperatedController, OperatedQuorum, get


@pytest.mark.parametrize(
    ("own_id", "ages_ms", "kind"),
    [
        pytest.param(1, [0, 10, 20], YES, id="leader-of-three"),
        pytest.param(2, [0, 10, 20], YES, id="follower-of-three"),
        pytest.param(1, [0, 10, 1_000], NOT_NOW, id="leader-beside-one-that-ended-a-second-ago"),
        pytest.param(2, [0, 10, 1_000], NOT_NOW, id="follower-beside-one-that-ended-a-second-ago"),
        pytest.param(2, [0, 10, 999], YES, id="beside-one-that-fetches"),
        pytest.param(3, [0, 10, 2_000], YES, id="the-one-that-lags"),
        pytest.param(3, [0, 10, None], YES, id="the-one-that-never-fetched"),
        pytest.param(1, [0, 10, None], NOT_NOW, id="beside-one-that-never-fetched"),
        pytest.param(1, [0], ONLY_WITH_AN_OUTAGE, id="the-only-voter"),
        pytest.param(1, [0, 10], ONLY_WITH_AN_OUTAGE, id="one-of-two"),
        pytest.param(1, [0, 5_000], NOT_NOW, id="one-of-two-beside-one-that-is-missing"),
        pytest.param(1, [0, 10, 10, 10], YES, id="one-of-four"),
        pytest.param(1, [0, 10, 10, 5_000], NOT_NOW, id="one-of-four-beside-one"),
        pytest.param(1, [0, 10, 10, 5_000, 10], YES, id="one-of-five-beside-one"),
        pytest.param(1, [0, 10, 5_000, None, 10], NOT_NOW, id="one-of-five-beside-two"),
    ],
)
def test_the_others_have_to_be_a_majority(own_id: int, ages_ms: list[int | None], kind: str) -> None:
    voters = [VoterProgress(voter_id, age_ms) for voter_id, age_ms in enumerate(ages_ms, 1)]
    assert may_stop(own_id, voters).kind == kind


def test_an_observer_may_stop_whatever_the_voters_do() -> None:
    verdict = may_stop(9, [VoterProgress(1, 0), VoterProgress(2, None)])
    assert verdict == Verdict(YES, "Controller 9 is no voter: no majority needs it")


def test_the_missing_ones_are_named() -> None:
    voters = [VoterProgress(1, 0), VoterProgress(2, 41_000), VoterProgress(3, 10)]
    assert may_stop(3, voters).text == (
        "Of the voters 1, 2, 3, 2 are needed, and without controller 3 only 1 have everything: the quorum"
        " would stop. Missing: 2 (it had everything 41.0 s ago). Next step: start the missing ones, and wait"
        " until they have everything"
    )


def replica(node_id: int, caught_up_ms: int | None) -> QuorumReplica:
    return QuorumReplica(node_id, b"", 10, caught_up_ms, caught_up_ms)


@pytest.mark.parametrize(
    ("controller_id", "leader_id", "voters", "status", "text"),
    [
        pytest.param(2, 1, [5_000, 4_990, 4_990], 0, "may be stopped", id="a-voter"),
        pytest.param(9, 1, [5_000, None, None], 0, "is no voter", id="an-observer"),
        pytest.param(2, 1, [5_000, 4_990, 4_000], 1, "Missing: 3", id="beside-one-that-is-missing"),
        pytest.param(0, 1, [5_000, 4_990, 4_990], 2, "neither a voter nor an observer", id="an-ordinal"),
        pytest.param(31, 1, [5_000, 4_990, 4_990], 2, "neither a voter nor an observer", id="a-typo"),
        pytest.param(2, 9, [5_000, 4_990, 4_990], 2, "is no voter", id="a-leader-that-has-left"),
        pytest.param(1, 1, [5_000], 3, "is the only voter", id="the-only-voter"),
    ],
)
def test_the_status_of_the_command(
    controller_id: int, leader_id: int, voters: list[int | None], status: int, text: str
) -> None:
    quorum = QuorumInfo(
        leader_id, 1, 10, tuple(replica(*each) for each in enumerate(voters, 1)), (replica(9, 4_000),), {}
    )
    try:
        found, said = 0, permission_to_stop(quorum, controller_id)
    except MayNotStopError as error:
        found, said = error.status, str(error)
    assert (found, text in said) == (status, True), said


async def test_what_many_ask_at_once_is_asked_once_a_second() -> None:
    begun: list[asyncio.Future[int]] = []

    async def make() -> int:
        begun.append(asyncio.get_running_loop().create_future())
        return await begun[-1]

    shared = SharedResult(make)
    asking = [asyncio.ensure_future(shared.get()) for _ in range(20)]
    while not begun:
        await asyncio.sleep(0)
    asking[0].cancel()
    begun[0].set_result(7)
    assert await asyncio.gather(*asking[1:]) == [7] * 19
    assert await shared.get() == 7
    shared._began -= SHARED_SECONDS
    again = asyncio.ensure_future(shared.get())
    while len(begun) < 2:
        await asyncio.sleep(0)
    begun[1].set_exception(OSError())
    with pytest.raises(OSError):
        await again
    last = asyncio.ensure_future(shared.get())
    while len(begun) < 3:
        await asyncio.sleep(0)
    begun[2].set_result(8)
    assert await last == 8, "a failure is not kept"


def command_for(
    controller: OperatedController, others: OperatedController
) -> subprocess.CompletedProcess[str]:
    address = others.properties["listeners"].rpartition("//")[2]
    asked = ["quorum", "--bootstrap-controller", address, "may-stop", "-i", str(controller.node_id)]
    return subprocess.run(
        [sys.executable, "-m", "kraftctl", *asked], capture_output=True, text=True, check=False
    )


def must_stay(controller: OperatedController) -> bool:
    return not controller.may_stop()


@pytest.mark.long
def test_controllers_and_the_command_agree(tmp_path: Path) -> None:
    with OperatedQuorum(tmp_path) as quorum:
        quorum.await_ready()
        leader, (first, second) = quorum.leader(), quorum.followers()
        for each in quorum.controllers:
            await_result(each.may_stop, "it may stop", 10.0)
            assert command_for(each, leader).returncode == 0
        second.process.terminate()
        for each in (leader, first):
            await_result(partial(must_stay, each), "it may not stop", 10.0)
            status, body = get(each.operate_port, "/restartz")
            assert (status, f"without controller {each.node_id} only 1 have everything" in body) == (
                503,
                True,
            )
            ran = command_for(each, leader)
            assert ran.returncode == 1
            assert f"Missing: {second.node_id} (it had everything" in ran.stderr
        assert command_for(second, leader).returncode == 0, "it is stopped already"
