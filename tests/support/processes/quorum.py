"""Several kraftctl processes in one quorum, and a client that records what was acknowledged."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from kraftctl.dev.nodes import Controller, KraftctlController, quorum_properties
from kraftctl.dev.polling import await_result
from kraftctl.dev.ports import free_port
from kraftctl.dev.settings import random_id
from kraftctl.storage.snapshots import SnapshotStore
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.create_topics_request import CreatableTopic, CreateTopicsRequest
from kraftctl_protocol.generated.create_topics_response import CreateTopicsResponse
from kraftctl_protocol.generated.describe_quorum_request import (
    DescribeQuorumRequest,
    PartitionData,
    TopicData,
)
from kraftctl_protocol.generated.describe_quorum_response import DescribeQuorumResponse
from kraftctl_protocol.generated.describe_quorum_response import PartitionData as Described
from kraftctl_protocol.generated.topic_record import TopicRecord
from kraftctl_protocol.log_file_names import PARTITION_DIRECTORY
from kraftctl_protocol.metadata_record import decode_metadata_record
from kraftctl_protocol.record_batch import RecordBatch, read_batches
from tests.support.wire.controller_client import ControllerClient, StandInBroker

FIRST_ID = 3000
CALL_SECONDS_MAX = 5.0
NEW_LEADER_SECONDS_MAX = 20.0


class Quorum:
    """Controllers 3000, 3001, ...; kills all of them at the end."""

    def __init__(
        self, directory: Path, *, size: int = 3, dynamic: bool, settings: Mapping[str, str] | None = None
    ) -> None:
        self.cluster_id = random_id()
        ports = {FIRST_ID + index: free_port() for index in range(size)}
        voters = [f"{node_id}@localhost:{port}:{random_id()}" for node_id, port in ports.items()]
        self.nodes = [
            KraftctlController(
                node_id,
                directory / f"controller-{node_id}",
                self.cluster_id,
                dynamic=dynamic,
                port=port,
                properties={**quorum_properties(ports, dynamic=dynamic), **(settings or {})},
                initial_controllers=",".join(voters) if dynamic else None,
            )
            for node_id, port in ports.items()
        ]

    def __enter__(self) -> Quorum:
        for node in self.nodes:
            node.format()
            node.start(wait=False)
        for node in self.nodes:
            node.await_ready()
        return self

    def __exit__(self, *_: object) -> None:
        for node in self.nodes:
            node.kill()

    def leader(self) -> KraftctlController:
        """Waits until one of them leads."""
        return await_result(self._leader, "one of the controllers leads", NEW_LEADER_SECONDS_MAX)

    def _leader(self) -> KraftctlController | None:
        return next((node for node in self.nodes if node.running and leads(node)), None)

    def await_equal_logs(self) -> None:
        """Waits until all running nodes have the same log up to the same end."""
        await_result(self._has_equal_logs, "all controllers have the same log", 20.0)

    def _has_equal_logs(self) -> bool:
        logs = [log_bytes(node) for node in self.nodes if node.running]
        return all(log == logs[0] for log in logs)


class TopicCreator:
    """Creates topics through the current leader, for one broker that is not running."""

    def __init__(
        self,
        quorum: Quorum,
        *,
        prefix: str = "topic-",
        broker_id: int = 1,
        call_seconds_max: float = CALL_SECONDS_MAX,
    ) -> None:
        self.acknowledged: set[str] = set()
        self._quorum = quorum
        self._prefix = prefix
        self._broker_id = broker_id
        self._call_seconds_max = call_seconds_max
        self._client: ControllerClient | None = None
        self._number = 0

    def create(self, count: int) -> None:
        """Creates `count` topics, and retries each until a leader acknowledges it."""
        for _ in range(count):
            self._number += 1
            name = f"{self._prefix}{self._number}"
            await_result(partial(self._create, name), f"{name} is created", 6 * self._call_seconds_max, 0.02)
            self.acknowledged.add(name)

    def close(self) -> None:
        if self._client is not None:
            self._client.close()
            self._client = None

    def _create(self, name: str) -> bool:
        """Whether a leader reports the topic as existing."""
        try:
            client = self._connected()
            if client is None:
                return False
            topic = CreatableTopic(name=name, num_partitions=5, replication_factor=1)
            answer = client.call(CreateTopicsRequest(topics=[topic]), 7, CreateTopicsResponse)
        except OSError:
            self.close()
            return False
        error = answer.topics[0].error_code
        if error in (Errors.NONE, Errors.TOPIC_ALREADY_EXISTS):
            return True
        assert error == Errors.NOT_CONTROLLER, answer
        self.close()
        return False

    def _connected(self) -> ControllerClient | None:
        """Connects to an active controller for which the broker is unfenced."""
        if self._client is None:
            leader = next((node for node in self._quorum.nodes if node.running and leads(node)), None)
            if leader is None:
                return None
            client = ControllerClient(leader.port, timeout_s=self._call_seconds_max)
            broker = StandInBroker(client, self._broker_id, self._quorum.cluster_id)
            if not broker.register():
                client.close()
                return None
            await_result(broker.is_unfenced, "the broker is unfenced", self._call_seconds_max, 0.02)
            self._client = client
        return self._client


def leads(node: Controller) -> bool:
    """Whether it reports that."""
    return describe(node) is not None


def describe(node: Controller) -> Described | None:
    """The response to DescribeQuorum of either kind of controller; None when it does not lead."""
    topic = TopicData(topic_name="__cluster_metadata", partitions=[PartitionData(partition_index=0)])
    try:
        with ControllerClient(node.port, timeout_s=CALL_SECONDS_MAX) as client:
            answer = client.call(DescribeQuorumRequest(topics=[topic]), 2, DescribeQuorumResponse)
    except OSError:
        return None
    described = answer.topics[0].partitions[0]
    if described.error_code != Errors.NONE or described.leader_id != node.node_id:
        return None
    return described


def log_bytes(node: Controller) -> bytes:
    """All segments of its log, without a torn batch at the end."""
    directory = node.log_directory / PARTITION_DIRECTORY
    return b"".join(path.read_bytes() for path in sorted(directory.glob("*.log")))


def topics_known_to(node: Controller) -> set[str]:
    """The topics in the newest snapshot and the log on its disk."""
    while True:
        try:
            return _topics_on_disk(node)
        except FileNotFoundError:
            continue  # retention has just removed what the directory listed


def _topics_on_disk(node: Controller) -> set[str]:
    store = SnapshotStore(node.log_directory / PARTITION_DIRECTORY)
    names = sorted(path.name for path in store.directory.glob("*.checkpoint"))
    batches: list[RecordBatch] = []
    if names:
        batches += read_batches((store.directory / names[-1]).read_bytes())
    batches += read_batches(log_bytes(node), partial_tail=True)
    found: set[str] = set()
    for batch in batches:
        if not batch.header.is_control:
            records = [decode_metadata_record(entry.value or b"").record for entry in batch.records]
            found |= {record.name for record in records if isinstance(record, TopicRecord)}
    return found
