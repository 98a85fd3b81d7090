"""Partitions whose ELR has two members (KIP-966): what to start, and who is elected then."""

from __future__ import annotations

import pytest

from kraftctl.explain.lost_directories import restoring_step
from kraftctl.explain.why_partition import explain_partition
from tests.support.decided_cluster import DecidedCluster, check_decided


@pytest.fixture
def three() -> DecidedCluster:
    """Brokers 1, 2 and 3 are active, with two log directories, the replicas of the topic in the second."""
    cluster = DecidedCluster()
    cluster.start_brokers(1, 2, 3, directories=2)
    cluster.configure("min.insync.replicas", "2")
    cluster.topic("orders", [1, 2, 3])
    for broker_id in (2, 3):
        cluster.place("orders", broker_id, 1)
    cluster.kill(1)
    return cluster


def leader_of(cluster: DecidedCluster) -> int:
    found = cluster.controller.image.topics.topic_by_name("orders")
    assert found is not None
    assert set(found.partitions[0].elr) <= {2, 3}
    return int(found.partitions[0].leader)


def start(cluster: DecidedCluster, broker_id: int, *, clean: bool = False) -> None:
    """Starts a broker with the directories that it had."""
    cluster.restart(broker_id, number=1, clean=clean, directories=2)
    cluster.heartbeat(broker_id)


def step(cluster: DecidedCluster) -> str:
    explanation = explain_partition(cluster.evidence(), "orders", 0)
    assert explanation.causes[0].text == "none of the replicas that may lead, brokers 2 and 3, is available"
    return explanation.next_step


def test_both_are_killed(three: DecidedCluster) -> None:
    three.kill(2)
    three.kill(3)
    explanation = explain_partition(three.evidence(), "orders", 0)
    check_decided(
        explanation,
        "orders-0 has no leader",
        "none of the replicas that may lead, brokers 2 and 3, is available",
        "start broker 2, and start broker 3; one that was not killed is elected when it is unfenced,"
        " otherwise, after all of them, the last leader",
        None,
    )
    assert [cause.since.offset for cause in explanation.causes if cause.since] == [
        three.fenced_at(2),
        three.fenced_at(3),
    ]
    start(three, 2)
    assert leader_of(three) == -1
    start(three, 3)
    assert leader_of(three) == 3


@pytest.mark.parametrize("clean", [True, False])
def test_the_other_runs_without_its_directory(three: DecidedCluster, clean: bool) -> None:
    """It stays in the ELR: the last leader is not elected."""
    if clean:
        three.stop(2)
    else:
        three.kill(2)
    three.lose_directory(3, 1)
    assert step(three) == (
        "start broker 2; it is elected when it is unfenced, unless it was killed. Otherwise"
        f" {restoring_step(3)}"
    )
    start(three, 2, clean=clean)
    assert leader_of(three) == (2 if clean else -1)


def test_the_first_runs_without_its_directory(three: DecidedCluster) -> None:
    three.lose_directory(2, 1)
    three.stop(3)
    assert step(three) == (
        "start broker 3; it is elected when it is unfenced, unless it was killed. Otherwise"
        f" {restoring_step(2)}"
    )
    start(three, 3, clean=True)
    assert leader_of(three) == 3


def test_the_other_is_starting(three: DecidedCluster) -> None:
    three.kill(2)
    three.stop(3)
    three.restart(3, number=1, clean=True, directories=2)
    assert step(three) == (
        "start broker 2; it is elected when it is unfenced, unless it was killed. Otherwise see the log of"
        " broker 3: it starts, and is unfenced when it is ready"
    )
    three.heartbeat(3)
    assert leader_of(three) == 3


def test_one_is_starting_and_the_other_runs_without_its_directory(three: DecidedCluster) -> None:
    three.lose_directory(2, 1)
    three.stop(3)
    three.restart(3, number=1, clean=True, directories=2)
    assert step(three) == (
        f"see the log of broker 3: it starts, and is unfenced when it is ready. Otherwise {restoring_step(2)}"
    )


def test_the_other_leaves(three: DecidedCluster) -> None:
    three.kill(2)
    three.heartbeat(3, shut_down=True)
    assert step(three) == (
        "start broker 2, and start broker 3 when it has stopped; one that was not killed is elected when it"
        " is unfenced, otherwise, after all of them, the last leader"
    )
