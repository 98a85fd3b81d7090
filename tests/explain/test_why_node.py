"""Each situation of brokers, controllers, features and the quorum has its first cause and its next step."""

from __future__ import annotations

import pytest

from kraftctl.explain.why_broker import explain_broker
from kraftctl.explain.why_controller import explain_controller
from kraftctl.explain.why_feature import explain_feature
from kraftctl.explain.why_quorum import explain_quorum
from tests.support.explained_log import Ask, ExplainedLog, Make, change, check_explanation, partition
from tests.support.explained_situations import (
    at_the_top,
    ended_at_start,
    fenced_but_fetching,
    fenced_but_heard,
    fenced_in_a_snapshot_and_unheard,
    fenced_in_a_snapshot_but_fetching,
    fenced_in_a_snapshot_but_heard,
    ghost_at_33,
    healthy,
    known_ghost_limits,
    lagging_voter,
    leaving_in_a_snapshot,
    leaving_waits_for_others,
    never_ready,
    not_caught_up,
    only_replica_fenced,
    replaced_disk,
    restarted_without_a_directory,
    running_observer,
    session_expired_and_fetched,
    silent_voter,
    sound_quorum,
    voter_limits,
    voters_not_known,
)


def of_broker(broker_id: int) -> Ask:
    return lambda evidence: explain_broker(evidence, broker_id)


def of_feature(level: int | None = None) -> Ask:
    return lambda evidence: explain_feature(evidence, "metadata.version", level)


def of_controller(controller_id: int) -> Ask:
    return lambda evidence: explain_controller(evidence, controller_id)


