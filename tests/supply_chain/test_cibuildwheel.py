"""cibuildwheel builds a wheel for each Python and machine, with locked tools, and tests what it has built.

Its containers are not run here. The names of its builds are its own, and its commands find what they name.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tomllib

from tests.supply_chain.locked_distributions import ROOT

SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["cibuildwheel"]
PYTHONS = ("cp311", "cp312", "cp313", "cp314")
MACHINES = ("x86_64", "aarch64")
TESTS_MIN = 1000


def test_it_builds_for_each_python_and_machine() -> None:
    command = [
        sys.executable,
        "-m",
        "cibuildwheel",
        "--print-build-identifiers",
        "--platform",
        "linux",
        str(ROOT),
    ]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert said.split() == [f"{python}-manylinux_{machine}" for machine in MACHINES for python in PYTHONS]


def test_it_builds_as_make_release_does() -> None:
    assert SETTINGS["environment"] == {"KRAFTCTL_PURE": "0", "KRAFTCTL_OPT_LEVEL": "3", "PYTHONHASHSEED": "0"}
    (directory,) = SETTINGS["before-build"].split()[-1:]
    assert SETTINGS["build-frontend"] == {"name": "pip", "args": ["--no-index", f"--find-links={directory}"]}


def test_its_tests_are_there() -> None:
    """They are collected, for the sources; the wheel of `make build` runs them in `make test`."""
    change, _, command = SETTINGS["test-command"].partition(" && ")
    assert change == "cd {project}"
    command = command.replace("pytest -q", f"{shlex.quote(sys.executable)} -m pytest -q --collect-only")
    command = command.replace("PYTHONSAFEPATH=1 ", "").replace("=compiled", "=sources")
    environment = {
        **os.environ,
        "PYTHONPATH": ":".join(str(ROOT / name) for name in ("", "protocol", "spark")),
    }
    done = subprocess.run(
        ["sh", "-c", command], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-2000:]
    assert done.stdout.count("\ntests/") > TESTS_MIN
