"""Processor time of the pure core: decode a request, one step, encode the response. No socket and no disk.

As a program (`core_cost.py [--rounds N] [--only NAME]`) it prints JSON, {name: {part: microseconds}}: the
medians of the rounds, per partition, heartbeat or created partition.
"""

from __future__ import annotations

import argparse
import gc
import json
import random
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

if __name__ == "__main__":
    sys.path.append(str(Path(__file__).resolve().parents[2]))

from kraftctl.apis.api_table import API_TABLE
from kraftctl.config.controller_config import ControllerConfig
from kraftctl.controller.quorum_controller import QuorumController
from kraftctl.controller.results.request_context import RequestContext
from kraftctl.node.controller_node import ControllerNode
from kraftctl.node.events import ClientRequest, LogRead, NodeEvent, ReadLog, TakeTurn, TurnTaken
from kraftctl.node.snapshot_generation import SnapshotPolicy
from kraftctl.raft import effects
from kraftctl.raft.election_state import ElectionState
from kraftctl.raft.events import DeadlineReached, LogFlushed, Started
from kraftctl.raft.log_state import LogState
from kraftctl.raft.raft_config import RaftConfig
from kraftctl.raft.raft_node import RaftNode
from kraftctl.raft.voter_set import static_voter_set
from kraftctl.server.process.collector import Collector
from kraftctl_protocol.generated.alter_partition_request import (
    AlterPartitionRequest,
    BrokerState,
    PartitionData,
    TopicData,
)
from kraftctl_protocol.generated.alter_partition_response import AlterPartitionResponse
from kraftctl_protocol.generated.broker_heartbeat_request import BrokerHeartbeatRequest
from kraftctl_protocol.generated.broker_heartbeat_response import BrokerHeartbeatResponse
from kraftctl_protocol.generated.broker_registration_response import BrokerRegistrationResponse
from kraftctl_protocol.generated.create_topics_request import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreateTopicsRequest,
)
from kraftctl_protocol.generated.create_topics_response import CreateTopicsResponse
from kraftctl_protocol.generated.request_header import RequestHeader
from kraftctl_protocol.message import Message
from kraftctl_protocol.principal import ANONYMOUS
from kraftctl_protocol.requests import decode_request, encode_request, encode_response
from tests.support.active_controller import (
    BASE_PROPERTIES,
    CLUSTER_ID,
    ENDPOINTS,
    NODE_ID,
    bootstrap_records,
    registration,
)
from tests.support.raft_names import directory_id

BROKERS = 100
PARTITIONS = 100
"""Led by each broker, and changed by each of its requests."""

CREATED_PARTITIONS = 1_000
"""By one request, in one topic."""

LARGE_TOPIC_PARTITIONS = 9_999
"""By one request, placed by the controller: the largest topic that one request can create."""

SMALL_TOPICS = 20
"""By one request, of one partition each."""

LARGE_REQUEST_TOPICS = 2_500
"""By one request, of one partition each."""

REQUESTS_PER_FLUSH = 10
"""So many share a group commit."""

ROUNDS = 5
HEARTBEATS_PER_BROKER = 100
CREATIONS = 10
UNITS = 100_000
"""No request here is cut into slices."""

M = TypeVar("M", bound=Message)


class Parts:
    """Nanoseconds of processor time, by what they are spent on."""

    def __init__(self) -> None:
        self.ns = {"decode": 0, "step": 0, "encode": 0}

    def per(self, count: int) -> dict[str, float]:
        """Microseconds for each of `count` things, with their sum."""
        each = {name: ns / count / 1e3 for name, ns in self.ns.items()}
        return {"total": sum(each.values()), **each}