CASES = [
    pytest.param(
        session_expired_and_fetched,
        of_broker(1),
        "Broker 1 is fenced",
        "its session seems to have expired (broker.session.timeout.ms): it lost leaderships at the time of"
        " its fencing",
        "start broker 1",
        id="session-expired-and-fetches-known",
    ),
    pytest.param(
        only_replica_fenced,
        of_broker(3),
        "Broker 3 is fenced",
        "broker 3 sent no heartbeat for 9.0 s; its last fetch was 93 s ago",
        "start broker 3",
        id="session-expired-and-heartbeats-known",
    ),
    pytest.param(
        fenced_but_fetching,
        of_broker(1),
        "Broker 1 is fenced",
        "it fetches the metadata log, but none of its heartbeats is accepted",
        "see the log of broker 1 for BrokerHeartbeat: it may not reach the active controller",
        id="fenced-but-fetching",
    ),
    pytest.param(
        fenced_in_a_snapshot_but_fetching,
        of_broker(1),
        "Broker 1 is fenced",
        "it fetches the metadata log: it is starting (not unfenced since it registered), or its heartbeats do"
        " not arrive",
        "see the log of broker 1 for its start, and for BrokerHeartbeat",
        id="fenced-in-a-snapshot-but-fetching",
    ),
    pytest.param(
        fenced_in_a_snapshot_but_heard,
        of_broker(1),
        "Broker 1 is fenced: its heartbeats arrive, and it is not unfenced yet",
        "it has read the metadata log up to offset 59, and has to read its registration, 100",
        "wait; if the offset stays, see the log of broker 1",
        id="fenced-in-a-snapshot-but-heard",
    ),
    pytest.param(
        fenced_in_a_snapshot_and_unheard,
        of_broker(1),
        "Broker 1 is fenced",
        "it fetches the metadata log, but none of its heartbeats is accepted",
        "see the log of broker 1 for BrokerHeartbeat: it may not reach the active controller",
        id="fenced-in-a-snapshot-and-without-a-session",
    ),
    pytest.param(
        fenced_but_heard,
        of_broker(1),
        "Broker 1 is fenced: its heartbeats arrive, and it is not unfenced yet",
        "it has read the metadata log up to offset 104, and does not ask to be unfenced yet",
        "see the log of broker 1: log recovery, or a listener that does not start",
        id="fenced-but-heard",
    ),
    pytest.param(
        not_caught_up,
        of_broker(1),
        "Broker 1 is fenced: not unfenced yet, registered",
        "it has read the metadata log up to offset 59, and has to read its registration, 100",
        "wait; if the offset stays, see the log of broker 1",
        id="never-unfenced-not-caught-up",
    ),
    pytest.param(
        never_ready,
        of_broker(1),
        "Broker 1 is fenced: not unfenced yet, registered",
        "it has read the metadata log up to offset 100, and does not ask to be unfenced yet",
        "see the log of broker 1: log recovery, or a listener that does not start",
        id="never-unfenced-not-ready",
    ),
    pytest.param(
        ended_at_start,
        of_broker(1),
        "Broker 1 is fenced: not unfenced yet, registered",
        "the last fetch of broker 1 was 30 s ago",
        "start broker 1; its log says why it ended",
        id="never-unfenced-and-silent",
    ),
    pytest.param(
        leaving_in_a_snapshot,
        of_broker(1),
        "Broker 1 is in controlled shutdown",
        "all active brokers have to read its last change, whose offset is not known: a snapshot has it",
        "wait; a broker that does not read on delays it, and its log says why",
        id="leaving-in-a-snapshot",
    ),
    pytest.param(
        healthy,
        of_broker(1),
        "Nothing is wrong: broker 1 is unfenced",
        None,
        "",
        id="healthy-broker",
    ),
    pytest.param(
        known_ghost_limits,
        of_feature(),
        "metadata.version cannot be raised from 30 (4.3-IV0) to 33 (4.4-IV2)",
        "controller 9 supports levels 7 to 30 of metadata.version, and is a ghost: registered, but no voter"
        " and not running",
        "metadata.version 4.3-IV0 cannot unregister controllers: start a controller of Kafka 4.4 or kraftctl"
        " with node.id 9 once, which registers again, raise metadata.version to 4.4-IV2 (there is no way"
        " back from 32 and 33; brokers of 4.3 cannot join; an earlier release of kraftctl does not start on"
        " this log), stop it, then kafka-cluster unregister-controller --id 9",
        id="ghost-limits-a-feature",
    ),
    pytest.param(
        voter_limits,
        of_feature(33),
        "metadata.version cannot be raised from 30 (4.3-IV0) to 33 (4.4-IV2)",
        "controller 2 supports levels 7 to 30 of metadata.version",
        "upgrade controller 2",
        id="voter-limits-a-feature",
    ),
    pytest.param(
        at_the_top,
        of_feature(),
        "Nothing is wrong: metadata.version is at 30 (4.3-IV0), the highest level that any node supports,",
        None,
        "",
        id="feature-at-the-highest-level",
    ),
    pytest.param(
        ghost_at_33,
        of_controller(9),
        "Controller 9 is a ghost",
        "it is registered, and is no voter",
        "if it is gone for good, kafka-cluster unregister-controller --id 9",
        id="ghost",
    ),
    pytest.param(
        voters_not_known,
        of_controller(9),
        "Controller 9 is registered, and the voters are not known; registered",
        None,
        "ask the leader, with --bootstrap-controllers",
        id="voters-not-known",
    ),
    pytest.param(
        running_observer,
        of_controller(9),
        "Nothing is wrong: controller 9 runs, is registered and is no voter",
        None,
        "",
        id="running-observer",
    ),
    pytest.param(
        silent_voter,
        of_controller(2),
        "Controller 2 is a voter, and does not run or does not reach the leader",
        "its last fetch was 60 s ago",
        "start controller 2; its log says why it does not reach the leader",
        id="silent-voter",
    ),
    pytest.param(
        silent_voter,
        explain_quorum,
        "2 of 3 voters fetch, and 0 more may be lost",
        "voter 2 has not fetched for 60 s",
        "start controller 2; its log says why it does not reach controller 1",
        id="quorum-with-a-silent-voter",
    ),
    pytest.param(
        lagging_voter,
        of_controller(2),
        "Controller 2 is a voter, and lags",
        "voter 2 was caught up 40 s ago: its log ends at 50, 0 is committed",
        "see the log of controller 2, and the disk of its metadata.log.dir",
        id="lagging-voter",
    ),
    pytest.param(
        silent_voter,
        of_controller(3),
        "Nothing is wrong: controller 3 is a voter, registered",
        None,
        "",
        id="voter-that-is-caught-up",
    ),
    pytest.param(
        replaced_disk,
        explain_quorum,
        "2 of 3 voters fetch, and 0 more may be lost",
        "voter 2 fetches with another directory, which is no voter",
        "mount the directory that it had, if it is there. If it is lost: kraftctl quorum --command-config"
        " FILE replace-voter, with the properties file of that controller",
        id="quorum-with-a-replaced-disk",
    ),
    pytest.param(
        replaced_disk,
        of_controller(2),
        "Controller 2 is a voter with another directory than the one that it has now",
        "its last fetch was 60 s ago",
        "mount the directory that it had, if it is there. If it is lost: kraftctl quorum --command-config"
        " FILE replace-voter, with the properties file of that controller",
        id="voter-with-a-replaced-disk",
    ),
    pytest.param(
        lagging_voter,
        explain_quorum,
        "1 of 2 voters lags",
        "voter 2 was caught up 40 s ago: its log ends at 50, 0 is committed",
        "see the log of controller 2, and the disk of its metadata.log.dir",
        id="quorum-with-a-lagging-voter",
    ),
    pytest.param(
        sound_quorum,
        explain_quorum,
        "Nothing is wrong: controller 1 leads epoch 7, and all 2 voters are caught up; it leads",
        None,
        "",
        id="sound-quorum",
    ),
]


