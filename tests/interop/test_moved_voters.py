"""KIP-853 UpdateRaftVoter between kraftctl and Kafka's own controllers: a voter gets another port."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from kraftctl.dev.cluster import Cluster
from kraftctl.dev.nodes import Controller, controller_properties
from kraftctl.dev.polling import await_result
from kraftctl.dev.ports import free_port
from tests.support.processes.mixed_quorum import JAVA, KRAFTCTL, await_leader, mixed_cluster, voters_line

pytestmark = pytest.mark.interop

STEP_SECONDS_MAX = 60.0

KINDS = [
    pytest.param([JAVA, KRAFTCTL, KRAFTCTL], id="java-moves-and-kraftctl-leads", marks=pytest.mark.long),
    pytest.param([KRAFTCTL, JAVA, JAVA], id="kraftctl-moves-and-java-leads"),
]


def move(controller: Controller) -> None:
    """The operator changes its listeners and restarts it."""
    controller.port = free_port()
    controller.properties["listeners"] = controller_properties(
        controller.node_id, controller.port, dynamic=True
    )["listeners"]
    controller.start()


def knows_addresses(cluster: Cluster, asked: Controller) -> bool:
    voters = voters_line(asked.address)
    return all(f"localhost:{controller.port}" in voters for controller in cluster.controllers)


@pytest.mark.parametrize("kinds", KINDS)
def test_a_moved_voter_is_recorded_by_a_leader_of_the_other_kind(tmp_path: Path, kinds: list[str]) -> None:
    """Then it is needed: without a third voter the quorum has a leader only if the other one reaches it."""
    with mixed_cluster(tmp_path, kinds) as cluster:
        moved, *others = cluster.controllers
        await_result(
            partial(knows_addresses, cluster, others[0]), "the quorum has a leader", STEP_SECONDS_MAX
        )
        moved.kill()
        leader = await_leader(others)
        move(moved)
        await_result(partial(knows_addresses, cluster, leader), "the log has its address", STEP_SECONDS_MAX)
        remaining = next(other for other in others if other is not leader)
        leader.kill()
        await_leader([moved, remaining])
