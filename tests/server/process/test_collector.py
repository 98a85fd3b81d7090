"""The cyclic collector: how often it runs, that its runs stay short, and that cycles do not pile up."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from kraftctl.server.process.collector import LONG_PAUSE_NS, YOUNG_OBJECTS_MAX, Collector

MS = 1_000_000


class Clock:
    """Each run of the collector takes `run_ns`."""

    def __init__(self) -> None:
        self.now_ns = 0
        self.run_ns = 0

    def __call__(self) -> int:
        self.now_ns += self.run_ns
        return self.now_ns


class Knot:
    """Part of a cycle with itself."""

    alive = 0

    def __init__(self) -> None:
        Knot.alive += 1
        self.self = self

    def __del__(self) -> None:
        Knot.alive -= 1


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def collector(clock: Clock) -> Iterator[Collector]:
    gc.collect()
    collector = Collector(clock)
    with collector.deciding():
        yield collector
    gc.unfreeze()


def runs(collector: Collector) -> int:
    return collector.pauses.total()


def test_what_references_free_is_never_looked_at(collector: Collector) -> None:
    for _ in range(10):
        request: list[list[int]] = [[] for _ in range(YOUNG_OBJECTS_MAX // 2)]
        del request
    assert runs(collector) == 0


@pytest.mark.parametrize("run_ns", [0, LONG_PAUSE_NS + 1], ids=["short-runs", "long-runs"])
def test_cycles_do_not_pile_up(collector: Collector, clock: Clock, run_ns: int) -> None:
    """Also while the collector freezes what it leaves."""
    clock.run_ns = run_ns
    most = 0
    for _ in range(10 * YOUNG_OBJECTS_MAX):
        Knot()
        most = max(most, Knot.alive)
    assert runs(collector) >= 10
    # CPython 3.12 and later collect a few objects after the threshold.
    assert most <= YOUNG_OBJECTS_MAX + 100


def test_what_is_alive_after_a_long_run_is_not_looked_at_again(collector: Collector, clock: Clock) -> None:
    clock.run_ns = LONG_PAUSE_NS + 1
    before = gc.get_freeze_count()
    image: list[list[int]] = [[] for _ in range(3 * YOUNG_OBJECTS_MAX)]
    assert runs(collector) == 3
    assert gc.get_freeze_count() >= before + len(image) - YOUNG_OBJECTS_MAX


def test_after_short_runs_nothing_is_frozen(collector: Collector) -> None:
    before = gc.get_freeze_count()
    image: list[list[int]] = [[] for _ in range(3 * YOUNG_OBJECTS_MAX)]
    assert runs(collector) == 3
    assert gc.get_freeze_count() == before
    del image


def test_a_histogram_of_the_runs(collector: Collector, clock: Clock) -> None:
    for run_ns in (900, 1_000, 5_000, 7_999, 8_000, 3 * MS):
        clock.run_ns = run_ns
        gc.collect(0)
    assert collector.pauses == {0: 1, 1: 1, 4: 2, 8: 1, 2048: 1}
    assert str(collector) == (
        "6 runs, 99.9 % below 4096 us, the longest 3.0 ms:"
        " 1 from 0 us, 1 from 1 us, 2 from 4 us, 1 from 8 us, 1 from 2048 us"
    )


def test_the_process_is_left_as_it_was() -> None:
    before = gc.get_threshold(), len(gc.callbacks)
    with Collector(Clock()).deciding():
        assert gc.get_threshold()[0] == YOUNG_OBJECTS_MAX
    gc.unfreeze()
    assert (gc.get_threshold(), len(gc.callbacks)) == before
