"""How many units a turn gets: so many that it takes some milliseconds."""

from __future__ import annotations

import pytest

from kraftctl.controller.results.moment import UNITS
from kraftctl.node.events import TakeTurn
from kraftctl.node.long_work import LOADING, SLICES, SNAPSHOT
from kraftctl.server.process.turn_pace import (
    DEADLINE_NS,
    SHARE_PERCENT,
    TURN_NS,
    TURN_NS_MAX,
    UNITS_MAX,
    UNITS_MIN,
    YIELDING_TURN_NS,
    TurnPace,
)

MS = 1_000_000


class Turns:
    """Turns whose units take `unit_ns` each."""

    def __init__(self) -> None:
        self.now_ns = 0
        self.pace = TurnPace(lambda: self.now_ns)

    def take(
        self,
        unit_ns: int,
        work: str = SLICES,
        *,
        spent: int | None = None,
        then_ns: int = MS,
        more: bool = True,
    ) -> int:
        """The units of one turn, of which `spent` are used; something else takes `then_ns`."""
        units = self.pace.begin(work)
        used = units if spent is None else spent
        self.now_ns += used * unit_ns
        if more:
            self.pace.asked(TakeTurn(work, used))
        self.now_ns += then_ns
        return units

    def complete(self, units: int, unit_ns: int, round_ns: int) -> int:
        """Write a snapshot of so many units, while a round of the loop takes so long without it. Returns
        after how many ns it is complete."""
        since_ns = self.now_ns
        self.pace.asked(TakeTurn(SNAPSHOT, 0))
        left = units
        while left > 0:
            self.now_ns += round_ns
            left -= self.take(unit_ns, SNAPSHOT, then_ns=0, more=left > 0)
        return self.now_ns - since_ns


@pytest.mark.parametrize("unit_ns", [1_000, 4_000, 10_000, 100_000])
def test_a_turn_comes_to_take_as_long_as_it_should(unit_ns: int) -> None:
    turns = Turns()
    for _ in range(20):
        units = turns.take(unit_ns)
    assert units * unit_ns == pytest.approx(TURN_NS, rel=0.1)


@pytest.mark.parametrize(("unit_ns", "limit"), [(1, UNITS_MAX), (1 << 30, UNITS_MIN)])
def test_there_are_limits(unit_ns: int, limit: int) -> None:
    turns = Turns()
    for _ in range(20):
        units = turns.take(unit_ns)
    assert units == limit


def test_what_was_used_counts_and_not_what_was_given() -> None:
    turns = Turns()
    for _ in range(20):
        units = turns.take(10_000, spent=50)
    assert units * 10_000 == pytest.approx(TURN_NS, rel=0.1)


def test_units_grow_slowly_and_shrink_at_once() -> None:
    turns = Turns()
    assert [turns.take(100) for _ in range(3)] == [UNITS, 2 * UNITS, 4 * UNITS]
    turns.take(100_000)
    assert turns.take(100_000) == 40


def test_each_kind_of_work_has_its_own_pace() -> None:
    turns = Turns()
    turns.take(100_000)
    assert turns.take(1_000, SNAPSHOT) == UNITS


def test_the_first_turn_is_not_measured() -> None:
    turns = Turns()
    turns.pace.asked(TakeTurn(SLICES, 0))
    turns.now_ns += 10_000_000_000
    turns.pace.asked(TakeTurn(SLICES, 0))
    assert turns.pace.begin(SLICES) == UNITS


def test_the_time_between_two_works_is_not_measured() -> None:
    """The last turn of a work asks for no other one."""
    turns = Turns()
    turns.take(1_000, more=False)
    turns.now_ns += 10_000_000_000
    turns.pace.asked(TakeTurn(SLICES, 0))
    assert turns.pace.begin(SLICES) >= UNITS


@pytest.mark.parametrize(("unit_ns", "units"), [(10, UNITS), (8_000, UNITS), (100_000, TURN_NS // 100_000)])
@pytest.mark.parametrize("work", [SLICES, SNAPSHOT, LOADING])
def test_other_work_begins_no_faster_than_at_first(work: str, unit_ns: int, units: int) -> None:
    """Its units may cost a hundred times as much: to free old values, and then to write a snapshot."""
    turns = Turns()
    for _ in range(20):
        turns.take(unit_ns, work)
    turns.pace.asked(TakeTurn(work, 0))
    assert turns.take(unit_ns, work) == units


@pytest.mark.parametrize(
    ("then_ns", "turn_ns"),
    [
        pytest.param(0, TURN_NS, id="nothing-else"),
        pytest.param(20 * MS, TURN_NS, id="little-else"),
        pytest.param(80 * MS, 80 * MS * SHARE_PERCENT // 100, id="hundreds-of-requests"),
        pytest.param(150 * MS, TURN_NS_MAX, id="CreateTopics"),
        pytest.param(3_000 * MS, TURN_NS_MAX, id="a-long-stall"),
    ],
)
@pytest.mark.parametrize("work", [SLICES, SNAPSHOT])
def test_a_turn_takes_a_share_of_the_time_since_the_last_one(work: str, then_ns: int, turn_ns: int) -> None:
    turns = Turns()
    turns.pace.asked(TakeTurn(work, 0))
    for _ in range(9):
        units = turns.take(5_000, work, then_ns=then_ns)
    assert units * 5_000 == pytest.approx(turn_ns, rel=0.01)


def test_a_snapshot_yields_to_slices_of_requests() -> None:
    turns = Turns()
    for work in (SLICES, SNAPSHOT):
        turns.pace.asked(TakeTurn(work, 0))
    for _ in range(20):
        units = {work: turns.take(1_000, work, then_ns=0) for work in (SLICES, SNAPSHOT)}
    assert units[SLICES] * 1_000 == pytest.approx(TURN_NS, rel=0.1)
    share_ns = units[SLICES] * 1_000 * SHARE_PERCENT // 100
    assert units[SNAPSHOT] * 1_000 == pytest.approx(max(share_ns, YIELDING_TURN_NS), rel=0.1)
    for _ in range(20):
        units_alone = turns.take(1_000, SNAPSHOT, then_ns=0)
    assert units_alone * 1_000 == pytest.approx(TURN_NS, rel=0.1)


def test_an_overdue_snapshot_yields_no_longer() -> None:
    turns = Turns()
    for work in (SLICES, SNAPSHOT):
        turns.pace.asked(TakeTurn(work, 0))
    turns.now_ns += DEADLINE_NS
    for _ in range(20):
        units = {work: turns.take(1_000, work, then_ns=0) for work in (SLICES, SNAPSHOT)}
    assert units[SNAPSHOT] * 1_000 == TURN_NS_MAX


@pytest.mark.parametrize("round_ns", [0, 5 * MS, 50 * MS, 150 * MS, 1_000 * MS])
def test_a_snapshot_of_two_million_partitions_is_complete_in_time(round_ns: int) -> None:
    """The bound that the module states."""
    turns = Turns()
    for units in (2_000_000, 100):
        took_ns = turns.complete(units, 2_000, round_ns)
        computing_ns = units * 2_000
        bound_ns = DEADLINE_NS + computing_ns + computing_ns * round_ns // TURN_NS_MAX
        assert took_ns <= bound_ns + 10 * (round_ns + TURN_NS_MAX)
        turns.now_ns += 3_600_000 * MS
