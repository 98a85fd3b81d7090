"""A controller and some brokers as one thing to start and stop."""

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
from kraftctl.dev.settings import random_id
from kraftctl.dev.tools import KafkaTools

CONTROLLER_ID = 3000


class Cluster:
    """One controller (kraftctl, or Java's for comparison) and brokers 1, 2, ... which point at it."""

    def __init__(
        self,
        kafka: KafkaDistribution,
        directory: Path,
        *,
        brokers: int = 3,
        java_controller: bool = False,
        dynamic: bool = True,
        release_version: str | None = None,
        cluster_id: str | None = None,
        controller_settings: Mapping[str, str] | None = None,
        broker_settings: Mapping[str, str] | None = None,
        broker_kafkas: Sequence[KafkaDistribution] = (),
        controller_port: int | None = None,
        broker_ports: Sequence[int] = (),
    ) -> None:
        """`broker_kafkas` names the distribution of the first brokers, if they are not of `kafka` itself."""
        self.kafka = kafka
        self.directory = directory
        self.cluster_id = cluster_id or random_id()
        self.dynamic = dynamic
        self.broker_settings = dict(broker_settings or {})
        home = directory / f"controller-{CONTROLLER_ID}"
        self.controller: Controller
        if java_controller:
            self.controller = JavaController(
                kafka,
                CONTROLLER_ID,
                home,
                self.cluster_id,
                dynamic=dynamic,
                release_version=release_version,
                port=controller_port,
                properties=controller_settings,
            )
        else:
            self.controller = KraftctlController(
                CONTROLLER_ID,
                home,
                self.cluster_id,
                dynamic=dynamic,
                release_version=release_version,
                port=controller_port,
                properties=controller_settings,
            )
        kafkas = [*broker_kafkas, *[kafka] * brokers][:brokers]
        ports = [*broker_ports, *[None] * brokers][:brokers]
        self.brokers = [
            self.new_broker(node_id, version, port)
            for node_id, version, port in zip(range(1, brokers + 1), kafkas, ports, strict=True)
        ]

    def new_broker(
        self, node_id: int, kafka: KafkaDistribution | None = None, port: int | None = None
    ) -> JavaBroker:
        """One more broker for this cluster; the caller formats and starts it, and appends it to `brokers`."""
        quorum = quorum_properties({self.controller.node_id: self.controller.port}, dynamic=self.dynamic)
        home = self.directory / f"broker-{node_id}"
        return JavaBroker(
            kafka or self.kafka,
            node_id,
            home,
            self.cluster_id,
            quorum,
            port=port,
            properties=self.broker_settings,
        )

    @property
    def nodes(self) -> list[Node]:
        return [self.controller, *self.brokers]

    @property
    def bootstrap_servers(self) -> str:
        return ",".join(broker.address for broker in self.brokers)

    @property
    def bootstrap_controllers(self) -> str:
        return self.controller.address

    def broker(self, node_id: int) -> JavaBroker:
        return next(broker for broker in self.brokers if broker.node_id == node_id)

    def tools(self) -> KafkaTools:
        return KafkaTools(self.kafka)

    def format(self) -> None:
        """Formats what is not formatted yet."""
        for node in (self.controller, *self.brokers):
            if not (node.log_directory / "meta.properties").exists():
                node.format()

    def start(self) -> None:
        """Formats if need be, starts everything, returns when every broker serves."""
        self.format()
        self.controller.start()
        for broker in self.brokers:
            broker.start(wait=False)
        for broker in self.brokers:
            broker.await_ready()

    def stop(self) -> None:
        """Brokers first, all at once, for controlled shutdown needs a controller; then the controller."""
        for broker in self.brokers:
            if broker.process is not None:
                broker.resume()
                broker.process.signal(signal.SIGTERM)
        for broker in self.brokers:
            broker.stop()
        self.controller.stop()

    def kill(self) -> None:
        """kill -9 of everything."""
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
