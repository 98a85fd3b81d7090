"""Child processes are awaited by their output and end with their parent."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from kraftctl.dev.polling import await_result
from kraftctl.dev.processes import ManagedProcess, ProcessFailedError


def shell(tmp_path: Path, script: str) -> ManagedProcess:
    return ManagedProcess("child", ["/bin/sh", "-c", script], tmp_path / "child.log")


def test_awaits_a_line(tmp_path: Path) -> None:
    """Whether printed before or after the call; the file has everything."""
    child = shell(tmp_path, "echo first; read line < /dev/null; echo second 2; exec sleep 60")
    assert child.await_line(r"second \d", 10.0) == "second 2"
    assert child.await_line("first", 10.0) == "first"
    assert child.running
    assert child.kill() == -signal.SIGKILL
    assert (tmp_path / "child.log").read_text() == "first\nsecond 2\n"


def test_says_why_no_line_came(tmp_path: Path) -> None:
    """A child that ends, with its status and last words; one that stays silent, with its limit."""
    child = shell(tmp_path, "echo some words; exit 3")
    with pytest.raises(ProcessFailedError, match=r"(?s)child ended with 3.*some words"):
        child.await_line("never", 10.0)

    silent = shell(tmp_path, "exec sleep 60")
    with pytest.raises(ProcessFailedError, match=r"did not print 'never' in 0\.05 s"):
        silent.await_line("never", 0.05)
    silent.kill()


def test_terminates_politely_then_by_force(tmp_path: Path) -> None:
    """SIGTERM is enough for most; who ignores it is killed."""
    polite = shell(tmp_path, "trap 'exit 0' TERM; echo ready; while :; do sleep 0.05; done")
    polite.await_line("ready", 10.0)
    assert polite.terminate() == 0

    deaf = shell(tmp_path, "trap '' TERM; echo ready; while :; do sleep 0.05; done")
    deaf.await_line("ready", 10.0)
    assert deaf.terminate(0.2) == -signal.SIGKILL


def test_kill_takes_grandchildren_along(tmp_path: Path) -> None:
    child = shell(tmp_path, "sleep 60 & echo grandchild $!; wait")
    grandchild = int(child.await_line("grandchild", 10.0).split()[1])
    child.kill()
    await_result(lambda: not _runs(grandchild), "the grandchild is gone", 10.0)


def test_dies_with_its_parent(tmp_path: Path) -> None:
    """kill -9 of the process that started it."""
    script = (
        "import pathlib, signal, sys\n"
        "from kraftctl.dev.processes import ManagedProcess\n"
        f"child = ManagedProcess('child', ['sleep', '60'], pathlib.Path({str(tmp_path / 'log')!r}))\n"
        "print(child.pid, flush=True)\n"
        "signal.pause()\n"
    )
    roots = os.pathsep.join(path for path in sys.path if path)
    environment = {**os.environ, "PYTHONPATH": roots}
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, env=environment
    ) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        assert _runs(child)
        parent.kill()
    await_result(lambda: not _runs(child), "the child is gone", 10.0)


def test_await_result_returns_the_answer_or_names_what_was_missing() -> None:
    changed = threading.Event()
    threading.Timer(0.05, changed.set).start()
    assert await_result(lambda: "value" if changed.is_set() else None, "the value", 5.0, 0.01) == "value"
    with pytest.raises(TimeoutError, match=r"the impossible: not within 0\.02 s"):
        await_result(lambda: False, "the impossible", 0.02, 0.01)


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False
