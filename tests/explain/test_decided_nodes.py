"""Brokers, features and controllers in states that the controller itself decides: each first cause."""

from __future__ import annotations

import pytest

from kraftctl.explain.lost_directories import restoring_step
from kraftctl.explain.why_broker import explain_broker
from kraftctl.explain.why_controller import ASK_LEADER, explain_controller
from kraftctl.explain.why_feature import explain_feature
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.broker_registration_change_record import BrokerRegistrationChangeRecord
from kraftctl_protocol.generated.partition_change_record import PartitionChangeRecord
from kraftctl_protocol.generated.register_broker_record import RegisterBrokerRecord
from kraftctl_protocol.generated.register_controller_record import RegisterControllerRecord
from kraftctl_protocol.generated.unregister_broker_record import UnregisterBrokerRecord
from tests.support.controller_properties import NODE_ID
from tests.support.decided_cluster import DecidedCluster, check_decided
from tests.support.metadata_state import directory

EXPIRED = (
    "its session seems to have expired (broker.session.timeout.ms): it lost leaderships at the time of its"
    " fencing"
)
EXPIRED_OR_STOPPED = (
    "its session expired, or it was stopped while it led no partition: the log has the same for both"
)
IN_SHUTDOWN = (
    "it was in its controlled shutdown: it stopped in order, or was killed before the end; the log has the"
    " same for both"
)
NOT_UNFENCED = "Broker 1 is fenced: not unfenced yet, registered"
SEE_ITS_START = "see the log of broker 1: it starts, and is unfenced when it is ready"
READERS_DELAY = "wait; a broker that does not read on delays it, and its log says why"
VERSION = "metadata.version"
CANNOT = "metadata.version cannot be raised from 30 (4.3-IV0) to 33 (4.4-IV2)"


@pytest.fixture
def three() -> DecidedCluster:
    """Brokers 1, 2 and 3 are active; each leads a partition, which 1 and 2 share."""
    cluster = DecidedCluster()
    cluster.start_brokers(1, 2, 3)
    cluster.topic("orders", [1, 2], [2, 1])
    cluster.topic("solo", [3])
    return cluster


def test_a_leader_is_killed(three: DecidedCluster) -> None:
    three.kill(1)
    evidence = three.evidence()
    check_decided(explain_broker(evidence, 1), "Broker 1 is fenced", EXPIRED, "start broker 1", None)
    since = explain_broker(evidence, 1).statement.since
    assert since is not None
    assert since.offset == three.fenced_at(1)
    assert evidence.now_ms - since.timestamp_ms <= 2_000
    check_decided(
        explain_broker(three.evidence(with_status=True), 1),
        "Broker 1 is fenced",
        "broker 1 has no session with the active controller",
        "start broker 1",
        None,
    )


def test_all_brokers_are_killed(three: DecidedCluster) -> None:
    three.kill(1, 2, 3)
    for broker_id in (1, 2, 3):
        found = explain_broker(three.evidence(), broker_id)
        assert (found.causes[0].text, found.next_step) == (EXPIRED, f"start broker {broker_id}")


@pytest.mark.parametrize("is_stopped", [False, True])
def test_a_broker_without_leaderships_ends(is_stopped: bool) -> None:
    cluster = DecidedCluster()
    cluster.start_brokers(1, 2)
    if is_stopped:
        cluster.stop(1)
    else:
        cluster.kill(1)
    explanation = explain_broker(cluster.evidence(), 1)
    check_decided(explanation, "Broker 1 is fenced", EXPIRED_OR_STOPPED, "start broker 1", None)


@pytest.mark.parametrize("is_killed", [False, True])
def test_a_leader_ends_in_its_controlled_shutdown(three: DecidedCluster, is_killed: bool) -> None:
    three.heartbeat(1, shut_down=True)
    if is_killed:
        three.kill(1)
    else:
        three.stop(1)
    began = three.offset_of(BrokerRegistrationChangeRecord, in_controlled_shutdown=1)
    explanation = explain_broker(three.evidence(), 1)
    check_decided(explanation, "Broker 1 is fenced", IN_SHUTDOWN, "start broker 1", began)


