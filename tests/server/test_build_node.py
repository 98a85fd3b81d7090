"""What a controller that is built from its properties tells others about itself."""

from __future__ import annotations

import random
import socket
from pathlib import Path

import pytest

from kraftctl.config import ControllerConfig
from kraftctl.server.controller_server import build_node
from kraftctl.storage.meta_properties import MetaProperties
from kraftctl.storage.metadata_partition import MetadataPartition
from kraftctl_protocol.generated.register_controller_record import RegisterControllerRecord
from kraftctl_protocol.uuids import random_uuid

PROPERTIES = {
    "process.roles": "controller",
    "node.id": "1",
    "controller.listener.names": "CONTROLLER",
    "controller.quorum.bootstrap.servers": "localhost:9093",
}
PLAINTEXT = 0
HERE = socket.getfqdn()


def registered(tmp_path: Path, properties: dict[str, str]) -> RegisterControllerRecord:
    """What the log would know about the node as it is right after construction."""
    config = ControllerConfig(PROPERTIES | {"log.dirs": str(tmp_path)} | properties)
    meta = MetaProperties("MkU3OEVBNTcwNTJENDM2Qg", 1, random_uuid(random.Random(1)))
    partition = MetadataPartition.open(tmp_path)
    try:
        node = build_node(config, meta, partition)
    finally:
        partition.close()
    record = node._controller.own_registration.to_record().record
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
    """Tools connect to what is registered: behind a wildcard it is this machine's name, never localhost."""
    listeners = registered(tmp_path, properties).end_points
    assert {listener.name: (listener.host, listener.port) for listener in listeners} == advertised
    assert {listener.security_protocol for listener in listeners} == {PLAINTEXT}
