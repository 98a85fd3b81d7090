"""An active broker that does not read the log, and a leader that commits nothing, are not healthy."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kraftctl.console.troubles import WARNING, troubles_of
from kraftctl.explain.evidence import SILENT_MS, BrokerContact
from kraftctl.explain.mark import Mark
from kraftctl.explain.why_broker import explain_broker
from kraftctl.explain.why_controller import explain_controller
from kraftctl.explain.why_quorum import explain_quorum
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from tests.support.explained_log import ExplainedLog
from tests.support.explained_situations import sound_quorum

UNREAD = "Broker 3 is unfenced, but does not read the metadata log: what it knows is old"
STEP = "see the log of broker 3 for its fetches from controller 1; if it has ended, start it"
LONG_MS = 60_000


def active_broker() -> ExplainedLog:
    log = ExplainedLog()
    log.voters(1)
    log.fetched(1, 0, voter=True)
    log.brokers(3)
    return log


@pytest.mark.parametrize(
    ("age_ms", "is_healthy"), [(0, True), (SILENT_MS, True), (SILENT_MS + 1, False), (3_600_000, False)]
)
def test_a_broker_that_has_fetched(age_ms: int, is_healthy: bool) -> None:
    log = active_broker()
    log.fetched(3, age_ms)
    found = explain_broker(log.evidence(LONG_MS), 3)
    assert found.is_healthy is is_healthy
    if not is_healthy:
        assert (found.statement.text, found.next_step) == (UNREAD, STEP)
        assert found.causes[0].text.startswith("the last fetch of broker 3 was ")


def test_heartbeats_that_arrive_do_not_make_it_healthy() -> None:
    log = active_broker()
    log.fetched(3, LONG_MS)
    log.contacts[3] = BrokerContact(heartbeat_age_ms=500, metadata_offset=90)
    found = explain_broker(log.evidence(LONG_MS), 3)
    assert [each.text for each in found.causes] == [
        "broker 3 sent a heartbeat 0.5 s ago; its last fetch was 60 s ago"
    ]
    assert not found.is_healthy


@pytest.mark.parametrize("after_ms", [SILENT_MS, LONG_MS])
@pytest.mark.parametrize("is_new_leader", [True, False])
def test_a_broker_of_which_the_leader_knows_no_fetch(is_new_leader: bool, after_ms: int) -> None:
    """It finds a new leader within seconds, as a broker does that was just unfenced."""
    log = active_broker()
    log.log.leader_mark = Mark(log.offset, log.now_ms) if is_new_leader else Mark(1, 1)
    found = explain_broker(log.evidence(after_ms), 3)
    assert found.is_healthy is (after_ms <= SILENT_MS)
    if not found.is_healthy:
        assert found.causes[0].text == "the leader of the quorum, 1, knows no fetch of broker 3"


def test_what_is_not_known_is_no_trouble() -> None:
    """Of a release that says no times, of a leader of which the log has nothing yet, and of a log alone."""
    log = active_broker()
    log.fetched(3, None)
    assert explain_broker(log.evidence(LONG_MS), 3).is_healthy
    del log.fetches[3]
    log.log.leader_id, log.log.leader_epoch = 2, 6
    assert explain_broker(log.evidence(LONG_MS), 3).is_healthy
    log.leader_id = None
    assert explain_broker(log.evidence(LONG_MS), 3).is_healthy


def test_a_leader_that_was_elected_again_is_a_new_one() -> None:
    """Its election is not read yet, and the log has its election of an earlier epoch."""
    log = active_broker()
    log.log.leader_epoch, log.log.leader_mark = 5, Mark(1, 1)
    assert explain_broker(log.evidence(LONG_MS), 3).is_healthy


@pytest.mark.parametrize(("epoch", "age_ms"), [(7, LONG_MS), (7, SILENT_MS), (6, LONG_MS)])
def test_a_leader_of_before_the_snapshot_has_forgotten_the_broker(epoch: int, age_ms: int) -> None:
    """A snapshot names no leader: its epoch says that the leader led already."""
    log = ExplainedLog()
    log.in_snapshot = True
    log.brokers(3)
    log.fetched(1, 0, voter=True)
    log.log.snapshot, log.log.snapshot_ms = OffsetAndEpoch(log.offset + 1, epoch), log.now_ms
    found = explain_broker(log.evidence(age_ms), 3)
    assert found.is_healthy is (epoch != 7 or age_ms <= SILENT_MS)
    if not found.is_healthy:
        assert found.causes[0].text == "the leader of the quorum, 1, knows no fetch of broker 3"


def test_a_directory_that_is_lost_beside_it_is_said() -> None:
    log = ExplainedLog()
    log.voters(1)
    log.fetched(1, 0, voter=True)
    log.brokers(3, directories=2)
    log.lose_directory(3, left=[1])
    log.fetched(3, LONG_MS)
    found = explain_broker(log.evidence(LONG_MS), 3)
    assert found.statement.text == UNREAD
    assert "1 of its 2 log directories failed" in found.facts


def test_the_page_has_it() -> None:
    log = active_broker()
    log.fetched(3, LONG_MS)
    evidence = log.evidence(LONG_MS)
    (trouble,) = troubles_of(evidence)
    found = explain_broker(evidence, 3)
    assert (trouble.level, trouble.path) == (WARNING, "/broker/3")
    assert trouble.explanation == replace(found, facts=[])


@pytest.mark.parametrize(("uncommitted_ms", "is_healthy"), [(0, True), (1_999, True), (2_000, False)])
def test_a_leader_that_commits_nothing(uncommitted_ms: int, is_healthy: bool) -> None:
    """The controller and the quorum are explained alike."""
    log = ExplainedLog()
    sound_quorum(log)
    log.feature("metadata.version", 30)
    log.controllers(1, 2)
    log.uncommitted_ms = uncommitted_ms
    found, quorum = explain_controller(log.evidence(), 1), explain_quorum(log.evidence())
    assert (found.is_healthy, quorum.is_healthy) == (is_healthy, is_healthy)
    assert explain_controller(log.evidence(), 2).is_healthy
    if not is_healthy:
        assert found.statement.text == "Controller 1 leads epoch 7, and commits nothing"
        assert found.causes == quorum.causes
        assert [each.kind for each in troubles_of(log.evidence())] == ["quorum"]
