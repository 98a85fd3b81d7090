"""All clients of a history, in threads of their own, and the brokers that they stand in for."""

from __future__ import annotations

import threading
import time
from collections.abc import Hashable
from functools import partial

from kraftctl.dev.polling import await_result
from kraftctl.image.metadata_image import MetadataImage
from tests.chaos.cluster import FIRST_CONTROLLER_ID, ChaosCluster
from tests.chaos.linearizability.client import LIST, REGISTER, HistoryClient
from tests.chaos.linearizability.history import MODELS, History
from tests.chaos.linearizability.keys import Keys
from tests.chaos.linearizability.operation import Operation
from tests.chaos.linearizability.probe import Probe
from tests.chaos.linearizability.target import CALL_SECONDS_MAX
from tests.chaos.watching import Watch
from tests.support.wire.controller_client import ControllerClient, StandInBroker

CLIENTS_COUNT, BESIDE_BROKERS = 8, 4
"""Brokers need processors, too."""

STAND_INS_COUNT = 6
START_SECONDS_MAX = 60.0
TOPIC_RESOURCE = 2

WITH_BROKERS = ("topic", "config", "acl")
"""Brokers take producer ids and change partitions by themselves."""


class HistoryClients:
    """Threads that note a history until `stop`."""

    def __init__(self, cluster: ChaosCluster, watch: Watch, seed: int) -> None:
        self.history = History()
        self._cluster = cluster
        self._watch = watch
        self._ended = threading.Event()
        self._errors: list[BaseException] = []
        self._stand_ins: list[StandInBroker] = []
        keys = Keys(WITH_BROKERS if cluster.brokers else sorted(MODELS))
        self._clients: list[HistoryClient | Probe] = [
            HistoryClient(
                f"client-{number}",
                seed,
                keys,
                self.history,
                # Beside the proxies: a leader that is cut off from the others still has clients.
                [node.port for node in cluster.controllers],
                [cluster.proxy_ports[node.node_id] for node in cluster.brokers],
                self._leader,
                lambda position: cluster.controllers[position] in cluster.spared,
                self._stand_ins,
            )
            for number in range(BESIDE_BROKERS if cluster.brokers else CLIENTS_COUNT)
        ]
        if not cluster.brokers:
            self._clients += [
                Probe(f"probe-{kind}-{node.node_id}", seed, kind, keys, self.history, node.port)
                for node in cluster.controllers
                for kind in ("reassignment", "topic")
            ]
        self._threads = [
            threading.Thread(target=self._run, args=(client,), daemon=True) for client in self._clients
        ]

    def start(self) -> None:
        if not self._cluster.brokers:
            await_result(self._register, "stand-ins are registered", START_SECONDS_MAX)
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Returns when each client has the outcome of its last request."""
        self._ended.set()
        for thread in self._threads:
            if thread.ident is not None:
                thread.join(10 * CALL_SECONDS_MAX)
        for client in self._clients:
            client.close()
        self.check()

    def end(self) -> None:
        self._ended.set()

    def check(self) -> None:
        """Raises what has ended a thread."""
        if self._errors:
            raise self._errors[0]

    def read_at_the_end(self) -> None:
        """Notes what the log says of topics and configs, once it was read to its end."""
        now_ns = time.monotonic_ns()
        for kind, name in self.history.names():
            result: Hashable
            if kind == "topic":
                word, result = "describe", self._watch.log.read(partial(_topic_id, name))
            elif kind == "config":
                word, result = "get", self._watch.log.read(partial(_config, name))
            else:
                continue
            self.history.add(
                kind, name, Operation("the log", word, None, result, now_ns, now_ns, is_read=True)
            )

    def _run(self, client: HistoryClient | Probe) -> None:
        try:
            client.run(self._ended)
        except BaseException as error:
            self._errors.append(error)
            raise

    def _leader(self) -> int | None:
        leader_id = self._watch.leader()
        return None if leader_id is None else leader_id - FIRST_CONTROLLER_ID

    def _register(self) -> bool:
        """Registers the stand-ins with the active controller; False while there is none."""
        leader = self._leader()
        if leader is None:
            return False
        try:
            with ControllerClient(self._cluster.controllers[leader].port) as client:
                cluster_id = self._cluster.cluster_id
                brokers = [StandInBroker(client, one, cluster_id) for one in range(1, STAND_INS_COUNT + 1)]
                if not all(broker.register() for broker in brokers):
                    return False
                for broker in brokers:
                    await_result(broker.is_unfenced, "a stand-in is unfenced", START_SECONDS_MAX)
        except OSError:
            return False
        self._stand_ins.extend(brokers)
        return True


def _topic_id(name: str, image: MetadataImage) -> str | None:
    topic = image.topics.topic_by_name(name)
    return None if topic is None else topic.topic_id.hex()


def _config(name: str, image: MetadataImage) -> tuple[str, ...]:
    number = int(name.rpartition("-")[2])
    value = image.configurations.config(TOPIC_RESOURCE, name).get(REGISTER if number % 2 else LIST)
    return () if value is None else tuple(value.split(","))
