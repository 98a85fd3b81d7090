"""StripedReplicaPlacer: the rules every placement obeys, and the stripes of simple clusters."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftctl.metadata.replica_placement import StripedReplicaPlacer, UsableBroker, why_not_placeable


class FirstAlways(random.Random):
    """Every random offset is 0."""

    def getrandbits(self, k: int, /) -> int:
        return 0


def brokers(**racks: list[int]) -> list[UsableBroker]:
    """Unfenced brokers by rack."""
    return [UsableBroker(broker_id, rack, False) for rack, ids in racks.items() for broker_id in ids]


def test_without_racks_the_brokers_are_striped() -> None:
    usable = [UsableBroker(broker_id, None, False) for broker_id in (3, 0, 2, 1)]
    placed = StripedReplicaPlacer(FirstAlways(), usable).place(4, 2)
    assert placed == [[0, 1], [1, 2], [2, 3], [3, 0]]


def test_with_racks_the_racks_are_striped_too() -> None:
    usable = brokers(a=[10, 11, 12], b=[20, 21, 22], c=[30, 31, 32])
    placed = StripedReplicaPlacer(FirstAlways(), usable).place(3, 3)
    assert placed == [[10, 20, 30], [21, 31, 11], [32, 12, 22]]


def test_fenced_brokers_come_last_and_never_lead() -> None:
    usable = [UsableBroker(0, None, True), UsableBroker(1, None, False), UsableBroker(2, None, False)]
    for replicas in StripedReplicaPlacer(random.Random(4), usable).place(50, 3):
        assert replicas[0] != 0
        assert replicas[2] == 0


def test_a_rack_of_fenced_brokers_gives_followers() -> None:
    usable = [*brokers(a=[1], b=[2]), UsableBroker(3, "c", True)]
    for replicas in StripedReplicaPlacer(random.Random(5), usable).place(50, 3):
        assert replicas[0] != 3
        assert sorted(replicas) == [1, 2, 3]


def test_one_unfenced_broker_is_enough() -> None:
    usable = [UsableBroker(0, None, True), UsableBroker(1, None, False)]
    assert StripedReplicaPlacer(random.Random(6), usable).place(3, 2) == [[1, 0]] * 3


@pytest.mark.parametrize(
    ("usable", "replication_factor", "reason"),
    [
        pytest.param([], 1, "Each broker is fenced", id="no-brokers"),
        pytest.param([UsableBroker(0, None, True)], 1, "Each broker is fenced", id="all-fenced"),
        pytest.param([UsableBroker(0, None, False)], 0, "Invalid replication factor 0", id="zero"),
        pytest.param(
            [UsableBroker(0, None, False)],
            2,
            "The target replication factor of 2 cannot be reached because only 1 broker(s)",
            id="too-few",
        ),
    ],
)
def test_what_cannot_be_placed(usable: list[UsableBroker], replication_factor: int, reason: str) -> None:
    assert (why_not_placeable(usable, replication_factor) or "").startswith(reason)


@given(
    seed=st.integers(0, 2**32),
    layout=st.lists(st.tuples(st.sampled_from([None, "a", "b", "c"]), st.booleans()), min_size=1, max_size=9),
    partitions=st.integers(1, 40),
    data=st.data(),
)
def test_every_placement(
    seed: int, layout: list[tuple[str | None, bool]], partitions: int, data: st.DataObject
) -> None:
    """Distinct brokers, a leader that is alive, and no rack twice while another has none."""
    usable = [UsableBroker(broker_id, rack, fenced) for broker_id, (rack, fenced) in enumerate(layout)]
    alive = {broker.id for broker in usable if not broker.fenced}
    if not alive:
        return
    factor = data.draw(st.integers(1, len(usable)))
    rack_of = {broker.id: broker.rack for broker in usable}
    racks = set(rack_of.values())
    for replicas in StripedReplicaPlacer(random.Random(seed), usable).place(partitions, factor):
        assert len(replicas) == len(set(replicas)) == factor
        assert set(replicas) <= set(rack_of)
        assert replicas[0] in alive
        assert len({rack_of[replica] for replica in replicas}) == min(factor, len(racks))


def test_leaders_and_replicas_are_spread_evenly() -> None:
    usable = [UsableBroker(broker_id, None, False) for broker_id in range(5)]
    placed = StripedReplicaPlacer(random.Random(7), usable).place(500, 3)
    leaders = Counter(replicas[0] for replicas in placed)
    members = Counter(replica for replicas in placed for replica in replicas)
    assert set(leaders.values()) == {100}
    assert set(members.values()) == {300}


def test_one_seed_one_placement() -> None:
    usable = brokers(a=[1, 2], b=[3, 4], c=[5])
    first = StripedReplicaPlacer(random.Random(8), usable).place(100, 3)
    assert StripedReplicaPlacer(random.Random(8), usable).place(100, 3) == first


def test_a_broker_that_cannot_be_placed_does_not_keep_the_placer_busy_for_ever():
    """A negative id means no broker. None can register, but an old log may contain one."""
    brokers = [UsableBroker(3, "a", False), UsableBroker(2, "b", False), UsableBroker(-5, "b", False)]
    with pytest.raises(AssertionError, match="fewer brokers than replicas"):
        StripedReplicaPlacer(random.Random(1), brokers).place(1, 3)
    with pytest.raises(AssertionError, match="no broker to lead"):
        StripedReplicaPlacer(random.Random(1), brokers[2:]).place(1, 1)


@pytest.mark.parametrize("racks", [1, 3, 5], ids=["one-rack", "racks", "as-many-racks-as-brokers"])
def test_each_topic_is_placed_as_by_a_placer_of_its_own(racks: int) -> None:
    usable = [UsableBroker(number, f"rack-{number % racks}", number == 4) for number in (3, 0, 4, 2, 1)]
    shared = StripedReplicaPlacer(random.Random(9), usable)
    rng = random.Random(9)
    for partition_count in (1, 25, 3, 1):
        own = StripedReplicaPlacer(rng, usable)
        assert shared.place(partition_count, 3) == own.place(partition_count, 3)


def test_random_numbers_are_drawn_as_python_draws_them() -> None:
    """Two draws for the offsets, and those of a shuffle: what a seed has placed before, it places again."""
    usable = [UsableBroker(broker_id, None, False) for broker_id in range(7)]
    rng, drawn = random.Random(12), random.Random(12)
    StripedReplicaPlacer(rng, usable).place(8, 3)
    drawn.randrange(7)
    drawn.randrange(1)
    drawn.shuffle([None])
    drawn.shuffle(list(range(7)))
    assert rng.getstate() == drawn.getstate()
