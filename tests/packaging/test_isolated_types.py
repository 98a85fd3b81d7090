"""Compiled packages type-check without our requirements, which are absent where pip builds."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
@pytest.mark.long
def test_types_do_not_depend_on_what_is_installed(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mypy", "--no-site-packages", "--cache-dir", str(tmp_path)]
    ran = subprocess.run(
        [*command, "kraftctl", "protocol"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
