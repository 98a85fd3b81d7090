"""`kraftctl start` as a unit of `Type=notify`: a real process, and a real socket in the place of systemd's.

The unit in `deploy/systemd` is read: what it starts exists, and it never restarts what has halted.
"""

from __future__ import annotations

import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kraftctl.cli import main
from kraftctl.cli.refused_start import HALTED_STATUS, refuse
from kraftctl.dev.ports import free_port
from kraftctl.server.process.service_manager import STATUS_CHARACTERS_MAX, service_manager, shown_status
from kraftctl.storage.halt import HaltFile
from kraftctl.storage.meta_properties import read_meta_properties
from tests.operate.operated_quorum import CLUSTER_ID
from tests.support.controller_properties import NODE_ID, controller_properties, properties_file
from tests.support.processes.started_controller import SECONDS_MAX, StartedController

UNIT = Path(__file__).resolve().parents[2] / "deploy/systemd/kraftctl.service"

EXPOSURE_MAX = 2.0
"""Of `systemd-analyze security`, which has 10 for a unit without any hardening."""


class Manager:
    """The end of the socket that belongs to the service manager."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.path = f"\0{address[1:]}" if address.startswith("@") else address
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(self.path)
        self.socket.settimeout(SECONDS_MAX)

    def await_line(self, pattern: str) -> list[str]:
        """The lines up to the message with one that matches."""
        seen: list[str] = []
        until = time.monotonic() + SECONDS_MAX
        while not any(re.fullmatch(pattern, line) for line in seen):
            assert time.monotonic() < until, seen
            seen += self.socket.recv(4096).decode().split("\n")
        return seen

    @contextmanager
    def started(self, file: Path, watchdog_us: int = 0) -> Iterator[StartedController]:
        """Starts it with the variables of systemd."""
        script = f"export NOTIFY_SOCKET={self.address} WATCHDOG_USEC={watchdog_us} WATCHDOG_PID=$$"
        running = StartedController(
            file, lambda command: ["sh", "-c", f'{script}; exec "$@"', "sh", *command]
        )
        try:
            yield running
        finally:
            running.process.kill()
            running.process.communicate()


@pytest.fixture
def manager(tmp_path: Path) -> Iterator[Manager]:
    made = Manager(str(tmp_path / "notify"))
    with made.socket:
        yield made


def formatted(directory: Path, *, voters: int = 1) -> Path:
    """The properties of the first of so many static voters."""
    ports = [free_port() for _ in range(voters)]
    addresses = ",".join(f"{NODE_ID + n}@localhost:{port}" for n, port in enumerate(ports))
    properties = controller_properties(
        directory / "data",
        address=f"localhost:{ports[0]}",
        static=True,
        more={"controller.quorum.voters": addresses},
    )
    file = properties_file(directory, properties)
    assert main(["format", "-t", CLUSTER_ID, "-c", str(file)]) == 0
    return file


def test_it_is_ready_when_it_serves_and_says_that_it_stops(tmp_path: Path) -> None:
    manager = Manager(f"@kraftctl-test-{os.getpid()}")
    with manager.socket, manager.started(formatted(tmp_path), watchdog_us=400_000) as controller:
        (first,) = manager.await_line("STATUS=The metadata log is being recovered.*")
        assert first.endswith("no connection is accepted yet")
        manager.await_line("READY=1")
        controller.await_text("Becoming the active controller")
        lines = [*manager.await_line("STATUS=Ready"), *(manager.await_line("WATCHDOG=1") for _ in range(3))]
        assert "READY=1" not in lines
        controller.signal(signal.SIGTERM)
        assert "STATUS=This controller is stopping" in manager.await_line("STOPPING=1")
        assert controller.process.wait(SECONDS_MAX) == 0


def test_without_its_quorum_it_is_ready_and_says_what_it_waits_for(tmp_path: Path, manager: Manager) -> None:
    """The voters are started one after the other: a unit that waits would keep the next from starting."""
    with manager.started(formatted(tmp_path, voters=3)):
        lines = manager.await_line("STATUS=No leader can be elected for .* 1 of 3 voters can be reached .*")
        assert "READY=1" in lines
        assert "WATCHDOG=1" not in lines, "it was not asked for"


def test_a_manager_that_does_not_read_holds_nothing_up(tmp_path: Path, manager: Manager) -> None:
    """READY=1 is sent again until there is room for it; another socket has filled the queue before."""
    filling = service_manager({"NOTIFY_SOCKET": manager.address})
    assert filling is not None
    with manager.started(formatted(tmp_path)) as controller:
        queued = 0
        while filling.send("STATUS=filling"):
            queued += 1
        assert "takes no message" in controller.await_text("Becoming the active controller")
        # Both may be in one message.
        assert "STATUS=Ready" in manager.await_line("READY=1") or manager.await_line("STATUS=Ready")
    filling.close()


def test_a_halted_controller_says_why_and_the_unit_does_not_start_it_again(
    tmp_path: Path, manager: Manager
) -> None:
    file = formatted(tmp_path, voters=3)
    directory = tmp_path / "data"
    meta = read_meta_properties(directory)
    assert meta is not None
    assert meta.directory_id is not None
    reason = "The leader 2 of epoch 5 wants the log to end at offset 3."
    HaltFile(directory, meta.directory_id).write(reason, 1_800_000_000_000)
    (prevented,) = values("RestartPreventExitStatus")
    (checked,) = values("ExecStartPre")
    assert checked.startswith("-"), "systemd repeats a start whose check fails, whatever its status"
    with manager.started(file) as controller:
        lines = manager.await_line("STATUS=Exiting: This controller has halted since .*")
        assert reason in lines[-1]
        assert controller.process.wait(SECONDS_MAX) == HALTED_STATUS == int(prevented)


@pytest.mark.parametrize(
    ("environment", "seconds"),
    [
        pytest.param({}, None, id="no-watchdog"),
        pytest.param({"WATCHDOG_USEC": "3000000"}, 3.0, id="for-any-process"),
        pytest.param({"WATCHDOG_USEC": "3000000", "WATCHDOG_PID": str(os.getpid())}, 3.0, id="for-this-one"),
        pytest.param({"WATCHDOG_USEC": "3000000", "WATCHDOG_PID": "1"}, None, id="for-another"),
        pytest.param({"WATCHDOG_USEC": "0"}, None, id="zero"),
        pytest.param({"WATCHDOG_USEC": "a minute"}, None, id="no-number"),
    ],
)
def test_the_watchdog_is_that_of_this_process(environment: dict[str, str], seconds: float | None) -> None:
    found = service_manager({"NOTIFY_SOCKET": "/nowhere", **environment})
    assert found is not None
    assert found.watchdog_seconds == seconds
    assert not found.send("READY=1")
    found.close()


def test_without_a_descriptor_for_it_there_is_no_manager_and_the_reason_is_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    """A start that fails because no file can be opened any more says so, and not that it has no socket."""
    monkeypatch.setenv("NOTIFY_SOCKET", "/nowhere")
    with no_more_descriptors():
        assert service_manager(os.environ) is None
        assert refuse(["The listener cannot be opened"]) == 1
    assert "The listener cannot be opened" in capsys.readouterr().err
    warned = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert len(warned) == 2, "one for each attempt"
    assert warned[0].startswith("The service manager at NOTIFY_SOCKET=/nowhere is sent nothing: ")


@contextmanager
def no_more_descriptors() -> Iterator[None]:
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    with Path(os.devnull).open() as lowest_free:
        resource.setrlimit(resource.RLIMIT_NOFILE, (lowest_free.fileno(), limits[1]))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)


@pytest.mark.parametrize("address", ["", "vsock:2:1", "relative"])
def test_no_manager_that_can_be_reached(address: str) -> None:
    assert service_manager({"NOTIFY_SOCKET": address}) is None


def test_a_status_is_one_short_line() -> None:
    assert shown_status("a\nREADY=1") == "STATUS=a READY=1"
    assert len(shown_status("\N{SNOWMAN}" * 5000).encode()) < 4096
    assert STATUS_CHARACTERS_MAX < 4096 / 4


def values(key: str) -> list[str]:
    return re.findall(rf"^{key}=(.*)$", UNIT.read_text(), re.MULTILINE)


def test_the_unit_runs_commands_that_exist(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its check is one that voters which start together pass: it asks no other controller."""
    file = formatted(tmp_path, voters=3)
    (checked,), (started,) = values("ExecStartPre"), values("ExecStart")
    assert started.split()[1:] == ["start", "/etc/kraftctl/controller.properties"]
    limit, _, check = checked.partition(" /usr/bin/kraftctl ")
    assert limit == "-/usr/bin/timeout -s KILL 20", "a disk that hangs would keep it in activation"
    command = [str(file) if word == started.split()[-1] else word for word in check.split()]
    assert main(command) == 0, capsys.readouterr().out


def test_systemd_accepts_the_unit(tmp_path: Path) -> None:
    """Where there is no systemd-analyze, only its keys are read."""
    assert values("Type") == ["notify"]
    unit = tmp_path / UNIT.name
    unit.write_text(UNIT.read_text().replace("/usr/bin/kraftctl", sys.executable))
    if (analyze := shutil.which("systemd-analyze")) is None:
        return
    verified = subprocess.run(
        [analyze, "verify", "--man=no", str(unit)], capture_output=True, text=True, check=False
    )
    assert (verified.returncode, verified.stderr) == (0, "")
    judged = [
        analyze,
        "security",
        "--offline=true",
        f"--threshold={int(EXPOSURE_MAX * 10)}",
        "--no-pager",
        str(unit),
    ]
    assert subprocess.run(judged, capture_output=True, check=False).returncode == 0
