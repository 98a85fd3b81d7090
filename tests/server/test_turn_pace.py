"""How many units a turn gets: so many that it takes some milliseconds."""

from __future__ import annotations

import pytest

from kraftctl.controller.moment import UNITS
from kraftctl.node.events import TakeTurn
from kraftctl.server.turn_pace import TURN_NS, UNITS_MAX, UNITS_MIN, TurnPace


class Turns:
    """Turns whose units take `unit_ns` each."""

    def __init__(self) -> None:
        self.now_ns = 0
        self.pace = TurnPace(lambda: self.now_ns)

    def take(self, unit_ns: int, work: str = "SLICES", spent: int | None = None) -> int:
        """The units of one turn, of which `spent` are used."""
        units = self.pace.begin(work)
        used = units if spent is None else spent
        self.now_ns += used * unit_ns
        self.pace.asked(TakeTurn(work, used))
        self.now_ns += 1_000_000
        return units


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
    assert turns.take(1_000, "SNAPSHOT") == UNITS


def test_the_first_turn_is_not_measured() -> None:
    turns = Turns()
    turns.pace.asked(TakeTurn("SLICES", 0))
    turns.now_ns += 10_000_000_000
    assert turns.pace.begin("SLICES") == UNITS
