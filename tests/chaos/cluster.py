"""Three controllers and brokers of Apache Kafka, with a proxy before each node; kraftctl on lying disks."""

from __future__ import annotations

import random
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from kraftctl.config.controller_config import STANDARD_AUTHORIZER
from kraftctl.dev.nodes import (
    BROKER_READY,
    Controller,
    JavaBroker,
    JavaController,
    KraftctlController,
    Node,
    quorum_properties,
)
from kraftctl.dev.ports import accepts_connections, free_port
from kraftctl.dev.settings import BROKER_LISTENER, CONTROLLER_LISTENER, random_id
from tests.chaos.clocks import WallClock, build_clock
from tests.chaos.finding import FindError
from tests.chaos.links import CLIENTS, Link, Network
from tests.support.file_states import Aftermath
from tests.support.lying_disk.lying_disk import LyingDisk, build_shim
from tests.support.processes.kafka import kafka

FIRST_CONTROLLER_ID = 3000
SIZE = 3

KRAFTCTL, KAFKA = "kraftctl", "kafka"
"""What the controllers are."""

AUTHORIZER = {"authorizer.class.name": STANDARD_AUTHORIZER, "super.users": "User:ANONYMOUS"}
"""ACLs can be changed, and apply to no client."""

CONTROLLER_CHAOS = {
    **AUTHORIZER,
    "broker.session.timeout.ms": "6000",
    "internal.metadata.log.segment.bytes": "8000",
    "metadata.log.max.record.bytes.between.snapshots": "12000",
    "metadata.max.retention.bytes": "2000000",
}
"""Brokers are fenced, segments roll and snapshots are written within seconds. The log is cut within minutes,
and not to the newest snapshot: those of the last second are kept for the reader, at 140 kB each after 30,000
records."""

BROKER_CHAOS = {
    **AUTHORIZER,
    "broker.heartbeat.interval.ms": "1000",
    "broker.session.timeout.ms": "6000",
    "replica.lag.time.max.ms": "5000",
    "replica.socket.timeout.ms": "5000",
    "controller.socket.timeout.ms": "5000",
    "unclean.leader.election.enable": "false",
}
"""Replicas leave ISRs within seconds."""

BROKER_HEAP = "512m"

WITHOUT_BROKERS = {"broker.session.timeout.ms": "600000"}
"""Stand-ins register once and send no more heartbeats."""


