"""KIP-858: directories as numbers are the directories again, and those of other partitions stay."""

from __future__ import annotations

import random

import pytest

from kraftctl.metadata.broker_directories import (
    BROKERS_MAX,
    DIRECTORIES_MAX,
    NOT_PACKED,
    REPLICAS_MAX,
    BrokerDirectories,
)
from kraftctl.metadata.interned_tuples import InternedTuples
from kraftctl.metadata.partition_registration import PartitionRegistration
from kraftctl_protocol.generated.partition_change_record import PartitionChangeRecord
from kraftctl_protocol.generated.partition_record import PartitionRecord
from tests.support.effort import seeds


def id_of(number: int) -> bytes:
    return number.to_bytes(16, "big")


@pytest.mark.parametrize("seed", seeds(20))
def test_all_that_was_packed_is_found_again(seed: int) -> None:
    rng = random.Random(seed)
    known = BrokerDirectories()
    packed = []
    for _ in range(200):
        replicas = tuple(rng.sample(range(5), rng.randint(0, REPLICAS_MAX)))
        directories = [id_of(rng.randint(0, DIRECTORIES_MAX - 1)) for _ in replicas]
        packed.append((replicas, directories, known.pack(replicas, directories)))
    for replicas, directories, numbers in packed:
        assert numbers != NOT_PACKED
        assert known.unpack(replicas, numbers) == tuple(directories)
        assert [
            known.directory(replica, position, numbers) for position, replica in enumerate(replicas)
        ] == directories


def test_what_has_no_room_is_not_packed() -> None:
    known = BrokerDirectories()
    assert known.pack((1, 2, 3, 4, 5), [id_of(0)] * 5) == NOT_PACKED
    for number in range(DIRECTORIES_MAX):
        assert known.pack((1,), [id_of(number)]) == number
    assert known.pack((1,), [id_of(DIRECTORIES_MAX)]) == NOT_PACKED
    for broker_id in range(2, BROKERS_MAX + 1):
        assert known.pack((broker_id,), [id_of(0)]) == 0
    assert known.pack((BROKERS_MAX + 1,), [id_of(0)]) == NOT_PACKED
    assert known.pack((1, 2), [id_of(5), id_of(0)]) == 5


@pytest.mark.parametrize("replication_factor", [3, REPLICAS_MAX + 1])
def test_a_partition_keeps_its_directories(replication_factor: int) -> None:
    """In a change that names none, one that names other replicas, and one that names others."""
    tuples = InternedTuples()
    replicas = list(range(1, replication_factor + 1))
    directories = [id_of(100 + replica) for replica in replicas]
    record = PartitionRecord(replicas=replicas, isr=replicas, directories=directories, leader=1)
    partition = PartitionRegistration.from_record(record, tuples)
    same = partition.merge(PartitionChangeRecord(isr=[1], leader=1), tuples)
    assert same.shared is partition.shared
    moved = same.merge(PartitionChangeRecord(replicas=replicas[::-1], directories=directories[::-1]), tuples)
    other = moved.merge(PartitionChangeRecord(directories=[id_of(7), *directories[:-1][::-1]]), tuples)
    for found, expected in (
        (partition, directories),
        (same, directories),
        (moved, directories[::-1]),
        (other, [id_of(7), *directories[:-1][::-1]]),
    ):
        assert found.directories == tuple(expected)
        assert [found.directory(replica) for replica in found.replicas] == expected
    assert partition.directory(99) is None
    assert partition == same.merge(PartitionChangeRecord(), tuples) or partition.isr != same.isr


def test_partitions_share_what_is_rare() -> None:
    """The state of one does not change with that of another."""
    tuples = InternedTuples()
    record = PartitionRecord(replicas=[1, 2], isr=[1, 2], directories=[id_of(1)] * 2, leader=1)
    first = PartitionRegistration.from_record(record, tuples)
    second = PartitionRegistration.from_record(record, tuples)
    assert first.shared is second.shared is tuples.usual
    change = PartitionChangeRecord(eligible_leader_replicas=[2], adding_replicas=[2], leader_recovery_state=1)
    changed = first.merge(change, tuples)
    assert changed.shared is second.merge(change, tuples).shared
    assert (changed.elr, changed.adding_replicas, changed.leader_recovery_state) == ((2,), (2,), 1)
    assert (first.elr, first.adding_replicas, first.leader_recovery_state) == ((), (), 0)
    back = changed.merge(
        PartitionChangeRecord(eligible_leader_replicas=[], adding_replicas=[], leader_recovery_state=0),
        tuples,
    )
    assert back.shared is tuples.usual


@pytest.mark.parametrize(
    "field", ["removing_replicas", "adding_replicas", "eligible_leader_replicas", "last_known_elr"]
)
def test_each_list_alone_is_kept(field: str) -> None:
    tuples = InternedTuples()
    record = PartitionRecord(replicas=[1, 2], isr=[1], directories=[id_of(1)] * 2, leader=1)
    setattr(record, field, [2])
    partition = PartitionRegistration.from_record(record, tuples)
    found = (partition.removing_replicas, partition.adding_replicas, partition.elr, partition.last_known_elr)
    assert sorted(found) == [(), (), (), (2,)]
    assert getattr(partition, "elr" if field == "eligible_leader_replicas" else field) == (2,)


def test_an_isr_of_all_replicas_is_the_list_of_replicas() -> None:
    """Although the table of lists has started over."""
    tuples = InternedTuples()
    record = PartitionRecord(replicas=[1, 2], isr=[1], directories=[id_of(1)] * 2, leader=1)
    partition = PartitionRegistration.from_record(record, tuples)
    tuples._brokers.clear()
    assert partition.merge(PartitionChangeRecord(isr=[1, 2]), tuples).isr is partition.replicas
    assert partition.merge(PartitionChangeRecord(isr=[2, 1]), tuples).isr == (2, 1)
    assert partition.merge(PartitionChangeRecord(isr=[]), tuples).isr == ()


def test_ids_of_brokers_are_shared() -> None:
    tuples = InternedTuples()
    first, second = tuples.brokers([int("1000"), 1]), tuples.brokers([2, int("1000")])
    assert first[0] is second[1]
