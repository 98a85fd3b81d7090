"""What an explanation says of health: well, wrong, or that this cannot be said from what was read."""

from __future__ import annotations

import pytest

from kraftctl.explain.evidence import NoLeaderView
from kraftctl.explain.explanation import FINE, NOT_KNOWN, WRONG
from kraftctl.explain.why_controller import explain_controller
from kraftctl.explain.why_quorum import explain_no_leader, explain_quorum
from tests.support.explained_log import Ask, ExplainedLog, Make


def from_the_log(log: ExplainedLog) -> None:
    log.feature("metadata.version", 30)
    log.controllers(1, 9)
    log.voters(1)


def from_a_snapshot_of_a_static_quorum(log: ExplainedLog) -> None:
    log.feature("metadata.version", 30)
    log.controllers(1, 9)


def from_the_leader(log: ExplainedLog) -> None:
    from_the_log(log)
    log.fetched(1, 0, voter=True, end=log.offset + 1)


def with_records_of_this_moment(log: ExplainedLog) -> None:
    from_the_leader(log)
    log.uncommitted_ms = 1_999


def with_a_frozen_disk(log: ExplainedLog) -> None:
    from_the_leader(log)
    log.uncommitted_ms = 2_000


def with_a_silent_voter(log: ExplainedLog) -> None:
    from_the_leader(log)
    log.fetched(2, None, voter=True)


def of_controller(controller_id: int) -> Ask:
    return lambda evidence: explain_controller(evidence, controller_id)


@pytest.mark.parametrize(
    ("make", "ask", "verdict"),
    [
        pytest.param(from_the_log, explain_quorum, NOT_KNOWN, id="quorum-by-its-log"),
        pytest.param(from_the_leader, explain_quorum, FINE, id="quorum-by-its-leader"),
        pytest.param(with_records_of_this_moment, explain_quorum, FINE, id="quorum-that-is-busy"),
        pytest.param(with_a_frozen_disk, explain_quorum, WRONG, id="quorum-that-commits-nothing"),
        pytest.param(with_a_silent_voter, explain_quorum, WRONG, id="quorum-with-a-silent-voter"),
        pytest.param(from_the_log, of_controller(1), NOT_KNOWN, id="voter-by-the-log"),
        pytest.param(from_the_leader, of_controller(1), FINE, id="voter-by-the-leader"),
        pytest.param(from_the_log, of_controller(9), NOT_KNOWN, id="it-may-be-a-ghost"),
        pytest.param(from_the_leader, of_controller(9), WRONG, id="a-ghost"),
        pytest.param(from_a_snapshot_of_a_static_quorum, of_controller(9), NOT_KNOWN, id="no-voters-known"),
    ],
)
def test_what_only_a_leader_knows_is_not_known_without_it(make: Make, ask: Ask, verdict: str) -> None:
    log = ExplainedLog()
    make(log)
    assert ask(log.evidence()).verdict == verdict


def test_what_is_assumed_is_not_said_to_be_committed() -> None:
    log = ExplainedLog()
    empty = explain_quorum(log.evidence())
    assert (empty.statement.text, empty.next_step) == (
        "Nothing in the log is known to be committed",
        "add --assume-committed",
    )
    log.feature("metadata.version", 30)
    assert explain_quorum(log.evidence()).statement.text == "The log names no leader"
    from_the_log(log)
    assert "; committed up to" in explain_quorum(log.evidence()).facts[0]
    log.log.is_assumed = True
    assert "; assumed committed up to" in explain_quorum(log.evidence()).facts[0]


@pytest.mark.parametrize(
    ("view", "verdict"),
    [
        pytest.param(NoLeaderView(3, 0, []), NOT_KNOWN, id="none-is-reached"),
        pytest.param(
            NoLeaderView(3, 2, [], unreached_leader_id=2), NOT_KNOWN, id="the-leader-is-not-reached"
        ),
        pytest.param(NoLeaderView(3, 1, []), WRONG, id="some-are-reached"),
        pytest.param(NoLeaderView(3, 3, []), WRONG, id="all-are-reached"),
    ],
)
def test_that_no_leader_answers(view: NoLeaderView, verdict: str) -> None:
    explanation = explain_no_leader(view)
    assert explanation.verdict == verdict
    assert "majority is" not in explanation.causes[0].text
