"""`kraftctl-export report` as a command: refusals, requirements, and the page of a small log."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from kraftctl_protocol.generated.register_broker_record import RegisterBrokerRecord
from kraftctl_spark.cli import main
from kraftctl_spark.tables.manifest import MANIFESTS
from tests.spark.made_history import made_tables, until


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


def test_it_writes_a_page_without_java_and_says_how_long_it_took(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "none"))
    caplog.set_level("INFO")
    record = RegisterBrokerRecord(broker_id=7, broker_epoch=1, fenced=False)
    tables = made_tables(tmp_path / "tables", [(0, record), until(9)])
    page, history = tmp_path / "report.html", tmp_path / "versions"
    flags = ["--output", str(tables), "--to", str(page), "--history", str(history)]

    assert main(["report", *flags]) == 0
    assert "<li><b>1</b> brokers</li>" in page.read_text()
    assert (history / "_history.json").exists()
    assert not (tables / "history").exists()
    assert re.search(r"wrote .*report.html: \d+\.\d MB in \d", caplog.text)
    assert main(["report", *flags, "--from", "2026-11-21T12:00:00Z"]) == 2
    assert "nothing is between --from and --until" in caplog.text
