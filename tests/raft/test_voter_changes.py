"""KIP-853: voters are added and removed, one at a time; all invariants hold meanwhile.

Random changes while messages are lost and leaders crash are runs of `make simulate PROFILE=membership`.
"""

from __future__ import annotations

import pytest

from kraftctl_protocol.errors import Errors
from tests.support.simulator.cluster.process import ControllerProcess
from tests.support.simulator.quorum import Question, Quorum, StartQuorum

VOTERS = [1, 2, 3]
OBSERVERS = [11, 12]
ANSWER_MS = 3_000


def error(quorum: Quorum, question: Question) -> Errors:
    """Of the response, which may take some time."""
    quorum.run_for(ANSWER_MS)
    return question.error


def voters_of(process: ControllerProcess) -> list[int]:
    return process.raft.voter_set.voter_ids()


@pytest.mark.parametrize("is_reachable", [True, False], ids=["disk-stalls", "cut-off"])
def test_a_replica_that_does_not_fetch_is_not_made_a_voter(
    is_reachable: bool, start_quorum: StartQuorum
) -> None:
    """It fetches nothing before it has flushed what it has."""
    quorum = start_quorum(9, [1], OBSERVERS, settled=False)
    if is_reachable:
        quorum.processes[12].hold_flushes()
    else:
        quorum.isolate(12)
    quorum.settle()
    assert error(quorum, quorum.add_voter(12)) == Errors.REQUEST_TIMED_OUT
    assert voters_of(quorum.processes[1]) == [1]


def test_a_change_is_refused_until_the_one_before_is_committed(start_quorum: StartQuorum) -> None:
    """AtMostOneUncommittedVoterChange: also if the one before was answered when it was written."""
    quorum = start_quorum(9, [1], OBSERVERS)
    leader = quorum.led()
    first = quorum.add_voter(11, ack_when_committed=False)
    while first.response is None:
        quorum.run_for(1)
    assert first.error == Errors.NONE
    assert leader.raft.high_watermark < leader.raft.end_offset
    second = quorum.add_voter(12)
    assert second.error == Errors.REQUEST_TIMED_OUT
    quorum.run_for(1_000)
    assert error(quorum, quorum.add_voter(12)) == Errors.NONE


def test_a_change_that_cannot_be_committed_is_given_up_and_taken_back(start_quorum: StartQuorum) -> None:
    """Only the deposed leader ever had it."""
    quorum = start_quorum(9, VOTERS)
    leader = quorum.led()
    quorum.isolate(leader.node_id)
    goes = quorum.followers()[0].node_id
    first = quorum.remove_voter(goes)
    assert goes not in voters_of(leader)
    second = quorum.remove_voter(goes)
    assert second.error == Errors.REQUEST_TIMED_OUT, "one at a time"
    quorum.run_for(10_000)
    assert first.error == Errors.REQUEST_TIMED_OUT
    quorum.heal()
    quorum.run_for(10_000)
    assert voters_of(leader) == VOTERS
