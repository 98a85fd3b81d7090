"""Hostile requests to the leader of three nodes, with crashes, changes of leader and planted faults.

There are no forged votes and fetches: raft trusts its voters, as Kafka's does. What must hold: no node
dies, every image matches its log, all logs are equal in the end, and every request to a node that did not
crash is answered.
"""

from __future__ import annotations

import random

import pytest

from kraftctl.apis.api_table import RAFT_API_KEYS
from kraftctl.config.controller_config import ControllerConfig
from kraftctl.image.metadata_image import MetadataImage
from kraftctl_protocol.api_keys import ApiKey
from kraftctl_protocol.generated.broker_heartbeat_request import BrokerHeartbeatRequest
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from kraftctl_protocol.primitives import DecodeError
from kraftctl_protocol.requests import decode_request
from tests.support.active_controller import registration
from tests.support.effort import seeds
from tests.support.simulator.checks.checks import Checks
from tests.support.simulator.checks.log_history import Batch
from tests.support.simulator.checks.quorum_checks import QuorumChecks
from tests.support.simulator.checks.recovery_checks import read_log
from tests.support.simulator.cluster.cluster import Cluster
from tests.support.simulator.cluster.direct_client import DirectClient
from tests.support.simulator.cluster.process import ControllerProcess
from tests.support.simulator.cluster.three_nodes import NODE_IDS, check_images, started_cluster
from tests.support.simulator.cluster.wire import LinkFaults
from tests.support.wire.hosted_cluster import settings
from tests.support.wire.hostile_requests import HostileRequest, HostileRequests
from tests.support.wire.planted_faults import (
    AFTER_HANDLER,
    BEFORE_HANDLER,
    RECORD,
    PlantedFaults,
    can_be_planted,
)

ROUNDS = 40
REQUESTS_PER_ROUND_MAX = 12
ROUND_MS_MAX = 200
PLANT_CHANCE = 0.15

FORGED = RAFT_API_KEYS - {ApiKey.DESCRIBE_QUORUM}


class QuorumOnly(Checks):
    """The rules of partitions assume brokers that keep to the protocol.

    A broker that sends heartbeats after its shutdown is unfenced and elected, as by Kafka's controllers.
    """

    def __init__(self, config: ControllerConfig) -> None:
        super().__init__(config)
        self.quorum = QuorumChecks(self.history, self._committed, self._snapshot_written)
        self.stepped = self.quorum.stepped
        self.before = self.quorum.before

    def _committed(self, batch: Batch) -> None:
        for offset, record in enumerate(batch.messages, batch.base_offset):
            self.partitions.reference.replay(record, offset)
        self.partitions.reference.end_offset = batch.end


class AskedNode:
    """A simulated controller, as the source of hostile requests sees it."""

    def __init__(self, process: ControllerProcess) -> None:
        self.process = process
        self.directory_id = bytes(15) + b"\7"

    @property
    def image(self) -> MetadataImage:
        return self.process.controller.image

    @property
    def end_offset(self) -> int:
        return self.process.raft.end_offset

    @property
    def epoch(self) -> int:
        return self.process.raft.epoch

    @property
    def snapshot_ids(self) -> list[OffsetAndEpoch]:
        return self.process.partition.snapshots.ids()