@pytest.mark.parametrize(("make", "ask", "statement", "first_cause", "next_step"), CASES)
def test_the_first_cause_is_the_right_one(
    make: Make, ask: Ask, statement: str, first_cause: str | None, next_step: str
) -> None:
    check_explanation(make, ask, statement, first_cause, next_step)


def test_a_broker_is_fenced_since_the_first_record_that_says_so() -> None:
    log = ExplainedLog()
    log.brokers(1)
    log.leave(1)
    first = log.fence(1)
    log.fence(1)
    assert explain_broker(log.evidence(), 1).statement.since == first


def test_replicas_without_their_directory_are_counted_once() -> None:
    log = ExplainedLog()
    restarted_without_a_directory(log)
    assert explain_broker(log.evidence(), 1).facts == ["it leads 3 partitions and is in 3 ISRs"]
    log.fence(1)
    assert explain_broker(log.evidence(), 1).facts[-1] == (
        "2 of its replicas are in log directories that it does not have"
    )


@pytest.mark.parametrize("elr", [False, True])
def test_partitions_that_a_broker_leaves_without_a_leader_are_counted(elr: bool) -> None:
    log = ExplainedLog()
    log.brokers(1, 2)
    log.topic("orders", partition([1]), partition([1, 2]), partition([1, 2], isr=[1], leader=-1))
    isr = {"isr": [], "eligible_leader_replicas": [1]} if elr else {}
    log.leave(1, change("orders", 0, leader=-1, **isr), change("orders", 1, leader=2, isr=[2]))
    facts = explain_broker(log.evidence(), 1).facts
    assert "it may lead 2 partitions without a leader when it is active" in facts
    assert explain_broker(log.evidence(), 2).facts[0] == "it leads 1 partition and is in 1 ISR"
    assert not [fact for fact in explain_broker(log.evidence(), 2).facts if fact.startswith("it may lead")]


def test_a_broker_that_serves_was_heard_of() -> None:
    log = ExplainedLog()
    leaving_waits_for_others(log)
    assert explain_broker(log.evidence(), 2).facts[-1] == "broker 2 sent a heartbeat 0.2 s ago"
