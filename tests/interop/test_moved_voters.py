"""KIP-853 UpdateRaftVoter between kraftctl and Kafka's own controllers: a voter gets another port."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest

from kraftctl.dev.cluster import Cluster
from kraftctl.dev.nodes import Controller, JavaController, controller_properties, kraftctl_command
from kraftctl.dev.polling import await_result
from kraftctl.dev.ports import free_port
from tests.support.processes.kafka import kafka

pytestmark = pytest.mark.interop

STEP_SECONDS_MAX = 60.0

KINDS = [
    pytest.param(["java", "kraftctl", "kraftctl"], id="java-moves-and-kraftctl-leads"),
    pytest.param(["kraftctl", "java", "java"], id="kraftctl-moves-and-java-leads"),
]


def quorum_of(directory: Path, kinds: Sequence[str]) -> Cluster:
    """A dynamic quorum without brokers."""
    cluster = Cluster(kafka(), directory, brokers=0, controllers=len(kinds))
    for index, kind in enumerate(kinds):
        other = cluster.controllers[index]
        if kind == "java":
            cluster.controllers[index] = JavaController(
                cluster.kafka,
                other.node_id,
                other.directory,
                cluster.cluster_id,
                port=other.port,
                properties=other.properties,
                initial_controllers=other.initial_controllers,
            )
    return cluster


def move(controller: Controller) -> None:
    """The operator changes its listeners and restarts it."""
    controller.port = free_port()
    controller.properties["listeners"] = controller_properties(
        controller.node_id, controller.port, dynamic=True
    )["listeners"]
    controller.start()


def status(asked: Controller) -> str:
    """What the leader says of the quorum, through any of its voters; empty while there is none."""
    command = kraftctl_command("quorum", "--bootstrap-controller", asked.address, "describe", "--status")
    return subprocess.run(command, capture_output=True, text=True, timeout=STEP_SECONDS_MAX).stdout


def leader_among(controllers: Sequence[Controller], asked: Controller) -> Controller | None:
    found = re.search(r"LeaderId:\s+(-?\d+)", status(asked))
    leader_id = -1 if found is None else int(found.group(1))
    return next((each for each in controllers if each.node_id == leader_id), None)


def knows_addresses(cluster: Cluster, asked: Controller) -> bool:
    voters = next((line for line in status(asked).splitlines() if line.startswith("CurrentVoters")), "")
    return all(f"localhost:{controller.port}" in voters for controller in cluster.controllers)


@pytest.mark.parametrize("kinds", KINDS)
def test_a_moved_voter_is_recorded_by_a_leader_of_the_other_kind(tmp_path: Path, kinds: list[str]) -> None:
    """Then it is needed: without a third voter the quorum has a leader only if the other one reaches it."""
    with quorum_of(tmp_path, kinds) as cluster:
        moved, *others = cluster.controllers
        await_result(
            partial(knows_addresses, cluster, others[0]), "the quorum has a leader", STEP_SECONDS_MAX
        )
        moved.kill()
        leader = await_result(partial(leader_among, others, others[0]), "another leads", STEP_SECONDS_MAX)
        move(moved)
        await_result(partial(knows_addresses, cluster, leader), "the log has its address", STEP_SECONDS_MAX)
        remaining = next(other for other in others if other is not leader)
        leader.kill()
        await_result(
            partial(leader_among, [moved, remaining], remaining), "one of the two leads", STEP_SECONDS_MAX
        )
