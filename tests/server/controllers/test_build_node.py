"""What a controller that is built from its properties registers about itself."""

from __future__ import annotations

import asyncio
import logging
import random
import re
import socket
from pathlib import Path

import pytest

from kraftctl.cli import main
from kraftctl.config.controller_config import ControllerConfig
from kraftctl.dev.polling import await_result
from kraftctl.server.controller_server import build_node, run_controller
from kraftctl.storage.meta_properties import read_meta_properties
from kraftctl_protocol.generated.describe_cluster_request import DescribeClusterRequest
from kraftctl_protocol.generated.describe_cluster_response import DescribeClusterResponse
from kraftctl_protocol.generated.register_controller_record import RegisterControllerRecord
from kraftctl_protocol.meta_properties import MetaProperties
from kraftctl_protocol.uuids import random_uuid
from tests.support.partitions import open_partition
from tests.support.wire.controller_client import ControllerClient

PROPERTIES = {
    "process.roles": "controller",
    "node.id": "1",
    "controller.listener.names": "CONTROLLER",
    "controller.quorum.bootstrap.servers": "localhost:9093",
}
PLAINTEXT = 0
CONTROLLERS = 2
"""`endpoint_type` of DescribeCluster."""

BOUND_PORT = 40_000
HERE = socket.getfqdn()


def registered(tmp_path: Path, properties: dict[str, str]) -> RegisterControllerRecord:
    """The registration that the node would send right after construction."""
    config = ControllerConfig(PROPERTIES | {"log.dirs": str(tmp_path)} | properties)
    meta = MetaProperties("MkU3OEVBNTcwNTJENDM2Qg", 1, random_uuid(random.Random(1)))
    partition = open_partition(tmp_path)
    bound_ports = {endpoint.listener: endpoint.port or BOUND_PORT for endpoint in config.listeners}
    try:
        node = build_node(config, meta, partition, bound_ports, random.Random(1), HERE)
    finally:
        partition.close()
    record = node.controller.own_registration.to_record().record
    assert isinstance(record, RegisterControllerRecord)
    return record


@pytest.mark.parametrize(
    ("properties", "advertised"),
    [
        pytest.param(
            {"listeners": "CONTROLLER://:9093"}, {"CONTROLLER": (HERE, 9093)}, id="wildcard-is-this-machine"
        ),
        pytest.param(
            {"listeners": "CONTROLLER://0.0.0.0:9093"},
            {"CONTROLLER": (HERE, 9093)},
            id="wildcard-in-digits",
        ),
        pytest.param(
            {"listeners": "CONTROLLER://10.0.0.1:9093"},
            {"CONTROLLER": ("10.0.0.1", 9093)},
            id="the-bound-address",
        ),
        pytest.param(
            {"listeners": "CONTROLLER://:9093", "advertised.listeners": "CONTROLLER://c1.example.org:19093"},
            {"CONTROLLER": ("c1.example.org", 19093)},
            id="advertised",
        ),
        pytest.param(
            {"listeners": "CONTROLLER://10.0.0.1:0"},
            {"CONTROLLER": ("10.0.0.1", BOUND_PORT)},
            id="port-0-is-the-one-bound",
        ),
        pytest.param(
            {"listeners": "CONTROLLER://:0", "controller.quorum.voters": "1@c1.example.org:9093"},
            {"CONTROLLER": ("c1.example.org", 9093)},
            id="port-0-of-a-static-voter",
        ),
        pytest.param(
            {
                "controller.listener.names": "CONTROLLER,INSIDE",
                "listeners": "INSIDE://:9094,CONTROLLER://10.0.0.1:9093",
                "advertised.listeners": "INSIDE://c1.example.org:19094",
                "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,INSIDE:PLAINTEXT",
            },
            {"CONTROLLER": ("10.0.0.1", 9093), "INSIDE": ("c1.example.org", 19094)},
            id="several-listeners",
        ),
        pytest.param(
            {
                "controller.listener.names": "CONTROLLER,INSIDE",
                "listeners": "CONTROLLER://:9093,INSIDE://:9094",
                "controller.quorum.voters": "1@c1.example.org:9093",
                "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,INSIDE:PLAINTEXT",
            },
            {"CONTROLLER": ("c1.example.org", 9093), "INSIDE": (HERE, 9094)},
            id="several-wildcards-of-a-static-voter",
        ),
    ],
)
def test_the_registration_names_the_advertised_endpoints_from_construction(
    tmp_path: Path, properties: dict[str, str], advertised: dict[str, tuple[str, int]]
) -> None:
    """Tools connect to what is registered: for a wildcard it is this machine's name, never localhost."""
    listeners = registered(tmp_path, properties).end_points
    assert {listener.name: (listener.host, listener.port) for listener in listeners} == advertised
    assert {listener.security_protocol for listener in listeners} == {PLAINTEXT}


class BoundPort(logging.Handler):
    """Finds the port in a controller's log line."""

    def __init__(self) -> None:
        super().__init__()
        self.known: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    def emit(self, record: logging.LogRecord) -> None:
        found = re.search(r"Awaiting socket connections .*\(port ([0-9]+)\)", record.getMessage())
        if found is not None and not self.known.done():
            self.known.set_result(int(found[1]))


async def test_a_controller_on_port_0_registers_the_port_that_it_was_given(tmp_path: Path) -> None:
    properties = PROPERTIES | {"log.dirs": str(tmp_path / "data"), "listeners": "CONTROLLER://localhost:9093"}
    file = tmp_path / "controller.properties"
    file.write_text("".join(f"{key}={value}\n" for key, value in properties.items()))
    assert main(["format", "--standalone", "-t", "MkU3OEVBNTcwNTJENDM2Qg", "-c", str(file)]) == 0
    meta = read_meta_properties(tmp_path / "data")
    assert meta is not None
    config = ControllerConfig(properties | {"listeners": "CONTROLLER://localhost:0"})

    async def run() -> tuple[int, int]:
        bound, stop = BoundPort(), asyncio.Event()
        log = logging.getLogger("kraftctl.server.listener")
        log.addHandler(bound)
        level = log.level
        log.setLevel(logging.INFO)
        serving = asyncio.create_task(run_controller(config, meta, stop))
        try:
            port = await asyncio.wait_for(bound.known, 20.0)
            registered_at = await asyncio.to_thread(registered_port, port)
        finally:
            log.setLevel(level)
            log.removeHandler(bound)
            stop.set()
            await serving
        return port, registered_at

    port, registered_at = await run()
    assert port != 0
    assert registered_at == port


def registered_port(port: int) -> int:
    """The port that tools see, once the registration is in the log."""
    request = DescribeClusterRequest(endpoint_type=CONTROLLERS)

    def known() -> int | None:
        answer = client.call(request, 1, DescribeClusterResponse)
        return answer.brokers[0].port if answer.brokers else None

    with ControllerClient(port) as client:
        return await_result(known, "the controller is registered", 20.0)
