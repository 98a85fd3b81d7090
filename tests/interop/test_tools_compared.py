"""kafka-features, kafka-cluster and kafka-storage beside kraftctl's commands, on the same running cluster."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from kraftctl.dev.settings import replication_for
from tests.support.processes.called_command import call_command
from tests.support.processes.java_tools import JavaTools
from tests.support.processes.kafka import Cluster, kafka

pytestmark = [pytest.mark.interop, pytest.mark.slow]

DOORS = ("--bootstrap-server", "--bootstrap-controller")


@dataclass
class Compared:
    """A cluster of one controller and one broker, and Kafka's tools of its release."""

    cluster: Cluster
    java_tools: JavaTools

    def answers(self, tool: str, *arguments: str) -> tuple[tuple[int, str], tuple[int, str]]:
        """Returns status and output of Kafka's tool, then of kraftctl."""
        placed = self._placed(arguments)
        return steady(*self.java_tools.run(tool, *placed)), self.ours(tool, *arguments)

    def ours(self, tool: str, *arguments: str) -> tuple[int, str]:
        called = call_command(tool.removeprefix("kafka-"), *self._placed(arguments))
        return steady(called.status, called.output)

    def _placed(self, arguments: tuple[str, ...]) -> list[str]:
        places = {
            "SERVERS": self.cluster.bootstrap_servers,
            "CONTROLLERS": self.cluster.bootstrap_controllers,
            "FILE": str(self.cluster.controllers[0].properties_file),
        }
        return [places.get(argument, argument) for argument in arguments]


def steady(status: int, output: str) -> tuple[int, str]:
    """Without the offset of the last record, which grows, and with the name of a level that 4.3 lacks."""
    named = output.replace("UNKNOWN 33", "4.4-IV2   ")
    return status, re.sub(r"Epoch: \d+", "Epoch: N", named)


@pytest.fixture(
    scope="module",
    params=[
        pytest.param((False, "4.3.1"), id="kraftctl"),
        pytest.param((True, "4.3.1"), id="java", marks=pytest.mark.long),
        pytest.param((True, "4.4.0"), id="java-4.4", marks=pytest.mark.long),
    ],
)
def compared(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Compared]:
    java, version = request.param
    with (
        Cluster(
            kafka(version),
            tmp_path_factory.mktemp("tools"),
            brokers=1,
            java_controller=java,
            release_version="4.3",
            controller_settings=replication_for(1),
            broker_settings=replication_for(1),
        ) as cluster,
        JavaTools(kafka(version)) as java_tools,
    ):
        yield Compared(cluster, java_tools)


READS = """
kafka-features describe
kafka-features describe --node-id NODE
kafka-features upgrade --feature group.version=1 --dry-run
kafka-features upgrade --feature metadata.version=99 --dry-run
kafka-features upgrade --feature group.version=9
kafka-features upgrade --feature unknown.version=1
kafka-features upgrade --release-version 4.3 --dry-run
kafka-features downgrade --feature metadata.version=29 --dry-run
kafka-features downgrade --feature metadata.version=7 --unsafe --dry-run
kafka-features downgrade --feature group.version=0 --dry-run
kafka-features disable --feature share.version --dry-run
kafka-features disable --feature unknown.version --dry-run
kafka-cluster cluster-id
kafka-cluster list-endpoints
kafka-cluster unregister --id 77
"""


@pytest.mark.parametrize("door", DOORS)
def test_calls_that_change_nothing(compared: Compared, door: str) -> None:
    at_broker = door == DOORS[0]
    connection = (door, "SERVERS" if at_broker else "CONTROLLERS")
    for row in READS.strip().splitlines():
        tool, operation, *flags = row.replace("NODE", "1" if at_broker else "3000").split()
        words = (
            [operation, *flags, *connection] if tool == "kafka-cluster" else [*connection, operation, *flags]
        )
        kafkas, ours = compared.answers(tool, *words)
        assert (row, ours) == (row, kafkas)


def test_storage_info_of_a_running_controller(compared: Compared) -> None:
    kafkas, ours = compared.answers("kafka-storage", "info", "-c", "FILE")
    assert ours == kafkas
    assert ours[0] == 0


def test_a_level_is_lowered_and_raised_by_either_tool(compared: Compared) -> None:
    down, up = ("downgrade", "--feature", "group.version=0"), ("upgrade", "--feature", "group.version=1")
    connection = ("--bootstrap-controller", "CONTROLLERS")
    lowered, raised = (0, "group.version was downgraded to 0.\n"), (0, "group.version was upgraded to 1.\n")
    assert compared.ours("kafka-features", *connection, *down) == lowered
    kafkas, ours = compared.answers("kafka-features", *connection, "describe")
    assert ours == kafkas
    placed = ("--bootstrap-controller", compared.cluster.bootstrap_controllers)
    assert compared.java_tools.run("kafka-features", *placed, *up) == raised
    assert compared.java_tools.run("kafka-features", *placed, *down) == lowered
    assert compared.ours("kafka-features", *connection, *up) == raised


def test_a_broker_that_has_stopped(compared: Compared) -> None:
    """It is the last test: this broker is unregistered."""
    controllers = ("--bootstrap-controller", "CONTROLLERS")
    compared.cluster.brokers[0].stop()
    assert compared.ours("kafka-cluster", "unregister", *controllers, "-i", "1") == (
        0,
        "Broker 1 is no longer registered.\n",
    )
    kafkas, ours = compared.answers("kafka-cluster", "unregister", *controllers, "-i", "1")
    assert ours == kafkas == (1, "")
