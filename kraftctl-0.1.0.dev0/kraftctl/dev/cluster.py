"""Controllers and brokers that are started and stopped together."""

from __future__ import annotations

import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

from kraftctl.dev.kafka_distribution import KafkaDistribution
from kraftctl.dev.nodes import (
    Controller,
    JavaBroker,
    JavaController,
    KraftctlController,
    Node,
    quorum_properties,
)
from kraftctl.dev.ports import free_port
from kraftctl.dev.settings import random_id
from kraftctl.dev.tools import KafkaTools
from kraftctl_protocol.log_file_names import META_PROPERTIES

FIRST_CONTROLLER_ID = 3000


class Cluster:
    """Controllers 3000, ... (kraftctl, or Java's to compare, or both) and brokers 1, 2, ... that use them."""

    def __init__(
        self,
        kafka: KafkaDistribution,
        directory: Path,
        *,
        brokers: int = 3,
        controllers: int = 1,
        java_controller: bool = False,
        controller_kafkas: Sequence[KafkaDistribution | None] = (),
        dynamic: bool = True,
        release_version: str | None = None,
        cluster_id: str | None = None,
        controller_settings: Mapping[str, str] | None = None,
        broker_settings: Mapping[str, str] | None = None,
        broker_kafkas: Sequence[KafkaDistribution] = (),
        controller_port: int | None = None,
        broker_ports: Sequence[int] = (),
    ) -> None:
        """Takes the distributions of the first brokers as `broker_kafkas`; the others use `kafka`.

        `controller_kafkas` gives those of the first controllers, None for kraftctl. The others are kraftctl,
        or with `java_controller` those of `kafka`.
        """
        self.kafka = kafka
        self.directory = directory
        self.cluster_id = cluster_id or random_id()
        self.dynamic = dynamic
        self.broker_settings = dict(broker_settings or {})
        ids = range(FIRST_CONTROLLER_ID, FIRST_CONTROLLER_ID + controllers)
        self.controller_ports = {node_id: free_port() for node_id in ids}
        if controller_port is not None:
            self.controller_ports[FIRST_CONTROLLER_ID] = controller_port
        initial = self._initial_controllers() if dynamic and controllers > 1 else None
        kinds = [*controller_kafkas, *[kafka if java_controller else None] * controllers][:controllers]
        self.controllers: list[Controller] = [
            self._new_controller(node_id, kind, release_version, initial, controller_settings or {})
            for node_id, kind in zip(ids, kinds, strict=True)
        ]
        kafkas = [*broker_kafkas, *[kafka] * brokers][:brokers]
        ports = [*broker_ports, *[None] * brokers][:brokers]
        self.brokers = [
            self.new_broker(node_id, version, port)
            for node_id, version, port in zip(range(1, brokers + 1), kafkas, ports, strict=True)
        ]

    def new_broker(
        self,
        node_id: int,
        kafka: KafkaDistribution | None = None,
        port: int | None = None,
        further_directories: Sequence[str] = (),
    ) -> JavaBroker:
        """Adds one more broker; the caller formats and starts it, and appends it to `brokers`."""
        return JavaBroker(
            kafka or self.kafka,
            node_id,
            self.directory / f"broker-{node_id}",
            self.cluster_id,
            quorum_properties(self.controller_ports, dynamic=self.dynamic),
            port=port,
            properties=self.broker_settings,
            further_directories=further_directories,
        )

    def _new_controller(
        self,
        node_id: int,
        java: KafkaDistribution | None,
        release_version: str | None,
        initial_controllers: str | None,
        settings: Mapping[str, str],
    ) -> Controller:
        home = self.directory / f"controller-{node_id}"
        port = self.controller_ports[node_id]
        properties = {**quorum_properties(self.controller_ports, dynamic=self.dynamic), **settings}
        if java is not None:
            return JavaController(
                java,
                node_id,
                home,
                self.cluster_id,
                dynamic=self.dynamic,
                release_version=release_version,
                port=port,
                properties=properties,
                initial_controllers=initial_controllers,
            )
        return KraftctlController(
            node_id,
            home,
            self.cluster_id,
            dynamic=self.dynamic,
            release_version=release_version,
            port=port,
            properties=properties,
            initial_controllers=initial_controllers,
        )

    def _initial_controllers(self) -> str:
        ports = self.controller_ports.items()
        return ",".join(f"{node_id}@localhost:{port}:{random_id()}" for node_id, port in ports)

    @property
    def controller(self) -> Controller:
        """The only controller, or the first of several."""
        return self.controllers[0]

    @property
    def nodes(self) -> list[Node]:
        return [*self.controllers, *self.brokers]

    @property
    def bootstrap_servers(self) -> str:
        return ",".join(broker.address for broker in self.brokers)

    @property
    def bootstrap_controllers(self) -> str:
        return ",".join(controller.address for controller in self.controllers)

    def broker(self, node_id: int) -> JavaBroker:
        return next(broker for broker in self.brokers if broker.node_id == node_id)

    def tools(self) -> KafkaTools:
        return KafkaTools(self.kafka)

    def format(self) -> None:
        """Formats the directories that are not formatted yet."""
        for node in (*self.controllers, *self.brokers):
            if not (node.log_directory / META_PROPERTIES).exists():
                node.format()

    def start(self) -> None:
        """Formats if necessary, starts everything, returns when every broker serves."""
        self.format()
        self.start_controllers()
        for broker in self.brokers:
            broker.start(wait=False)
        for broker in self.brokers:
            broker.await_ready()

    def start_controllers(self) -> None:
        """Starts them concurrently: a controller may need a majority to become ready."""
        for controller in self.controllers:
            controller.start(wait=False)
        for controller in self.controllers:
            controller.await_ready()

    def stop(self) -> None:
        """Stops the brokers concurrently, then the controllers: controlled shutdown needs a controller."""
        for broker in self.brokers:
            if broker.process is not None:
                broker.resume()
                broker.process.signal(signal.SIGTERM)
        for broker in self.brokers:
            broker.stop()
        for controller in self.controllers:
            controller.stop()

    def kill(self) -> None:
        """Ends everything with SIGKILL."""
        for node in self.nodes:
            node.kill()

    def __enter__(self) -> Cluster:
        try:
            self.start()
        except BaseException:
            self.kill()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.kill()