def test_a_leader_leaves(three: DecidedCluster) -> None:
    three.topic("more", [1, 2])
    three.runs_slices, three.units = False, 1
    three.heartbeat(1, shut_down=True)
    check_decided(
        explain_broker(three.evidence(), 1),
        "Broker 1 is in controlled shutdown",
        "the active controller is still moving its leaderships: it leads 1 partition",
        "wait; if it lasts, see the log of the active controller",
        None,
    )
    three.finish_work()
    left = three.offset_of(PartitionChangeRecord)
    text = f"all active brokers have to read up to offset {left}, the last change as it leaves"
    explanation = explain_broker(three.evidence(), 1)
    check_decided(explanation, "Broker 1 is in controlled shutdown", text, READERS_DELAY, None)
    three.heartbeat(2, offset=left)
    three.heartbeat(3, offset=left - 2)
    three.heartbeat(1, shut_down=True)
    explanation = explain_broker(three.evidence(with_status=True), 1)
    text += f": broker 3 is at {left - 2}"
    check_decided(explanation, "Broker 1 is in controlled shutdown", text, READERS_DELAY, None)
    three.heartbeat(3, offset=left)
    assert three.heartbeat(1, shut_down=True).should_shut_down


def test_a_broker_starts(three: DecidedCluster) -> None:
    three.kill(1)
    three.restart(1, number=1)
    registered = three.offset_of(RegisterBrokerRecord, broker_id=1)
    explanation = explain_broker(three.evidence(with_status=True), 1)
    check_decided(explanation, NOT_UNFENCED, None, SEE_ITS_START, registered)
    three.heartbeat(1, fence=True, offset=registered - 1)
    check_decided(
        explain_broker(three.evidence(with_status=True), 1),
        NOT_UNFENCED,
        f"it has read the metadata log up to offset {registered - 1}, and has to read its registration,"
        f" {registered}",
        "wait; if the offset stays, see the log of broker 1",
        None,
    )
    three.heartbeat(1, fence=True, offset=registered)
    check_decided(
        explain_broker(three.evidence(with_status=True), 1),
        NOT_UNFENCED,
        f"it has read the metadata log up to offset {registered}, and does not ask to be unfenced yet",
        "see the log of broker 1: log recovery, or a listener that does not start",
        None,
    )
    three.heartbeat(1)
    unfenced = three.offset_of(BrokerRegistrationChangeRecord, broker_id=1, fenced=-1)
    healthy = "Nothing is wrong: broker 1 is unfenced"
    check_decided(explain_broker(three.evidence(), 1), healthy, None, "", unfenced)


@pytest.mark.parametrize("is_heard", [False, True])
def test_a_broker_ends_while_it_starts(three: DecidedCluster, is_heard: bool) -> None:
    """The heartbeats of an earlier incarnation, which still runs, do not count."""
    three.kill(1)
    epoch = three.controller.image.cluster.brokers[1].epoch
    three.restart(1, number=1)
    if is_heard:
        three.heartbeat(1, fence=True, offset=5)
    three.live(20_000, 2, 3)
    assert three.heartbeat(1, epoch=epoch).error_code == Errors.STALE_BROKER_EPOCH
    check_decided(
        explain_broker(three.evidence(with_status=True), 1),
        NOT_UNFENCED,
        "broker 1 has no session with the active controller",
        "start broker 1; its log says why it ended",
        None,
    )


def test_a_broker_is_unregistered(three: DecidedCluster) -> None:
    three.kill(1)
    three.unregister(1)
    check_decided(
        explain_broker(three.evidence(), 1),
        "Broker 1 is unregistered",
        None,
        "start broker 1, which registers it, or reassign its replicas to other brokers",
        three.offset_of(UnregisterBrokerRecord),
    )


def test_a_log_directory_fails() -> None:
    cluster = DecidedCluster()
    cluster.start_brokers(1, directories=3)
    cluster.lose_directory(1, 1)
    lost = cluster.offset_of(BrokerRegistrationChangeRecord, broker_id=1)
    statement = "Broker 1 serves, but 1 of its 3 log directories failed"
    check_decided(explain_broker(cluster.evidence(), 1), statement, None, restoring_step(1), lost)
    cluster.kill(1)
    check_decided(
        explain_broker(cluster.evidence(), 1),
        "Broker 1 is fenced",
        "1 of its 3 log directories failed",
        "start broker 1",
        lost,
    )


