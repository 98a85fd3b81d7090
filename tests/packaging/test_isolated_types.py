"""Compiled modules type-check without our requirements, which are absent where pip builds."""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path

import pytest
import setuptools

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
@pytest.mark.long
def test_types_do_not_depend_on_what_is_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(setuptools, "setup", lambda **_: None)
    monkeypatch.setattr(sys, "argv", ["setup.py", "egg_info"])
    groups = runpy.run_path(str(ROOT / "setup.py"))["groups"]()
    compiled = [path for paths, _ in groups for path in paths]
    assert len(compiled) > 100
    command = [sys.executable, "-m", "mypy", "--no-site-packages", "--cache-dir", str(tmp_path)]
    ran = subprocess.run([*command, *compiled], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
