"""`kraftctl console` beside real brokers, with three controllers of kraftctl and three of Kafka."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest
from confluent_kafka.admin import NewTopic

from kraftctl.dev.cluster import Cluster
from kraftctl.dev.nodes import Controller, kraftctl_command
from kraftctl.dev.polling import await_result
from kraftctl.dev.ports import free_port
from kraftctl.dev.processes import ManagedProcess
from kraftctl.metadata.features import metadata_version_from_string
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.alter_partition_reassignments_request import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from kraftctl_protocol.generated.alter_partition_reassignments_response import (
    AlterPartitionReassignmentsResponse,
)
from kraftctl_protocol.generated.controller_registration_request import (
    ControllerRegistrationRequest,
    Feature,
    Listener,
)
from kraftctl_protocol.generated.controller_registration_response import ControllerRegistrationResponse
from tests.support.console_screen import check_screens
from tests.support.processes.clients import admin_client
from tests.support.processes.kafka import kafka
from tests.support.processes.mixed_quorum import await_leader
from tests.support.wire.controller_client import ControllerClient

pytestmark = [
    pytest.mark.interop,
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.timeout(280),
]

GHOST_ID = 3009
SECONDS_MAX = 90.0
RELEASE = "4.1-IV1"
"""A level below the highest, so that the ghost keeps it from being raised."""
LEVEL = metadata_version_from_string(RELEASE) or 0

OF_BROKERS = (
    "solo-0 has no leader",
    "Broker 3 is fenced",
    "The reassignment of orders-0 is stuck",
    f"Controller {GHOST_ID} is a ghost",
)

PICTURES = os.environ.get("KRAFTCTL_CONSOLE_PICTURES")
"""A directory for the pictures that docs/images has."""


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(False, id="kraftctl"),
        pytest.param(True, id="java", marks=pytest.mark.long),
    ],
)
def cluster(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Three controllers and three brokers, one of which has the only replica of a topic."""
    made = Cluster(
        kafka(),
        tmp_path_factory.mktemp("console"),
        brokers=3,
        controllers=3,
        java_controller=request.param,
        release_version=RELEASE,
    )
    if not request.param:
        for controller in made.controllers:
            controller.properties["kraftctl.operate.listeners"] = f"http://127.0.0.1:{free_port()}"
    with made:
        topics = [
            NewTopic("solo", 1, replica_assignment=[[3]]),
            NewTopic("orders", 2, replica_assignment=[[1, 2], [2, 1]]),
        ]
        admin = admin_client(made.bootstrap_servers)
        for created in admin.create_topics(topics).values():
            created.result(20)
        yield made


def register_ghost(client: ControllerClient) -> None:
    """Registers a controller that does not run."""
    request = ControllerRegistrationRequest(
        controller_id=GHOST_ID,
        incarnation_id=bytes([9]) * 16,
        listeners=[Listener(name="CONTROLLER", host="localhost", port=9, security_protocol=0)],
        features=[
            Feature(name="metadata.version", min_supported_version=7, max_supported_version=LEVEL),
            Feature(name="kraft.version", min_supported_version=0, max_supported_version=1),
            Feature(name="group.version", min_supported_version=0, max_supported_version=1),
            Feature(name="transaction.version", min_supported_version=0, max_supported_version=2),
            Feature(
                name="eligible.leader.replicas.version", min_supported_version=0, max_supported_version=1
            ),
        ],
    )
    assert client.call(request, 0, ControllerRegistrationResponse).error_code == Errors.NONE


def reassign_to_dead(client: ControllerClient) -> None:
    """Moves orders-0 to a broker that is dead."""
    partition = ReassignablePartition(partition_index=0, replicas=[3, 1])
    request = AlterPartitionReassignmentsRequest(
        topics=[ReassignableTopic(name="orders", partitions=[partition])]
    )
    response = client.call(request, 0, AlterPartitionReassignmentsResponse)
    assert response.responses[0].partitions[0].error_code == Errors.NONE


def console_command(cluster: Cluster, port: int) -> list[str]:
    arguments = [
        "--bootstrap-controllers",
        cluster.bootstrap_controllers,
        "--listen",
        f"http://127.0.0.1:{port}",
    ]
    listeners = [each.properties.get("kraftctl.operate.listeners") for each in cluster.controllers]
    operated = [each for each in listeners if each is not None]
    return kraftctl_command("console", *arguments, *(["--operate", *operated] if operated else []))


def test_the_first_screen_names_all_five_troubles(cluster: Cluster, tmp_path: Path) -> None:
    leader = await_leader(cluster.controllers)
    lagging = next(each for each in cluster.controllers if each is not leader)
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    console = ManagedProcess("console", console_command(cluster, port), tmp_path / "console.log")
    try:
        console.await_line("has the console, until", 30.0)
        await_result(lambda: troubles(url) == [], "nothing is wrong", SECONDS_MAX)
        cluster.broker(3).kill()
        with ControllerClient(leader.port) as client:
            register_ghost(client)
            reassign_to_dead(client)
        lagging.pause()
        wanted = [*OF_BROKERS, f"Controller {lagging.node_id} is a voter, and"]
        await_result(lambda: all_named(url, wanted), "all five are named", SECONDS_MAX)
        pictures = None if PICTURES is None or is_java(leader) else Path(PICTURES)
        check_screens(url, tmp_path, wanted, pictures)
        check_figures(url, leader, lagging)
    finally:
        lagging.resume()
        console.terminate()
    text = (tmp_path / "console.log").read_text()
    assert "Traceback" not in text


def is_java(controller: Controller) -> bool:
    return controller.NAME_PREFIX.startswith("java")


def picture(url: str) -> dict:
    found: dict = json.loads(urlopen(f"{url}/picture.json", timeout=10.0).read())
    return found


def troubles(url: str) -> list[str] | None:
    """The statements of the picture; None until the log is read and the leader is asked."""
    found = picture(url)
    if "troubles" not in found or found["quorum"]["leader_id"] is None:
        return None
    return [each["text"] for each in found["troubles"]]


def all_named(url: str, wanted: list[str]) -> bool:
    found = troubles(url) or []
    return all(any(each in text for text in found) for each in wanted)


def check_figures(url: str, leader: Controller, lagging: Controller) -> None:
    """Checks what is in the picture besides."""
    found = picture(url)
    roles = {each["id"]: each["role"] for each in found["quorum"]["controllers"]}
    assert (roles[leader.node_id], roles[lagging.node_id], roles[GHOST_ID]) == ("leader", "voter", "ghost")
    (first, *_) = found["brokers"]
    assert (first["id"], first["state"]) == (3, "fenced")
    assert f"controller {GHOST_ID}" in found["upgrade"][0]["because"][0]
    assert found["log"]["behind"] < 100
    if not is_java(leader):
        status = next(each for each in found["quorum"]["controllers"] if each["id"] == leader.node_id)
        assert status["flush_p99_ms"] is not None
        assert status["version"].startswith("kraftctl ")
