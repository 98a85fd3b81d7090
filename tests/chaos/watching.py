"""Observers of a running cluster: threads that ask controllers and brokers, and keep what they find."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from kraftctl.dev.nodes import JavaController, Node
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.describe_quorum_request import (
    DescribeQuorumRequest,
    PartitionData,
    TopicData,
)
from kraftctl_protocol.generated.describe_quorum_response import DescribeQuorumResponse
from kraftctl_protocol.generated.metadata_request import MetadataRequest
from kraftctl_protocol.generated.metadata_response import MetadataResponse
from tests.chaos.cluster import ChaosCluster
from tests.chaos.followed_log import FollowedLog
from tests.chaos.histories import QuorumHistory, RisingNumbers
from tests.support.wire.controller_client import ControllerClient

CALL_SECONDS_MAX = 2.0
QUORUM_INTERVAL_S = 0.1
METADATA_INTERVAL_S = 0.3
LOG_INTERVAL_S = 0.1

LEADER_IS_RECENT_S = 1.0

DESCRIBE_QUORUM_VERSION = 2
METADATA_VERSION = 12

T = TypeVar("T")


class Watch:
    """Asks each node on its own port, beside the proxies. `check` raises what a thread has found."""

    def __init__(self, cluster: ChaosCluster) -> None:
        self.quorum = QuorumHistory()
        of_kafka = any(isinstance(node, JavaController) for node in cluster.controllers)
        self.log = FollowedLog(cluster.cluster_id, of_kafka=of_kafka)
        self.end_offsets: dict[int, int] = {}
        """Voter id -> end of its log, as the leader knows it."""
        self.reads_to_the_end = 0
        """How often a leader had no committed record that was not read."""
        self._cluster = cluster
        self._leader: tuple[int, int, float] = (-1, -1, 0.0)
        """Epoch, id, and the time.monotonic() of its last response."""
        self._finds: list[BaseException] = []
        self._ended = threading.Event()
        loops: list[Callable[[], None]] = [partial(self._watch_quorum, node) for node in cluster.controllers]
        loops += [partial(self._watch_metadata, node) for node in cluster.brokers]
        loops += [self._follow_log]
        self._threads = [threading.Thread(target=self._run, args=(loop,), daemon=True) for loop in loops]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        self._ended.set()
        for thread in self._threads:
            if thread.ident is not None:
                thread.join(3 * CALL_SECONDS_MAX)

    def check(self) -> None:
        if self._finds:
            raise self._finds[0]

    def leader(self) -> int | None:
        """Node id of the controller that has answered as the leader of the latest epoch a moment ago."""
        _, leader_id, at = self._leader
        return leader_id if time.monotonic() - at < LEADER_IS_RECENT_S else None

    def _run(self, loop: Callable[[], None]) -> None:
        try:
            loop()
        except BaseException as error:
            self._finds.append(error)
            raise

    def _watch_quorum(self, node: Node) -> None:
        partition = PartitionData(partition_index=0)
        request = DescribeQuorumRequest(topics=[TopicData("__cluster_metadata", [partition])])
        asking = Asking(node)
        while not self._ended.wait(QUORUM_INTERVAL_S):
            answer = asking.ask(
                lambda client: client.call(request, DESCRIBE_QUORUM_VERSION, DescribeQuorumResponse)
            )
            if answer is None or answer.error_code != Errors.NONE:
                continue
            described = answer.topics[0].partitions[0]
            if described.error_code != Errors.NONE or described.leader_id != node.node_id:
                continue
            epoch = described.leader_epoch
            self.quorum.note(described.leader_id, epoch, described.high_watermark)
            if epoch >= self._leader[0]:
                self._leader = (epoch, described.leader_id, time.monotonic())
                self.end_offsets = {
                    voter.replica_id: voter.log_end_offset for voter in described.current_voters
                }

    def _watch_metadata(self, node: Node) -> None:
        request = MetadataRequest(topics=None)
        asking = Asking(node)
        epochs = RisingNumbers("MonotonicLeaderEpoch", f"metadata of {node.name}")
        process = node.process
        while not self._ended.wait(METADATA_INTERVAL_S):
            if node.process is not process:
                process = node.process
                epochs.forget()
            answer = asking.ask(lambda client: client.call(request, METADATA_VERSION, MetadataResponse))
            if answer is None or node.process is not process:
                continue
            for topic in answer.topics:
                for partition in topic.partitions:
                    if topic.error_code == partition.error_code == Errors.NONE:
                        key = (topic.topic_id.hex(), partition.partition_index)
                        epochs.note(key, partition.leader_epoch)

    def _follow_log(self) -> None:
        asking = {node: Asking(node) for node in self._cluster.controllers}
        while not self._ended.wait(LOG_INTERVAL_S):
            leader_id = self.leader()
            for node, client in asking.items():
                if leader_id not in (None, node.node_id):
                    continue
                seen = client.ask(self.log.fetch)
                if seen is not None:
                    self.quorum.note(node.node_id, seen.leader_epoch, seen.high_watermark)
                    self.reads_to_the_end += seen.high_watermark <= self.log.end_offset


class Asking:
    """One connection to a node, made again when it has ended. None while the node does not answer."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._client: ControllerClient | None = None

    def ask(self, call: Callable[[ControllerClient], T]) -> T | None:
        try:
            if self._client is None:
                self._client = ControllerClient(
                    self._node.port, client_id="chaos", timeout_s=CALL_SECONDS_MAX
                )
            return call(self._client)
        except OSError:
            if self._client is not None:
                self._client.close()
            self._client = None
            return None
