"""Partitions, topics and reassignments in states that the controller itself decides: each first cause."""

from __future__ import annotations

import pytest

from kraftctl.explain.lost_directories import restoring_step
from kraftctl.explain.why_partition import explain_partition
from kraftctl.explain.why_reassignment import explain_reassignment, explain_reassignments
from kraftctl.explain.why_topic import explain_topic
from kraftctl_protocol.generated.broker_registration_change_record import BrokerRegistrationChangeRecord
from kraftctl_protocol.generated.clear_elr_record import ClearElrRecord
from kraftctl_protocol.generated.delete_topics_request import DeleteTopicsRequest, DeleteTopicState
from kraftctl_protocol.generated.partition_record import PartitionRecord
from kraftctl_protocol.generated.remove_topic_record import RemoveTopicRecord
from kraftctl_protocol.generated.unregister_broker_record import UnregisterBrokerRecord
from tests.support.decided_cluster import DecidedCluster, check_decided

CANCEL = "otherwise kafka-reassign-partitions --cancel takes it back"
UNCLEAN = (
    "kafka-leader-election --election-type unclean --topic orders --partition 0 elects any live replica, AND"
    " LOSES RECORDS"
)
BEHIND = (
    "wait; if the size of the replica does not grow, see the log of broker 2 for its fetches, and a throttle"
    " of the reassignment"
)


@pytest.fixture
def three() -> DecidedCluster:
    """Brokers 1, 2 and 3 are active."""
    cluster = DecidedCluster()
    cluster.start_brokers(1, 2, 3)
    return cluster


def leader_of(cluster: DecidedCluster) -> int:
    found = cluster.controller.image.topics.topic_by_name("orders")
    assert found is not None
    return int(found.partitions[0].leader)


def test_a_healthy_partition(three: DecidedCluster) -> None:
    three.topic("orders", [1, 2])
    three.live(20_000, 1, 2, 3)
    statement = "Nothing is wrong: orders-0 is led by its preferred leader, broker 1,"
    begun = three.offset_of(PartitionRecord)
    check_decided(explain_partition(three.evidence(), "orders", 0), statement, None, "", begun)


def test_the_only_replica_is_killed(three: DecidedCluster) -> None:
    three.topic("orders", [3])
    three.kill(3)
    check_decided(
        explain_partition(three.evidence(), "orders", 0),
        "orders-0 has no leader",
        "its only replica, broker 3, is fenced",
        "start broker 3; it is elected when it is unfenced",
        three.fenced_at(3),
    )
    three.restart(3, number=1)
    three.heartbeat(3)
    assert leader_of(three) == 3


def test_the_only_replica_leaves(three: DecidedCluster) -> None:
    three.topic("orders", [3])
    three.heartbeat(3, shut_down=True)
    check_decided(
        explain_partition(three.evidence(), "orders", 0),
        "orders-0 has no leader",
        "its only replica, broker 3, is in controlled shutdown",
        "start broker 3 when it has stopped; it is elected when it is unfenced",
        three.offset_of(BrokerRegistrationChangeRecord, in_controlled_shutdown=1),
    )


def test_one_of_the_elr_is_left_and_was_killed(three: DecidedCluster) -> None:
    """After its start it is in no ELR any more: the last leader, which runs by then, is elected."""
    three.configure("min.insync.replicas", "2")
    three.topic("orders", [1, 2])
    three.kill(2)
    three.kill(1)
    three.restart(1, number=1)
    three.heartbeat(1)
    assert leader_of(three) == -1
    check_decided(
        explain_partition(three.evidence(), "orders", 0),
        "orders-0 has no leader",
        "the only replica that may lead, broker 2, is fenced",
        "start broker 2; it is elected when it is unfenced, or, if it was killed, the last leader",
        three.fenced_at(2),
    )
    three.restart(2, number=1)
    assert leader_of(three) == 1


def test_the_last_leader_has_registered_after_it_was_killed(three: DecidedCluster) -> None:
    three.topic("orders", [1, 2])
    three.kill(2)
    three.kill(1)
    three.restart(1, number=1)
    check_decided(
        explain_partition(three.evidence(), "orders", 0),
        "orders-0 has no leader",
        "no replica is known to have all records: its ISR and ELR are empty",
        "see the log of broker 1: it starts, and is unfenced when it is ready; the last leader is elected"
        f" when it is unfenced. Otherwise {UNCLEAN}",
        three.changed_at("orders"),
    )
    three.heartbeat(1)
    assert leader_of(three) == 1
    assert explain_partition(three.evidence(), "orders", 0).statement.text == (
        "orders-0 recovers from an unclean election: records may be lost"
    )


