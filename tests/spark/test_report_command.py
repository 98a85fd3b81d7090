"""`kraftctl-export report` as a command: refusals, requirements, and the page of a small log."""

from __future__ import annotations

import importlib.util
import logging
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from kraftctl_protocol.generated.register_broker_record import RegisterBrokerRecord
from kraftctl_spark import cli
from kraftctl_spark.cli import main
from kraftctl_spark.report import current_history
from kraftctl_spark.tables.commit_log import COMMITS
from tests.spark.made_history import made_tables, until
from tests.spark.test_damaged_pages import HISTORY_DAMAGE, TYPED_DAMAGE, flip, pages

REGISTERED = (0, RegisterBrokerRecord(broker_id=7, broker_epoch=1, fenced=False))


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
    (tmp_path / COMMITS).mkdir()

    assert main(["report", "--output", str(tmp_path), "--to", str(tmp_path / "no" / "report.html")]) == 2
    assert "name a file in a directory that exists" in caplog.text


def test_without_plotly_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    find: Callable[..., ModuleSpec | None] = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "plotly" else find(name))

    assert main(["report", "--output", str(tmp_path), "--to", str(tmp_path / "report.html")]) == 2
    error = capsys.readouterr().err
    assert error.startswith("kraftctl-export report needs plotly: ")


@pytest.mark.parametrize(
    ("command", "extra"),
    [
        pytest.param("history", "report", id="pyarrow-is-in-the-small-one"),
        pytest.param("run", "spark", id="and-spark-is-not"),
        pytest.param("run --engine local", "export", id="nor-needed-by-the-other-engine"),
    ],
)
def test_it_advises_the_smallest_extra_that_has_what_is_missing(
    command: str, extra: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    needed = {"history": ["--tables", "x"], "run": ["--bootstrap-controllers", "x:1", "--output", "y"]}
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(cli, "install_command", lambda name, missing: name)

    name, *engine = command.split()
    assert main([name, *needed[name], *engine]) == 2
    other = cli.WITHOUT_SPARK if extra == "spark" else ""
    assert capsys.readouterr().err.endswith(f": {extra}{other}\n")


def test_the_packages_of_each_command_are_locked() -> None:
    lock = Path(__file__).parents[2] / "requirements-dev.lock"
    names = {line.partition("==")[0] for line in lock.read_text().splitlines()}
    for command, _ in cli.COMMANDS.values():
        assert names.issuperset(command.NEEDED)


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
    assert (history / "_commits").is_dir()
    assert not (tables / "history").exists()
    assert re.search(r"wrote .*report.html: \d+\.\d MB in \d", caplog.text)
    assert main(["report", *flags, "--from", "2026-11-21T12:00:00Z"]) == 2
    assert "nothing is between --from and --until" in caplog.text


@pytest.mark.parametrize(
    ("table", "what_to_do"), [("history/brokers", HISTORY_DAMAGE), ("records", TYPED_DAMAGE)]
)
@pytest.mark.parametrize("damage", ["a page", "everything"])
def test_a_damaged_file_is_an_error_of_one_line(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, table: str, what_to_do: str, damage: str
):
    """DuckDB would read many damaged pages as other values."""
    tables = made_tables(tmp_path / "tables", [REGISTERED, until(9)])
    command = ["report", "--output", str(tables), "--to", str(tmp_path / "report.html")]
    assert main(command) == 0
    (path,) = (one for one in (tables / table).glob("*.parquet") if list(pages(one)))
    if damage == "a page":
        for column in pages(path):
            flip(path, column[-1], 1)
    else:
        path.write_bytes(b"PAR1 no more")
    caplog.clear()
    assert main(command) == 2
    (error,) = (record for record in caplog.records if record.levelname == "ERROR")
    assert error.getMessage() == f"{path} {what_to_do}"
    assert error.exc_info is None


HOLD = """
import sys
from pathlib import Path
from kraftctl_spark.history.history_manifest import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


@contextmanager
def holding(history: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that writes the history, until its input ends."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(history)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process


class Await(logging.Handler):
    """Sets an event when a line is logged."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text
        self.logged = threading.Event()

    def emit(self, record: logging.LogRecord) -> None:
        if self.text in record.getMessage():
            self.logged.set()


def test_it_says_at_once_which_process_it_waits_for(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    caplog.set_level("INFO")
    tables = made_tables(tmp_path / "tables", [REGISTERED, until(9)])
    page, history = tmp_path / "report.html", tables / "history"
    waiting = Await("waiting for it")
    logging.getLogger().addHandler(waiting)
    try:
        with holding(history) as other, ThreadPoolExecutor(1) as pool:
            done = pool.submit(main, ["report", "--output", str(tables), "--to", str(page)])
            assert waiting.logged.wait(30)
            assert not page.exists()
            other.communicate()
            assert done.result(60) == 0
    finally:
        logging.getLogger().removeHandler(waiting)
    assert page.exists()
    (line,) = (one.getMessage() for one in caplog.records if "waiting" in one.getMessage())
    assert re.fullmatch(
        rf"another process writes the history in {re.escape(str(history))} \(process {other.pid} on .+\): "
        "waiting for it, 60 s at most",
        line,
    )


def test_it_waits_no_longer_than_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    monkeypatch.setattr(current_history, "BUSY_WAIT_S", 0.01)
    tables = made_tables(tmp_path / "tables", [REGISTERED, until(9)])
    page = tmp_path / "report.html"
    with holding(tables / "history") as other:
        assert main(["report", "--output", str(tables), "--to", str(page)]) == 2
        other.communicate()
    (error,) = (record.getMessage() for record in caplog.records if record.levelname == "ERROR")
    assert f"(process {other.pid} on " in error
    assert error.endswith(": it has to end first")
    assert not page.exists()
