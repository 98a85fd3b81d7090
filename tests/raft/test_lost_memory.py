"""A voter restarts with its identity but without its log and its votes: no acknowledged record is lost."""

from __future__ import annotations

import pytest

from kraftctl.storage.recovery_point import FILE_NAME as RECOVERY_POINT
from kraftctl.storage.recovery_point import RecoveryPointFile
from tests.support.effort import seeds
from tests.support.simulator.cluster.process import ControllerProcess
from tests.support.simulator.cluster.wire import LinkFaults
from tests.support.simulator.quorum import Quorum, StartQuorum

VOTERS = [1, 2, 3]


def led(quorum: Quorum) -> tuple[ControllerProcess, ControllerProcess, ControllerProcess]:
    """Its leader and the other two."""
    b, c = quorum.followers()
    return quorum.led(), b, c


@pytest.mark.prevents("lost-log-votes")
@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("seed", seeds(3))
def test_it_does_not_elect_a_leader_that_lacks_what_it_acknowledged(
    seed: int, dynamic: bool, start_quorum: StartQuorum
) -> None:
    """LeaderCompleteness: A and B have the records; B loses them, A crashes; B and C are a majority."""
    quorum = start_quorum(seed, VOTERS, dynamic=dynamic)
    leader, b, c = led(quorum)
    quorum.isolate(c.node_id)
    quorum.append(leader, 5)
    quorum.run_for(500)
    assert leader.raft.high_watermark == leader.raft.end_offset
    quorum.crash(leader)
    quorum.forget(b)
    quorum.wire.cut.clear()
    quorum.restart_all(but=[leader])
    quorum.run_for(20_000)
    assert quorum.leader() is None, "no remaining voter has what is committed"
    quorum.restart_all()
    quorum.run_for(20_000)
    assert quorum.leader() is leader
    assert b.partition.recovering_epoch is None
    assert b.raft.end_offset == leader.raft.end_offset


@pytest.mark.prevents("lost-log-votes")
@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("snapshot", [False, True], ids=["log", "snapshot"])
def test_it_votes_again_once_it_has_what_the_leader_has_committed(
    dynamic: bool, snapshot: bool, start_quorum: StartQuorum
) -> None:
    quorum = start_quorum(1, VOTERS, dynamic=dynamic)
    leader, b, c = led(quorum)
    quorum.append(leader, 5)
    quorum.run_for(500)
    if snapshot:
        quorum.take_snapshot(leader)
        quorum.append(leader, 2)
        quorum.run_for(500)
    quorum.forget(b)
    quorum.restart_all()
    quorum.run_for(5_000)
    assert b.partition.recovering_epoch is None
    quorum.crash(leader)
    quorum.run_for(15_000)
    assert quorum.leader() in (b, c)


@pytest.mark.prevents("lost-log-votes")
def test_it_stays_silent_across_restarts_until_then(start_quorum: StartQuorum) -> None:
    quorum = start_quorum(2, VOTERS)
    leader, b, c = led(quorum)
    quorum.append(leader, 5)
    quorum.run_for(500)
    epoch = leader.raft.epoch
    quorum.crash(leader)
    quorum.crash(c)
    quorum.forget(b)
    for _ in range(3):
        quorum.restart_all(but=[leader, c])
        quorum.run_for(5_000)
        assert b.raft.epoch == epoch, "MonotonicEpoch"
        assert b.partition.recovering_epoch == epoch
        quorum.crash(b)


@pytest.mark.prevents("lost-log-votes")
def test_a_vote_that_is_forgotten_is_not_given_twice(start_quorum: StartQuorum) -> None:
    """ElectionSafety: a leader of an epoch before that of the vote is not enough to vote again."""
    quorum = start_quorum(3, VOTERS)
    leader, b, c = led(quorum)
    leader_epoch = leader.raft.epoch
    quorum.forget(b)
    promise_to_vote_in(b, leader_epoch + 1)
    quorum.isolate(c.node_id)
    quorum.restart_all()
    quorum.run_for(900)
    assert b.partition.recovering_epoch is not None
    quorum.wire.cut.clear()
    quorum.run_for(20_000)
    assert b.partition.recovering_epoch is None
    assert quorum.led().raft.epoch > leader_epoch


@pytest.mark.prevents("lost-log-votes")
@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("seed", seeds(3))
def test_a_recovery_point_of_another_replica_does_not_let_an_older_log_vote(
    seed: int, dynamic: bool, start_quorum: StartQuorum
) -> None:
    """LeaderCompleteness: A and B have the records; of B an older copy comes back, beside the recovery point
    of another directory.id, and A crashes; B and C are a majority.
    """
    quorum = start_quorum(seed, VOTERS, dynamic=dynamic)
    leader, b, c = led(quorum)
    older = b.disk.save()
    quorum.isolate(c.node_id)
    quorum.append(leader, 5)
    quorum.run_for(500)
    assert leader.raft.high_watermark == leader.raft.end_offset
    quorum.crash(leader)
    quorum.crash(b)
    b.disk.restore(older)
    quorum.checks.forgot(b.key, log=True, votes=True)
    (b.disk.root / RECOVERY_POINT).write_bytes((c.disk.root / RECOVERY_POINT).read_bytes())
    quorum.wire.cut.clear()
    b.start()
    quorum.run_for(20_000)
    assert quorum.leader() is None, "no remaining voter has what is committed"
    quorum.restart_all()
    quorum.run_for(20_000)
    assert quorum.leader() is leader
    assert b.partition.recovering_epoch is None
    assert b.raft.end_offset == leader.raft.end_offset


def promise_to_vote_in(process: ControllerProcess, epoch: int) -> None:
    """It is down, and its recovery point says that it has taken part in this epoch."""
    file = RecoveryPointFile.open(process.disk.root, process.key.directory_id, lambda: 0)
    assert file.point is not None
    file.begin(file.point._replace(quorum_epoch=epoch))
    file.close(stopped=False)


def test_it_waits_for_its_leader_no_longer_than_the_fetch_timeout_once_it_has_recovered(
    start_quorum: StartQuorum,
) -> None:
    """KIP-595: the fetch timer runs from the moment of recovery, not only from the next response."""
    quorum = start_quorum(4, VOTERS)
    leader, b, _ = led(quorum)
    quorum.append(leader, 5)
    quorum.run_for(500)
    quorum.forget(b)
    quorum.wire.faults = LinkFaults(delay_us_max=50_000)
    quorum.restart_all()
    assert b.partition.recovering_epoch is not None
    for _ in range(5_000):
        if b.partition.recovering_epoch is None:
            break
        quorum.run_for(1)
    quorum.isolate(b.node_id)
    assert b.partition.recovering_epoch is None
    assert b.raft.state_name == "Follower"
    quorum.run_for(2_100)
    assert b.raft.state_name == "Prospective"