class CoreNode:
    """A node that is the only voter, or leads others in `round_cost`. Its log is not kept: a flush ends when
    `flush` says so."""

    def __init__(self, voters: Sequence[int] = (NODE_ID,)) -> None:
        config = ControllerConfig(BASE_PROPERTIES)
        raft = RaftNode(
            node_id=NODE_ID,
            directory_id=directory_id(NODE_ID),
            cluster_id=CLUSTER_ID,
            endpoints=ENDPOINTS,
            config=RaftConfig(),
            rng=random.Random(1),
            log=LogState(epochs=[]),
            quorum_state=ElectionState(epoch=0),
            static_voters=static_voter_set("CONTROLLER", dict.fromkeys(voters, ("localhost", 9093))),
            voter_history=[],
            kraft_version_history=[],
        )
        controller = QuorumController(config, CLUSTER_ID, random.Random(1), bootstrap_records(), ENDPOINTS)
        self.node = ControllerNode(raft=raft, controller=controller, snapshots=SnapshotPolicy(1 << 60, 0))
        self.parts = Parts()
        self.answers: list[tuple[int, Message]] = []
        self._flush_to: int | None = None
        self._first_batch = b""
        self._contexts: dict[int, RequestContext] = {}
        self._now_ms = 1_000
        self.step(Started())
        self._now_ms += 10_000
        self.step(DeadlineReached())
        self.flush()
        assert controller.active, "it leads"

    def step(self, event: NodeEvent) -> None:
        """One event, and what follows from it in the same turn."""
        for effect in self.node.step(event, self._now_ms, self._now_ms):
            if isinstance(effect, effects.FlushLog):
                self._flush_to = effect.end_offset
            elif isinstance(effect, effects.Respond):
                self.answers.append((effect.request_id, effect.response))
            elif isinstance(effect, effects.AppendBatch) and effect.is_control:
                self._first_batch = effect.batch
            elif isinstance(effect, ReadLog):
                self.step(LogRead(self._first_batch, "the start of the epoch"))
            elif isinstance(effect, TakeTurn):
                self.step(TurnTaken(effect.work, UNITS))

    def flush(self) -> None:
        """Until nothing is left to be flushed."""
        while self._flush_to is not None:
            end_offset, self._flush_to = self._flush_to, None
            self.step(LogFlushed(end_offset))

    def serve(self, payloads: list[bytes], requests_per_flush: int) -> list[Message]:
        """The responses to encoded requests, in their order; the time goes to `parts`."""
        ns, clock = self.parts.ns, time.process_time_ns
        answers: list[Message] = []
        for start in range(0, len(payloads), requests_per_flush):
            group = payloads[start : start + requests_per_flush]
            begun = clock()
            parsed = [decode_request(payload) for payload in group]
            decoded = clock()
            for request_id, request in enumerate(parsed):
                context = self._context(request.api_key, request.version)
                self.step(ClientRequest(request_id, context, request.body))
            self.flush()
            stepped = clock()
            for request_id, answer in self.answers:
                encode_response(1, parsed[request_id].api_key, parsed[request_id].version, answer)
            ns["decode"] += decoded - begun
            ns["step"] += stepped - decoded
            ns["encode"] += clock() - stepped
            answers += [answer for _, answer in self.answers]
            self.answers.clear()
        return answers

    def ask(self, request: Message, response: type[M]) -> M:
        """The response to one request."""
        (answer,) = self.serve([payload_of(request)], 1)
        assert isinstance(answer, response)
        return answer

    def _context(self, api_key: int, version: int) -> RequestContext:
        context = self._contexts.get(api_key)
        if context is None:
            context = RequestContext(
                api=API_TABLE[api_key],
                version=version,
                client_id="bench",
                principal=ANONYMOUS,
                listener="CONTROLLER",
                client_address=b"\x7f\0\0\1",
            )
            self._contexts[api_key] = context
        return context


def payload_of(request: Message) -> bytes:
    """The encoded request in its highest version."""
    header = RequestHeader(
        request_api_key=request.API_KEY,
        request_api_version=request.HIGHEST_VERSION,
        correlation_id=1,
        client_id="bench",
    )
    return encode_request(header, request)


class BenchBrokers:
    """Unfenced brokers from 1 on."""

    def __init__(self, core: CoreNode) -> None:
        self.core = core
        self.epochs: dict[int, int] = {}
        for broker_id in range(1, BROKERS + 1):
            response = self.core.ask(registration(broker_id), BrokerRegistrationResponse)
            self.epochs[broker_id] = response.broker_epoch
        for broker_id in range(1, BROKERS + 1):
            assert not self.core.ask(self.heartbeat(broker_id), BrokerHeartbeatResponse).is_fenced

    def heartbeat(self, broker_id: int) -> BrokerHeartbeatRequest:
        return BrokerHeartbeatRequest(
            broker_id=broker_id, broker_epoch=self.epochs[broker_id], current_metadata_offset=1 << 40
        )


class BenchCluster(BenchBrokers):
    """Brokers, each the leader of a topic with 100 partitions and two followers."""

    def __init__(self) -> None:
        super().__init__(CoreNode())
        self.topic_ids = {leader: self._create(leader) for leader in self.epochs}
        self.partition_epochs = [0] * PARTITIONS

    def replicas_of(self, leader: int) -> list[int]:
        return [(leader - 1 + position) % BROKERS + 1 for position in range(3)]

    def _create(self, leader: int) -> bytes:
        request = self.creation(f"topic-{leader}", PARTITIONS, self.replicas_of(leader))
        (topic,) = self.core.ask(request, CreateTopicsResponse).topics
        assert topic.error_code == 0, topic
        return topic.topic_id

    def creation(self, name: str, partitions: int, replicas: list[int]) -> CreateTopicsRequest:
        assignments = [
            CreatableReplicaAssignment(partition_index=index, broker_ids=replicas)
            for index in range(partitions)
        ]
        topic = CreatableTopic(name=name, num_partitions=-1, replication_factor=-1, assignments=assignments)
        return CreateTopicsRequest(topics=[topic])

    def alteration(self, leader: int, members: list[int], count: int) -> AlterPartitionRequest:
        """The first `count` partitions of one leader get this ISR."""
        partitions = [
            PartitionData(
                partition_index=index,
                leader_epoch=0,
                new_isr_with_epochs=[
                    BrokerState(broker_id=member, broker_epoch=self.epochs[member]) for member in members
                ],
                partition_epoch=self.partition_epochs[index],
            )
            for index in range(count)
        ]
        return AlterPartitionRequest(
            broker_id=leader,
            broker_epoch=self.epochs[leader],
            topics=[TopicData(topic_id=self.topic_ids[leader], partitions=partitions)],
        )


