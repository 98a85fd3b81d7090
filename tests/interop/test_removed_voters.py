"""KIP-853: while a voter is down no other is removed, whichever kind leads, and whichever tool asks."""

from __future__ import annotations

import subprocess
from functools import partial
from pathlib import Path

import pytest

from kraftctl.dev.nodes import Controller, JavaController, KraftctlController, kraftctl_command
from kraftctl.dev.polling import await_result
from kraftctl.dev.settings import replication_for
from tests.interop.test_mixed_quorum import directory_id
from tests.support.processes.clients import create_topic
from tests.support.processes.mixed_quorum import (
    JAVA,
    KRAFTCTL,
    have_caught_up,
    make_lead,
    mixed_cluster,
    voters_line,
)
from tests.support.processes.quorum import describe

pytestmark = [pytest.mark.interop, pytest.mark.long]

SILENT_MS = 3_000
"""More than the fetch timeout."""


def is_silent(leader: Controller, down: Controller) -> bool:
    """By the clock of the leader, who has always just fetched."""
    described = describe(leader)
    assert described is not None, "it still leads"
    fetched_ms = {voter.replica_id: voter.last_fetch_timestamp for voter in described.current_voters}
    return fetched_ms[leader.node_id] - fetched_ms[down.node_id] > SILENT_MS


def key_flags(controller: Controller) -> list[str]:
    return [
        *("--controller-id", str(controller.node_id)),
        *("--controller-directory-id", directory_id(controller)),
    ]


def removed(bootstrap: list[str], controller: Controller, *flags: str) -> subprocess.CompletedProcess[str]:
    command = kraftctl_command("quorum", *bootstrap, "remove-controller", *key_flags(controller), *flags)
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("kraftctl_leads", [True, False], ids=["kraftctl-leads", "java-leads"])
def test_a_removal_leaves_a_majority_that_works(tmp_path: Path, kraftctl_leads: bool) -> None:
    kinds = [KRAFTCTL, JAVA, JAVA] if kraftctl_leads else [JAVA, KRAFTCTL, KRAFTCTL]
    with mixed_cluster(tmp_path, kinds, brokers=1, settings=replication_for(1)) as cluster:
        leader = make_lead(cluster, KraftctlController if kraftctl_leads else JavaController)
        await_result(partial(have_caught_up, cluster.controllers), "all follow")
        down, running = [each for each in cluster.controllers if each is not leader]
        down.kill()
        await_result(partial(is_silent, leader, down), f"{down.name} is silent")
        to_leader = ["--bootstrap-controller", leader.address]
        for needed in (running, leader):
            if kraftctl_leads:
                tool = ["kafka-metadata-quorum", *to_leader, "remove-controller"]
                result = cluster.tools().run(*tool, *key_flags(needed))
                assert result.exit_code != 0
                assert f"Missing: {down.node_id}:{directory_id(down)} (silent for " in result.output
            refusal = removed(to_leader, needed)
            assert refusal.returncode == 1
            assert "of which 2 are needed" in refusal.stderr
        create_topic(cluster.bootstrap_servers, "written-with-two", partitions=1, replicas=1)

        # A field that Kafka does not know, forwarded by its broker.
        removal = removed(["--bootstrap-server", cluster.bootstrap_servers], down, "--force")
        assert removal.returncode == 0, removal.stderr
        assert directory_id(down) not in voters_line(leader.address)
        create_topic(cluster.bootstrap_servers, "written-without-it", partitions=1, replicas=1)
