"""`kraftctl ... | head`: every command that prints, without a reader, with a full disk, and with none at all.

A command that changes something does all of it; `dump` ends, as other tools do by SIGPIPE.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kraftctl.cli import COMMANDS, _load, main, parsers
from kraftctl.storage.meta_properties import read_meta_properties
from kraftctl_security.standard_output import READER_GONE_STATUS
from kraftctl_spark import cli as exporter
from tests.cli.quorum_cases import CASES, leader_node
from tests.support.controller_properties import controller_properties, properties_file
from tests.support.processes.outputs import (
    GONE,
    Output,
    full_disk,
    full_nonblocking_pipe,
    pipe_without_reader,
)

SNAPSHOT = Path(__file__).parents[1] / "data" / "kafka-4.3.1" / "00000000000000001643-0000000001.checkpoint"


def subcommands(parser: argparse.ArgumentParser, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Each with those below it."""
    yield path
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, child in action.choices.items():
                yield from subcommands(child, (*path, name))


KRAFTCTL = {path for name in COMMANDS for path in subcommands(parsers(name)[0])}
HELPS: list[tuple[Callable[[list[str]], int], list[str]]] = [
    *[(main, [*path, "--help"]) for path in sorted(KRAFTCTL)],
    (main, ["--version"]),
    *[(exporter.main, [*name, "--help"]) for name in ((), *[(each,) for each in sorted(exporter.COMMANDS)])],
    (exporter.main, ["--version"]),
]


def test_all_commands_are_tried() -> None:
    assert len(HELPS) == 65
    assert ("quorum", "replace-voter") in KRAFTCTL


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_says_whether_it_only_prints(name: str) -> None:
    """Asked for only where standard output is a descriptor, as it is for operators."""
    command = _load(name)
    assert (command.NAME, type(command.PRINTS_ONLY)) == (name, bool)


def test_random_uuid_prints_an_id() -> None:
    asked = [sys.executable, "-m", "kraftctl", "random-uuid"]
    printed = subprocess.run(asked, check=True, capture_output=True, text=True)
    assert (len(printed.stdout), printed.stderr) == (23, "")


@contextmanager
def outputs(output: Output, error: Output | None = None) -> Iterator[None]:
    """Standard output and standard error of this process, as Python makes them of descriptors."""
    before = sys.stdout, sys.stderr
    assert output.descriptor is not None
    sys.stdout = open(output.descriptor, "w", closefd=False)  # noqa: SIM115
    if error is not None:
        assert error.descriptor is not None
        sys.stderr = open(error.descriptor, "w", closefd=False)  # noqa: SIM115
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def status_of(call: Callable[[], int]) -> object:
    try:
        return call()
    except SystemExit as end:
        return end.code


def ids(value: object) -> str:
    return "-".join(value) if isinstance(value, list) else getattr(value, "__module__", "")


@pytest.mark.parametrize(("command", "arguments"), HELPS, ids=ids)
def test_help(
    command: Callable[[list[str]], int],
    arguments: list[str],
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    with pipe_without_reader(tmp_path) as output, outputs(output):
        assert status_of(lambda: command(arguments)) == 0
    assert capfd.readouterr().err == ""
    with full_disk(tmp_path) as output, outputs(output):
        assert status_of(lambda: command(arguments)) == 1
    assert "cannot write to standard output: No space left on device\n" in capfd.readouterr().err


@pytest.mark.parametrize("kind", ["a-pipe-without-reader", "a-terminal-that-is-gone", "a-full-disk"])
@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        pytest.param(["--nonsense"], 2, id="an-unknown-flag"),
        pytest.param(["quorum", "describe"], 1, id="an-operation-that-is-refused"),
        pytest.param(["dump", "log", "nowhere"], 1, id="a-file-that-is-missing"),
        pytest.param(["format", "-t", "x", "-c", "nowhere"], 1, id="properties-that-are-missing"),
    ],
)
def test_errors_that_cannot_be_printed(kind: str, arguments: list[str], status: int, tmp_path: Path) -> None:
    with GONE[kind](tmp_path) as error, pipe_without_reader(tmp_path) as output, outputs(output, error):
        assert status_of(lambda: main(arguments)) == status


def test_dump_ends_when_its_reader_has_gone(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The second file is missing: with a reader, standard error says so."""
    files = [str(SNAPSHOT)] * 20
    with pipe_without_reader(tmp_path) as output, outputs(output):
        assert status_of(lambda: main(["dump", "snapshot", *files, "nowhere"])) == READER_GONE_STATUS
    assert capfd.readouterr().err == ""
    with full_disk(tmp_path) as output, outputs(output):
        assert status_of(lambda: main(["dump", "snapshot", *files])) == 1
    assert capfd.readouterr().err == "kraftctl: cannot write to standard output: No space left on device\n"


def test_dump_waits_for_a_reader_that_is_slow(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Also where another process has set O_NONBLOCK: Python's own file would lose what does not fit."""
    files = [str(SNAPSHOT)] * 20
    assert main(["dump", "snapshot", *files]) == 0
    expected = capfd.readouterr().out
    with full_nonblocking_pipe(tmp_path) as output:
        found: list[str] = []
        reader = threading.Thread(
            target=lambda: found.extend(output.await_text(r"SNAPSHOT_FOOTER[^\n]*\n") for _ in files)
        )
        with outputs(output):
            reader.start()
            assert main(["dump", "snapshot", *files]) == 0
        reader.join()
    assert "".join(found).endswith(expected)


def test_a_format_without_a_reader_is_whole(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    directories = [tmp_path / name for name in ("a", "b", "c")]
    file = properties_file(tmp_path, controller_properties(",".join(map(str, directories))))
    with pipe_without_reader(tmp_path) as output, outputs(output):
        assert main(["format", "--standalone", "-t", "q1Sh-9_ISia_zwGINzRvyQ", "-c", str(file)]) == 0
    assert all(read_meta_properties(directory) for directory in directories)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    "flags", [["--status"], ["--replication"], ["--replication", "--human-readable"]], ids=ids
)
def test_a_description_without_a_reader_is_silent(
    flags: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with leader_node(CASES["one-voter"].quorum) as node:
        with pipe_without_reader(tmp_path) as output, outputs(output):
            assert main(["quorum", "--bootstrap-controller", node.address, "describe", *flags]) == 0
        assert capfd.readouterr().err == ""
        with full_disk(tmp_path) as output, outputs(output):
            arguments = ["quorum", "--bootstrap-controller", node.address, "describe", *flags]
            assert status_of(lambda: main(arguments)) == 1


@pytest.mark.parametrize(
    ("command", "status"),
    [
        pytest.param(["kraftctl", "--help"], 0, id="help"),
        pytest.param(["kraftctl", "random-uuid"], 0, id="random-uuid"),
        pytest.param(["kraftctl", "dump", "snapshot", *[str(SNAPSHOT)] * 20], READER_GONE_STATUS, id="dump"),
        pytest.param(["kraftctl_spark.cli", "--help"], 0, id="exporter"),
    ],
)
def test_a_process_is_silent_to_its_end(command: list[str], status: int, tmp_path: Path) -> None:
    """Python itself writes what is left, and complains."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)}
    with pipe_without_reader(tmp_path) as output:
        done = subprocess.run(
            [sys.executable, "-m", *command],
            stdout=output.descriptor,
            stderr=subprocess.PIPE,
            env=environment,
        )
    assert (done.returncode, done.stderr) == (status, b"")