class Attacker:
    """Sends requests to the leader, tracks those not answered yet, and plants faults."""

    def __init__(self, cluster: Cluster, rng: random.Random) -> None:
        self.answered = 0
        self.closed = 0
        self._cluster = cluster
        self._rng = rng
        self._faults = PlantedFaults(random.Random(rng.getrandbits(64)))
        self._clients = {node_id: DirectClient(process) for node_id, process in cluster.processes.items()}
        self._pending: list[tuple[DirectClient, int, int, HostileRequest]] = []

    def __enter__(self) -> Attacker:
        if can_be_planted():
            self._faults.plant()
        return self

    def __exit__(self, *_: object) -> None:
        self._faults.remove()

    @property
    def sprung(self) -> int:
        """Faults so far."""
        return self._faults.sprung

    def attack(self) -> None:
        """One request, to the active controller or, if there is none, to any node."""
        process = self._cluster.active() or self._rng.choice(self._cluster.running())
        request = self._request(process)
        client = self._clients[process.node_id]
        if self._rng.random() < PLANT_CHANCE:
            self._faults.arm(self._rng.choice((BEFORE_HANDLER, AFTER_HANDLER, RECORD)), -1)
        call_id = client.send_payload(request.payload, request.api_key, request.version)
        self._faults.disarm()
        self._pending.append((client, process.life, call_id, request))

    def _request(self, process: ControllerProcess) -> HostileRequest:
        requests = HostileRequests(AskedNode(process), self._rng)
        while True:
            request = requests.next()
            try:
                parsed = decode_request(request.payload)
            except DecodeError:
                continue
            if parsed.api_key not in FORGED:
                return HostileRequest(parsed.api_key, parsed.version, request.payload, request.inner)

    def toggle_tasks(self) -> None:
        self._faults.tasks_fail = can_be_planted() and self._rng.random() < 0.2

    def let_tasks_work(self) -> None:
        self._faults.tasks_fail = False

    def collect(self) -> None:
        """A node that has crashed since does not answer."""
        left: list[tuple[DirectClient, int, int, HostileRequest]] = []
        for client, life, call_id, request in self._pending:
            if client.process.life != life or not client.process.is_running:
                continue
            if call_id in client.answers:
                del client.answers[call_id]
                self.answered += 1
            elif call_id in client.closed:
                self.closed += 1
            else:
                left.append((client, life, call_id, request))
        self._pending = left

    @property
    def waiting(self) -> list[str]:
        """The requests that are not answered yet."""
        return [request.kind for _, _, _, request in self._pending]


class Brokers:
    """Three brokers, which send heartbeats and do not read the responses."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._clients = {node_id: DirectClient(process) for node_id, process in cluster.processes.items()}

    def start(self) -> None:
        client = self._clients[self._cluster.await_active().node_id]
        for broker_id in (1, 2, 3):
            client.send(registration(broker_id, directories=2))
        self._cluster.run_for(200)
        self.beat()
        self._cluster.run_for(200)
        for request in settings():
            client.send(request)
        self._cluster.run_for(200)

    def beat(self) -> None:
        """One heartbeat of every registered broker."""
        process = self._cluster.active()
        if process is not None:
            for broker_id, registered in list(process.controller.image.cluster.brokers.items()):
                self._clients[process.node_id].send(
                    BrokerHeartbeatRequest(
                        broker_id=broker_id, broker_epoch=registered.epoch, current_metadata_offset=1 << 40
                    )
                )


def disturb(cluster: Cluster, rng: random.Random) -> None:
    """A crash, a restart, losses, or nothing."""
    process = cluster.processes[rng.choice(NODE_IDS)]
    match rng.randrange(7):
        case 0:
            active = cluster.active()
            if active is not None and len(cluster.running()) > 1:
                active.lose_power()
        case 1:
            if process.is_running and len(cluster.running()) > 1:
                process.lose_power()
        case 2 | 3 | 4:
            if not process.is_running:
                process.start()
        case 5:
            cluster.wire.faults = LinkFaults(loss=rng.choice([0.0, 0.05, 0.3]))
        case _:
            cluster.run_for(rng.randrange(3_000))


@pytest.mark.parametrize("seed", seeds(5))
def test_hostile_requests_and_crashes(seed: int) -> None:
    rng = random.Random(seed)
    with started_cluster(seed, QuorumOnly) as cluster, Attacker(cluster, rng) as attacker:
        for process in cluster.processes.values():
            process.contains_failures = True
        brokers = Brokers(cluster)
        brokers.start()
        for _ in range(ROUNDS):
            for _ in range(rng.randrange(REQUESTS_PER_ROUND_MAX)):
                attacker.attack()
            cluster.run_for(rng.randrange(ROUND_MS_MAX))
            attacker.collect()
            attacker.toggle_tasks()
            brokers.beat()
            disturb(cluster, rng)
            check_images(cluster)
        attacker.let_tasks_work()
        cluster.heal()
        for process in cluster.down():
            process.start()
        cluster.run_for(30_000)
        attacker.collect()
        check_images(cluster)
        cluster.checks.checkpoint(cluster.running())
        assert attacker.waiting == []
        assert attacker.answered > ROUNDS
        assert (attacker.sprung > 0) == can_be_planted()
        logs = [read_log(process.partition.log) for process in cluster.running()]
        assert logs[0] == logs[1] == logs[2]
