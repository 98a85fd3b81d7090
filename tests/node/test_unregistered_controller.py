"""KIP-1312: who is gone stays forgotten, who is alive registers again, and no snapshot has a trace of it."""

from __future__ import annotations

import pytest

from kraftctl.metadata import features
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.unregister_controller_request import UnregisterControllerRequest
from kraftctl_protocol.generated.unregister_controller_response import UnregisterControllerResponse
from tests.support.simulator.cluster.cluster import Cluster
from tests.support.simulator.cluster.direct_client import DirectClient
from tests.support.simulator.cluster.process import ControllerProcess
from tests.support.simulator.cluster.three_nodes import NODE_IDS

WITHIN_MS = 20_000


def at_level_33() -> Cluster:
    return Cluster(1, NODE_IDS, dynamic=True, metadata_version=features.LATEST_PRODUCTION)


def registered(process: ControllerProcess) -> list[int]:
    return sorted(process.controller.image.cluster.controllers)


def all_know(cluster: Cluster, ids: list[int]) -> bool:
    return all(registered(process) == ids for process in cluster.running())


def unregister(cluster: Cluster, controller_id: int) -> Errors:
    client = DirectClient(cluster.await_active())
    request_id = client.send(UnregisterControllerRequest(controller_id=controller_id))
    cluster.run_until(lambda: request_id in client.answers, WITHIN_MS, "a response", 5)
    response = client.answers[request_id]
    assert isinstance(response, UnregisterControllerResponse)
    return Errors(response.error_code)


@pytest.mark.parametrize("snapshot", [False, True], ids=["by-the-log", "by-snapshots"])
def test_a_controller_that_is_gone_stays_forgotten(snapshot: bool) -> None:
    cluster, everybody = at_level_33(), sorted(NODE_IDS)
    with cluster.files.attach():
        cluster.start()
        cluster.run_until(lambda: all_know(cluster, everybody), WITHIN_MS, "all have registered")
        active = cluster.await_active()
        gone = next(process for process in cluster.running() if process is not active)
        gone.lose_power()
        left = [node_id for node_id in everybody if node_id != gone.node_id]
        assert unregister(cluster, gone.node_id) == Errors.NONE
        assert unregister(cluster, gone.node_id) == Errors.CONTROLLER_ID_NOT_REGISTERED
        cluster.run_until(lambda: all_know(cluster, left), WITHIN_MS, "those that are left have forgotten it")
        if snapshot:
            for process in cluster.running():
                process.make_snapshot_due()
            cluster.run_for(5_000)
        for process in cluster.running():
            process.lose_power()
            process.start()
        cluster.await_active()
        cluster.run_until(lambda: all_know(cluster, left), WITHIN_MS, "they still have")


def test_a_live_voter_registers_again() -> None:
    """As in Kafka 4.4, which does not ask whether the controller votes."""
    cluster, everybody = at_level_33(), sorted(NODE_IDS)
    with cluster.files.attach():
        cluster.start()
        cluster.run_until(lambda: all_know(cluster, everybody), WITHIN_MS, "all have registered")
        active = cluster.await_active()
        assert unregister(cluster, active.node_id) == Errors.INVALID_REQUEST
        voter = next(process for process in cluster.running() if process is not active)
        assert unregister(cluster, voter.node_id) == Errors.NONE
        cluster.run_until(lambda: all_know(cluster, everybody), WITHIN_MS, "it has registered again")
