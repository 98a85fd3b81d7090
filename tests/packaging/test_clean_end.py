"""A green test run ends with its summary: no open resource warns at exit."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

A_CONTROLLER_IN_THE_PROCESS = (
    "tests/server/controllers/test_disk_failures.py::test_a_failing_fsync_acknowledges_nothing"
)
WITH_DUCKDB = "tests/spark/test_raw_directory.py::test_a_compaction_with_its_defaults_doubles_nothing"


@pytest.mark.slow
def test_nothing_is_said_after_the_last_line() -> None:
    """DuckDB counts at exit what was not freed; a controller's gc.freeze() had kept all of it."""
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", A_CONTROLLER_IN_THE_PROCESS, WITH_DUCKDB],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout
    assert ran.stdout.splitlines()[-1].startswith("2 passed in")
    assert ran.stderr == ""