class ChaosCluster:
    """Nodes are named as in `Node.name`, in links too. `down` are those that a fault has ended."""

    def __init__(self, kind: str, brokers_count: int, directory: Path, planted: str = "") -> None:
        """`planted` are lines of Python that run before each kraftctl, to change it."""
        self.cluster_id = random_id()
        self.down: set[Node] = set()
        self.disks: dict[Node, LyingDisk] = {}
        self.clocks: dict[Node, WallClock] = {}
        self.spared: set[Node] = set()
        """Controllers that are asked for no records, so that nothing waits in them that is not committed."""
        self._directory = directory
        ids = range(FIRST_CONTROLLER_ID, FIRST_CONTROLLER_ID + SIZE)
        proxies = {node_id: free_port() for node_id in ids}
        self.directory_ids = {node_id: random_id() for node_id in ids}
        voters = ",".join(f"{one}@localhost:{proxies[one]}:{self.directory_ids[one]}" for one in ids)
        quorum = quorum_properties(proxies, dynamic=True)
        settings = CONTROLLER_CHAOS if brokers_count else {**CONTROLLER_CHAOS, **WITHOUT_BROKERS}
        self.proxy_ports = proxies
        self.controllers = [
            controller_of(
                kind,
                node_id,
                directory / f"controller-{node_id}",
                self.cluster_id,
                {
                    **quorum,
                    **settings,
                    "advertised.listeners": f"{CONTROLLER_LISTENER}://localhost:{proxies[node_id]}",
                },
                voters,
            )
            for node_id in ids
        ]
        if planted:
            start = f"import sys\n{planted}\nfrom kraftctl.cli import main\nsys.exit(main())"
            for controller in self.controllers:
                command = [sys.executable, "-c", start, "start", str(controller.properties_file)]
                setattr(controller, "command", partial(list, command))  # noqa: B010 - an instance's own command
        self.brokers: list[JavaBroker] = []
        for node_id in range(1, brokers_count + 1):
            proxies[node_id] = free_port()
            properties = {
                **BROKER_CHAOS,
                "advertised.listeners": f"{BROKER_LISTENER}://localhost:{proxies[node_id]}",
            }
            home = directory / f"broker-{node_id}"
            self.brokers.append(
                JavaBroker(
                    kafka(), node_id, home, self.cluster_id, quorum, properties=properties, heap=BROKER_HEAP
                )
            )
        self.nodes: list[Node] = [*self.controllers, *self.brokers]
        self.bootstrap_servers = ",".join(f"localhost:{proxies[node.node_id]}" for node in self.brokers)
        self.network = Network({node.node_id: node.name for node in self.nodes})
        for node in self.nodes:
            self.network.add(node.name, proxies[node.node_id], node.port)

    def start(self) -> None:
        """Formats and starts everything; returns when every broker serves."""
        shim, clock_shim = build_shim(self._directory), build_clock(self._directory)
        for controller in self.controllers:
            controller.format()
            if isinstance(controller, KraftctlController):
                disk = LyingDisk(shim, controller.log_directory)
                controller.environment = disk.environment
                self.disks[controller] = disk
            clock = WallClock(clock_shim, controller.directory / "clock", controller.environment)
            controller.environment = clock.environment
            self.clocks[controller] = clock
            controller.start(wait=False)
        for controller in self.controllers:
            controller.await_ready()
        for broker in self.brokers:
            broker.format()
            broker.start(wait=False)
        for broker in self.brokers:
            broker.await_ready()

    def controller(self, node_id: int) -> Controller:
        return self.controllers[node_id - FIRST_CONTROLLER_ID]

    def kill(self, nodes: Sequence[Node]) -> None:
        """kill -9 of all, as close to simultaneous as possible."""
        self.down.update(nodes)
        for node in nodes:
            if node.process is not None:
                node.process.kill_group()
        for node in nodes:
            node.kill()

    def restart(self, node: Node) -> None:
        """After its process has ended; returns before it is ready."""
        if node in self.disks:
            self.disks[node].settle()
        node.start(wait=False)
        self.down.discard(node)

    def fail_power(self, node: Node, aftermath: Aftermath, rng: random.Random) -> None:
        """After its process was killed: what was not forced to the disk is lost, in part or as a whole."""
        self.disks[node].fail_power(aftermath, rng)

    def is_ready(self, node: Node) -> bool:
        """Whether it has started; for a broker, that it says so."""
        if isinstance(node, Controller):
            return node.running and accepts_connections(node.port)
        assert node.process is not None
        return any(BROKER_READY in line for line in node.process.lines())

    def check_processes(self) -> None:
        """FindError when a process has ended that no fault has ended."""
        for node in self.nodes:
            if node not in self.down and node.process is not None and not node.running:
                status = node.process.wait(5.0)
                raise FindError(f"{node.name} has ended by itself with {status}\n{node.process.tail()}")

    def links(self, one: Node, others: Sequence[Node], clients: bool = False) -> list[Link]:
        """Both directions between `one` and each of the others, and clients if that is said."""
        names = [node.name for node in others if node is not one] + ([CLIENTS] if clients else [])
        return [link for name in names for link in ((one.name, name), (name, one.name))]

    def stop(self) -> dict[str, int | None]:
        """The brokers, then the controllers, in order; returns the exit statuses."""
        self.down.update(self.nodes)
        statuses = {broker.name: broker.stop(timeout_s=90.0) for broker in self.brokers}
        return statuses | {controller.name: controller.stop() for controller in self.controllers}

    def close(self) -> None:
        self.down.update(self.nodes)
        for node in self.nodes:
            node.kill()
        self.network.close()


def controller_of(
    kind: str, node_id: int, directory: Path, cluster_id: str, properties: Mapping[str, str], voters: str
) -> Controller:
    if kind == KRAFTCTL:
        return KraftctlController(
            node_id, directory, cluster_id, properties=properties, initial_controllers=voters
        )
    return JavaController(
        kafka(), node_id, directory, cluster_id, properties=properties, initial_controllers=voters
    )