def alter_partitions(cluster: BenchCluster) -> dict[str, float]:
    """Each leader takes one follower out of all its ISRs and back in; per partition."""
    return _alter(cluster, PARTITIONS, 2)


def alter_partition(cluster: BenchCluster) -> dict[str, float]:
    """The same with one partition in each request."""
    return _alter(cluster, 1, 40)


def _alter(cluster: BenchCluster, count: int, times: int) -> dict[str, float]:
    core = cluster.core
    core.parts = Parts()
    for number in range(times):
        payloads = [
            payload_of(cluster.alteration(leader, cluster.replicas_of(leader)[: 2 + number % 2], count))
            for leader in cluster.epochs
        ]
        gc.collect()
        for answer in core.serve(payloads, REQUESTS_PER_FLUSH):
            assert isinstance(answer, AlterPartitionResponse)
            (topic,) = answer.topics
            assert all(partition.error_code == 0 for partition in topic.partitions), answer
        for index in range(count):
            cluster.partition_epochs[index] += 1
    return core.parts.per(times * BROKERS * count)


def heartbeats(cluster: BenchCluster) -> dict[str, float]:
    """Of all brokers in turn; per heartbeat."""
    core = cluster.core
    core.parts = Parts()
    payloads = [payload_of(cluster.heartbeat(broker_id)) for broker_id in cluster.epochs]
    gc.collect()
    for answer in core.serve(payloads * HEARTBEATS_PER_BROKER, REQUESTS_PER_FLUSH):
        assert isinstance(answer, BrokerHeartbeatResponse)
        assert answer.error_code == 0
    return core.parts.per(BROKERS * HEARTBEATS_PER_BROKER)


def create_topics(cluster: BenchCluster) -> dict[str, float]:
    """Topics of 1,000 partitions, one in each request; per partition."""
    core = cluster.core
    core.parts = Parts()
    known = len(core.node.controller.image.topics.topics)
    payloads = [
        payload_of(cluster.creation(f"created-{known + number}", CREATED_PARTITIONS, [1, 2, 3]))
        for number in range(CREATIONS)
    ]
    _serve_creations(core, payloads)
    return core.parts.per(CREATIONS * CREATED_PARTITIONS)


def create_large_topic(cluster: BenchCluster) -> dict[str, float]:
    """One topic of 9,999 partitions; per partition."""
    return _create_placed(cluster, requests=1, topics=1, partitions=LARGE_TOPIC_PARTITIONS)


def create_small_topics(cluster: BenchCluster) -> dict[str, float]:
    """20 topics of one partition in each request; per topic."""
    return _create_placed(cluster, requests=20, topics=SMALL_TOPICS, partitions=1)


def create_many_topics(cluster: BenchCluster) -> dict[str, float]:
    """2,500 topics of one partition in one request; per topic."""
    return _create_placed(cluster, requests=1, topics=LARGE_REQUEST_TOPICS, partitions=1)


def _create_placed(cluster: BenchCluster, *, requests: int, topics: int, partitions: int) -> dict[str, float]:
    """The controller places three replicas of each partition."""
    core = cluster.core
    core.parts = Parts()
    known = len(core.node.controller.image.topics.topics)
    payloads = []
    for number in range(requests):
        named = [f"placed-{known}-{number}-{topic}" for topic in range(topics)]
        wanted = [
            CreatableTopic(name=name, num_partitions=partitions, replication_factor=3) for name in named
        ]
        payloads.append(payload_of(CreateTopicsRequest(topics=wanted)))
    _serve_creations(core, payloads)
    return core.parts.per(requests * topics * partitions)


def _serve_creations(core: CoreNode, payloads: list[bytes]) -> None:
    gc.collect()
    for answer in core.serve(payloads, 1):
        assert isinstance(answer, CreateTopicsResponse)
        assert all(topic.error_code == 0 for topic in answer.topics), answer


MEASURED = {
    "AlterPartition x 100": alter_partitions,
    "AlterPartition x 1": alter_partition,
    "BrokerHeartbeat": heartbeats,
    "CreateTopics x 1,000": create_topics,
    "CreateTopics x 9,999": create_large_topic,
    "CreateTopics, 20 topics x 1": create_small_topics,
    "CreateTopics, 2,500 topics x 1": create_many_topics,
}


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--only", choices=list(MEASURED), action="append")
    options = parser.parse_args(arguments)
    results: dict[str, dict[str, float]] = {}
    with Collector(time.thread_time_ns).deciding():
        cluster = BenchCluster()
        gc.collect()
        gc.freeze()
        for name in options.only or list(MEASURED):
            rounds = [MEASURED[name](cluster) for _ in range(options.rounds)]
            results[name] = {
                part: round(statistics.median(measured[part] for measured in rounds), 3) for part in rounds[0]
            }
    print(json.dumps(results))


if __name__ == "__main__":
    main(sys.argv[1:])
