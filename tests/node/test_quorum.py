"""Three whole nodes: every new leader has what was acknowledged, and every image matches its log."""

from __future__ import annotations

import random

import pytest

from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.broker_heartbeat_request import BrokerHeartbeatRequest
from kraftctl_protocol.generated.broker_registration_response import BrokerRegistrationResponse
from kraftctl_protocol.generated.create_topics_request import CreatableTopic, CreateTopicsRequest
from kraftctl_protocol.generated.create_topics_response import CreateTopicsResponse
from tests.support.active_controller import registration
from tests.support.effort import seeds
from tests.support.simulator.raft_faults import DiskSpeed, slow_disk, stalling_disk
from tests.support.simulator.simulated_node import SimulatedNode
from tests.support.simulator.simulated_quorum import NODE_IDS, TICK_MS, SimulatedQuorum, check_images

BROKER = 1
ANSWER_MS_MAX = 20_000


class Client:
    """Creates topics, and remembers which of them were acknowledged."""

    def __init__(self, quorum: SimulatedQuorum) -> None:
        self.quorum = quorum
        self.acknowledged: set[str] = set()
        self.refused = 0
        self._pending: list[tuple[SimulatedNode, int, str]] = []
        self._number = 0
        self._broker_epoch = -1

    def register(self) -> None:
        node = self.quorum.await_active()
        request_id = node.send(registration(BROKER))
        for _ in range(ANSWER_MS_MAX // TICK_MS):
            if request_id in node.answers:
                break
            self.quorum.tick()
        answer = node.answers.pop(request_id)
        assert isinstance(answer, BrokerRegistrationResponse)
        assert answer.error_code == Errors.NONE
        self._broker_epoch = answer.broker_epoch
        self.beat()
        self.quorum.run_for(200)

    def beat(self) -> None:
        """Send a heartbeat without waiting for the answer."""
        node = self.quorum.active()
        if node is not None:
            request = BrokerHeartbeatRequest(
                broker_id=BROKER, broker_epoch=self._broker_epoch, current_metadata_offset=1 << 40
            )
            node.send(request)

    def send(self) -> None:
        """Create one more topic, if there is an active controller."""
        node = self.quorum.active()
        if node is not None:
            self._number += 1
            name = f"topic-{self._number}"
            topic = CreatableTopic(name=name, num_partitions=2, replication_factor=1)
            self._pending.append((node, node.send(CreateTopicsRequest(topics=[topic])), name))

    def collect(self) -> None:
        """Collect answers; a client of a crashed node gets none."""
        left: list[tuple[SimulatedNode, int, str]] = []
        for node, request_id, name in self._pending:
            answer = node.answers.pop(request_id, None)
            if answer is None:
                left.append((node, request_id, name))
                continue
            assert isinstance(answer, CreateTopicsResponse)
            if answer.topics[0].error_code == Errors.NONE:
                self.acknowledged.add(name)
            else:
                self.refused += 1
        self._pending = left


def settle(quorum: SimulatedQuorum, client: Client) -> None:
    quorum.loss = 0.0
    quorum.disks = {}
    for node_id in NODE_IDS:
        quorum.members[node_id].node.effects_left = None
        quorum.restart(node_id)
    quorum.run_for(10_000)
    client.send()
    quorum.run_for(2_000)
    client.collect()


def test_standbys_register_and_follow() -> None:
    """KIP-919: the endpoints of all three are soon in the log."""
    quorum = SimulatedQuorum(1)
    quorum.await_active()
    quorum.run_for(2_000)
    for member in quorum.running():
        assert set(member.node.controller.image.cluster.controllers) == set(NODE_IDS)
        notices = [text for text in member.node.notices if "has registered this controller" in text]
        assert len(notices) == (0 if member.node.controller.active else 1)


def test_a_standby_retries_its_registration_until_the_leader_answers() -> None:
    quorum = SimulatedQuorum(2)
    quorum.loss = 0.3
    quorum.run_for(60_000)
    quorum.loss = 0.0
    quorum.run_for(40_000)
    for member in quorum.running():
        assert set(member.node.controller.image.cluster.controllers) == set(NODE_IDS)


def test_what_a_deposed_leader_could_not_commit_is_gone_and_refused() -> None:
    quorum = SimulatedQuorum(3)
    client = Client(quorum)
    client.register()
    leader = quorum.await_active()
    for node_id in NODE_IDS:
        if node_id != leader.node_id:
            quorum.crash(node_id)
    client.send()
    assert leader.controller.image.topics.topic_by_name("topic-1") is not None
    quorum.run_for(5_000)
    client.collect()
    assert (client.acknowledged, client.refused) == (set(), 1)
    assert not leader.controller.active
    assert leader.controller.image.topics.topic_by_name("topic-1") is None
    check_images(quorum)


@pytest.mark.parametrize("seed", seeds(6))
def test_chaos(seed: int) -> None:
    """Nothing acknowledged is lost; all images are equal and match the logs.

    Fsyncs take from 0.1 ms to 6 s, processes end between two effects, unflushed tails survive in part.
    """
    rng = random.Random(seed)
    quorum = SimulatedQuorum(seed)
    speeds: dict[int, DiskSpeed] = rng.choice([{}, {1: slow_disk}, dict.fromkeys(range(3), stalling_disk)])
    client = Client(quorum)
    client.register()
    quorum.disks = {NODE_IDS[index]: speed for index, speed in speeds.items()}
    for _ in range(60):
        for _ in range(rng.randrange(40)):
            quorum.tick()
            if rng.random() < 0.3:
                client.send()
        client.collect()
        client.beat()
        match rng.randrange(8):
            case 6 | 7:
                quorum.crash_between_effects(rng.choice(NODE_IDS), rng.randint(1, 30))
            case 0:
                active = quorum.active()
                if active is not None:
                    quorum.crash(active.node_id)
            case 1:
                quorum.crash(rng.choice(NODE_IDS))
            case 2 | 3:
                quorum.restart(rng.choice(NODE_IDS))
            case 4:
                quorum.loss = rng.choice([0.0, 0.05, 0.3])
            case _:
                quorum.run_for(rng.randrange(3_000))
        check_images(quorum)
    settle(quorum, client)
    check_images(quorum)
    nodes = [member.node for member in quorum.running()]
    logs = [b"".join(batch.batch for batch in node.disk.batches) for node in nodes]
    assert logs[0] == logs[1] == logs[2]
    assert client.acknowledged
    for node in nodes:
        assert all(node.controller.image.topics.topic_by_name(name) for name in client.acknowledged)


@pytest.mark.parametrize("seed", range(10))
def test_a_follower_that_restarts_completes_the_commit_that_waits_for_it(seed):
    """Its connection begins with ApiVersions, which must not wait for that commit."""
    quorum = SimulatedQuorum(seed)
    leader = quorum.await_active()
    epoch = leader.raft.epoch
    followers = [node_id for node_id in NODE_IDS if node_id != leader.node_id]
    quorum.run_for(1_000)
    for node_id in followers:
        quorum.crash(node_id)
    request_id = leader.send(registration(BROKER))
    quorum.restart(followers[0])
    for _ in range(ANSWER_MS_MAX // TICK_MS):
        if request_id in leader.answers:
            break
        quorum.tick()
    assert leader.answers[request_id].error_code == Errors.NONE
    assert leader.raft.is_leader
    assert leader.raft.epoch == epoch
