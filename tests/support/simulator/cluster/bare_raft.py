"""Raft nodes without disks, sockets or controllers: any configuration, right or wrong, on a virtual clock.

`Network.listening` says who listens where; `Network.failures` why an address is not reached.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import NamedTuple, Self

from kraftctl.raft.effects import (
    AppendBatch,
    FlushLog,
    Halt,
    Notice,
    Respond,
    RespondFetch,
    SendRequest,
    TruncateLog,
)
from kraftctl.raft.election_state import ElectionState
from kraftctl.raft.events import (
    DeadlineReached,
    LogFlushed,
    RaftEvent,
    RequestReceived,
    ResponseReceived,
    Started,
)
from kraftctl.raft.log_state import LogState
from kraftctl.raft.peer_failures import CLOSED, NO_RESPONSE, REFUSED, PeerFailure
from kraftctl.raft.raft_config import RaftConfig
from kraftctl.raft.raft_node import RaftNode
from kraftctl.raft.voter_set import VoterSet, static_voter_set
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.describe_cluster_response import DescribeClusterResponse
from kraftctl_protocol.generated.fetch_request import FetchRequest
from kraftctl_protocol.generated.fetch_response import FetchResponse
from kraftctl_protocol.generated.vote_request import VoteRequest
from kraftctl_protocol.generated.vote_response import VoteResponse
from kraftctl_protocol.message import Message
from tests.support.raft_names import CLUSTER_ID, LISTENER, directory_id, endpoint
from tests.support.simulator.cluster.virtual_time import VirtualTime

Address = tuple[str, int]

LATENCY_US = 1_000
TIMEOUT_US = 2_000_000


class Line(NamedTuple):
    """Of the log of a node, at this time."""

    ms: int
    level: str
    text: str


class Network:
    """Who listens where, and what is wrong on the way."""

    def __init__(self) -> None:
        self.time = VirtualTime()
        self.listening: dict[Address, BareNode] = {}
        self.failures: dict[Address, PeerFailure] = {}
        self.denying: set[Address] = set()
        """Those that deny every request the right on the cluster."""
        self.nodes: list[BareNode] = []

    def run_for(self, seconds: float) -> None:
        self.time.run_until(self.time.now_us + round(seconds * 1e6))

    def send(self, sender: BareNode, effect: SendRequest) -> None:
        address = (effect.host, effect.port)
        failure = self.failures.get(address)
        receiver = self.listening.get(address)
        if failure is None and receiver is None:
            failure = CLOSED
        if failure is not None:
            event = ResponseReceived(effect.send_id, None, refused=failure.kind == REFUSED, failure=failure)
            delay_us = TIMEOUT_US if failure.kind == NO_RESPONSE else LATENCY_US
            self.time.call_after(delay_us, lambda: sender.step(event))
            return
        assert receiver is not None

        def answer(response: Message) -> None:
            event = ResponseReceived(effect.send_id, response)
            self.time.call_after(LATENCY_US, lambda: sender.step(event))

        self.time.call_after(LATENCY_US, lambda: self._arrive(receiver, address, effect.request, answer))

    def _arrive(
        self, receiver: BareNode, address: Address, request: Message, answer: Callable[[Message], None]
    ) -> None:
        if address in self.denying:
            refusal = VoteResponse() if isinstance(request, VoteRequest) else FetchResponse()
            refusal.error_code = int(Errors.CLUSTER_AUTHORIZATION_FAILED)
            answer(refusal)
        else:
            receiver.receive(request, answer)


class BareNode:
    """One node. Its log and its votes are in memory."""

    def __init__(
        self,
        network: Network,
        node_id: int,
        voters: VoterSet | dict[int, Address],
        *,
        generation: int = 0,
        address: Address | None = None,
        advertised: Address | None = None,
        cluster_id: str = CLUSTER_ID,
        bootstrap_servers: list[Address] | None = None,
        auto_join: bool = False,
        recovering_epoch: int | None = None,
        client_address: bytes = b"\x0a\x00\x00\x01",
        election: ElectionState | None = None,
    ) -> None:
        self.network = network
        self.node_id = node_id
        self.cluster_id = cluster_id
        self.address = address or endpoint(node_id)
        self.client_address = client_address
        self.lines: list[Line] = []
        self.halted: str | None = None
        self.disk_hangs = False
        self.batches: list[AppendBatch] = []
        self._responses: dict[int, Callable[[Message], None]] = {}
        self.requests_count = 0
        static = {} if isinstance(voters, VoterSet) else voters
        dynamic = voters if isinstance(voters, VoterSet) else VoterSet([])
        self.raft = RaftNode(
            node_id=node_id,
            directory_id=directory_id(node_id, generation),
            cluster_id=cluster_id,
            endpoints={LISTENER: advertised or self.address},
            config=RaftConfig(bootstrap_servers=bootstrap_servers, auto_join=auto_join),
            rng=random.Random(node_id),
            log=LogState(),
            quorum_state=election,
            static_voters=static_voter_set(LISTENER, static),
            voter_history=[(-1, dynamic)] if len(dynamic) else [],
            kraft_version_history=[(-1, 1)] if len(dynamic) else [],
            recovering_epoch=recovering_epoch,
        )
        network.nodes.append(self)

    def start(self) -> Self:
        self.network.listening[self.address] = self
        self.step(Started())
        return self

    def stop(self) -> None:
        """As SIGKILL: whatever arrives is lost."""
        self.halted = "stopped"
        if self.network.listening.get(self.address) is self:
            del self.network.listening[self.address]

    def step(self, event: RaftEvent) -> None:
        if self.halted is not None:
            return
        for effect in self.raft.step(event, self.network.time.now_ms, 0):
            self._carry_out(effect)
        deadline_ms = self.raft.next_deadline_ms
        if deadline_ms is not None:
            self.network.time.call_at(max(deadline_ms * 1000, self.network.time.now_us), self._wake)

    def receive(self, request: Message, answer: Callable[[Message], None]) -> None:
        if type(request).NAME == "DescribeClusterRequest":
            answer(DescribeClusterResponse(cluster_id=self.cluster_id, endpoint_type=2))
            return
        self.requests_count += 1
        self._responses[self.requests_count] = answer
        version = type(request).HIGHEST_VERSION
        if isinstance(request, FetchRequest):
            version = 18
        # Where it comes from: the simplest network translates no address.
        sender = next((node.client_address for node in self.network.nodes if node is not self), b"")
        self.step(
            RequestReceived(self.requests_count, LISTENER, type(request).API_KEY, version, request, sender)
        )

    def warnings(self) -> list[str]:
        return [line.text for line in self.lines if line.level in ("WARN", "ERROR")]

    def infos(self) -> list[str]:
        return [line.text for line in self.lines if line.level == "INFO"]

    def _wake(self) -> None:
        deadline_ms = self.raft.next_deadline_ms
        if self.halted is None and deadline_ms is not None and deadline_ms <= self.network.time.now_ms:
            self.step(DeadlineReached())

    def _carry_out(self, effect: object) -> None:
        if isinstance(effect, Notice):
            self.lines.append(Line(self.network.time.now_ms, effect.level, effect.text))
        elif isinstance(effect, SendRequest):
            self.network.send(self, effect)
        elif isinstance(effect, AppendBatch):
            self.batches.append(effect)
        elif isinstance(effect, TruncateLog):
            self.batches = [batch for batch in self.batches if batch.last_offset < effect.end_offset]
        elif isinstance(effect, FlushLog) and self.disk_hangs:
            pass
        elif isinstance(effect, FlushLog):
            event = LogFlushed(effect.end_offset)
            self.network.time.call_after(0, lambda: self.step(event))
        elif isinstance(effect, Respond):
            self._responses.pop(effect.request_id)(effect.response)
        elif isinstance(effect, RespondFetch):
            records = b"".join(
                batch.batch
                for batch in self.batches
                if effect.read_offset <= batch.base_offset < effect.end_offset
            )
            for request_id in effect.request_ids:
                self._responses.pop(request_id)(effect.response_with(records))
        elif isinstance(effect, Halt):
            self.halted = effect.text
