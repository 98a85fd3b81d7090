"""The defect that `run.py --plant` plants is what its name says, and both checks of the log notice it."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from kraftctl.dev.polling import await_result
from tests.chaos.finding import FindError
from tests.chaos.followed_log import FollowedLog
from tests.chaos.ledger import TopicLedger
from tests.chaos.planted import PLANTED
from tests.support.file_states import Aftermath
from tests.support.lying_disk.lying_disk import build_shim
from tests.support.lying_disk.lying_quorum import LyingQuorum
from tests.support.processes.quorum import TopicCreator
from tests.support.wire.controller_client import ControllerClient

pytestmark = pytest.mark.slow

PARTITIONS = 5
"""Of each topic that TopicCreator creates."""


def read_on(log: FollowedLog, quorum: LyingQuorum) -> None:
    """Once, from the leader."""
    with ControllerClient(quorum.leader().port) as client:
        await_result(lambda: log.fetch(client), "a leader answers")


def test_a_power_failure_shows_what_was_acknowledged_before_the_flush(tmp_path: Path) -> None:
    planted = PLANTED["acknowledged-before-the-flush"]
    shim = build_shim(tmp_path)
    with LyingQuorum(shim, tmp_path / "quorum", size=1, dynamic=False, planted=planted) as quorum:
        log, ledger = FollowedLog(quorum.cluster_id), TopicLedger()
        creator = TopicCreator(quorum)
        creator.create(1)
        quorum.disk(quorum.nodes[0]).rule("fsync stall 60000")
        creator.create(3)
        creator.close()
        for name in creator.acknowledged:
            ledger.created(name, PARTITIONS, acknowledged=True)

        def has_all() -> bool:
            read_on(log, quorum)
            return ledger.problems(log.topics()) == []

        await_result(has_all, "all acknowledged topics are in the log")

        quorum.kill_all()
        quorum.disk(quorum.nodes[0]).rule()
        quorum.fail_power([Aftermath.STRICT], random.Random(0))
        after = FollowedLog(quorum.cluster_id)
        read_on(after, quorum)
        lost = ledger.problems(after.topics())
        assert len(lost) >= 3
        assert all(line.endswith("is lost") for line in lost)
        with pytest.raises(FindError, match="LeaderHasAllAckedValues"):
            read_on(log, quorum)
