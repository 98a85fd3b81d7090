"""The matrix itself: its table of releases, what it keeps, and the page that it writes."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from kraftctl.dev.tools import MAIN_CLASSES
from tests.matrix import results
from tests.matrix.directories import KINDS, every_transition
from tests.matrix.every_tool import counted, unnamed_logger
from tests.matrix.levels import GROUPS
from tests.matrix.page import text_of
from tests.matrix.releases import RELEASES, latest, levels_of, may_be_lowered
from tests.matrix.run import PARTS
from tests.matrix.tool_calls import NOT_CALLED, calls, named_loggers

ROWS = {
    "levels": [[release, "7 to 21", "15 of 15"] for release in RELEASES],
    "levels-own": [[release, "21"] for release in RELEASES],
    "one_cluster": [["all", "21"]],
    "rolling_upgrade": [["3.9.2 to 4.0.2", "4.0-IV0", "none", "refused"]],
    "rolling_upgrade-load": [["1000", "20"]],
    "directories": [["static", "21", "22"]],
    "directories-formats": [["kraftctl", "4.4.0", "dynamic", "4.4-IV2"]],
    "every_tool": [["kafka-topics", "20", "1"], ["kafka-acls", "30", "2"]],
}


@pytest.mark.parametrize(
    ("release", "last"),
    [("3.9.2", 21), ("4.0.2", 25), ("4.1.2", 27), ("4.2.1", 29), ("4.3.1", 30), ("4.4.0", 33)],
)
def test_a_release_has_the_levels_up_to_its_own(release: str, last: int) -> None:
    assert levels_of(release) == list(range(7, last + 1))


def test_levels_that_change_no_metadata_may_be_left() -> None:
    assert [level for level in range(22, 34) if may_be_lowered(level, level - 1)] == [
        22, 24, 25, 26, 27, 28, 29, 31,
    ]  # fmt: skip
    assert may_be_lowered(29, 25)
    assert not may_be_lowered(latest("4.4.0"), latest("4.3.1"))


def test_each_release_is_in_one_group() -> None:
    assert sorted(release for group in GROUPS for release in group) == sorted(RELEASES)


def test_the_order_of_controllers_has_every_transition() -> None:
    order = every_transition()
    transitions = sorted(pairwise(order))
    assert transitions == sorted((one, other) for one in KINDS for other in KINDS if one != other)


def test_each_tool_is_called_or_named() -> None:
    called = {call.tool for call in calls()}
    assert called | set(NOT_CALLED) == set(MAIN_CLASSES)
    assert called.isdisjoint(NOT_CALLED)


def test_the_page_has_all_calls() -> None:
    assert "".join(f"| {' | '.join(row)} |\n" for row in counted()) in results.PAGE.read_text("utf-8")


@pytest.mark.parametrize(("logger", "is_kept"), [("root", True), ("a.Named", True), ("a.NamedToo", False)])
def test_loggers_that_calls_have_named_are_compared(logger: str, is_kept: bool) -> None:
    assert named_loggers() == ["root"]
    line = f" {logger}=INFO sensitive=false synonyms={{}}"
    assert bool(unnamed_logger(["a.Named"]).sub("", line)) == is_kept


def test_the_page_has_what_was_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each part has its place in docs/versions.md; what other parts have written stays."""
    monkeypatch.setattr(results, "DIRECTORY", tmp_path)
    for table, rows in ROWS.items():
        for row in rows:
            results.keep(table, *row)
    file = tmp_path / "page.md"
    file.write_text(results.PAGE.read_text())
    for part in PARTS:
        results.publish(part, text_of(part), file)
        results.publish(part, text_of(part), file)
    text = file.read_text()
    for line in (
        "| 4.4.0 | 7 to 21 | 15 of 15 | 21 |",
        "| static | 21 | 22 |",
        "| all | 50 | 3 |",
        "1000 records",
    ):
        assert text.count(line) == 1
    results.forget("levels")
    assert results.rows("levels-own") == []
    assert results.rows("every_tool") == ROWS["every_tool"]
