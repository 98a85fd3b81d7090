"""Hostile requests to the leader of three nodes, with crashes, changes of leader and planted faults.

There are no forged votes and fetches: raft trusts its voters, as Kafka's does. What must hold: no node
dies, every image matches its log, all logs are equal in the end, and every request to a node that did not
crash is answered.
"""

from __future__ import annotations

import random

import pytest

from kraftctl.apis.api_table import RAFT_API_KEYS
from kraftctl.image.metadata_image import MetadataImage
from kraftctl_protocol.api_keys import ApiKey
from kraftctl_protocol.generated.broker_heartbeat_request import BrokerHeartbeatRequest
from kraftctl_protocol.message import Message
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from kraftctl_protocol.primitives import DecodeError, EncodeError
from kraftctl_protocol.requests import ParsedRequest, decode_request
from tests.support.active_controller import registration
from tests.support.effort import seeds
from tests.support.simulator.simulated_node import SimulatedNode
from tests.support.simulator.simulated_quorum import NODE_IDS, Member, SimulatedQuorum, check_images
from tests.support.wire.hosted_cluster import settings
from tests.support.wire.hostile_requests import HostileRequests
from tests.support.wire.planted_faults import (
    AFTER_HANDLER,
    BEFORE_HANDLER,
    RECORD,
    PlantedFaults,
    can_be_planted,
)

ROUNDS = 40
REQUESTS_PER_ROUND_MAX = 12
TICKS_PER_ROUND_MAX = 40
PLANT_CHANCE = 0.15

FORGED = RAFT_API_KEYS - {ApiKey.DESCRIBE_QUORUM}


class AskedNode:
    """A simulated node, as the source of hostile requests sees it."""

    def __init__(self, node: SimulatedNode) -> None:
        self.node = node
        self.directory_id = bytes(15) + b"\7"

    @property
    def image(self) -> MetadataImage:
        return self.node.controller.image

    @property
    def end_offset(self) -> int:
        return self.node.raft.end_offset

    @property
    def epoch(self) -> int:
        return self.node.raft.epoch

    @property
    def snapshot_ids(self) -> list[OffsetAndEpoch]:
        return [snapshot.snapshot_id for snapshot in self.node.disk.snapshots]


class Attacker:
    """Sends requests to the leader, tracks those not answered yet, and plants faults."""

    def __init__(self, quorum: SimulatedQuorum, rng: random.Random) -> None:
        self.answered = 0
        self.closed = 0
        self._quorum = quorum
        self._rng = rng
        self._faults = PlantedFaults(random.Random(rng.getrandbits(64)))
        self._pending: list[tuple[Member, int, int, ParsedRequest]] = []

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
        node = self._quorum.active() or self._rng.choice(self._quorum.running()).node
        request = self._request(node)
        member = self._quorum.members[node.node_id]
        if self._rng.random() < PLANT_CHANCE:
            self._faults.arm(self._rng.choice((BEFORE_HANDLER, AFTER_HANDLER, RECORD)), -1)
        request_id = node.send(request.body, request.version)
        self._faults.disarm()
        self._pending.append((member, member.life, request_id, request))

    def _request(self, node: SimulatedNode) -> ParsedRequest:
        requests = HostileRequests(AskedNode(node), self._rng)
        while True:
            try:
                request = decode_request(requests.next().payload)
            except DecodeError:
                continue
            if request.api_key not in FORGED:
                return request

    def toggle_tasks(self) -> None:
        self._faults.tasks_fail = can_be_planted() and self._rng.random() < 0.2

    def let_tasks_work(self) -> None:
        self._faults.tasks_fail = False

    def collect(self) -> None:
        """A node that has crashed since does not answer."""
        left: list[tuple[Member, int, int, ParsedRequest]] = []
        for member, life, request_id, request in self._pending:
            if member.life != life or not member.on:
                continue
            answer = member.node.answers.pop(request_id, None)
            if answer is not None:
                self.answered += 1
                check_encodable(answer, request.version)
            elif request_id in member.node.closed:
                self.closed += 1
            else:
                left.append((member, life, request_id, request))
        self._pending = left

    @property
    def waiting(self) -> list[str]:
        """The requests that are not answered yet."""
        return [f"{request.body.NAME} v{request.version}" for _, _, _, request in self._pending]


def check_encodable(answer: Message, version: int) -> None:
    """An encoded answer can be decoded. Names repeated from a request may be too long to encode."""
    try:
        data = answer.encode(version)
    except EncodeError:
        return
    type(answer).decode(data, version)


def populate(quorum: SimulatedQuorum) -> None:
    node = quorum.await_active()
    for broker_id in (1, 2, 3):
        node.send(registration(broker_id, directories=2))
    quorum.run_for(200)
    beat(quorum)
    quorum.run_for(200)
    for request in settings():
        node.send(request)
    quorum.run_for(200)


def beat(quorum: SimulatedQuorum) -> None:
    """A heartbeat of every registered broker; the answers are not read."""
    node = quorum.active()
    if node is not None:
        for broker_id, registered in list(node.controller.image.cluster.brokers.items()):
            node.send(
                BrokerHeartbeatRequest(
                    broker_id=broker_id, broker_epoch=registered.epoch, current_metadata_offset=1 << 40
                )
            )


def disturb(quorum: SimulatedQuorum, rng: random.Random) -> None:
    """A crash, a restart, losses, or nothing."""
    match rng.randrange(7):
        case 0:
            active = quorum.active()
            if active is not None and len(quorum.running()) > 1:
                quorum.crash(active.node_id)
        case 1:
            if len(quorum.running()) > 1:
                quorum.crash(rng.choice(NODE_IDS))
        case 2 | 3 | 4:
            quorum.restart(rng.choice(NODE_IDS))
        case 5:
            quorum.loss = rng.choice([0.0, 0.05, 0.3])
        case _:
            quorum.run_for(rng.randrange(3_000))


@pytest.mark.parametrize("seed", seeds(5))
def test_hostile_requests_and_crashes(seed: int) -> None:
    rng = random.Random(seed)
    quorum = SimulatedQuorum(seed)
    populate(quorum)
    with Attacker(quorum, rng) as attacker:
        for _ in range(ROUNDS):
            for _ in range(rng.randrange(REQUESTS_PER_ROUND_MAX)):
                attacker.attack()
            for _ in range(rng.randrange(TICKS_PER_ROUND_MAX)):
                quorum.tick()
            attacker.collect()
            attacker.toggle_tasks()
            beat(quorum)
            disturb(quorum, rng)
            check_images(quorum)
        attacker.let_tasks_work()
        quorum.loss = 0.0
        for node_id in NODE_IDS:
            quorum.restart(node_id)
        quorum.run_for(30_000)
        attacker.collect()
        check_images(quorum)
        assert attacker.waiting == []
        assert attacker.answered > ROUNDS
        assert (attacker.sprung > 0) == can_be_planted()
    logs = [b"".join(batch.batch for batch in member.node.disk.batches) for member in quorum.members.values()]
    assert logs[0] == logs[1] == logs[2]
