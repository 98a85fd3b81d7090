"""KIP-853: voters are added and removed while messages are lost and leaders crash; all invariants hold."""

from __future__ import annotations

import random

import pytest

from kraftctl_protocol.errors import Errors
from kraftctl_protocol.message import Message
from tests.support.effort import seeds
from tests.support.simulator.raft_cluster import RaftCluster, Replica
from tests.support.simulator.raft_faults import Faults
from tests.support.simulator.voter_requests import add_voter, remove_voter

VOTERS = [1, 2, 3]
OBSERVERS = [11, 12]
ANSWER_MS = 3_000


def calm_cluster(voters: list[int], observers: list[int]) -> RaftCluster:
    cluster = RaftCluster(9, voters, observers, dynamic=True, faults=Faults())
    cluster.run_for(6_000)
    return cluster


def leader_of(cluster: RaftCluster) -> Replica:
    leader = cluster.leader()
    assert leader is not None
    return leader


def change(cluster: RaftCluster, request: Message) -> Errors:
    """The responses of the leader."""
    answers = cluster.ask(leader_of(cluster), request)
    cluster.run_for(ANSWER_MS)
    return Errors(answers[0].error_code)


def voters_of(replica: Replica) -> list[int]:
    assert replica.node is not None
    return replica.node.voter_set.voter_ids()


def test_an_observer_becomes_a_voter_and_may_lead() -> None:
    cluster = calm_cluster([1], OBSERVERS)
    for voter_id in OBSERVERS:
        assert change(cluster, add_voter(voter_id)) == Errors.NONE
    assert [voters_of(replica) for replica in cluster.replicas.values()] == [[1, 11, 12]] * 3
    cluster.crash(1)
    cluster.run_for(10_000)
    successor = leader_of(cluster)
    assert successor.node_id in OBSERVERS
    cluster.append(successor, 1)
    cluster.run_for(1_000)
    assert successor.high_watermark == successor.disk.end_offset


def test_a_replica_that_does_not_fetch_is_not_made_a_voter() -> None:
    cluster = RaftCluster(9, [1], OBSERVERS, dynamic=True, faults=Faults())
    cluster.isolate(12)
    cluster.run_for(6_000)
    assert change(cluster, add_voter(12)) == Errors.REQUEST_TIMED_OUT
    assert voters_of(cluster.replicas[1]) == [1]


def test_a_leader_that_removes_itself_resigns_when_that_is_committed() -> None:
    cluster = calm_cluster(VOTERS, [])
    former = leader_of(cluster)
    assert change(cluster, remove_voter(former.node_id)) == Errors.NONE
    cluster.run_for(10_000)
    successor = leader_of(cluster)
    assert successor is not former
    left = [voter_id for voter_id in VOTERS if voter_id != former.node_id]
    assert voters_of(successor) == voters_of(former) == left
    assert former.node is not None
    assert former.node.state_name == "Follower"


def test_a_change_is_refused_until_the_one_before_is_committed() -> None:
    """AtMostOneUncommittedVoterChange: also if the one before was answered when it was written."""
    cluster = calm_cluster([1], OBSERVERS)
    leader = leader_of(cluster)
    first = add_voter(11)
    first.ack_when_committed = False
    answers = cluster.ask(leader, first)
    while not answers:
        cluster.run_for(1)
    assert answers[0].error_code == Errors.NONE
    assert leader.high_watermark < leader.disk.end_offset
    second = cluster.ask(leader, add_voter(12))
    assert [answer.error_code for answer in second] == [Errors.REQUEST_TIMED_OUT]
    cluster.run_for(1_000)
    assert change(cluster, add_voter(12)) == Errors.NONE


def test_a_change_that_cannot_be_committed_is_given_up_and_taken_back() -> None:
    """Only the deposed leader ever had it."""
    cluster = calm_cluster(VOTERS, [])
    leader = leader_of(cluster)
    cluster.isolate(leader.node_id)
    goes = next(voter_id for voter_id in VOTERS if voter_id != leader.node_id)
    answers = cluster.ask(leader, remove_voter(goes))
    assert goes not in voters_of(leader)
    second = cluster.ask(leader, remove_voter(goes))
    assert second[0].error_code == Errors.REQUEST_TIMED_OUT, "one at a time"
    cluster.run_for(10_000)
    assert answers[0].error_code == Errors.REQUEST_TIMED_OUT
    cluster.heal()
    cluster.run_for(10_000)
    assert voters_of(leader) == VOTERS


@pytest.mark.parametrize("seed", seeds(8))
def test_chaos(seed: int) -> None:
    rng = random.Random(seed)
    faults = Faults(loss=rng.choice([0.0, 0.02, 0.1]), delay_ms_max=rng.choice([5, 50]), flush_ms_max=50)
    cluster = RaftCluster(seed, VOTERS, OBSERVERS, dynamic=True, faults=faults)
    replica_ids = VOTERS + OBSERVERS
    answered = 0
    for _ in range(80):
        cluster.run_for(rng.randint(0, 1_500))
        leader = cluster.leader()
        match rng.randrange(8):
            case 0 | 1 if leader is not None:
                cluster.append(leader, rng.randint(1, 3))
            case 2 | 3 if leader is not None:
                answers = cluster.ask(leader, add_voter(rng.choice(replica_ids)))
                cluster.run_for(500)
                answered += bool(answers and answers[0].error_code == Errors.NONE)
            case 4 if leader is not None and len(voters_of(leader)) > 2:
                cluster.ask(leader, remove_voter(rng.choice(voters_of(leader))))
            case 5:
                cluster.crash(rng.choice(replica_ids))
            case 6:
                cluster.isolate(rng.choice(replica_ids))
            case _:
                cluster.cut.clear()
                cluster.restart_all()
    cluster.heal()
    cluster.restart_all()
    cluster.run_for(30_000)
    leader = leader_of(cluster)
    cluster.append(leader, 1)
    cluster.run_for(5_000)
    for replica in cluster.replicas.values():
        assert voters_of(replica) == voters_of(leader)
        assert replica.high_watermark == len(cluster.committed) == replica.disk.end_offset
