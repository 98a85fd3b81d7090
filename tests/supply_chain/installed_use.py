"""Uses an installation: a controller that leads and is healthy, and what each extra is for."""

from __future__ import annotations

import os
import signal
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from kraftctl.dev.ports import free_port
from tests.support.controller_properties import NODE_ID, controller_properties, properties_file

ACTIVE: Final = "Becoming the active controller"
SECONDS_MAX: Final = 300.0
"""On a machine that does much else."""

CLUSTER_ID: Final = "MkU3OEVBNTcwNTJENDM2Qg"


def clean_variables() -> dict[str, str]:
    """The variables of this process without those that lead to the sources or to an environment."""
    left_out = ("PYTHON", "KRAFTCTL_", "VIRTUAL_ENV", "NOTIFY_SOCKET")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(left_out)}
    return {**kept, "PATH": "/usr/bin:/bin", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}


def said(scratch: Path, *command: str) -> str:
    """What a command prints. Raises AssertionError with that if it fails."""
    done = subprocess.run(
        command, cwd=scratch, env=clean_variables(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}{done.stderr}"
    return done.stdout


@contextmanager
def started(command: Sequence[str], text: str, log: Path) -> Iterator[float]:
    """Runs a process, from the line that has `text` on, until SIGTERM; yields the seconds until that line."""
    began = time.monotonic()
    with log.open("w") as output:
        process = subprocess.Popen(
            command, cwd=log.parent, env=clean_variables(), stdout=output, stderr=subprocess.STDOUT
        )
    try:
        while text not in log.read_text():
            assert time.monotonic() - began < SECONDS_MAX, log.read_text()
            assert process.poll() is None, log.read_text()
            try:
                process.wait(0.05)
            except subprocess.TimeoutExpired:
                continue
        yield time.monotonic() - began
        process.send_signal(signal.SIGTERM)
        assert process.wait(SECONDS_MAX) in (0, -signal.SIGTERM), log.read_text()
    finally:
        process.kill()
        process.wait()


def run_controller(
    program: str, version: str, scratch: Path, use: Callable[[str], None] = lambda address: None
) -> float:
    """Formats a directory, starts a controller, awaits that it leads and is healthy, lets `use` have its
    address, and stops it; returns the seconds until it led. Raises AssertionError.
    """
    assert said(scratch, program, "--version") == f"kraftctl {version}\n"
    address = f"localhost:{free_port()}"
    voters = {"controller.quorum.voters": f"{NODE_ID}@{address}"}
    properties = controller_properties(scratch / "data", address=address, static=True, more=voters)
    file = str(properties_file(scratch, properties))
    said(scratch, program, "format", "-t", CLUSTER_ID, "-c", file)
    log = scratch / "log"
    with started([program, "start", file], ACTIVE, log) as seconds:
        assert f"Starting kraftctl {version}:" in log.read_text()
        assert said(scratch, program, "health", "--bootstrap-controllers", address).startswith(
            "QUORUM HEALTHY"
        )
        use(address)
    return seconds


def serve_console(programs: Path, scratch: Path, address: str, tables: Path) -> None:
    listen = f"http://127.0.0.1:{free_port()}"
    command = [f"{programs}/kraftctl", "console", "--bootstrap-controllers", address, "--listen", listen]
    with started(command, f"{listen} has the console", scratch / "console.log"):
        with urllib.request.urlopen(listen, timeout=SECONDS_MAX) as page:
            assert b"<title>" in page.read()


def export_tables(programs: Path, scratch: Path, address: str, tables: Path, *engine: str) -> None:
    source = ("--bootstrap-controllers", address, "--available-now")
    said(scratch, f"{programs}/kraftctl-export", "run", *source, "--output", str(tables), *engine)
    assert "register_controller_record" in said(
        scratch, f"{programs}/kraftctl-export", "status", "--output", str(tables)
    )


def export_by_spark(programs: Path, scratch: Path, address: str, tables: Path) -> None:
    export_tables(programs, scratch, address, scratch / "tables")


def compute_history(programs: Path, scratch: Path, address: str, tables: Path) -> None:
    said(scratch, f"{programs}/python", "-c", "import obstore")
    export_tables(programs, scratch, address, tables, "--engine", "local")
    said(scratch, f"{programs}/kraftctl-export", "history", "--tables", str(tables))


def write_report(programs: Path, scratch: Path, address: str, tables: Path) -> None:
    said(scratch, f"{programs}/kraftctl-export", "report", "--output", str(tables), "--to", "report.html")
    assert "</html>" in (scratch / "report.html").read_text()


Use = Callable[[Path, Path, str, Path], None]
"""Gets the folder of programs, a scratch directory, the address of a controller, and where tables are."""

USES: Final[Mapping[str, Use]] = {
    "console": serve_console,
    "spark": export_by_spark,
    "export": compute_history,
    "report": write_report,
}
"""What each extra is for, in this order: the last one reads the tables that the one before has written."""
