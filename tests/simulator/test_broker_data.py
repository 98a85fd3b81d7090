"""What model brokers have on disk: truncation as in KIP-101, and elections that would lose promises."""

from __future__ import annotations

import pytest

from kraftctl.metadata.leader_recovery_state import RECOVERED, RECOVERING
from kraftctl.metadata.partition_registration import PartitionRegistration
from tests.simulator.test_clients import Watch
from tests.support.partition_registrations import partition_registration
from tests.support.simulator.brokers.broker_data import BrokerData, ReplicaLog
from tests.support.simulator.brokers.broker_image import PartitionKey

KEY: PartitionKey = (bytes(15) + b"\x09", 0)


def log_of(*epochs_and_counts: tuple[int, int]) -> ReplicaLog:
    log = ReplicaLog()
    for epoch, count in epochs_and_counts:
        log.append(epoch, count)
    return log


def partition(leader: int, leader_epoch: int, recovery_state: int = RECOVERED) -> PartitionRegistration:
    return partition_registration(
        replicas=(1, 2),
        directories=(KEY[0], KEY[0]),
        isr=(leader,),
        leader=leader,
        leader_recovery_state=recovery_state,
        leader_epoch=leader_epoch,
        partition_epoch=leader_epoch,
    )


@pytest.mark.parametrize(
    ("follower", "leader", "end_offset"),
    [
        pytest.param(log_of((0, 5)), log_of((0, 9)), 5, id="a-prefix"),
        pytest.param(log_of((0, 9)), log_of((0, 5), (1, 9)), 5, id="a-tail-that-was-never-committed"),
        pytest.param(log_of((0, 5), (2, 3)), log_of((0, 5), (1, 1), (3, 9)), 5, id="another-epoch"),
        pytest.param(log_of((0, 5), (1, 4)), log_of((0, 5), (1, 2), (3, 9)), 7, id="part-of-an-epoch"),
        pytest.param(log_of((1, 3)), log_of((2, 3)), 0, id="nothing-in-common"),
    ],
)
def test_where_two_logs_part(follower: ReplicaLog, leader: ReplicaLog, end_offset: int) -> None:
    assert follower.common_end(leader) == end_offset
    follower.truncate(end_offset)
    follower.copy_from(leader, leader.end_offset)
    assert (follower.epochs, follower.starts) == (leader.epochs, leader.starts)
    assert follower.end_offset == leader.end_offset


def promise(data: BrokerData) -> None:
    """Broker 1 leads epoch 0 and has acknowledged 4 of its 6 records."""
    log = data.log(KEY, 1)
    log.append(0, 6)
    log.high_watermark = 4
    data.changed(KEY, partition(1, 0), 10)
    data.acknowledge(1, KEY, 0, log)
    assert data.acknowledged[KEY] == (4, 0)


def test_a_clean_election_of_a_replica_without_what_was_promised_is_noticed() -> None:
    data = BrokerData(Watch())
    promise(data)
    data.log(KEY, 2).copy_from(data.log(KEY, 1), 3)
    with pytest.raises(AssertionError, match="LeaderCandidateCompleteness"):
        data.changed(KEY, partition(2, 1), 11)


def test_another_record_at_the_same_offset_is_not_what_was_promised() -> None:
    data = BrokerData(Watch())
    promise(data)
    data.log(KEY, 2).append(7, 6)
    with pytest.raises(AssertionError, match="LeaderCandidateCompleteness"):
        data.changed(KEY, partition(2, 8), 11)


def test_a_clean_election_of_a_replica_with_everything_is_fine() -> None:
    data = BrokerData(Watch())
    promise(data)
    data.log(KEY, 2).copy_from(data.log(KEY, 1), 4)
    data.changed(KEY, partition(2, 1), 11)


def test_an_unclean_election_gives_up_what_the_new_leader_lacks() -> None:
    data = BrokerData(Watch())
    promise(data)
    data.log(KEY, 2).copy_from(data.log(KEY, 1), 3)
    data.changed(KEY, partition(2, 1, RECOVERING), 11)
    assert data.acknowledged[KEY] == (3, 0)
    old_leader = data.log(KEY, 1)
    old_leader.high_watermark = 6
    data.acknowledge(1, KEY, 0, old_leader)
    assert data.acknowledged[KEY] == (3, 0), "a deposed leader promises nothing"


def test_each_record_of_the_metadata_log_counts_for_the_first_broker_that_sees_it() -> None:
    watch = Watch()
    data = BrokerData(watch)
    promise(data)
    data.changed(KEY, partition(1, 0), 10)
    assert watch.elections == 1
