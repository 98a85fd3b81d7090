"""The steps of docs/operations/move-from-kafka.md: a quorum moves to kraftctl voter by voter, and back."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest

from kraftctl.dev.cluster import Cluster
from kraftctl.dev.nodes import (
    Controller,
    JavaController,
    KraftctlController,
    kraftctl_command,
    quorum_properties,
)
from tests.support.processes.cluster import await_live, metadata_records
from tests.support.processes.kafka import await_result, kafka
from tests.support.processes.steady_clients import SteadyClients

pytestmark = pytest.mark.interop

LAG_MAX = 20
"""Records that clients of this test write while a voter is asked."""

STEP_TIMEOUT_S = 60.0

NewController = Callable[[Cluster, Controller], Controller]


def kraftctl_in_place_of(cluster: Cluster, other: Controller) -> Controller:
    """The same directory, with everything in it, and the same properties."""
    return KraftctlController(
        other.node_id,
        other.directory,
        cluster.cluster_id,
        dynamic=cluster.dynamic,
        port=other.port,
        properties=quorum_properties(cluster.controller_ports, dynamic=cluster.dynamic),
    )


def java_in_place_of(cluster: Cluster, other: Controller) -> Controller:
    """The same directory, with everything in it, and the same properties."""
    return JavaController(
        cluster.kafka,
        other.node_id,
        other.directory,
        cluster.cluster_id,
        dynamic=cluster.dynamic,
        port=other.port,
        properties=quorum_properties(cluster.controller_ports, dynamic=cluster.dynamic),
    )


@dataclass(frozen=True)
class Replica:
    """A row of `describe --replication`. Replicas are equal if the rows say the same, apart from offsets."""

    node_id: int
    directory_id: str
    status: str
    lag: int = field(compare=False)


def replicas(output: str) -> list[Replica]:
    """The rows of `describe --replication`; none while there is no leader."""
    rows = [line.split() for line in output.splitlines()]
    return [Replica(int(row[0]), row[1], row[-1], int(row[3])) for row in rows if row and row[0].isdigit()]


def have_caught_up(cluster: Cluster) -> list[Replica] | None:
    """The voters, if there is a leader, the others are close behind it, and both tools say the same."""
    arguments = ("--bootstrap-server", cluster.bootstrap_servers, "describe", "--replication")
    ours = subprocess.run(kraftctl_command("quorum", *arguments), capture_output=True, text=True, timeout=60)
    theirs = cluster.tools().run("kafka-metadata-quorum", *arguments)
    described = replicas(theirs.output)
    voters = [replica for replica in described if replica.status in ("Leader", "Follower")]
    is_complete = len(voters) == len(cluster.controllers) and all(voter.lag <= LAG_MAX for voter in voters)
    return voters if is_complete and replicas(ours.stdout) == described else None


def move(
    cluster: Cluster, clients: SteadyClients, new_controller: NewController, *, count: int = 3
) -> set[type[Controller]]:
    """So many voters, followers first, so that the leader changes once. Returns the kinds that have led."""
    moved: set[int] = set()
    led: set[type[Controller]] = set()
    while len(moved) < count:
        voters = await_result(partial(have_caught_up, cluster), "all voters have caught up", STEP_TIMEOUT_S)
        assert voters is not None
        voters.sort(key=lambda voter: voter.status == "Leader")
        controllers = {controller.node_id: controller for controller in cluster.controllers}
        led.add(type(controllers[voters[-1].node_id]))
        old = controllers[next(voter.node_id for voter in voters if voter.node_id not in moved)]
        old.stop()
        new = new_controller(cluster, old)
        cluster.controllers[cluster.controllers.index(old)] = new
        new.start()
        clients.await_progress(STEP_TIMEOUT_S)
        moved.add(new.node_id)
    return led


def has_every_topic(controller: Controller, clients: SteadyClients) -> bool:
    """The acknowledged topics are in its own log, as Kafka reads it."""
    records = metadata_records(controller.metadata_directory)
    return clients.configured.keys() <= {
        record.data["name"] for record in records if record.type == "TOPIC_RECORD"
    }


@pytest.mark.parametrize(
    "dynamic",
    [pytest.param(True, id="dynamic"), pytest.param(False, id="static", marks=pytest.mark.long)],
)
def test_a_quorum_moves_to_kraftctl_and_back(tmp_path: Path, dynamic: bool) -> None:
    with (
        Cluster(kafka(), tmp_path, controllers=3, java_controller=True, dynamic=dynamic) as cluster,
        SteadyClients(cluster.bootstrap_servers) as clients,
    ):
        clients.await_progress()
        led = move(cluster, clients, kraftctl_in_place_of) | move(cluster, clients, java_in_place_of)
        assert led == {JavaController, KraftctlController}
        move(cluster, clients, kraftctl_in_place_of, count=1)
        clients.check()
        await_live(cluster, {1, 2, 3})
        for controller in cluster.controllers:
            await_result(
                partial(has_every_topic, controller, clients), f"{controller.name} has every topic", 30.0
            )
        print(f"{len(clients.produced)} records and {len(clients.configured)} topics acknowledged")
