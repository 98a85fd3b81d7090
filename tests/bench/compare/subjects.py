"""What is compared: Kafka's own controller with its defaults, the same without linger, kraftctl."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from kraftctl.dev.nodes import (
    START_TIMEOUT_S,
    Controller,
    JavaController,
    KraftctlController,
    quorum_properties,
)
from kraftctl.dev.polling import await_result
from kraftctl.dev.ports import accepts_connections, free_port
from kraftctl.dev.settings import random_id
from tests.support.processes.kafka import kafka

CONTROLLER_ID: Final = 3000

NO_LINGER: Final = {"controller.quorum.append.linger.ms": "0"}
"""Kafka's default is to wait 25 ms for more records before it writes; kraftctl writes immediately and batches
what arrives during a flush."""

JVM_HEAP: Final = "1g"
"""As kafka-server-start.sh sets it. Scenarios that need more say so."""

JVM_OPTIONS: Final = (
    "-Xms1g",
    "-server",
    "-XX:+UseG1GC",
    "-XX:MaxGCPauseMillis=20",
    "-XX:InitiatingHeapOccupancyPercent=35",
    "-XX:+ExplicitGCInvokesConcurrent",
    "-Djava.awt.headless=true",
)
"""As kafka-server-start.sh and kafka-run-class.sh start a node."""


class InstalledJavaController(JavaController):
    """A Java controller with the heap and the collector of an installation.

    It logs warnings only: at INFO it prints a line for each partition, more than its reader keeps up with.
    """

    heap = JVM_HEAP

    def command(self) -> list[str]:
        java, *arguments = self.kafka.command(
            "kafka.Kafka", str(self.properties_file), heap=self.heap, log_level="WARN", quick=False
        )
        return [java, *JVM_OPTIONS, *arguments]

    def await_ready(self, timeout_s: float = START_TIMEOUT_S) -> None:
        await_result(lambda: accepts_connections(self.port), f"{self.name} listens on {self.port}", timeout_s)


@dataclass(frozen=True)
class Identity:
    """Who a controller is in its quorum; alone in it unless there are `voters`."""

    node_id: int = CONTROLLER_ID
    cluster_id: str = field(default_factory=random_id)
    port: int | None = None
    voters: str | None = None
    """As the flag --initial-controllers has them."""
    servers: Mapping[str, str] = field(default_factory=dict)
    """The properties that name all of them."""


@dataclass(frozen=True)
class Subject:
    """One way to run a controller. `create` takes a directory, settings, the heap of a JVM, and who it is."""

    name: str
    label: str
    create: Callable[[Path, Mapping[str, str], str, Identity], Controller]


def identities(count: int) -> list[Identity]:
    """Of the voters of one quorum."""
    if count == 1:
        return [Identity()]
    cluster_id = random_id()
    ports = {CONTROLLER_ID + number: free_port() for number in range(count)}
    voters = ",".join(f"{node_id}@localhost:{port}:{random_id()}" for node_id, port in ports.items())
    servers = quorum_properties(ports, dynamic=True)
    return [Identity(node_id, cluster_id, port, voters, servers) for node_id, port in ports.items()]


def _java(directory: Path, settings: Mapping[str, str], heap: str, identity: Identity) -> Controller:
    controller = InstalledJavaController(
        kafka(),
        identity.node_id,
        directory,
        identity.cluster_id,
        port=identity.port,
        properties={**identity.servers, **settings},
        initial_controllers=identity.voters,
    )
    controller.heap = heap
    return controller


def _java_without_linger(
    directory: Path, settings: Mapping[str, str], heap: str, identity: Identity
) -> Controller:
    return _java(directory, {**settings, **NO_LINGER}, heap, identity)


def _kraftctl(directory: Path, settings: Mapping[str, str], _heap: str, identity: Identity) -> Controller:
    return KraftctlController(
        identity.node_id,
        directory,
        identity.cluster_id,
        port=identity.port,
        properties={**identity.servers, **settings},
        initial_controllers=identity.voters,
    )


JAVA: Final = Subject("java", "Java", _java)
JAVA_LINGER_0: Final = Subject("java-linger-0", "Java, linger 0", _java_without_linger)
KRAFTCTL: Final = Subject("kraftctl", "kraftctl", _kraftctl)
SUBJECTS: Final = (JAVA, JAVA_LINGER_0, KRAFTCTL)
