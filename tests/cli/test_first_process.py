"""SIGTERM ends the first process of a container before its command handles the signal."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest

from kraftctl.cli import first_process, main
from kraftctl.dev.processes import ManagedProcess
from tests.support.image_tree import first_process as first_of

FILE = "server.properties"
COMMANDS = {
    "start": ["start", FILE],
    "check": ["start", "--check", "--offline", FILE],
    "format": ["format", "-t", "MkU3OEVBNTcwNTJENDM2Qg", "-c", FILE],
    "container": ["container", "--mounted", ".", "--properties", "made.properties"],
}
AS_ROOT = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]


@pytest.mark.parametrize("name", COMMANDS)
def test_it_ends_while_it_reads_its_file(tmp_path: Path, name: str) -> None:
    """The file is a pipe that has nothing yet: as long a start as is wanted."""
    os.mkfifo(tmp_path / FILE)
    words = [word if word != FILE else str(tmp_path / FILE) for word in COMMANDS[name]]
    words = [str(tmp_path) if word == "." else word for word in words]
    apart = ["unshare", *AS_ROOT, "--pid", "--fork", "--kill-child"]
    process = ManagedProcess(name, [*apart, sys.executable, "-m", "kraftctl", *words], tmp_path / "log")
    try:
        with open(tmp_path / FILE, "w"):
            os.kill(first_of(process), signal.SIGTERM)
            assert process.wait(60.0) == 128 + signal.SIGTERM, process.tail()
    finally:
        process.kill_group()


@pytest.mark.parametrize(("pid", "handlers"), [(1, {signal.SIGTERM: first_process._end}), (2, {})])
def test_another_process_keeps_the_default(
    monkeypatch: pytest.MonkeyPatch, pid: int, handlers: dict[int, object]
) -> None:
    set_: dict[int, object] = {}
    monkeypatch.setattr(os, "getpid", lambda: pid)
    monkeypatch.setattr(signal, "signal", set_.__setitem__)
    assert main(["random-uuid"]) == 0
    assert set_ == handlers
