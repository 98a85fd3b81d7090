"""Chaos with a new seed: real brokers, real controllers, nothing acknowledged is lost, and all has an order.

In a process of its own: threads of librdkafka and the tests that come after it do not share one.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RUNS = [
    pytest.param(["--minutes=0.5"], id="short"),
    pytest.param(["--minutes=2"], id="brokers", marks=pytest.mark.long),
    pytest.param(["--minutes=2", "--brokers=0"], id="quorum", marks=pytest.mark.long),
    pytest.param(["--minutes=2", "--brokers=0", "--faults=rare"], id="rare", marks=pytest.mark.long),
]

pytestmark = [pytest.mark.interop, pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.mark.parametrize("options", RUNS)
def test_nothing_is_lost_in_chaos(
    options: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["tests/chaos/run.py", *options, "--directory", str(tmp_path)]
    with capsys.disabled():
        print(flush=True)
        ran = subprocess.run([sys.executable, *command], cwd=ROOT, check=False)
    assert ran.returncode == 0, "its last line above says what was found, and how to repeat it"
