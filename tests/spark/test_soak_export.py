"""A few kills of `make soak-export`, one of each kind: a worker, the driver, a compaction, the planner."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.spark.soak.kills import Kill
from tests.spark.soak.run import Soak

CATCHING_UP = (
    Kill("worker", "files-durable", "self", delay_s=0, count=1),
    Kill("run", "committed", "self", delay_s=0, count=1),
)
TAILING = (
    Kill("compact", "json-written", "self", delay_s=0, count=1),
    Kill("planner", "", "", delay_s=0, count=1),
)


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.java
@pytest.mark.timeout(400)
@pytest.mark.long
def test_killed_while_the_log_of_a_controller_grows(tmp_path: Path) -> None:
    """While it catches up, and while it follows; compared with kafka-dump-log, and with three readers."""
    soak = Soak(tmp_path, seed=1)
    try:
        soak.begin(8_000)
        for kill in CATCHING_UP:
            soak.kill(kill)
        soak.catch_up()
        for kill in TAILING:
            soak.kill(kill)
        soak.disturb(100)
        soak.check()
    finally:
        soak.report()
        soak.close()
    assert soak.phases == {"catching up": 2, "tailing": 2}
    assert soak.aborted > 0
