"""AlterPartition in a closed loop, kraftctl and Kafka's own controller one after the other.

A client plays the leader of one partition: it asks to take a follower out of the ISR and back in, each time
waiting for the answer, which a controller gives once the change is on disk and committed.
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from kraftctl.dev.nodes import Controller, JavaController, KraftctlController
from kraftctl.dev.settings import random_id
from kraftctl_protocol.generated.alter_partition_request import (
    AlterPartitionRequest,
    BrokerState,
    PartitionData,
    TopicData,
)
from kraftctl_protocol.generated.alter_partition_response import AlterPartitionResponse
from kraftctl_protocol.generated.create_topics_request import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreateTopicsRequest,
)
from kraftctl_protocol.generated.create_topics_response import CreateTopicsResponse
from tests.bench.measure import percentile, processor_time_s
from tests.bench.table import Row
from tests.support.processes.kafka import await_result, kafka
from tests.support.wire.controller_client import ControllerClient, StandInBroker

WARM_UP_S = 20.0
"""Long enough for the JVM to compile its hot code, at least without the linger."""
OPERATIONS = 1_000
HEARTBEAT_INTERVAL_S = 1.0
CONTROLLER_ID = 3000
BROKER_IDS = (1, 2, 3)

NO_LINGER = {"controller.quorum.append.linger.ms": "0"}
"""Kafka's default is to wait 25 ms for more records before it writes; kraftctl writes immediately and batches
what arrives during a flush. This takes the wait out of the comparison."""

LATENCY_FACTOR_MIN = 1.0
PROCESSOR_FACTOR_MIN = 1.0
"""No slower, and no more processor time, than Kafka's own controller."""


@dataclass
class Measured:
    """The figures of one controller."""

    p50_ms: float
    p99_ms: float
    processor_us: float


class Leader:
    """The leader of a partition with three replicas, which shrinks and grows its ISR."""

    def __init__(self, client: ControllerClient, brokers: list[StandInBroker], topic_id: bytes) -> None:
        self._client = client
        self._brokers = brokers
        self._topic_id = topic_id
        self._leader_epoch = 0
        self._partition_epoch = 0
        self._isr_size = len(brokers)
        self._heartbeat_at_s = 0.0

    def change_isr(self) -> float:
        """One AlterPartition; returns the seconds from request to answer."""
        self._keep_sessions()
        self._isr_size = (
            len(self._brokers) - 1 if self._isr_size == len(self._brokers) else len(self._brokers)
        )
        members = self._brokers[: self._isr_size]
        wanted = PartitionData(
            partition_index=0,
            leader_epoch=self._leader_epoch,
            new_isr_with_epochs=[
                BrokerState(broker_id=member.broker_id, broker_epoch=member.broker_epoch)
                for member in members
            ],
            partition_epoch=self._partition_epoch,
        )
        request = AlterPartitionRequest(
            broker_id=self._brokers[0].broker_id,
            broker_epoch=self._brokers[0].broker_epoch,
            topics=[TopicData(topic_id=self._topic_id, partitions=[wanted])],
        )
        start = time.perf_counter()
        response = self._client.call(request, 3, AlterPartitionResponse)
        elapsed_s = time.perf_counter() - start
        partition = response.topics[0].partitions[0]
        assert response.error_code == 0 == partition.error_code, response
        self._leader_epoch, self._partition_epoch = partition.leader_epoch, partition.partition_epoch
        return elapsed_s

    def _keep_sessions(self) -> None:
        if time.monotonic() - self._heartbeat_at_s > HEARTBEAT_INTERVAL_S:
            self._heartbeat_at_s = time.monotonic()
            for broker in self._brokers:
                broker.heartbeat()


def measure(controller: Controller) -> Measured:
    """Formats, starts, measures and stops the controller."""
    controller.format()
    controller.start()
    try:
        with ControllerClient(controller.port) as client:
            leader = _prepare(client, controller.cluster_id)
            warm_at_s = time.monotonic() + WARM_UP_S
            while time.monotonic() < warm_at_s:
                leader.change_isr()
            assert controller.process is not None
            before_s = processor_time_s(controller.process.pid)
            latencies_s = [leader.change_isr() for _ in range(OPERATIONS)]
            used_s = processor_time_s(controller.process.pid) - before_s
    finally:
        controller.kill()
    return Measured(
        percentile(latencies_s, 0.5) * 1e3, percentile(latencies_s, 0.99) * 1e3, used_s / OPERATIONS * 1e6
    )


def run() -> list[Row]:
    """Rows for the report."""
    with tempfile.TemporaryDirectory(prefix="kraftctl-bench-") as directory:
        home = Path(directory)
        ours = measure(KraftctlController(CONTROLLER_ID, home / "kraftctl", random_id()))
        java = measure(_java(home / "java", {}))
        eager = measure(_java(home / "eager", NO_LINGER))
    return [
        _row("p50", ours.p50_ms, "ms", "Java", java.p50_ms, LATENCY_FACTOR_MIN),
        _row("p99", ours.p99_ms, "ms", "Java", java.p99_ms),
        _row("processor time each", ours.processor_us, "us", "Java", java.processor_us, PROCESSOR_FACTOR_MIN),
        _row("p50", ours.p50_ms, "ms", "Java without linger", eager.p50_ms),
        _row("p99", ours.p99_ms, "ms", "Java without linger", eager.p99_ms),
        _row("processor time each", ours.processor_us, "us", "Java without linger", eager.processor_us),
    ]


def _java(directory: Path, properties: dict[str, str]) -> JavaController:
    return JavaController(kafka(), CONTROLLER_ID, directory, random_id(), quick=False, properties=properties)


def _row(what: str, ours: float, unit: str, whose: str, theirs: float, at_least: float | None = None) -> Row:
    return Row(f"AlterPartition, closed loop, {what}", ours, unit, whose, theirs, at_least=at_least)


def _prepare(client: ControllerClient, cluster_id: str) -> Leader:
    """Three registered, unfenced brokers and a topic led by the first."""
    brokers = [StandInBroker(client, broker_id, cluster_id) for broker_id in BROKER_IDS]
    for broker in brokers:
        await_result(broker.register, f"broker {broker.broker_id} is registered")
        await_result(broker.is_unfenced, f"broker {broker.broker_id} is unfenced")
    topic = CreatableTopic(
        name="measured",
        num_partitions=-1,
        replication_factor=-1,
        assignments=[CreatableReplicaAssignment(partition_index=0, broker_ids=list(BROKER_IDS))],
    )
    response = client.call(CreateTopicsRequest(topics=[topic]), 7, CreateTopicsResponse)
    assert response.topics[0].error_code == 0, response
    return Leader(client, brokers, response.topics[0].topic_id)
