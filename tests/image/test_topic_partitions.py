"""TopicPartitions is a dictionary of partitions, whatever the order in which they come and go."""

from __future__ import annotations

import random

import pytest

from kraftctl.image.topic_partitions import TopicPartitions
from kraftctl.metadata.partition_registration import PartitionRegistration
from tests.support.effort import seeds
from tests.support.partition_registrations import partition_registration


def partition(leader: int) -> PartitionRegistration:
    return partition_registration(
        replicas=(1,), directories=(bytes(16),), isr=(1,), leader=leader, leader_epoch=0, partition_epoch=0
    )


class Both:
    """The same changes to TopicPartitions and to a dictionary."""

    def __init__(self) -> None:
        self.partitions = TopicPartitions()
        self.expected: dict[int, PartitionRegistration] = {}

    def put(self, index: int, leader: int = 0) -> None:
        new = partition(leader)
        self.partitions.put(index, new)
        self.expected[index] = new

    def remove(self, index: int) -> None:
        self.partitions.remove(index)
        del self.expected[index]

    def check(self, index_max: int) -> None:
        found, expected = self.partitions, self.expected
        assert len(found) == len(expected)
        assert sorted(found) == sorted(found.keys()) == sorted(expected)
        assert dict(found.items()) == dict(zip(found.keys(), found.values(), strict=True)) == expected
        for index in range(-2, index_max + 2):
            assert found.get(index) is expected.get(index)
            assert (index in found) == (index in expected)
            if index in expected:
                assert found[index] is expected[index]
            else:
                with pytest.raises(KeyError):
                    found[index]


@pytest.mark.parametrize("seed", seeds(40))
def test_any_order(seed: int) -> None:
    rng = random.Random(seed)
    index_max = rng.choice((1, 4, 12))
    both = Both()
    for number in range(120):
        index = rng.randint(0, index_max)
        if index in both.expected and rng.random() < 0.5:
            both.remove(index)
        else:
            both.put(index, number)
        both.check(index_max)


@pytest.mark.parametrize("seed", seeds(10))
def test_all_come_in_any_order_and_go_in_another(seed: int) -> None:
    rng = random.Random(seed)
    both = Both()
    indexes = list(range(20))
    rng.shuffle(indexes)
    for index in indexes:
        both.put(index)
        both.check(20)
    assert both.partitions.keys() == list(range(20)), "without a gap they are in order"
    rng.shuffle(indexes)
    for index in indexes:
        both.remove(index)
        both.check(20)


def test_what_was_listed_stays_as_it_was() -> None:
    """A walk in slices keeps its list while partitions come and go."""
    partitions = TopicPartitions()
    first, second = partition(1), partition(2)
    partitions.put(0, first)
    keys, values, items = partitions.keys(), partitions.values(), partitions.items()
    partitions.put(0, second)
    partitions.put(1, second)
    assert (keys, values, items) == ([0], [first], [(0, first)])
    with pytest.raises(KeyError):
        partitions.remove(7)
