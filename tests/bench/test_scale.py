"""`make bench-scale` with few partitions: each change ends, whole, and no leader is lost. No time counts."""

from __future__ import annotations

import os
import subprocess
import sys
from multiprocessing import get_context
from pathlib import Path

import pytest
import uvloop

from tests.bench import scale
from tests.bench.scale_cluster import SESSION_TIMEOUT, Measured
from tests.bench.scale_table import cells
from tests.bench.scale_watch import Asked, longest_without_answer_s

PARTITIONS = 20_000
BROKERS = 8
SETTINGS = {
    # A session is shorter, and a snapshot is due sooner, so that the parts take seconds.
    SESSION_TIMEOUT: "2000",
    "metadata.log.max.record.bytes.between.snapshots": "1000000",
}
REPLICAS_MIN = int(0.9 * PARTITIONS * 3 / BROKERS)
"""Of a broker: the controller spreads them evenly."""

FENCING = (
    "WantFence of a broker",
    "session of a broker expires",
    "controlled shutdown of a broker",
    "UnregisterBroker of a broker",
    "leader killed while it fences a broker",
)
"""Each replica leaves its ISR, with a record."""


LONG = [pytest.mark.slow, pytest.mark.long]


@pytest.mark.parametrize(
    ("names", "rows_count"),
    [
        pytest.param(["creation", "requests", "quorum"], 15, id="three-voters", marks=LONG),
        pytest.param(
            ["creation", "brokers", "restarts", "silence", "sessions", "observed"],
            22,
            id="one-voter",
            marks=LONG,
        ),
    ],
)
def test_each_change_ends_whole_and_no_leader_is_lost(
    tmp_path: Path, names: list[str], rows_count: int
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    small = scale.Scale(PARTITIONS, BROKERS, tmp_path / "saved", scratch, SETTINGS)
    rows = uvloop.run(scale.run(small, names, lambda row: None))
    text = "\n".join(" | ".join(cells(row)) for row in rows)
    assert [row.what for row in rows if row.failed] == [], text
    assert [row.what for row in rows if row.leader_kept is False] == [], text
    assert [row.what for row in rows if row.fenced] == [], text
    assert len(rows) == rows_count, text
    small_ones = [row.what for row in rows if row.what in FENCING and row.records < REPLICAS_MIN]
    assert small_ones == [], text
    assert min(row.heartbeats for row in rows if row.what in FENCING) > 0, text


def test_the_longest_time_without_an_answer_has_all_lost_requests_in_it() -> None:
    asked = [
        Asked(0.0, 0.25, True),
        Asked(1.0, 1.5, False),
        Asked(2.0, 2.0, False),
        Asked(3.0, 3.5, True),
        Asked(4.0, 6.0, True),
        Asked(9.0, 19.0, True),
    ]
    assert longest_without_answer_s(asked, 0.0, 8.0) == 2.5
    assert longest_without_answer_s(asked, 3.75, 8.0) == 2.0
    assert longest_without_answer_s(asked, 0.5, 0.75) == 0.0


def test_the_worst_of_several_runs_is_printed() -> None:
    first = [Measured("a", max_ms=1.0), Measured("b", max_ms=9.0), Measured("a", max_ms=2.0)]
    second = [Measured("a", max_ms=3.0), Measured("b", max_ms=4.0)]
    assert [(row.what, row.max_ms) for row in scale.worst([first, second])] == [
        ("a", 3.0),
        ("b", 9.0),
        ("a", 2.0),
    ]


@pytest.mark.parametrize(
    ("only", "voters", "is_saved", "expected"),
    [
        pytest.param([], None, True, list(scale.PARTS), id="everything"),
        pytest.param(
            ["quorum", "brokers"], None, True, ["brokers", "quorum"], id="in-the-order-of-the-table"
        ),
        pytest.param([], 3, True, ["quorum"], id="three-voters"),
        pytest.param(["brokers"], None, False, ["creation", "brokers"], id="nothing-saved"),
    ],
)
def test_what_is_run(only: list[str], voters: int | None, *, is_saved: bool, expected: list[str]) -> None:
    assert scale.selected(only, voters, is_saved=is_saved) == expected


def _niceness_when_preferred() -> tuple[bool, int, int]:
    is_preferred = scale.prefer_this_process()
    child = subprocess.run(
        [sys.executable, "-c", "import os; print(os.nice(0))"], capture_output=True, text=True, check=True
    )
    return is_preferred, os.nice(0), int(child.stdout)


def test_only_the_process_that_measures_runs_before_the_others() -> None:
    with get_context("fork").Pool(1) as pool:
        is_preferred, own, child = pool.apply(_niceness_when_preferred)
    assert own == (scale.PREFERRED_NICENESS if is_preferred else os.nice(0))
    assert child == os.nice(0)
