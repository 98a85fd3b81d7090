"""Quorums of simulated controllers, as `kraftctl explain` reads their log and what the leader describes."""

from __future__ import annotations

import pytest

from kraftctl.cli.explain.leader_view import leader_view_of
from kraftctl.cli.quorum.quorum_info import quorum_info_of, quorum_request
from kraftctl.explain.commit_watch import CommitWatch
from kraftctl.explain.evidence import ClusterEvidence
from kraftctl.explain.explanation import Explanation
from kraftctl.explain.replayed_log import ReplayedLog
from kraftctl.explain.why_controller import explain_controller
from kraftctl.explain.why_feature import explain_feature
from kraftctl.explain.why_quorum import explain_quorum
from kraftctl_protocol.generated.describe_quorum_response import DescribeQuorumResponse
from kraftctl_protocol.record_batch import read_batches
from tests.support.simulator.checks.recovery_checks import read_log
from tests.support.simulator.quorum import Quorum, StartQuorum

SILENT_MS = 20_000


def evidence_of(quorum: Quorum, watch: CommitWatch | None = None) -> ClusterEvidence:
    """What is read of the leader; `watch` has seen it before."""
    leader = quorum.led()
    replayed = ReplayedLog()
    replayed.replay_batches(read_batches(read_log(leader.partition.log)), leader.raft.high_watermark)
    described = quorum.ask(leader, quorum_request()).answer
    assert isinstance(described, DescribeQuorumResponse)
    info, now_ms = quorum_info_of(described), leader.clock.wall_ms()
    uncommitted_ms = 0 if watch is None else info.uncommitted_ms(watch, now_ms)
    return ClusterEvidence(replayed, now_ms, leader_view_of(info, uncommitted_ms))


def check(explanation: Explanation, statement: str, first_cause: str | None, next_step: str) -> None:
    assert explanation.statement.text.startswith(statement)
    assert (explanation.causes[0].text if explanation.causes else None) == first_cause
    assert explanation.next_step == next_step


@pytest.fixture
def quorum(start_quorum: StartQuorum) -> Quorum:
    return start_quorum(41, [1, 2, 3], [11])


def test_a_sound_quorum(quorum: Quorum) -> None:
    leader_id = quorum.led().node_id
    evidence = evidence_of(quorum)
    leads = f"Nothing is wrong: controller {leader_id} leads epoch {quorum.led().raft.epoch}"
    check(explain_quorum(evidence), f"{leads}, and all 3 voters are caught up", None, "")
    check(explain_controller(evidence, leader_id), f"{leads}, registered", None, "")
    follower_id = quorum.followers()[0].node_id
    statement = f"Nothing is wrong: controller {follower_id} is a voter, registered"
    check(explain_controller(evidence, follower_id), statement, None, "")
    statement = "Nothing is wrong: controller 11 runs, is registered and is no voter"
    check(explain_controller(evidence, 11), statement, None, "")
    assert explain_feature(evidence, "metadata.version").is_healthy


def test_a_voter_ends(quorum: Quorum) -> None:
    leader, ended = quorum.led(), quorum.followers()[0]
    ended.kill()
    quorum.run_for(SILENT_MS)
    found = explain_quorum(evidence_of(quorum))
    step = f"start controller {ended.node_id}; its log says why it does not reach"
    check(
        found,
        "2 of 3 voters fetch, and 0 more may be lost",
        f"voter {ended.node_id} has not fetched for 20 s",
        f"{step} controller {leader.node_id}",
    )
    check(
        explain_controller(evidence_of(quorum), ended.node_id),
        f"Controller {ended.node_id} is a voter, and does not run or does not reach the leader",
        "its last fetch was 20 s ago",
        f"{step} the leader",
    )
    ended.start()
    quorum.run_for(5_000)
    assert explain_quorum(evidence_of(quorum)).is_healthy


def test_a_voter_has_not_fetched_since_the_election(quorum: Quorum) -> None:
    ended, other = quorum.led(), quorum.followers()[0]
    ended.kill()
    quorum.run_for(SILENT_MS)
    assert other.is_running
    check(
        explain_quorum(evidence_of(quorum)),
        "2 of 3 voters fetch, and 0 more may be lost",
        f"voter {ended.node_id} has not fetched under this leader",
        f"start controller {ended.node_id}; its log says why it does not reach controller"
        f" {quorum.led().node_id}",
    )


def test_an_observer_that_ended_is_a_ghost(quorum: Quorum) -> None:
    quorum.processes[11].kill()
    quorum.run_for(SILENT_MS)
    found = explain_controller(evidence_of(quorum), 11)
    assert (found.statement.text, found.causes[0].text) == (
        "Controller 11 is a ghost",
        "it is registered, and is no voter",
    )
    assert found.causes[0].since is not None
    assert "kafka-cluster unregister-controller --id 11" in found.next_step


def test_a_voter_that_is_removed_and_ends_is_a_ghost(quorum: Quorum) -> None:
    removed = quorum.followers()[0]
    quorum.remove_voter(removed.node_id)
    quorum.run_for(2_000)
    statement = f"Nothing is wrong: controller {removed.node_id} runs, is registered and is no voter"
    check(explain_controller(evidence_of(quorum), removed.node_id), statement, None, "")
    removed.kill()
    quorum.run_for(SILENT_MS)
    found = explain_controller(evidence_of(quorum), removed.node_id)
    assert found.statement.text == f"Controller {removed.node_id} is a ghost"
    assert explain_quorum(evidence_of(quorum)).is_healthy


def test_the_disk_of_the_only_voter_hangs(start_quorum: StartQuorum) -> None:
    quorum = start_quorum(42, [1])
    leader, watch = quorum.led(), CommitWatch()
    leader.hold_flushes()
    quorum.append(leader, 1)
    committed = leader.raft.high_watermark
    explain_quorum(evidence_of(quorum, watch))
    quorum.run_for(2_500)
    check(
        explain_quorum(evidence_of(quorum, watch)),
        "Nothing is committed",
        f"the log of the leader 1 ends at {leader.raft.end_offset}, {committed} is committed, and the rest"
        " was not within 2.5 s",
        "see the log of controller 1, and the disk of its metadata.log.dir",
    )
    leader.release_flushes()
    quorum.run_for(100)
    assert explain_quorum(evidence_of(quorum, watch)).is_healthy


def test_the_disk_of_a_follower_hangs(quorum: Quorum) -> None:
    hangs = quorum.followers()[0]
    hangs.hold_flushes()
    end_offset = hangs.raft.end_offset
    for _ in range(6):
        quorum.append(quorum.led(), 1)
        quorum.run_for(1_000)
    committed = quorum.led().raft.high_watermark
    step = f"see the log of controller {hangs.node_id}, and the disk of its metadata.log.dir"
    for found, statement in (
        (explain_quorum(evidence_of(quorum)), "1 of 3 voters lags"),
        (
            explain_controller(evidence_of(quorum), hangs.node_id),
            f"Controller {hangs.node_id} is a voter, and lags",
        ),
    ):
        cause = found.causes[0].text
        assert cause.startswith(f"voter {hangs.node_id} was caught up ")
        assert cause.endswith(f" ago: its log ends at {end_offset}, {committed} is committed")
        check(found, statement, cause, step)
    hangs.release_flushes()
    quorum.run_for(2_000)
    assert explain_quorum(evidence_of(quorum)).is_healthy
