"""What run.py writes of a run that finds something, or breaks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.chaos.cluster import ChaosCluster
from tests.chaos.figures import commit
from tests.chaos.run import Options, run


def options_in(directory: Path) -> Options:
    """Of a quorum without brokers, which no test here starts."""
    return Options(
        seed=7,
        minutes=5.0,
        controllers="kraftctl",
        brokers=0,
        faults="usual",
        only="",
        plant="",
        directory=directory,
        keep=False,
        figures=directory / "figures.json",
    )


def fail_at_start(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def start(cluster: ChaosCluster) -> None:
        raise error

    monkeypatch.setattr(ChaosCluster, "start", start)


@pytest.mark.parametrize("error", [RuntimeError("broker-1 ends with 1"), KeyboardInterrupt(), SystemExit(3)])
def test_a_run_that_breaks_says_so_in_its_figures(
    error: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fail_at_start(monkeypatch, error)
    with pytest.raises(type(error)) as raised:
        run(options_in(tmp_path))
    assert raised.value is error
    figures = json.loads((tmp_path / "figures.json").read_text())
    assert figures["found"] == f"broke: {error!r}"
    assert figures["minutes"] == 0
    assert figures["commit"] == commit()
    assert figures["violations"] == figures["undecided"] == []
    assert "broke after 0 faults" in capsys.readouterr().out
    assert len(list(tmp_path.glob("chaos-7-*"))) == 1


@pytest.mark.parametrize(
    ("error", "found"),
    [(AssertionError(), "AssertionError()"), (AssertionError("two leaders"), "two leaders")],
)
def test_a_find_keeps_its_directory_also_without_a_text(
    error: AssertionError, found: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail_at_start(monkeypatch, error)
    sound, line = run(options_in(tmp_path))
    assert not sound
    assert line.startswith("found something after 0 faults")
    assert json.loads((tmp_path / "figures.json").read_text())["found"] == found
    assert len(list(tmp_path.glob("chaos-7-*"))) == 1
