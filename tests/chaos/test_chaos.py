"""Chaos with a new seed: real brokers, real controllers, and nothing acknowledged is lost.

In a process of its own: threads of librdkafka and the tests that come after it do not share one.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MINUTES = [0.5, pytest.param(2.0, marks=pytest.mark.long)]

pytestmark = [pytest.mark.interop, pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.mark.parametrize("minutes", MINUTES)
def test_nothing_is_lost_in_chaos(minutes: float, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["tests/chaos/run.py", "--minutes", str(minutes), "--directory", str(tmp_path)]
    with capsys.disabled():
        print(flush=True)
        ran = subprocess.run([sys.executable, *command], cwd=ROOT, check=False)
    assert ran.returncode == 0, "its last line above says what was found, and how to repeat it"
