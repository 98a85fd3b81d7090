"""`kraftctl dev` leaves no process behind, however it ends."""

from __future__ import annotations

import os
import re
import signal
import sys
from pathlib import Path

import pytest

from kraftctl.dev.processes import ManagedProcess
from tests.support.processes.clients import admin_client, live_brokers
from tests.support.processes.cluster import JAVA_CONTROLLER
from tests.support.processes.kafka import await_result

pytestmark = pytest.mark.interop

SERVING = "Ctrl-C stops everything"


def start_dev(directory: Path) -> ManagedProcess:
    command = [sys.executable, "-m", "kraftctl", "dev", "--brokers", "1", "--no-export"]
    command += ["--directory", str(directory / "cluster")]
    command += ["--java-controller"] if JAVA_CONTROLLER else []
    return ManagedProcess("kraftctl-dev", command, directory / "dev.log")


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def gone(pids: list[int]) -> bool:
    return not any(os.path.exists(f"/proc/{pid}") for pid in pids)


@pytest.mark.parametrize(
    "number",
    [
        pytest.param(signal.SIGINT, id="SIGINT", marks=pytest.mark.long),
        pytest.param(signal.SIGTERM, id="SIGTERM"),
        pytest.param(signal.SIGKILL, id="SIGKILL"),
    ],
)
def test_ends_with_all_its_children(tmp_path: Path, number: signal.Signals) -> None:
    """On SIGTERM it stops brokers and controller; when it is killed, they end, too."""
    dev = start_dev(tmp_path)
    dev.await_line(SERVING, 120.0)
    nodes = children(dev.pid)
    assert len(nodes) == 2
    address = re.search(r"bootstrap\.servers\s+(\S+)", "\n".join(dev.lines()))
    assert address is not None
    assert live_brokers(admin_client(address.group(1))) == {1}

    dev.signal(number)
    assert dev.wait(60.0) == (-signal.SIGKILL if number == signal.SIGKILL else 0)
    await_result(lambda: gone(nodes), "its nodes are gone", 10.0)


def test_gives_up_starting_when_asked(tmp_path: Path) -> None:
    """Ctrl-C while brokers start."""
    dev = start_dev(tmp_path)
    dev.await_line("Starting 1 Apache Kafka", 60.0)
    await_result(lambda: len(children(dev.pid)) == 2, "the broker's process is there", 10.0, 0.02)
    nodes = children(dev.pid)
    dev.signal(signal.SIGINT)
    assert dev.wait(60.0) == 0
    # A node that was only just forked is not known to its parent yet: the kernel ends it, a moment later.
    await_result(lambda: gone(nodes), "its nodes are gone", 10.0)


@pytest.mark.long
def test_a_broker_that_is_stopped_starts_again(tmp_path: Path) -> None:
    dev = start_dev(tmp_path)
    dev.await_line(SERVING, 120.0)
    os.kill(max(children(dev.pid)), signal.SIGTERM)
    dev.await_line(r"broker-1 has ended with 143; it starts again in 20 s", 60.0)
    dev.await_line("broker-1 is running again", 120.0)
    assert dev.terminate() == 0


def test_continues_after_a_kill_and_resumes_its_directory(tmp_path: Path) -> None:
    """A killed controller is restarted; another run in the same directory is the same cluster."""
    dev = start_dev(tmp_path)
    dev.await_line(SERVING, 120.0)
    controller = min(children(dev.pid))
    os.kill(controller, signal.SIGKILL)
    dev.await_line(r"controller-3000 is running again|kraftctl-3000 is running again", 60.0)
    assert dev.terminate() == 0
    identity = [
        line
        for line in dev.lines()
        if line.startswith(("  bootstrap.servers", "  controller", "  probes", "  cluster id"))
    ]

    again = start_dev(tmp_path)
    again.await_line(SERVING, 120.0)
    assert [line for line in again.lines() if line in identity] == identity
    assert again.terminate() == 0