def test_a_config_clears_the_elr_of_a_partition_without_leader(three: DecidedCluster) -> None:
    three.topic("orders", [1, 2])
    three.configure("min.insync.replicas", "2", topic="orders")
    three.kill(1, 2)
    three.configure("min.insync.replicas", "1", topic="orders")
    for step in (
        f"start brokers 1 and 2 first, which may have more records. Then {UNCLEAN}",
        f"start broker 2 first, which may have more records. Then {UNCLEAN}",
    ):
        check_decided(
            explain_partition(three.evidence(), "orders", 0),
            "orders-0 has no leader",
            "no replica is known to have all records: its ISR and ELR are empty",
            step,
            three.offset_of(ClearElrRecord),
        )
        three.heartbeat(1)


def test_the_last_leader_is_no_replica_any_more(three: DecidedCluster) -> None:
    """A reassignment to it was taken back after an unclean election."""
    three.topic("orders", [1, 2])
    three.configure("unclean.leader.election.enable", "true", topic="orders")
    three.reassign("orders", [1, 3])
    three.kill(1, 2)
    three.kill(3)
    three.reassign("orders", None)
    three.restart(1, number=1)
    check_decided(
        explain_partition(three.evidence(), "orders", 0),
        "orders-0 has no leader",
        "no replica is known to have all records: its ISR and ELR are empty",
        f"start brokers 1 and 2 first, which may have more records. Then {UNCLEAN}",
        three.changed_at("orders"),
    )


def test_the_log_directory_of_the_only_replica_fails() -> None:
    cluster = DecidedCluster()
    cluster.start_brokers(1, directories=2)
    cluster.topic("orders", [1])
    cluster.place("orders", 1, 1)
    cluster.lose_directory(1, 1)
    check_decided(
        explain_partition(cluster.evidence(), "orders", 0),
        "orders-0 has no leader",
        "its only replica, broker 1, has lost the log directory of this replica",
        restoring_step(1),
        cluster.offset_of(BrokerRegistrationChangeRecord, broker_id=1),
    )


def test_the_last_of_the_isr_is_unregistered(three: DecidedCluster) -> None:
    three.topic("orders", [1, 2])
    three.kill(1)
    three.unregister(2)
    check_decided(
        explain_partition(three.evidence(), "orders", 0),
        "orders-0 has no leader",
        "the only replica that may lead, broker 2, is unregistered",
        "start broker 2, which registers it; it is elected when it is unfenced, or, if it was killed, the"
        " last leader",
        three.offset_of(UnregisterBrokerRecord),
    )


def test_the_only_replica_returns_after_a_kill(three: DecidedCluster) -> None:
    """As in Kafka, its leader reports no recovery, because its ISR does not change any more."""
    three.topic("solo", [1])
    three.kill(1)
    three.restart(1, number=1)
    three.heartbeat(1)
    explanation = explain_partition(three.evidence(), "solo", 0)
    assert explanation.is_healthy
    assert "its leader was elected without being in sync: records may be lost" in explanation.facts


@pytest.mark.parametrize("by_config", [False, True])
def test_an_unclean_election(three: DecidedCluster, by_config: bool) -> None:
    three.topic("orders", [1, 2])
    if by_config:
        three.configure("unclean.leader.election.enable", "true", topic="orders")
    three.alter_isr("orders", [1])
    three.kill(1)
    if not by_config:
        assert explain_partition(three.evidence(), "orders", 0).causes[0].text == (
            "the only replica that may lead, broker 1, is fenced"
        )
        three.elect_uncleanly("orders")
    explanation = explain_partition(three.evidence(), "orders", 0)
    check_decided(
        explanation,
        "orders-0 recovers from an unclean election: records may be lost",
        "broker 2 was elected without being in sync, and has not reported its recovery",
        "see the log of broker 2; other replicas join the ISR when it has recovered",
        None,
    )
    assert explanation.statement.since is not None
    assert explanation.statement.since.offset == three.changed_at("orders")
    three.alter_isr("orders", [2])
    assert explain_partition(three.evidence(), "orders", 0).causes[0].text == "broker 1 is fenced"


