"""docker-compose.yml describes the cluster of `kraftctl dev`, container by container."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from kraftctl.dev.kafka_distribution import DEFAULT_KAFKA_VERSION
from kraftctl.dev.session import exporter_command
from kraftctl.dev.settings import BROKER_SETTINGS, CONTROLLER_SETTINGS

COMPOSE = yaml.safe_load((Path(__file__).parents[1] / "docker-compose.yml").read_text())
SERVICES = COMPOSE["services"]
BROKERS = ("broker-1", "broker-2", "broker-3")

OF_THE_CONTAINER = {
    "node.id",
    "listeners",
    "advertised.listeners",
    "log.dirs",
    "controller.quorum.bootstrap.servers",
}
"""Keys whose values are addresses and directories, which differ between containers and one machine."""


def kafka_properties(environment: Mapping[str, str]) -> dict[str, str]:
    """The properties that Kafka's image makes of its environment: KAFKA_A_B=x is a.b=x."""
    return {
        name.removeprefix("KAFKA_").lower().replace("_", "."): value
        for name, value in environment.items()
        if name.startswith("KAFKA_") and name != "KAFKA_HEAP_OPTS"
    }


def controller_properties() -> dict[str, str]:
    content: str = COMPOSE["configs"]["controller"]["content"]
    return dict(line.split("=", 1) for line in content.splitlines())


def protocol_map(properties: Mapping[str, str]) -> dict[str, str]:
    return dict(entry.split(":") for entry in properties["listener.security.protocol.map"].split(","))


def settings_only(properties: Mapping[str, str]) -> dict[str, str]:
    """The properties without those that differ in a container."""
    left_out = OF_THE_CONTAINER | {"listener.security.protocol.map"}
    return {key: value for key, value in properties.items() if key not in left_out}


def test_services() -> None:
    assert set(SERVICES) == {"kraftctl", *BROKERS, "exporter"}


@pytest.mark.parametrize("name", BROKERS)
def test_brokers_have_the_settings_of_kraftctl_dev(name: str) -> None:
    properties = kafka_properties(SERVICES[name]["environment"])
    assert settings_only(properties) == settings_only(BROKER_SETTINGS)
    assert protocol_map(properties) == {**protocol_map(BROKER_SETTINGS), "HOST": "PLAINTEXT"}
    assert set(properties) >= OF_THE_CONTAINER


@pytest.mark.parametrize("name", BROKERS)
def test_brokers_are_unmodified_and_apart(name: str) -> None:
    service = SERVICES[name]
    number = name.removeprefix("broker-")
    properties = kafka_properties(service["environment"])
    assert service["image"].partition("@")[0] == f"apache/kafka:{DEFAULT_KAFKA_VERSION}"
    assert properties["node.id"] == number
    assert service["ports"] == [f"127.0.0.1:2909{number}:19092"]
    assert properties["advertised.listeners"] == f"PLAINTEXT://{name}:9092,HOST://localhost:2909{number}"
    assert service["volumes"] == [f"{name}:{properties['log.dirs']}"]
    assert name in COMPOSE["volumes"]


def test_the_controller_has_the_settings_of_kraftctl_dev() -> None:
    properties = controller_properties()
    assert settings_only(properties) == settings_only(CONTROLLER_SETTINGS)
    assert protocol_map(properties) == protocol_map(CONTROLLER_SETTINGS)


def test_everybody_points_at_the_controller() -> None:
    address = controller_properties()["advertised.listeners"].removeprefix("CONTROLLER://")
    assert address == "kraftctl:9090"
    assert controller_properties()["controller.quorum.bootstrap.servers"] == address
    for name in BROKERS:
        properties = kafka_properties(SERVICES[name]["environment"])
        assert properties["controller.quorum.bootstrap.servers"] == address
    command = SERVICES["exporter"]["command"]
    assert command[command.index("--bootstrap-controllers") + 1] == address


def test_one_cluster_id() -> None:
    ids = {SERVICES[name]["environment"]["CLUSTER_ID"] for name in BROKERS}
    assert len(ids) == 1
    assert f"--cluster-id {ids.pop()} " in SERVICES["kraftctl"]["command"][-1]


def test_the_exporter_is_started_as_by_kraftctl_dev() -> None:
    options = [
        word for word in exporter_command("kraftctl:9090", Path("/export/metadata")) if word[:2] == "--"
    ]
    assert [word for word in SERVICES["exporter"]["command"] if word[:2] == "--"] == options
