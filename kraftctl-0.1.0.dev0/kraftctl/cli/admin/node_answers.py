"""What one node says in response to requests that change nothing and leave no trace.

ApiVersions says what it serves and supports, a Fetch without a replica id which epoch and leader it knows and
whether the cluster is the expected one, DescribeCluster and DescribeQuorum what it knows of the others.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Final

from kraftctl import SOFTWARE
from kraftctl.cli.quorum.quorum_info import QuorumInfo, error_in, quorum_info_of, quorum_request
from kraftctl.server.process.clock import Clock
from kraftctl_admin.admin_client import BROKER_ENDPOINTS, CONTROLLER_ENDPOINTS, NODES_MAX
from kraftctl_admin.client_config import ClientConfig
from kraftctl_protocol.errors import Errors, error_of
from kraftctl_protocol.generated.api_versions_response import ApiVersionsResponse
from kraftctl_protocol.generated.describe_cluster_request import DescribeClusterRequest
from kraftctl_protocol.generated.describe_cluster_response import DescribeClusterResponse
from kraftctl_protocol.generated.describe_quorum_response import DescribeQuorumResponse
from kraftctl_protocol.generated.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kraftctl_protocol.generated.fetch_response import FetchResponse
from kraftctl_protocol.generated.vote_request import VoteRequest
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_topic import (
    METADATA_PARTITION,
    METADATA_TOPIC,
    METADATA_TOPIC_ID,
    is_of_one_partition,
)
from kraftctl_protocol.peer_limits import is_address
from kraftctl_protocol.primitives import DecodeError
from kraftctl_security.authentication_failures import AuthenticationFailedError
from kraftctl_security.blocking_connection import BlockingConnection, Endpoint, UnservedRequestError
from kraftctl_security.peer_versions import api_versions_request
from kraftctl_security.tls.shown_certificate import with_certificate

LATE_SECONDS: Final = 0.3
"""A thread may report this much later than its deadline."""


@dataclass
class NamedNode:
    """A node as DescribeCluster names it."""

    node_id: int
    host: str
    port: int
    is_fenced: bool = False


@dataclass
class NodeAnswers:
    """The answers of one node; None is where it has said nothing usable."""

    endpoint: Endpoint
    problem: str | None = None
    """Why it was not asked everything; None if it was."""
    keys_to_check: str | None = None
    """The keys that decide, when SSL or SASL has failed."""
    is_unknown_name: bool = False
    is_reached: bool = False
    """Whether it has responded to ApiVersions, after SSL and SASL."""
    is_controller: bool = False
    supported: dict[str, tuple[int, int]] = field(default_factory=dict)
    finalized: dict[str, int] = field(default_factory=dict)
    cluster_id: str | None = None
    registered: list[NamedNode] | None = None
    quorum: QuorumInfo | None = None
    quorum_error: Errors = Errors.NONE
    described_ms: int = 0
    """The wall clock of this host when the quorum was described."""
    epoch: int = -1
    leader_id: int = -1
    leader_endpoint: Endpoint | None = None
    """The address that it has for this leader; a release before 3.9 says none."""
    fetch_error: Errors = Errors.NONE


class NodeInquiry:
    """Asks one node once."""

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        config: ClientConfig,
        clock: Clock,
        deadline_ms: int,
        to_controllers: bool,
        cluster_id: str | None = None,
    ) -> None:
        """Takes the `cluster_id` that a controller is asked to confirm, if one is known."""
        self._config = config
        self._clock = clock
        self._deadline_ms = deadline_ms
        self._to_controllers = to_controllers
        self._cluster_id = cluster_id
        self.answers = NodeAnswers(endpoint)

    def run(self) -> NodeAnswers:
        """Returns what the node has said; it never raises what a node can cause."""
        found = self.answers
        try:
            connection = self._connect()
        except AuthenticationFailedError as error:
            found.problem = str(with_certificate(error, *found.endpoint))
            found.keys_to_check = error.keys
            return found
        except (OSError, DecodeError) as error:
            found.problem = str(error) or type(error).__name__
            found.is_unknown_name = isinstance(error, socket.gaierror)
            return found
        try:
            for ask in self._questions():
                self._ask(connection, ask)
        except (OSError, DecodeError, AuthenticationFailedError) as error:
            found.problem = str(error) or type(error).__name__
        finally:
            connection.close()
        return found

    def _questions(self) -> Sequence[tuple[Message, Callable[[Message], None]]]:
        kind = CONTROLLER_ENDPOINTS if self._to_controllers else BROKER_ENDPOINTS
        described = DescribeClusterRequest(
            endpoint_type=kind, include_fenced_brokers=not self._to_controllers
        )
        questions: list[tuple[Message, Callable[[Message], None]]] = [
            (api_versions_request(*SOFTWARE), self._take_versions),
            (quorum_request(), self._take_quorum),
            (described, self._take_cluster),
        ]
        if self._to_controllers:
            questions.append((fetch_of(self._cluster_id), self._take_epoch))
        return questions

    def _connect(self) -> BlockingConnection:
        timeout_s = self._timeout_s()
        return BlockingConnection(
            self.answers.endpoint,
            client_id=self._config.client_id,
            software=SOFTWARE,
            security=self._config.security,
            setup_timeout_s=min(self._config.connection_setup_timeout_ms / 1000, timeout_s),
            timeout_s=timeout_s,
        )

    def _ask(
        self, connection: BlockingConnection, question: tuple[Message, Callable[[Message], None]]
    ) -> None:
        request, take = question
        try:
            take(connection.ask(request, self._timeout_s()))
        except UnservedRequestError:
            if isinstance(request, DescribeClusterRequest) and request.include_fenced_brokers:
                request.include_fenced_brokers = False  # before Kafka 4.0
                self._ask(connection, question)

    def _timeout_s(self) -> float:
        left_s = (self._deadline_ms - self._clock.now_ms()) / 1000
        return max(0.0, min(self._config.request_timeout_ms / 1000, left_s))

    def _take_versions(self, response: Message) -> None:
        assert isinstance(response, ApiVersionsResponse)
        found = self.answers
        found.is_reached = True
        found.is_controller = any(api.api_key == VoteRequest.API_KEY for api in response.api_keys)
        found.supported = {
            each.name: (each.min_version, each.max_version) for each in response.supported_features
        }
        found.finalized = {each.name: each.max_version_level for each in response.finalized_features}

    def _take_quorum(self, response: Message) -> None:
        assert isinstance(response, DescribeQuorumResponse)
        found = self.answers
        found.quorum_error, _ = error_in(response)
        found.described_ms = self._clock.wall_ms()
        if found.quorum_error == Errors.NONE:
            found.quorum = quorum_info_of(response)

    def _take_cluster(self, response: Message) -> None:
        assert isinstance(response, DescribeClusterResponse)
        if response.error_code == Errors.NONE:
            self.answers.cluster_id = response.cluster_id
            self.answers.registered = [
                NamedNode(each.broker_id, each.host, each.port, each.is_fenced) for each in response.brokers
            ]

    def _take_epoch(self, response: Message) -> None:
        assert isinstance(response, FetchResponse)
        found = self.answers
        if response.error_code != Errors.NONE or not is_of_one_partition(response):
            found.fetch_error = error_of(response.error_code)
            return
        leader = response.responses[0].partitions[0].current_leader
        found.epoch, found.leader_id = leader.leader_epoch, leader.leader_id
        for node in response.node_endpoints:
            if node.node_id == leader.leader_id and is_address(node.host, node.port):
                found.leader_endpoint = (node.host, node.port)


def fetch_of(cluster_id: str | None) -> FetchRequest:
    """Returns the Fetch of an observer without an id: it is refused with the epoch that the node knows."""
    partition = FetchPartition(partition=METADATA_PARTITION)
    partition.current_leader_epoch, partition.last_fetched_epoch = 0, 0
    topic = FetchTopic(topic=METADATA_TOPIC, topic_id=METADATA_TOPIC_ID, partitions=[partition])
    return FetchRequest(cluster_id=cluster_id, max_wait_ms=0, max_bytes=1, topics=[topic])


def ask_all(
    endpoints: Sequence[Endpoint], inquire: Callable[[Endpoint], NodeInquiry], clock: Clock, deadline_ms: int
) -> dict[Endpoint, NodeAnswers]:
    """Asks all at the same time, and returns at the deadline in any case: a name server may say nothing."""
    began_ms = clock.now_ms()
    results: SimpleQueue[NodeAnswers] = SimpleQueue()
    chosen = list(dict.fromkeys(endpoints))[:NODES_MAX]
    for endpoint in chosen:
        inquiry = inquire(endpoint)
        # Nothing waits for them: one that hangs in the resolver does not delay the end of the process.
        Thread(target=lambda each: results.put(each.run()), args=(inquiry,), name="ask", daemon=True).start()
    found: dict[Endpoint, NodeAnswers] = {}
    while len(found) < len(chosen):
        left_s = (deadline_ms - clock.now_ms()) / 1000 + LATE_SECONDS
        try:
            answers = results.get(timeout=max(0.0, left_s))
        except Empty:
            break
        found[answers.endpoint] = answers
    seconds = (clock.now_ms() - began_ms) / 1000
    silent = f"it has said nothing within {seconds:.1f} s"
    return {each: found.get(each) or NodeAnswers(each, silent) for each in chosen}
