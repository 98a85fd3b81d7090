"""Three whole nodes: every new leader has what was acknowledged, and every image matches its log."""

from __future__ import annotations

import random

import pytest

from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.broker_heartbeat_request import BrokerHeartbeatRequest
from kraftctl_protocol.generated.broker_registration_response import BrokerRegistrationResponse
from kraftctl_protocol.generated.create_topics_request import CreatableTopic, CreateTopicsRequest
from kraftctl_protocol.generated.create_topics_response import CreateTopicsResponse
from kraftctl_protocol.generated.describe_cluster_request import DescribeClusterRequest
from kraftctl_protocol.generated.describe_cluster_response import DescribeClusterResponse
from tests.support.active_controller import registration
from tests.support.effort import seeds
from tests.support.simulator.checks.recovery_checks import read_log
from tests.support.simulator.cluster.cluster import Cluster
from tests.support.simulator.cluster.direct_client import DirectClient
from tests.support.simulator.cluster.three_nodes import (
    NODE_IDS,
    check_images,
    end_between_effects,
    started_cluster,
)
from tests.support.simulator.cluster.wire import LinkFaults
from tests.support.simulator.disks.disks import DiskSpeed, slow_disk, stalling_disk

BROKER = 1
ANSWER_MS_MAX = 20_000
TICK_MS = 5


