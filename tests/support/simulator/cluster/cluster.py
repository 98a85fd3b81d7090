"""Controllers on simulated machines, with one virtual clock, one network, and everything that can be done to
them. What happens is decided by the seed alone.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence

from kraftctl.config.controller_config import ControllerConfig
from kraftctl.metadata import features
from kraftctl.raft.replica_key import ReplicaKey
from kraftctl.raft.voter_set import VoterNode, VoterSet
from kraftctl.storage.errors import StorageError
from kraftctl.storage.formatter import Formatter
from kraftctl.storage.meta_properties import read_meta_properties
from kraftctl_protocol.uuids import random_uuid
from tests.support.simulator.checks.checks import Checks
from tests.support.simulator.cluster.clients_network import ClientNetwork
from tests.support.simulator.cluster.clocks import WALL_START_MS
from tests.support.simulator.cluster.process import ControllerProcess
from tests.support.simulator.cluster.virtual_time import VirtualTime
from tests.support.simulator.cluster.wire import LinkFaults, Place, Server, Wire
from tests.support.simulator.disks.disks import DiskSpeed, fast_disk
from tests.support.simulator.disks.files import SimulatedFiles

CLUSTER_ID = "MkU3OEVBNTcwNTJENDM2Qg"
LISTENER = "CONTROLLER"
PORT = 9093

PROPERTIES = {
    "process.roles": "controller",
    "controller.listener.names": LISTENER,
    "default.replication.factor": "2",
    "kraftctl.audit.log.path": "audit.log",
}


def host(node_id: int) -> str:
    return f"host-{node_id}"


class Cluster:
    """`voter_ids` vote at first, `observer_ids` observe; `dynamic` is kraft.version 1."""

    def __init__(
        self,
        seed: int,
        voter_ids: Sequence[int],
        observer_ids: Sequence[int] = (),
        *,
        dynamic: bool,
        properties: dict[str, str] | None = None,
        metadata_version: int = features.DEFAULT_METADATA_VERSION,
        checks: Callable[[ControllerConfig], Checks] = Checks,
    ) -> None:
        self.rng = random.Random(seed)
        self.time = VirtualTime()
        self.counts: Counter[str] = Counter()
        self.wire = Wire(self.time, random.Random(self.rng.getrandbits(64)), self.counts)
        self.voter_ids = list(voter_ids)
        self.observer_ids = list(observer_ids)
        self.dynamic = dynamic
        self.metadata_version = metadata_version
        self.files = SimulatedFiles()
        self.servers: dict[tuple[str, int], Server] = {}
        self.processes: dict[int, ControllerProcess] = {}
        self.directory_ids = {node_id: random_uuid(self.rng) for node_id in self.voter_ids}
        self.ports = dict.fromkeys([*voter_ids, *observer_ids], PORT)
        self._common_properties = properties or {}
        configs = {node_id: self._config(node_id) for node_id in self.ports}
        self.checks = checks(configs[self.voter_ids[0]])
        for node_id, config in configs.items():
            self._add_machine(node_id, config)
        servers: dict[int, Server] = dict(self.processes)
        self.clients = ClientNetwork(self.wire, servers)

    # Its machines.

    def _config(self, node_id: int) -> ControllerConfig:
        return ControllerConfig(self._properties(node_id) | self._common_properties)

    def _properties(self, node_id: int) -> dict[str, str]:
        addresses = ",".join(f"{host(voter_id)}:{self.ports[voter_id]}" for voter_id in self.voter_ids)
        voters = ",".join(
            f"{voter_id}@{host(voter_id)}:{self.ports[voter_id]}" for voter_id in self.voter_ids
        )
        quorum = (
            {"controller.quorum.bootstrap.servers": addresses}
            if self.dynamic or node_id not in self.voter_ids
            else {"controller.quorum.voters": voters}
        )
        own = {
            "node.id": str(node_id),
            "listeners": f"{LISTENER}://{host(node_id)}:{self.ports[node_id]}",
            "log.dirs": str(self.files.disk(str(node_id)).root),
        }
        return PROPERTIES | quorum | own

    def _add_machine(self, node_id: int, config: ControllerConfig) -> None:
        process = ControllerProcess(
            node_id=node_id,
            config=config,
            disk=self.files.disk(str(node_id)),
            wire=self.wire,
            servers=self.servers,
            checks=self.checks,
            rng=random.Random(self.rng.getrandbits(64)),
            counts=self.counts,
        )
        self.processes[node_id] = process
        self.servers[host(node_id), self.ports[node_id]] = process

    def format(self, node_id: int, *, joins: bool = False) -> None:
        """`kraftctl format` of an empty directory; a voter that `joins` is no initial controller."""
        disk = self.processes[node_id].disk
        initial: VoterSet | None = None
        if self.dynamic and not joins and node_id in self.voter_ids:
            initial = VoterSet([self._voter_node(voter_id) for voter_id in self.voter_ids])
        formatter = Formatter(
            cluster_id=CLUSTER_ID,
            node_id=node_id,
            log_dirs=[disk.root],
            metadata_log_dir=disk.root,
            has_dynamic_quorum=self.dynamic or node_id not in self.voter_ids,
            initial_voters=initial,
            release_version=self.metadata_version,
        )
        formatter.format(self.rng, WALL_START_MS, lambda line: None)
        meta = read_meta_properties(disk.root)
        assert meta is not None
        assert meta.directory_id is not None
        self.directory_ids[node_id] = meta.directory_id

    def _voter_node(self, node_id: int) -> VoterNode:
        key = ReplicaKey(node_id, self.directory_ids[node_id])
        return VoterNode(key, {LISTENER: (host(node_id), self.ports[node_id])}, 0, 1)

    def start(self) -> None:
        """Format and start every machine."""
        for node_id in self.processes:
            self.format(node_id)
        for process in self.processes.values():
            process.start()

    def running(self) -> list[ControllerProcess]:
        return [process for process in self.processes.values() if process.lifetime is not None]

    def down(self) -> list[ControllerProcess]:
        return [process for process in self.processes.values() if process.lifetime is None]

    def leader(self) -> ControllerProcess | None:
        """The leader of the highest epoch: a deposed one may not know yet."""
        leading = [process for process in self.running() if process.raft.is_leader]
        return max(leading, key=lambda process: process.raft.epoch, default=None)

    def active(self) -> ControllerProcess | None:
        """The active controller of the highest epoch."""
        found = [process for process in self.running() if process.controller.active]
        return max(found, key=lambda process: process.raft.epoch, default=None)

    # What can be done to it.

    def run_for(self, duration_ms: int) -> None:
        self.time.run_for(duration_ms * 1000)

    def run_until(self, is_so: Callable[[], bool], within_ms: int, what: str, step_ms: int = 100) -> None:
        """AssertionError `what` unless `is_so` within that time."""
        until_us = self.time.now_us + within_ms * 1000
        while not is_so():
            assert self.time.now_us < until_us, f"{what}: not within {within_ms} ms"
            self.run_for(step_ms)

    def await_active(self, within_ms: int = 60_000) -> ControllerProcess:
        """Let time pass until there is an active controller."""
        self.run_until(lambda: self.active() is not None, within_ms, "EventuallyLeaderElected", step_ms=5)
        active = self.active()
        assert active is not None
        return active

    def isolate(self, node_id: int) -> None:
        others: list[Place] = [other for other in self.processes if other != node_id]
        self.wire.isolate(node_id, others)

    def heal(self, speed: DiskSpeed = fast_disk) -> None:
        """No fault any more; what is down stays down."""
        self.wire.cut.clear()
        self.wire.refused.clear()
        self.wire.faults = LinkFaults()
        for process in self.processes.values():
            process.set_speed(speed)
            process.heal_disk()
            process.release_flushes()
            process.forge = None
            process.turn_us_max = 0
            if process.lifetime is not None:
                process.watched.planned_end = None
                process.resume()

    def move(self, process: ControllerProcess, port: int) -> None:
        """While it is down: from its next start on it listens there, and nothing does at its former port."""
        assert process.lifetime is None
        del self.servers[host(process.node_id), self.ports[process.node_id]]
        self.ports[process.node_id] = port
        self.servers[host(process.node_id), port] = process
        self.renew_config(process)

    def renew_config(self, process: ControllerProcess) -> None:
        """With the present addresses, from its next start on."""
        process.config = self._config(process.node_id)

    def restart(self, process: ControllerProcess) -> str:
        """Start it; returns why it refused to start, or an empty text."""
        try:
            process.start()
        except (StorageError, OSError) as error:
            process.refused(error)
            return str(error)
        return ""
