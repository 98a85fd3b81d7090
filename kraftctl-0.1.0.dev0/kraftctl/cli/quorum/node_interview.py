"""Asks one node about the quorum, repeatedly, on a thread of its own.

A node that does not lead responds to DescribeQuorum with an error and nothing else. A Fetch of an observer
without an id, which leaves no trace, is refused with the epoch of the node and the leader that it knows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from threading import Event
from typing import Final

from kraftctl import SOFTWARE
from kraftctl.cli.quorum.quorum_info import QuorumInfo, error_in, quorum_info_of, quorum_request
from kraftctl.server.process.clock import Clock
from kraftctl_admin.admin_client import BROKER_ENDPOINTS, CONTROLLER_ENDPOINTS
from kraftctl_admin.client_config import ClientConfig
from kraftctl_admin.errors import AdminError, RefusedError
from kraftctl_admin.repeated_errors import NOT_ACTIVE, RETRIABLE
from kraftctl_protocol.errors import Errors, error_of
from kraftctl_protocol.generated.describe_cluster_request import DescribeClusterRequest
from kraftctl_protocol.generated.describe_cluster_response import DescribeClusterResponse
from kraftctl_protocol.generated.describe_quorum_response import DescribeQuorumResponse
from kraftctl_protocol.generated.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kraftctl_protocol.generated.fetch_response import FetchResponse
from kraftctl_protocol.metadata_topic import (
    METADATA_PARTITION,
    METADATA_TOPIC,
    METADATA_TOPIC_ID,
    is_of_one_partition,
)
from kraftctl_protocol.peer_limits import is_address
from kraftctl_protocol.primitives import DecodeError
from kraftctl_security.addresses.known_hosts import KnownHost
from kraftctl_security.authentication_failures import AuthenticationFailedError
from kraftctl_security.blocking_connection import (
    BlockingConnection,
    Endpoint,
    UnservedRequestError,
    endpoint_text,
)

PAUSE_SECONDS: Final = 0.2
"""The pause between two rounds of requests to one node."""

LAST_ROUND_SECONDS: Final = 0.5
"""A node that has responded is not asked again when less time is left: the response would come too late."""

WAITING: Final = NOT_ACTIVE | RETRIABLE | {Errors.BROKER_NOT_AVAILABLE}
"""After these errors, another response is possible a moment later."""


@dataclass(frozen=True)
class Statement:
    """The state of one node; each statement replaces the one before."""

    endpoint: Endpoint
    text: str
    address: str = ""
    """The address, when its name has several."""
    is_unserved: bool = False
    """Whether the node does not serve the request, and is not asked again."""
    keys_to_check: str | None = None
    """The keys to check when SSL or SASL has failed."""
    is_closed_early: bool = False
    """Whether it closes the connection before its first response."""
    has_answered: bool = True
    """Whether the statement is about a response, and not about the lack of one."""
    is_of_broker: bool = False
    epoch: int = -1
    leader_id: int = -1
    """The leader of `epoch` that the node names; -1 for none."""
    leader_endpoint: Endpoint | None = None


@dataclass(frozen=True)
class Named:
    """The other controllers that a node names."""

    endpoints: list[Endpoint]


@dataclass(frozen=True)
class Described:
    """The response of the leader, or of a broker that has asked it."""

    quorum: QuorumInfo
    cluster_id: str
    """The cluster id; empty if it was not asked for."""


@dataclass(frozen=True)
class Refused:
    """A refusal that another attempt does not change."""

    error: AdminError


Finding = Statement | Named | Described | Refused


class NodeInterview:
    """Asks one node: `run` on a thread reports what it finds until `stop` is set or the time is over."""

    def __init__(
        self,
        endpoint: Endpoint,
        report: Callable[[Finding], None],
        *,
        config: ClientConfig,
        to_controllers: bool,
        with_cluster_id: bool,
        clock: Clock,
        deadline_ms: int,
        stop: Event,
    ) -> None:
        self._endpoint = endpoint
        self._report = report
        self._config = config
        self._to_controllers = to_controllers
        self._with_cluster_id = with_cluster_id
        self._clock = clock
        self._deadline_ms = deadline_ms
        self._stop = stop
        self._known = KnownHost(*endpoint)
        self._connection: BlockingConnection | None = None
        self._has_named = False
        self._has_said = False
        self._is_served = False
        """Whether the node has responded to a request, after SSL, versions and SASL."""

    def run(self) -> None:
        """Asks until the end; it never raises what a node can cause."""
        while not self._stop.is_set() and self._left_s() > (LAST_ROUND_SECONDS if self._has_said else 0.0):
            try:
                self._ask_all()
            except UnservedRequestError as error:
                self._say(str(error), is_unserved=True)
                break
            except AuthenticationFailedError as error:
                self._say(f"was not asked: {error}", keys_to_check=error.keys, has_answered=False)
                self._disconnect()
            except (OSError, DecodeError) as error:
                reason = str(error) or type(error).__name__
                is_unreached = self._connection is None
                broker = "is a broker, and " if self._is_broker_asked() else ""
                self._say(
                    f"{broker}{'is not reached' if is_unreached else 'gives no response'}: {reason}",
                    is_closed_early=isinstance(error, ConnectionResetError) and not self._is_served,
                    has_answered=False,
                )
                self._disconnect()
            except RefusedError as error:
                self._report(Refused(error))
                break
            self._stop.wait(PAUSE_SECONDS)
        self._disconnect()

    def _ask_all(self) -> None:
        response = self._connected().ask(quorum_request(), self._timeout_s())
        self._is_served = True
        assert isinstance(response, DescribeQuorumResponse)
        error, message = error_in(response)
        if error == Errors.NONE:
            cluster_id = self._cluster_id() if self._with_cluster_id else ""
            self._report(Described(quorum_info_of(response), cluster_id))
            self._stop.set()
        elif error not in WAITING:
            raise RefusedError(self._what("DescribeQuorumRequest"), error, message)
        else:
            if self._to_controllers and not self._is_broker_asked():
                self._ask_epoch()
                self._ask_for_others()
            else:
                broker = "is a broker, and " if self._to_controllers else ""
                self._say(f"{broker}answers {error.name}: it does not reach the leader of the controllers")
            if self._connected().try_another_address(error.name):
                self._disconnect()

    def _ask_epoch(self) -> None:
        partition = FetchPartition(partition=METADATA_PARTITION)
        partition.current_leader_epoch, partition.last_fetched_epoch = 0, 0
        topic = FetchTopic(topic=METADATA_TOPIC, topic_id=METADATA_TOPIC_ID, partitions=[partition])
        request = FetchRequest(max_wait_ms=0, max_bytes=1, topics=[topic])
        try:
            response = self._connected().ask(request, self._timeout_s())
        except UnservedRequestError:
            self._say("does not lead")
            return
        assert isinstance(response, FetchResponse)
        if response.error_code != Errors.NONE or not is_of_one_partition(response):
            error = error_of(response.error_code).name
            self._say(f"does not lead, and does not say its epoch: Fetch is answered with {error}")
            return
        leader = response.responses[0].partitions[0].current_leader
        if leader.leader_id < 0:
            epoch = f", knows no leader of epoch {leader.leader_epoch}" if leader.leader_epoch >= 0 else ""
            self._say(f"does not lead{epoch}", epoch=leader.leader_epoch)
            return
        nodes = [node for node in response.node_endpoints if node.node_id == leader.leader_id]
        found = [(node.host, node.port) for node in nodes if is_address(node.host, node.port)]
        where = f", at {endpoint_text(found[0])}" if found else ""
        said = f"says that controller {leader.leader_id} leads epoch {leader.leader_epoch}{where}"
        named = found[0] if found else None
        self._say(
            f"does not lead, {said}",
            epoch=leader.leader_epoch,
            leader_id=leader.leader_id,
            leader_endpoint=named,
        )
        self._report(Named(found))

    def _ask_for_others(self) -> None:
        """Asks once: DescribeCluster needs another right, and the response hardly changes."""
        if self._has_named:
            return
        self._has_named = True
        try:
            response = self._connected().ask(
                DescribeClusterRequest(endpoint_type=CONTROLLER_ENDPOINTS), self._timeout_s()
            )
        except UnservedRequestError:
            return
        assert isinstance(response, DescribeClusterResponse)
        if response.error_code == Errors.NONE:
            nodes = [(node.host, node.port) for node in response.brokers]
            self._report(Named([node for node in nodes if is_address(*node)]))

    def _cluster_id(self) -> str:
        """Asks for the cluster id. Through a controller this needs Alter on the cluster, as in Kafka."""
        kind = CONTROLLER_ENDPOINTS if self._to_controllers else BROKER_ENDPOINTS
        response = self._connected().ask(DescribeClusterRequest(endpoint_type=kind), self._timeout_s())
        assert isinstance(response, DescribeClusterResponse)
        if response.error_code != Errors.NONE:
            what = self._what("DescribeClusterRequest")
            raise RefusedError(what, error_of(response.error_code), response.error_message)
        return response.cluster_id

    def _what(self, request: str) -> str:
        return f"{request} at {endpoint_text(self._endpoint)}"

    def _say(
        self,
        text: str,
        *,
        is_unserved: bool = False,
        keys_to_check: str | None = None,
        is_closed_early: bool = False,
        has_answered: bool = True,
        epoch: int = -1,
        leader_id: int = -1,
        leader_endpoint: Endpoint | None = None,
    ) -> None:
        self._has_said = True
        has_several = self._known.addresses.has_several()
        address = str(self._connection.address) if has_several and self._connection is not None else ""
        statement = Statement(
            self._endpoint,
            text,
            address,
            is_unserved,
            keys_to_check,
            is_closed_early,
            has_answered,
            self._is_broker_asked(),
            epoch,
            leader_id,
            leader_endpoint,
        )
        self._report(statement)

    def _is_broker_asked(self) -> bool:
        """Returns whether the node is a broker where a controller was to be asked."""
        return self._to_controllers and self._connection is not None and self._connection.is_of_broker

    def _left_s(self) -> float:
        return (self._deadline_ms - self._clock.now_ms()) / 1000

    def _timeout_s(self) -> float:
        return max(0.0, min(self._config.request_timeout_ms / 1000, self._left_s()))

    def _connected(self) -> BlockingConnection:
        if self._connection is None:
            timeout_s = self._timeout_s()
            self._connection = BlockingConnection(
                self._endpoint,
                client_id=self._config.client_id,
                software=SOFTWARE,
                security=self._config.security,
                setup_timeout_s=min(self._config.connection_setup_timeout_ms / 1000, timeout_s),
                timeout_s=timeout_s,
                known=self._known,
            )
        return self._connection

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
