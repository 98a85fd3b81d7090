"""Whether a controller may stop: the rule, and what controllers and the command say in a real quorum."""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from kraftctl.dev.polling import await_result
from kraftctl.operate.restart import VoterProgress, why_not_stop
from tests.operate.operated_quorum import OperatedController, OperatedQuorum, get

WITHIN_MS = 2_000


@pytest.mark.parametrize(
    ("own_id", "ages_ms", "may_stop"),
    [
        pytest.param(1, [0, 10, 20], True, id="leader-of-three"),
        pytest.param(2, [0, 10, 20], True, id="follower-of-three"),
        pytest.param(1, [0, 10, 2_000], False, id="leader-beside-one-that-is-missing"),
        pytest.param(2, [0, 10, 2_000], False, id="follower-beside-one-that-is-missing"),
        pytest.param(3, [0, 10, 2_000], True, id="the-one-that-lags"),
        pytest.param(3, [0, 10, None], True, id="the-one-that-never-fetched"),
        pytest.param(1, [0, 10, None], False, id="beside-one-that-never-fetched"),
        pytest.param(1, [0], False, id="the-only-voter"),
        pytest.param(1, [0, 10], False, id="one-of-two"),
        pytest.param(1, [0, 10, 10, 10], True, id="one-of-four"),
        pytest.param(1, [0, 10, 10, 5_000], False, id="one-of-four-beside-one"),
        pytest.param(1, [0, 10, 10, 5_000, 10], True, id="one-of-five-beside-one"),
        pytest.param(1, [0, 10, 5_000, None, 10], False, id="one-of-five-beside-two"),
        pytest.param(9, [0, 10, None], True, id="an-observer"),
    ],
)
def test_the_others_have_to_be_a_majority(own_id: int, ages_ms: list[int | None], may_stop: bool) -> None:
    voters = [VoterProgress(voter_id, age_ms) for voter_id, age_ms in enumerate(ages_ms, 1)]
    reason = why_not_stop(own_id, voters, WITHIN_MS)
    assert (reason is None) == may_stop, reason


def test_the_missing_ones_are_named() -> None:
    voters = [VoterProgress(1, 0), VoterProgress(2, 41_000), VoterProgress(3, 10)]
    assert why_not_stop(3, voters, WITHIN_MS) == (
        "Of the voters 1, 2, 3, 2 are needed, and without controller 3 only 1 have everything: the quorum"
        " would stop. Missing: 2 (it had everything 41.0 s ago). Next step: start the missing ones, and wait"
        " until they have everything"
    )


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
