"""`kraftctl-export report` before it starts Spark: refusals, requirements, and sums without Spark."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from kraftctl_spark.cli import main
from kraftctl_spark.report.contents import Size
from kraftctl_spark.report.period import Period
from kraftctl_spark.report.queries import Step, sizes
from kraftctl_spark.tables.manifest import MANIFESTS


@pytest.mark.parametrize(
    ("flags", "reason"),
    [
        pytest.param((), "holds no tables of kraftctl-export", id="no-tables"),
        pytest.param(("--from", "noon"), "--from: 'noon' is not a time: write it like 2026", id="no-time"),
        pytest.param(("--until", "2026-11-21T12:00:00"), "--until: .* has no zone", id="no-zone"),
    ],
)
def test_it_refuses_what_cannot_be_shown(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, flags: tuple[str, ...], reason: str
):
    page = tmp_path / "report.html"

    assert main(["report", "--output", str(tmp_path / "none"), "--to", str(page), *flags]) == 2
    assert caplog.records[-1].levelname == "ERROR"
    assert re.search(reason, caplog.text)
    assert not page.exists()


def test_it_refuses_a_place_that_does_not_exist(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    (tmp_path / MANIFESTS).mkdir()

    assert main(["report", "--output", str(tmp_path), "--to", str(tmp_path / "no" / "report.html")]) == 2
    assert "name a file in a directory that exists" in caplog.text


def test_without_plotly_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    find: Callable[..., ModuleSpec | None] = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "plotly" else find(name))

    assert main(["report", "--output", str(tmp_path), "--to", str(tmp_path / "report.html")]) == 2
    assert capsys.readouterr().err == (
        "kraftctl-export report needs plotly: pip install '.[report]' in a clone\n"
    )


def test_sizes_are_what_has_begun_and_not_ended():
    period = Period(10_000, 14_000)
    steps = (
        Step("topics", 3_000, 2),
        Step("partitions", 3_000, 6),
        Step("brokers", 3_000, 3),
        Step("topics", 11_000, 1),
        Step("partitions", 12_000, -4),
    )

    assert sizes(period, steps, []) == (
        Size(10_000, 2, 6, 3),
        Size(11_000, 3, 6, 3),
        Size(12_000, 3, 2, 3),
        Size(13_000, 3, 2, 3),
    )


def test_sizes_in_a_gap_of_the_log_are_not_known():
    period = Period(10_000, 14_000)
    steps = (Step("topics", 10_000, 2), Step("topics", 11_000, -2), Step("topics", 13_000, 5))

    found = sizes(period, steps, [(11_500, 13_000)])

    assert [size.topics for size in found] == [2, None, None, 5]
