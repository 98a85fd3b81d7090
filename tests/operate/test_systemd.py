"""The unit under a real systemd: a manager of its own, in namespaces of its own, for root on Linux.

Where such namespaces or systemd are missing, nothing is tested here; `test_service_manager.py` needs neither.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kraftctl.dev.polling import await_result
from kraftctl.storage.halt import HaltFile
from kraftctl.storage.meta_properties import read_meta_properties
from tests.operate.test_service_manager import UNIT, formatted

pytestmark = [pytest.mark.long, pytest.mark.slow]

SECONDS_MAX = 60.0

MANAGER = """
mount --make-rprivate / && mount -t tmpfs none /run && mkdir -p /run/systemd/system /run/user/0 &&
mount -t tmpfs none /sys/fs/cgroup && mount -t cgroup2 none /sys/fs/cgroup || exit 1
systemd --user --log-target=console --unit=first.target &
wait
"""
"""/run/systemd/system says that systemd has booted; the manager needs a tree of groups that it may change,
and must not be process 1: that would be the manager of a machine."""

LEFT_OUT = (
    *("User=", "Group=", "StateDirectory", "LogsDirectory", "ConfigurationDirectory", "RequiresMountsFor="),
    *("Wants=", "After=", "PrivateTmp=", "OOMScoreAdjust=", "LimitNOFILE="),
    *("ProtectHome=", "ProtectKernelLogs=", "ProtectKernelTunables="),
)
"""What belongs to a machine: accounts, directories, limits; and what is not mounted in a container."""

QUICKER = {
    "WatchdogSec=60s": "WatchdogSec=8s",
    "TimeoutAbortSec=10s": "TimeoutAbortSec=3s",
    "RestartSec=5s": "RestartSec=1s",
}


class Systemd:
    """A running manager, whose units are in `directory`."""

    def __init__(self, directory: Path) -> None:
        (directory / "first.target").write_text("[Unit]\n")
        kept = {name: value for name, value in os.environ.items() if name != "NOTIFY_SOCKET"}
        self._variables = {**kept, "XDG_RUNTIME_DIR": "/run/user/0", "SYSTEMD_UNIT_PATH": f"{directory}:"}
        unshared = ["unshare", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child"]
        self.log = directory / "manager.log"
        with self.log.open("w") as output:
            self.process = subprocess.Popen(
                [*unshared, "sh", "-c", MANAGER], env=self._variables, stdout=output, stderr=output
            )

    def has_begun(self) -> bool:
        """Whether it runs, or has ended."""
        return self.process.poll() is not None or self.control("is-system-running") in ("running", "degraded")

    @property
    def children(self) -> list[str]:
        return Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()

    def control(self, *arguments: str) -> str:
        """What `systemctl` prints; empty before the manager begins."""
        if not self.children:
            return ""
        inside = ["nsenter", f"--target={self.children[0]}", "--mount", "--pid", "systemctl", "--user"]
        ran = subprocess.run(
            [*inside, *arguments], env=self._variables, capture_output=True, text=True, check=False
        )
        return ran.stdout.strip()

    def value(self, name: str) -> str:
        return self.control("show", UNIT.name, "--value", "-p", name)

    def await_value(self, name: str, expected: str) -> None:
        await_result(
            lambda: self.value(name) == expected,
            f"{name} is {expected}\n{self.log.read_text()}",
            SECONDS_MAX,
            0.2,
        )


@pytest.fixture
def systemd(tmp_path: Path) -> Iterator[Systemd | None]:
    """None where no such manager can run."""
    if os.geteuid() != 0 or not all(
        shutil.which(name) for name in ("unshare", "nsenter", "systemctl", "systemd")
    ):
        yield None
        return
    manager = Systemd(tmp_path)
    try:
        await_result(manager.has_begun, "the manager runs or ends", SECONDS_MAX, 0.2)
        yield manager if manager.process.poll() is None else None
    finally:
        manager.process.kill()
        manager.process.wait()


def write_unit(directory: Path, file: Path) -> None:
    """The unit as it is, with the paths of this test: also the hardening."""
    program = directory / "kraftctl"
    path = ":".join(entry for entry in sys.path if entry)
    program.write_text(f'#!/bin/sh\nPYTHONPATH={path} exec {sys.executable} -m kraftctl "$@"\n')
    program.chmod(0o755)
    lines = [line for line in UNIT.read_text().splitlines() if not line.startswith(LEFT_OUT)]
    text = "\n".join(QUICKER.get(line, line) for line in lines)
    text = text.replace("/usr/bin/kraftctl", str(program))
    text = text.replace("/etc/kraftctl/controller.properties", str(file))
    output = f"StandardOutput=append:{directory}/output\nStandardError=inherit"
    text = text.replace("[Install]", f"ReadWritePaths={directory}\n{output}\n[Install]")
    (directory / UNIT.name).write_text(text)


def test_it_starts_is_restarted_and_stays_halted(tmp_path: Path, systemd: Systemd | None) -> None:
    if systemd is None:
        return
    file = formatted(tmp_path)
    write_unit(tmp_path, file)
    systemd.control("daemon-reload")
    systemd.control("start", UNIT.name)
    assert systemd.value("ActiveState") == "active", systemd.control("status", UNIT.name)
    systemd.await_value("StatusText", "Ready")

    # A loop that hangs: the watchdog asks for the stacks, kills it, and starts it again.
    inside = systemd.value("MainPID")
    subprocess.run(
        ["nsenter", f"--target={systemd.children[0]}", "--mount", "--pid", "kill", "-STOP", inside],
        check=True,
    )
    systemd.await_value("NRestarts", "1")
    systemd.await_value("StatusText", "Ready")
    systemd.control("stop", UNIT.name)
    assert [systemd.value(name) for name in ("ActiveState", "Result")] == ["inactive", "success"]

    directory = tmp_path / "data"
    meta = read_meta_properties(directory)
    assert meta is not None
    assert meta.directory_id is not None
    HaltFile(directory, meta.directory_id).write("The leader 2 wants less.", 1_800_000_000_000)
    systemd.control("start", UNIT.name)
    systemd.await_value("ActiveState", "failed")
    assert systemd.value("StatusText").startswith(
        "Exiting: This controller has halted since 2027-01-15T08:00:00Z"
    )
    assert [systemd.value(name) for name in ("ExecMainStatus", "NRestarts")] == ["65", "0"]
