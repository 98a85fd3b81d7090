"""A refused start says why in the log and on standard error; once where both lead to the same."""

from __future__ import annotations

import os
import pty
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kraftctl.cli import main
from tests.support.controller_properties import controller_properties, properties_file
from tests.support.processes.outputs import SECONDS_MAX, full_pipe

FATAL = re.compile(r"\[[-0-9: ,]{23}\] FATAL (\[ControllerServer id=7\] )?Exiting: (.*) \(kraftctl\.server\)")
SHORT = re.compile(r"kraftctl start: (.*)")

FORMATTED, UNFORMATTED, MISSING, WRONG = "formatted", "unformatted", "missing", "wrong"
"""The port is in use; the directory is not formatted; there is no file; the file has two wrong values."""

REASONS = {
    FORMATTED: ["cannot listen on"],
    UNFORMATTED: ["has not been formatted"],
    MISSING: ["there is no file"],
    WRONG: ["num.partitions", "broker.session.timeout.ms"],
}


def arguments_of(kind: str, tmp_path: Path, port: int) -> list[str]:
    made = controller_properties(tmp_path / "data", node_id=7, address=f"localhost:{port}")
    file = properties_file(tmp_path, made)
    if kind == FORMATTED:
        assert main(["format", "--standalone", "-t", "q1Sh-9_ISia_zwGINzRvyQ", "-c", str(file)]) == 0
    if kind == MISSING:
        file = tmp_path / "nowhere"
    wrong = (
        ["--override", "num.partitions=x", "--override", "broker.session.timeout.ms=x"]
        if kind == WRONG
        else []
    )
    return [sys.executable, "-m", "kraftctl", "start", str(file), *wrong]


def run(command: list[str], **outputs) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)}
    return subprocess.run(command, env=environment, text=True, timeout=SECONDS_MAX, **outputs)


@pytest.fixture
def port_in_use() -> Iterator[int]:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        yield taken.getsockname()[1]


def reasons_in(lines: list[str], pattern: re.Pattern[str], group: int) -> list[str]:
    return [found[group] for line in lines if (found := pattern.fullmatch(line)) is not None]


@pytest.mark.parametrize(
    "kind",
    [FORMATTED, WRONG, *(pytest.param(each, marks=pytest.mark.long) for each in (UNFORMATTED, MISSING))],
)
def test_the_log_and_standard_error_have_the_reason(kind: str, tmp_path: Path, port_in_use: int) -> None:
    done = run(arguments_of(kind, tmp_path, port_in_use), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert done.returncode == 1
    logged = reasons_in(done.stdout.splitlines(), FATAL, 2)
    printed = reasons_in(done.stderr.splitlines(), SHORT, 1)
    assert logged == printed
    assert len(logged) == len(REASONS[kind])
    assert all(any(part in reason for reason in logged) for part in REASONS[kind])
    knows_its_id = reasons_in(done.stdout.splitlines(), FATAL, 1)[0] is not None
    assert knows_its_id == (kind in (FORMATTED, UNFORMATTED))


def test_an_output_for_both_has_it_once(tmp_path: Path, port_in_use: int) -> None:
    """`kraftctl start FILE > log 2>&1`: as a line of the log."""
    done = run(
        arguments_of(FORMATTED, tmp_path, port_in_use), stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    assert done.returncode == 1
    assert done.stdout.count("cannot listen on") == 1
    assert FATAL.fullmatch(done.stdout.splitlines()[-1])


def test_a_terminal_has_it_once(tmp_path: Path, port_in_use: int) -> None:
    """As a short line, behind the lines of the log."""
    master, slave = pty.openpty()
    try:
        done = run(arguments_of(FORMATTED, tmp_path, port_in_use), stdout=slave, stderr=slave)
        assert done.returncode == 1
        seen = os.read(master, 1 << 16).decode()
    finally:
        os.close(master)
        os.close(slave)
    assert seen.count("cannot listen on") == 1
    assert SHORT.fullmatch(seen.splitlines()[-1])


def test_it_ends_when_the_reason_is_not_read(tmp_path: Path, port_in_use: int) -> None:
    """A supervisor starts it again only after its end."""
    with full_pipe(tmp_path) as output, full_pipe(tmp_path) as error:
        assert output.descriptor is not None
        assert error.descriptor is not None
        command = arguments_of(MISSING, tmp_path, port_in_use)
        assert run(command, stdout=output.descriptor, stderr=error.descriptor).returncode == 1


CRASH = """
import sys
from kraftctl.cli import main, start

def fail(config):
    raise AssertionError("an invariant is broken")

start._start = fail
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize("is_read", [True, False], ids=["read", "not-read"])
def test_an_unexpected_error_is_in_the_log_and_ends_the_process(
    tmp_path: Path, port_in_use: int, is_read: bool
) -> None:
    """Its stack is the last that is written; a supervisor need not wait for who does not read it."""
    _, _, _, _, *arguments = arguments_of(UNFORMATTED, tmp_path, port_in_use)
    command = [sys.executable, "-c", CRASH, "start", *arguments]
    if is_read:
        done = run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert (done.returncode, done.stderr) == (1, "")
        assert "FATAL [ControllerServer id=7] Stopping: an error that has no handler" in done.stdout
        assert done.stdout.endswith("AssertionError: an invariant is broken\n")
    else:
        with full_pipe(tmp_path) as output:
            assert output.descriptor is not None
            assert run(command, stdout=output.descriptor, stderr=output.descriptor).returncode == 1