def test_under_the_min_isr_of_the_topic(three: DecidedCluster) -> None:
    three.topic("orders", [1, 2])
    three.configure("min.insync.replicas", "2", topic="orders")
    three.kill(2)
    check_decided(
        explain_partition(three.evidence(), "orders", 0),
        "orders-0 has 1 of 2 replicas in sync, and min.insync.replicas is 2 (topic): acks=all is refused",
        "broker 2 is fenced",
        "start broker 2",
        three.fenced_at(2),
    )


def test_under_the_min_isr_of_the_cluster(three: DecidedCluster) -> None:
    three.configure("min.insync.replicas", "2")
    three.topic("orders", [1, 2])
    three.alter_isr("orders", [1])
    check_decided(
        explain_partition(three.evidence(), "orders", 0),
        "orders-0 has 1 of 2 replicas in sync, and min.insync.replicas is 2 (cluster): acks=all is refused",
        "broker 2 is active, but not in sync with its leader",
        "see the log of broker 2 for its fetches from broker 1",
        None,
    )


def test_a_follower_leaves(three: DecidedCluster) -> None:
    three.topic("orders", [1, 2])
    three.topic("led", [2, 1])
    three.heartbeat(2, shut_down=True)
    check_decided(
        explain_partition(three.evidence(), "orders", 0),
        "orders-0 has 1 of 2 replicas in sync",
        "broker 2 is in controlled shutdown",
        "start broker 2 when it has stopped",
        three.offset_of(BrokerRegistrationChangeRecord, in_controlled_shutdown=1),
    )


def test_a_follower_loses_the_log_directory(three: DecidedCluster) -> None:
    three.register(4, directories=2)
    three.heartbeat(4)
    three.topic("orders", [1, 4])
    three.place("orders", 4, 1)
    three.lose_directory(4, 1)
    check_decided(
        explain_partition(three.evidence(), "orders", 0),
        "orders-0 has 1 of 2 replicas in sync",
        "broker 4 has lost the log directory of this replica",
        restoring_step(4),
        three.offset_of(BrokerRegistrationChangeRecord, broker_id=4),
    )


def test_the_leadership_has_not_moved_back(three: DecidedCluster) -> None:
    three.topic("orders", [1, 2])
    three.stop(1)
    moved = three.changed_at("orders")
    three.restart(1, number=1, clean=True)
    three.heartbeat(1)
    three.alter_isr("orders", [1, 2])
    explanation = explain_partition(three.evidence(), "orders", 0)
    check_decided(
        explanation,
        "orders-0 is led by broker 2, not by its preferred leader, broker 1,",
        "broker 1 is in sync, and no election has moved the leadership back",
        "wait for leader.imbalance.check.interval.seconds (auto.leader.rebalance.enable), or run"
        " kafka-leader-election --election-type preferred --topic orders --partition 0",
        None,
    )
    assert explanation.statement.since is not None
    assert explanation.statement.since.offset == moved
    three.live(301_000, 1, 2, 3)
    assert explain_partition(three.evidence(), "orders", 0).is_healthy


def test_a_topic_after_the_loss_of_all_brokers(three: DecidedCluster) -> None:
    three.topic("orders", [1], [2], [2])
    three.kill(1, 2, 3)
    check_decided(
        explain_topic(three.evidence(), "orders"),
        "3 of 3 partitions of orders have no leader",
        "orders-1, orders-2: its only replica, broker 2, is fenced",
        "start broker 2; it is elected when it is unfenced",
        three.fenced_at(2),
    )
    three.heartbeat(2)
    assert explain_topic(three.evidence(), "orders").statement.text == (
        "1 of 3 partitions of orders has no leader"
    )


def test_a_topic_with_several_troubles(three: DecidedCluster) -> None:
    three.topic("orders", [1, 2], [3, 2], [2, 1])
    three.alter_isr("orders", [3], index=1)
    three.alter_isr("orders", [2], index=2)
    three.kill(3)
    explanation = explain_topic(three.evidence(), "orders")
    check_decided(
        explanation,
        "1 of 3 partitions of orders has no leader",
        "orders-1: the only replica that may lead, broker 3, is fenced",
        "start broker 3; it is elected when it is unfenced, or, if it was killed, the last leader",
        three.fenced_at(3),
    )
    assert explanation.facts[1:] == ["1 has replicas out of sync"]


