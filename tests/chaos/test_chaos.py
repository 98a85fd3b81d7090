"""A minute of chaos with a new seed: real brokers, real controllers, and nothing acknowledged is lost."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.chaos.run import run

MINUTES = 1.0

pytestmark = [pytest.mark.interop, pytest.mark.slow]


def test_nothing_is_lost_in_a_minute_of_chaos(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        print()
        sound, line = run(random.SystemRandom().randrange(10**6), MINUTES, directory=tmp_path)
        print(line, flush=True)
    assert sound, line
