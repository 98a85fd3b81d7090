"""A replica whose log directory is lost, on a broker that is stopped besides: a start brings nothing back."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kraftctl.explain.lost_directories import restoring_step
from kraftctl.explain.why_partition import explain_partition
from kraftctl.explain.why_reassignment import explain_reassignment
from tests.support.decided_cluster import DecidedCluster

LOST = "has lost the log directory of this replica"

Stop = Callable[[DecidedCluster], None]


def kill(cluster: DecidedCluster) -> None:
    cluster.kill(3)


def leave(cluster: DecidedCluster) -> None:
    cluster.heartbeat(3, shut_down=True)


def stop(cluster: DecidedCluster) -> None:
    cluster.stop(3)
    cluster.kill(3)


def begin_again(cluster: DecidedCluster) -> None:
    cluster.kill(3)
    cluster.restart(3, number=1, directories=2)
    cluster.lose_directory(3, 1)


STOPS = [pytest.param(each, id=each.__name__) for each in (kill, leave, stop, begin_again)]


@pytest.fixture
def cluster() -> DecidedCluster:
    """Brokers with two log directories; the second one of broker 3 will fail."""
    found = DecidedCluster()
    for broker_id in (1, 2, 3):
        found.restart(broker_id, number=0, directories=2)
        found.heartbeat(broker_id)
    return found


def leader_of(cluster: DecidedCluster) -> int:
    topic = cluster.controller.image.topics.topic_by_name("orders")
    assert topic is not None
    return int(topic.partitions[0].leader)


def lose(cluster: DecidedCluster) -> None:
    cluster.place("orders", 3, 1)
    cluster.lose_directory(3, 1)


@pytest.mark.parametrize("end", STOPS)
def test_the_only_replica(cluster: DecidedCluster, end: Stop) -> None:
    cluster.topic("orders", [3])
    lose(cluster)
    end(cluster)
    found = explain_partition(cluster.evidence(), "orders", 0)
    if found.causes[0].text.startswith("no replica is known"):  # It has registered again since.
        assert found.causes[1].text == f"its last leader, broker 3, {LOST}"
    else:
        assert found.causes[0].text == f"its only replica, broker 3, {LOST}"
    assert found.next_step.startswith(restoring_step(3))
    if end is not begin_again:
        cluster.restart(3, number=2)
    cluster.heartbeat(3)
    assert leader_of(cluster) == -1, "a start does not help"


@pytest.mark.parametrize("end", STOPS)
def test_a_replica_that_is_not_in_sync(cluster: DecidedCluster, end: Stop) -> None:
    cluster.topic("orders", [1, 3])
    lose(cluster)
    end(cluster)
    found = explain_partition(cluster.evidence(), "orders", 0)
    assert found.statement.text == "orders-0 has 1 of 2 replicas in sync"
    assert found.causes[0].text == f"broker 3 {LOST}"
    assert found.next_step == restoring_step(3)


@pytest.mark.parametrize("end", STOPS)
def test_a_replica_that_is_being_added(cluster: DecidedCluster, end: Stop) -> None:
    cluster.topic("orders", [1])
    cluster.reassign("orders", [3])
    lose(cluster)
    end(cluster)
    found = explain_reassignment(cluster.evidence(), "orders", 0)
    assert found.causes[0].text == f"broker 3, which is being added, {LOST}"
    assert found.next_step.startswith(restoring_step(3))


@pytest.mark.parametrize("end", [*STOPS, pytest.param(lambda cluster: None, id="none")])
def test_a_replica_of_which_no_one_knows_whether_it_had_all_records(
    cluster: DecidedCluster, end: Stop
) -> None:
    """Its broker is not started, as if it had the records, before an unclean election."""
    cluster.topic("orders", [1, 3])
    cluster.configure("min.insync.replicas", "2", topic="orders")
    lose(cluster)
    end(cluster)
    cluster.kill(1)
    cluster.configure("min.insync.replicas", "1", topic="orders")
    found = explain_partition(cluster.evidence(), "orders", 0)
    assert found.causes[0].text == "no replica is known to have all records: its ISR and ELR are empty"
    start = "start broker 1 first, which may have more records. Then"
    assert found.next_step.startswith(f"{start} {restoring_step(3)}. Then kafka-leader-election ")


def test_what_else_is_wrong_with_its_broker_follows(cluster: DecidedCluster) -> None:
    cluster.topic("orders", [3])
    lose(cluster)
    cluster.kill(3)
    first, second, *_ = explain_partition(cluster.evidence(), "orders", 0).causes
    assert (first.since is None, second.text) == (False, "it is fenced")
    assert second.since is not None
    assert second.since.offset == cluster.fenced_at(3)


def test_a_replica_in_another_directory_needs_only_a_start(cluster: DecidedCluster) -> None:
    cluster.topic("orders", [3])
    cluster.place("orders", 3, 0)
    cluster.lose_directory(3, 1)
    cluster.kill(3)
    found = explain_partition(cluster.evidence(), "orders", 0)
    assert found.causes[0].text == "its only replica, broker 3, is fenced"
    assert found.next_step == "start broker 3; it is elected when it is unfenced"


def test_with_no_member_left_a_lost_directory_is_brought_back_before_an_unclean_election(
    cluster: DecidedCluster,
) -> None:
    """A start of broker 3 on an empty disk would give that election an empty replica."""
    cluster.topic("orders", [1, 3])
    cluster.place("orders", 3, 1)
    cluster.configure("min.insync.replicas", "2", topic="orders")
    cluster.kill(1, 3)
    cluster.configure("min.insync.replicas", "1", topic="orders")
    cluster.restart(3, number=1, directories=2)
    cluster.lose_directory(3, 1)
    found = explain_partition(cluster.evidence(), "orders", 0)
    assert found.causes[0].text == "no replica is known to have all records: its ISR and ELR are empty"
    first, last, then = found.next_step.partition(f"Then {restoring_step(3)}. Then ")
    assert first == "start broker 1 first, which may have more records. "
    assert last, found.next_step
    assert then.endswith("elects any live replica, AND LOSES RECORDS")
    cluster.heartbeat(1)
    assert explain_partition(cluster.evidence(), "orders", 0).next_step.startswith(restoring_step(3))