def test_a_topic_is_deleted(three: DecidedCluster) -> None:
    three.topic("orders", [1])
    response = three.request(DeleteTopicsRequest(topics=[DeleteTopicState(name="orders")], timeout_ms=1_000))
    assert response.responses[0].error_code == 0, response
    check_decided(
        explain_topic(three.evidence(), "orders"),
        "Topic orders is deleted",
        None,
        "create it again; its records are deleted",
        three.offset_of(RemoveTopicRecord),
    )


ADDS_2 = "orders-0 is being reassigned, adding [2] and removing [1],"


def test_a_reassignment_copies(three: DecidedCluster) -> None:
    three.topic("orders", [1])
    three.reassign("orders", [2])
    explanation = explain_reassignment(three.evidence(), "orders", 0)
    cause = "broker 2, which is being added, has not caught up with the leader, broker 1"
    check_decided(explanation, ADDS_2, cause, BEHIND, None)
    assert explanation.statement.since is not None
    assert explanation.statement.since.offset == three.changed_at("orders")
    check_decided(
        explain_partition(three.evidence(), "orders", 0),
        "orders-0 is led by broker 1, not by its preferred leader, broker 2,",
        "broker 2 is being added by a reassignment, and is not in sync yet",
        "kraftctl explain reassignment orders-0 says what it waits for",
        three.changed_at("orders"),
    )
    three.alter_isr("orders", [1, 2])
    assert explain_partition(three.evidence(), "orders", 0).is_healthy


def test_a_reassignment_to_a_broker_that_is_dead(three: DecidedCluster) -> None:
    three.topic("orders", [1])
    three.kill(2)
    three.reassign("orders", [2])
    check_decided(
        explain_reassignment(three.evidence(), "orders", 0),
        ADDS_2,
        "broker 2, which is being added, is fenced",
        f"start broker 2; {CANCEL}",
        three.fenced_at(2),
    )


def test_a_reassignment_to_a_broker_that_is_unregistered(three: DecidedCluster) -> None:
    three.topic("orders", [1])
    three.reassign("orders", [2])
    three.unregister(2)
    check_decided(
        explain_reassignment(three.evidence(), "orders", 0),
        ADDS_2,
        "broker 2, which is being added, is unregistered",
        f"start broker 2, which registers it, or reassign its replicas to other brokers; {CANCEL}",
        three.offset_of(UnregisterBrokerRecord),
    )
    three.reassign("orders", None)
    assert explain_reassignments(three.evidence()).is_healthy


def test_a_reassignment_of_a_partition_that_loses_its_leader(three: DecidedCluster) -> None:
    three.topic("orders", [1])
    three.reassign("orders", [2])
    three.kill(1)
    check_decided(
        explain_reassignment(three.evidence(), "orders", 0),
        ADDS_2,
        "orders-0 has no leader",
        "start broker 1; it is elected when it is unfenced, or, if it was killed, the last leader",
        three.changed_at("orders"),
    )


def test_a_reassignment_that_only_removes_the_replica_in_sync(three: DecidedCluster) -> None:
    three.topic("orders", [1, 2])
    three.alter_isr("orders", [1])
    three.reassign("orders", [2])
    check_decided(
        explain_reassignment(three.evidence(), "orders", 0),
        "orders-0 is being reassigned, adding [] and removing [1],",
        "broker 2, which stays, is active, but not in sync with its leader",
        "see the log of broker 2 for its fetches from broker 1",
        None,
    )
    three.kill(2)
    check_decided(
        explain_reassignment(three.evidence(), "orders", 0),
        "orders-0 is being reassigned, adding [] and removing [1],",
        "broker 2, which stays, is fenced",
        f"start broker 2; {CANCEL}",
        three.fenced_at(2),
    )


def test_several_reassignments(three: DecidedCluster) -> None:
    three.topic("orders", [1], [1])
    three.kill(3)
    three.reassign("orders", [2])
    three.reassign("orders", [3], index=1)
    explanation = explain_reassignments(three.evidence())
    first = "orders-0: broker 2, which is being added, has not caught up with the leader, broker 1"
    check_decided(explanation, "2 partitions are being reassigned", first, BEHIND, None)
    assert explanation.causes[1].text == "orders-1: broker 3, which is being added, is fenced"
    three.alter_isr("orders", [1, 2])
    assert explain_reassignments(three.evidence()).causes[0].text == (
        "broker 3, which is being added, is fenced"
    )