def test_a_broker_is_started_without_a_directory() -> None:
    cluster = DecidedCluster()
    cluster.start_brokers(1, 2, directories=2)
    for name, replicas in (("orders", [1]), ("shared", [2, 1]), ("kept", [1])):
        cluster.topic(name, replicas)
        cluster.place(name, 1, name != "kept")
    cluster.stop(1)
    cluster.restart(1, number=1, clean=True, directories=1)
    cluster.heartbeat(1)
    statement = "Broker 1 serves, but 2 of its replicas are in log directories that it does not have"
    check_decided(explain_broker(cluster.evidence(), 1), statement, None, restoring_step(1), None)


def test_a_cordoned_directory_is_no_trouble(three: DecidedCluster) -> None:
    three.heartbeat(1, cordoned=[directory(1)])
    explanation = explain_broker(three.evidence(), 1)
    assert explanation.is_healthy
    assert explanation.facts[1:] == ["1 of its log directories is cordoned"]


def test_an_older_broker_limits_a_feature() -> None:
    cluster = DecidedCluster()
    cluster.register_at_level(1, 30)
    cluster.start_brokers(2)
    registered = cluster.offset_of(RegisterBrokerRecord, broker_id=1)
    limit = "supports levels 7 to 30 of metadata.version"
    found = explain_feature(cluster.evidence(), VERSION)
    check_decided(found, CANNOT, f"broker 1 {limit}", "upgrade broker 1", registered)
    assert "Broker 1 only supports" in (cluster.why_not_raised(33) or "")
    cluster.kill(1)
    check_decided(
        explain_feature(cluster.evidence(), VERSION),
        CANNOT,
        f"broker 1, which is fenced, {limit}",
        "upgrade broker 1; if it is gone for good, kafka-cluster unregister --id 1",
        registered,
    )
    cluster.unregister(1)
    assert explain_feature(cluster.evidence(), VERSION).is_healthy
    assert cluster.why_not_raised(33) is None
    assert explain_feature(cluster.evidence(), VERSION).statement.text.startswith("Nothing is wrong")


def test_a_ghost_limits_a_feature() -> None:
    cluster = DecidedCluster()
    cluster.register_controller(9, (7, 30))
    registered = cluster.offset_of(RegisterControllerRecord, controller_id=9)
    found = explain_feature(cluster.evidence(), VERSION)
    assert found.causes[0].text == (
        "controller 9 supports levels 7 to 30 of metadata.version, and may be a ghost: registered, but no"
        " voter"
    )
    assert found.causes[0].since is not None
    assert (found.causes[0].since.offset, found.next_step) == (registered, ASK_LEADER)
    assert "Controller 9 only supports" in (cluster.why_not_raised(33) or "")
    ghost = explain_controller(cluster.evidence(), 9)
    assert (ghost.statement.text, ghost.causes[0].text) == (
        "Controller 9 may be a ghost",
        "it is registered, and is no voter",
    )
    own = explain_controller(cluster.evidence(), NODE_ID).statement.text
    assert own.startswith(f"Controller {NODE_ID} is a voter, and only the leader knows")


def test_a_feature_needs_a_metadata_version() -> None:
    cluster = DecidedCluster(22)
    name = "eligible.leader.replicas.version"
    check_decided(
        explain_feature(cluster.evidence(), name),
        f"{name} cannot be raised from 0 to 1",
        "it needs metadata.version 4.0-IV1, which is 22 (4.0-IV0)",
        "kraftctl explain feature metadata.version --level 23",
        None,
    )
    assert "needs metadata.version 23" in (cluster.why_not_raised(1, name) or "")


def test_a_controller_without_listeners() -> None:
    cluster = DecidedCluster()
    cluster.register_controller(9, (7, 30))
    explanation = explain_controller(cluster.evidence(), 9)
    assert "its registration has no listener, and supports metadata.version 7 to 30" in explanation.facts