class Client:
    """Creates topics, and remembers which of them were acknowledged."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.acknowledged: set[str] = set()
        self.refused = 0
        self._clients = {node_id: DirectClient(process) for node_id, process in cluster.processes.items()}
        self._pending: list[tuple[DirectClient, int, str]] = []
        self._number = 0
        self._broker_epoch = -1

    def register(self) -> None:
        client = self._clients[self.cluster.await_active().node_id]
        request_id = client.send(registration(BROKER))
        self.cluster.run_until(lambda: request_id in client.answers, ANSWER_MS_MAX, "registered", TICK_MS)
        answer = client.answers.pop(request_id)
        assert isinstance(answer, BrokerRegistrationResponse)
        assert answer.error_code == Errors.NONE
        self._broker_epoch = answer.broker_epoch
        self.beat()
        self.cluster.run_for(200)

    def _active(self) -> DirectClient | None:
        process = self.cluster.active()
        return None if process is None else self._clients[process.node_id]

    def beat(self) -> None:
        """Send a heartbeat without waiting for the response."""
        client = self._active()
        if client is not None:
            request = BrokerHeartbeatRequest(
                broker_id=BROKER, broker_epoch=self._broker_epoch, current_metadata_offset=1 << 40
            )
            client.send(request)

    def send(self) -> None:
        """Create one more topic, if there is an active controller."""
        client = self._active()
        if client is not None:
            self._number += 1
            name = f"topic-{self._number}"
            topic = CreatableTopic(name=name, num_partitions=2, replication_factor=1)
            self._pending.append((client, client.send(CreateTopicsRequest(topics=[topic])), name))

    def collect(self) -> None:
        """Collect answers; a client of a crashed node gets none."""
        left: list[tuple[DirectClient, int, str]] = []
        for client, request_id, name in self._pending:
            answer = client.answers.pop(request_id, None)
            if answer is None:
                left.append((client, request_id, name))
                continue
            assert isinstance(answer, CreateTopicsResponse)
            if answer.topics[0].error_code == Errors.NONE:
                self.acknowledged.add(name)
            else:
                self.refused += 1
        self._pending = left


def settle(cluster: Cluster, client: Client) -> None:
    cluster.heal()
    for process in cluster.down():
        process.start()
    cluster.run_for(15_000)
    client.beat()
    cluster.run_for(1_000)
    client.send()
    cluster.run_for(2_000)
    client.collect()


def test_standbys_register_and_follow() -> None:
    """KIP-919: the endpoints of all three are soon in the log."""
    with started_cluster(1) as cluster:
        cluster.await_active()
        cluster.run_for(2_000)
        for process in cluster.running():
            assert set(process.controller.image.cluster.controllers) == set(NODE_IDS)
            notices = [text for text in process.notices if "has registered this controller" in text]
            assert len(notices) == (0 if process.controller.active else 1)


@pytest.mark.prevents("KAFKA-16286", "KAFKA-15345")
def test_a_standby_retries_its_registration_until_the_leader_answers() -> None:
    with started_cluster(2) as cluster:
        cluster.wire.faults = LinkFaults(loss=0.3)
        cluster.run_for(60_000)
        cluster.heal()
        cluster.run_for(40_000)
        for process in cluster.running():
            assert set(process.controller.image.cluster.controllers) == set(NODE_IDS)


@pytest.mark.prevents("KAFKA-13114", "KAFKA-13148", "KAFKA-16171")
def test_what_a_deposed_leader_could_not_commit_is_gone_and_refused() -> None:
    with started_cluster(3) as cluster:
        client = Client(cluster)
        client.register()
        leader = cluster.await_active()
        for process in cluster.running():
            if process is not leader:
                process.lose_power()
        client.send()
        assert leader.controller.image.topics.topic_by_name("topic-1") is not None
        cluster.run_for(5_000)
        client.collect()
        assert (client.acknowledged, client.refused) == (set(), 1)
        assert not leader.controller.active
        assert leader.controller.image.topics.topic_by_name("topic-1") is None
        check_images(cluster)


def disturb(cluster: Cluster, rng: random.Random) -> None:
    process = cluster.processes[rng.choice(NODE_IDS)]
    match rng.randrange(8):
        case 6 | 7:
            end_between_effects(process, rng.randint(1, 30), before=rng.random() < 0.5)
        case 0:
            active = cluster.active()
            if active is not None:
                active.lose_power()
        case 1:
            if process.is_running:
                process.lose_power()
        case 2 | 3:
            if not process.is_running:
                process.start()
        case 4:
            cluster.wire.faults = LinkFaults(loss=rng.choice([0.0, 0.05, 0.3]))
        case _:
            cluster.run_for(rng.randrange(3_000))


@pytest.mark.prevents("KAFKA-16171")
@pytest.mark.parametrize("seed", seeds(6))
def test_chaos(seed: int) -> None:
    """Nothing acknowledged is lost; all images are equal and match the logs.

    Fsyncs take from 0.1 ms to 6 s, processes end between two effects, unflushed tails survive in part.
    """
    rng = random.Random(seed)
    with started_cluster(seed) as cluster:
        speeds: dict[int, DiskSpeed] = rng.choice(
            [{}, {1: slow_disk}, dict.fromkeys(range(3), stalling_disk)]
        )
        client = Client(cluster)
        client.register()
        for index, speed in speeds.items():
            cluster.processes[NODE_IDS[index]].set_speed(speed)
        for _ in range(60):
            for _ in range(rng.randrange(40)):
                cluster.run_for(TICK_MS)
                if rng.random() < 0.3:
                    client.send()
            client.collect()
            client.beat()
            disturb(cluster, rng)
            check_images(cluster)
        settle(cluster, client)
        check_images(cluster)
        processes = cluster.running()
        logs = [read_log(process.partition.log) for process in processes]
        assert logs[0] == logs[1] == logs[2]
        assert client.acknowledged
        for process in processes:
            topics = process.controller.image.topics
            assert all(topics.topic_by_name(name) for name in client.acknowledged)


@pytest.mark.parametrize("seed", range(10))
def test_a_follower_that_restarts_completes_the_commit_that_waits_for_it(seed):
    """Its connection begins with ApiVersions, which must not wait for that commit."""
    with started_cluster(seed) as cluster:
        leader = cluster.await_active()
        epoch = leader.raft.epoch
        followers = [process for process in cluster.running() if process is not leader]
        cluster.run_for(1_000)
        for process in followers:
            process.lose_power()
        client = DirectClient(leader)
        request_id = client.send(registration(BROKER))
        followers[0].start()
        cluster.run_until(lambda: request_id in client.answers, ANSWER_MS_MAX, "committed", TICK_MS)
        assert client.answers[request_id].error_code == Errors.NONE
        assert leader.raft.is_leader
        assert leader.raft.epoch == epoch


def test_an_admin_client_is_sent_to_the_last_leader_during_an_election() -> None:
    """One that hears of no controller waits until its call has timed out, and does not ask again."""
    with started_cluster(7) as cluster:
        last = cluster.await_active()
        cluster.run_for(1_000)
        last.kill()
        follower = cluster.running()[0]
        cluster.run_until(lambda: follower.raft.leader_id < 0, 20_000, "an election", step_ms=1)
        client = DirectClient(follower)
        request_id = client.send(DescribeClusterRequest(endpoint_type=2))
        cluster.run_until(lambda: request_id in client.answers, ANSWER_MS_MAX, "a response")
        answer = client.answers[request_id]
        assert isinstance(answer, DescribeClusterResponse)
        assert answer.controller_id == last.node_id
