"""Three controllers under Strimzi's start script, which deletes quorum-state before each start."""

from __future__ import annotations

from pathlib import Path

import pytest

from kraftctl.storage.witness import FILE_NAME as WITNESS
from kraftctl_protocol.log_file_names import PARTITION_DIRECTORY
from tests.support.processes.strimzi import Pods

pytestmark = pytest.mark.slow

LEADER_SECONDS_MAX = 10.0


@pytest.mark.prevents("deleted-quorum-state")
@pytest.mark.timeout(900)
@pytest.mark.parametrize("cold_starts", [2, pytest.param(20, marks=pytest.mark.long)])
def test_cold_starts_in_a_row(cold_starts: int, tmp_path: Path) -> None:
    """Stopped and killed in turn; each time there is a leader, and nothing that was acknowledged is lost."""
    with Pods(tmp_path) as pods:
        for number in range(cold_starts + 1):
            pods.start()
            pods.set_quota(f"user-{number}", LEADER_SECONDS_MAX)
            if number > 0:
                for pod in pods.pods:
                    assert pod.process is not None
                    pod.process.await_line("Removing quorum-state file", 60.0)
                    line = pod.process.await_line("quorum-state is missing", 60.0)
                    assert "It is written again with epoch" in line, line
                    assert " INFO " in line, line
            pods.stop() if number % 2 else pods.kill()
        assert len(pods.acknowledged) == cold_starts + 1
        have = [pods.acknowledged - pod.quotas() for pod in pods.pods]
        assert sum(not missing for missing in have) >= 2, have


@pytest.mark.long
def test_all_voters_recover_and_an_operator_ends_it(tmp_path: Path) -> None:
    """As after Kafka's own controllers, all replaced together: nothing proves the votes."""
    with Pods(tmp_path) as pods:
        pods.start()
        pods.set_quota("before", LEADER_SECONDS_MAX)
        pods.stop()
        for pod in pods.pods:
            (pod.log_directory / PARTITION_DIRECTORY / WITNESS).unlink()
        pods.start()
        for pod in pods.pods:
            assert pod.process is not None
            line = pod.process.await_line("This replica is recovering and does not vote", 20.0)
            assert "kraftctl end-recovery --help" in line
        pods.kill()
        for pod in pods.pods:
            pod.end_recovery()
        pods.start()
        pods.set_quota("after", LEADER_SECONDS_MAX)
        pods.stop()
        assert sum(pods.acknowledged <= pod.quotas() for pod in pods.pods) >= 2
