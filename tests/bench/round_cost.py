"""Processor time of heartbeats that wait for a leader of three to confirm that it leads, in the pure core.

`round_cost.py` prints a line for each number of heartbeats that share a round: the microseconds of the leader
for each of them, its part of the round included, and how many Fetches a round takes. The followers are not
measured: each sends its next Fetch when it has a response to the one before.
"""

from __future__ import annotations

import gc
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

if __name__ == "__main__":
    sys.path.append(str(Path(__file__).resolve().parents[2]))

from kraftctl.apis.api_table import API_TABLE
from kraftctl.controller.results.request_context import RequestContext
from kraftctl.node.events import ClientRequest, LogRead, NodeEvent, ReadLog, TakeTurn, TurnTaken
from kraftctl.raft import effects
from kraftctl.raft.events import DeadlineReached, ResponseReceived
from kraftctl.raft.states import ROUND_INTERVAL_MS
from kraftctl.server.process.collector import Collector
from kraftctl_protocol.generated.fetch_request import FetchPartition, FetchRequest, FetchTopic, ReplicaState
from kraftctl_protocol.generated.vote_request import VoteRequest
from kraftctl_protocol.generated.vote_response import PartitionData, TopicData, VoteResponse
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_topic import METADATA_TOPIC, METADATA_TOPIC_ID
from kraftctl_protocol.principal import ANONYMOUS
from kraftctl_protocol.requests import decode_request, encode_response
from tests.bench.core_cost import BROKERS, UNITS, BenchBrokers, CoreNode, payload_of
from tests.support.active_controller import CLUSTER_ID, NODE_ID
from tests.support.raft_names import directory_id

FOLLOWERS: Final = (NODE_ID + 1, NODE_ID + 2)
FETCH_ID: Final = 1_000_000
"""The ids of Fetches are this one and that of their follower."""

SHARED: Final = (1, 10, 100)
ROUNDS: Final = 5
TURNS: Final = 200


class LeaderNode(CoreNode):
    """A leader; its followers fetch whatever there is."""

    def __init__(self, followers: Sequence[int]) -> None:
        self.fetch_count = 0
        self._waiting = 0
        """Requests of brokers without a response."""
        self._fetching = list(followers)
        self._fetch_contexts = {follower: _fetch_context(follower) for follower in followers}
        super().__init__((NODE_ID, *followers))

    def step(self, event: NodeEvent) -> None:
        self._waiting += isinstance(event, ClientRequest) and event.request_id < FETCH_ID
        for effect in self.node.step(event, self._now_ms, self._now_ms):
            if isinstance(effect, effects.FlushLog):
                self._flush_to = effect.end_offset
            elif isinstance(effect, effects.Respond):
                self._responded(effect.request_id, effect.response)
            elif isinstance(effect, effects.RespondFetch):
                for request_id in effect.request_ids:
                    self._responded(request_id, effect.response)
            elif isinstance(effect, effects.AppendBatch) and effect.is_control:
                self._first_batch = effect.batch
            elif isinstance(effect, ReadLog):
                self.step(LogRead(self._first_batch, "the start of the epoch"))
            elif isinstance(effect, TakeTurn):
                self.step(TurnTaken(effect.work, UNITS))
            elif isinstance(effect, effects.SendRequest) and isinstance(effect.request, VoteRequest):
                self.step(ResponseReceived(effect.send_id, _granted(effect.request)))

    def flush(self) -> None:
        """Until every request has its response, and every follower waits for news."""
        while self._flush_to is not None or self._fetching or self._waiting:
            super().flush()
            if not self._fetching and self._waiting:
                self.pass_time()
                self.step(DeadlineReached())
            fetching, self._fetching = self._fetching, []
            for follower in fetching:
                self._fetch(follower)

    def _responded(self, request_id: int, response: Message) -> None:
        if request_id < FETCH_ID:
            self._waiting -= 1
            self.answers.append((request_id, response))
        else:
            encode_response(1, FetchRequest.API_KEY, FetchRequest.HIGHEST_VERSION, response)
            self._fetching.append(request_id - FETCH_ID)

    def _fetch(self, follower: int) -> None:
        self.fetch_count += 1
        request = decode_request(self._fetch_payload(follower))
        self.step(ClientRequest(FETCH_ID + follower, self._fetch_contexts[follower], request.body))

    def _fetch_payload(self, follower: int) -> bytes:
        raft = self.node.raft
        partition = FetchPartition(
            current_leader_epoch=raft.epoch,
            fetch_offset=raft.end_offset,
            last_fetched_epoch=raft.epoch,
            log_start_offset=0,
            partition_max_bytes=1 << 20,
            replica_directory_id=directory_id(follower),
            high_watermark=raft.high_watermark,
        )
        request = FetchRequest(
            cluster_id=CLUSTER_ID,
            replica_state=ReplicaState(replica_id=follower),
            max_wait_ms=500,
            topics=[FetchTopic(topic_id=METADATA_TOPIC_ID, partitions=[partition])],
        )
        return payload_of(request)

    def pass_time(self) -> None:
        """Until the next round may begin."""
        self._now_ms += ROUND_INTERVAL_MS


def _fetch_context(follower: int) -> RequestContext:
    return RequestContext(
        api=API_TABLE[FetchRequest.API_KEY],
        version=FetchRequest.HIGHEST_VERSION,
        client_id="bench",
        principal=ANONYMOUS,
        listener="CONTROLLER",
        client_address=b"\x7f\0\0\1",
        connection_id=follower,
    )


def _granted(request: VoteRequest) -> VoteResponse:
    asked = request.topics[0].partitions[0]
    partition = PartitionData(leader_id=-1, leader_epoch=asked.replica_epoch, vote_granted=True)
    return VoteResponse(topics=[TopicData(topic_name=METADATA_TOPIC, partitions=[partition])])


def measure(node: LeaderNode, payloads: list[bytes], shared: int) -> tuple[float, float]:
    """Returns microseconds for each heartbeat, and the Fetches of a round."""
    turns = max(1, TURNS // shared) * 10
    fetches, spent_ns = node.fetch_count, 0
    gc.collect()
    for turn in range(turns):
        node.pass_time()
        chosen = [payloads[(turn * shared + number) % BROKERS] for number in range(shared)]
        begun = time.process_time_ns()
        answers = node.serve(chosen, shared)
        spent_ns += time.process_time_ns() - begun
        assert len(answers) == shared
    return spent_ns / turns / shared / 1e3, (node.fetch_count - fetches) / turns


def main() -> None:
    with Collector(time.thread_time_ns).deciding():
        for name, node in (
            ("the only voter", LeaderNode(())),
            ("one of three voters", LeaderNode(FOLLOWERS)),
        ):
            brokers = BenchBrokers(node)
            payloads = [payload_of(brokers.heartbeat(broker_id)) for broker_id in brokers.epochs]
            gc.freeze()
            for shared in SHARED:
                found = [measure(node, payloads, shared) for _ in range(ROUNDS)]
                each_us = [us for us, _ in found]
                print(
                    f"{name}, {shared} heartbeats together: {statistics.median(each_us):.2f} us each, the"
                    f" lowest {min(each_us):.2f}; {found[0][1]:.2f} Fetches"
                )


if __name__ == "__main__":
    main()
