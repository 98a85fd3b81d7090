"""`make export-demo`: a first example for new users, and the report of a real cluster at its end."""

from __future__ import annotations

import html
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from kraftctl_spark.history.reader import read_versions
from kraftctl_spark.report.sections import ALL
from kraftctl_spark.tables.reader import read_table
from tests.support.processes.browser import Browser
from tests.support.processes.spark_export import ROOT, SOURCE_ROOTS
from tests.support.report_check import open_report

pytestmark = [pytest.mark.interop, pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(600)]

WITHOUT_PLOTS = ["now", "fencing", "topics", "acls", "quotas", "scram", "features", "quorum"]
SCRIPT = ROOT / "spark" / "demo" / "export_demo.py"


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The directory and the output of the demo."""
    directory = tmp_path_factory.mktemp("demo") / "export-demo"
    path = os.pathsep.join([os.environ.get("PYTHONPATH", ""), *map(str, SOURCE_ROOTS)]).strip(os.pathsep)
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "--directory", str(directory)],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=560,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return directory, done.stdout


def rows(page: str, section: str) -> list[list[str]]:
    """The cells of all tables of a section."""
    text = page.partition(f'<section id="{section}"')[2].partition("</section>")[0]
    return [
        [html.unescape(cell) for cell in re.findall("<td[^>]*>(.*?)</td>", row)]
        for row in re.findall("<tr>(.*?)</tr>", text)
        if "<td" in row
    ]


def test_the_report_shows_the_events_of_the_script(demo: tuple[Path, str]):
    directory, printed = demo
    page = (directory / "report.html").read_text()

    assert (directory / "report.html").as_uri() in printed
    numbers = {name: count for count, name in re.findall(r"<li><b>([\d,]+)</b> ([a-z ]+)</li>", page)}
    assert (numbers["brokers"], numbers["topics"], numbers["partitions"]) == ("3", "4", "19")
    assert (numbers["of them unclean"], numbers["config changes"]) == ("1", "9")
    fenced = {cells[0]: int(cells[1]) for cells in rows(page, "fencing")}
    assert fenced["1"] >= 1
    assert fenced["2"] == 0, "it was only stopped in order"
    assert fenced["3"] >= 2
    ((_, _, *unclean),) = rows(page, "elections")
    assert unclean == ["fragile-0", "none", "3"]
    changes = [cells[2:] for cells in rows(page, "config-changes")]
    assert ["orders", "cleanup.policy", "compact", "(not set)", "removed"] in changes
    assert ["orders", "retention.ms", "3600000", "600000", "set"] in changes
    assert ["audit", "retention.ms", "86400000", "(not set)", "topic deleted"] in changes
    ((partition, _, _, outcome, before, after),) = rows(page, "reassignments")
    assert (partition, outcome, before, after) == ("fragile-0", "completed", "1, 3", "2, 3")
    assert rows(page, "acls")[0] == ["User:alice", "ALLOW", "READ", "TOPIC orders", "*"]
    assert rows(page, "quotas")[0] == ["user alice", "producer_byte_rate", "1,048,576"]
    assert rows(page, "scram")[0][:3] == ["alice", "SCRAM-SHA-256", "4,096"]
    assert "metadata.version" in [cells[0] for cells in rows(page, "features")]
    assert next(cells[0] for cells in rows(page, "quorum")) == "3000"


def test_duckdb_answers_from_the_history(demo: tuple[Path, str]):
    directory, printed = demo
    assert "config_audit.sql: Every configuration" in printed
    assert re.search(r"TOPIC +orders +retention\.ms +3600000 +600000", printed)
    history = directory / "tables" / "history"
    events = read_versions(history, "events").to_pylist()
    assert [row["subject"] for row in events if row["kind"] == "unclean election"] == ["fragile-0"]


def test_every_offset_is_counted_once_and_no_secret_is_shown(demo: tuple[Path, str]):
    directory, _ = demo
    page = (directory / "report.html").read_text()

    records = read_table(directory / "tables", "records")
    types = {cells[0]: int(cells[1].replace(",", "")) for cells in rows(page, "record-types")}
    counted = records.column("type").value_counts().to_pylist()
    assert types == {count["values"]: count["counts"] for count in counted}
    (user,) = read_table(directory / "tables", "user_scram_credential_record").to_pylist()
    assert user["redacted"]
    assert not (directory / "cluster").exists()


@pytest.mark.browser
def test_a_browser_draws_it_all(demo: tuple[Path, str], tmp_path: Path):
    directory, _ = demo
    with Browser(tmp_path / "profile") as browser:
        marks = open_report(browser, directory / "report.html")

    assert len(marks) == len(ALL)
    assert [name for name, plots in marks.items() if not plots] == WITHOUT_PLOTS
    assert all(count > 0 for plots in marks.values() for count in plots), marks
