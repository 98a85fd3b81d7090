"""Sends requests to a cluster through its brokers or, as KIP-919 added, through its controllers.

A broker forwards to the active controller what it cannot answer itself. Another controller refuses, so the
active one is found with DescribeCluster, and asked first. A node that cannot be reached, does not respond or
is not the active controller is skipped: all others are asked, in rounds, until default.api.timeout.ms has
passed.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Event
from typing import Protocol, TypeVar

from kraftctl_admin.client_config import ClientConfig
from kraftctl_admin.errors import AdminError, RefusedError, UnavailableError
from kraftctl_admin.repeated_errors import NOT_ACTIVE, is_repeated
from kraftctl_admin.unavailable import no_node_serves, no_node_was_asked
from kraftctl_protocol.errors import Errors, error_of
from kraftctl_protocol.generated.describe_cluster_request import DescribeClusterRequest
from kraftctl_protocol.generated.describe_cluster_response import DescribeClusterResponse
from kraftctl_protocol.message import Message
from kraftctl_protocol.peer_limits import is_address
from kraftctl_protocol.primitives import DecodeError
from kraftctl_security.addresses.known_hosts import KnownHosts
from kraftctl_security.authentication_failures import SECURITY_PROTOCOL, AuthenticationFailedError
from kraftctl_security.blocking_connection import (
    BlockingConnection,
    Endpoint,
    UnservedRequestError,
    endpoint_text,
)
from kraftctl_security.tls.shown_certificate import with_certificate

SOFTWARE = "kraftctl-admin", "1"

BROKER_ENDPOINTS = 1
CONTROLLER_ENDPOINTS = 2
"""The endpoint types of DescribeCluster (KIP-919)."""

NODES_MAX = 32
"""The number of nodes to ask: bootstrap servers, and the controllers that these name."""

M = TypeVar("M", bound=Message)


class MonotonicClock(Protocol):
    """The clock of deadlines."""

    def now_ms(self) -> int:
        """Returns milliseconds that never go backwards, from an arbitrary zero."""
        ...


class AdminClient:
    """A client that keeps its connections until `close`. It is not thread-safe."""

    def __init__(
        self,
        bootstrap: list[Endpoint],
        *,
        to_controllers: bool,
        config: ClientConfig,
        clock: MonotonicClock,
        software: tuple[str, str] = SOFTWARE,
    ) -> None:
        """`software` is the name and version that nodes see (KIP-511)."""
        self._software = software
        self._bootstrap = bootstrap
        self.to_controllers = to_controllers
        self._config = config
        self._clock = clock
        self._hosts = KnownHosts()
        self._connections: dict[Endpoint, BlockingConnection] = {}
        self._known: list[Endpoint] = []
        """The nodes of DescribeCluster, the active controller first."""
        self._problems: dict[Endpoint, str] = {}
        """The reasons why nodes have given no usable response."""
        self._without_api: set[Endpoint] = set()
        """The nodes that do not serve the present request."""
        self._keys_to_check: dict[Endpoint, str] = {}
        """The keys to check of nodes with which SSL or SASL has failed."""

    @property
    def timeout_ms(self) -> int:
        """The time that an operation may take."""
        return self._config.default_api_timeout_ms

    def close(self) -> None:
        """Closes all connections and never raises."""
        for connection in self._connections.values():
            connection.close()
        self._connections.clear()

    def __enter__(self) -> AdminClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def cluster_id(self) -> str:
        """Asks for the cluster id. Through controllers this needs Alter on the cluster, as in Kafka."""
        return self.describe_cluster().cluster_id

    def describe_cluster(self, *, with_fenced: bool = False) -> DescribeClusterResponse:
        """Asks for the brokers or the controllers, with the rights that `cluster_id` needs."""
        request = self._describe_cluster()
        request.include_fenced_brokers = with_fenced
        return self.call(request, DescribeClusterResponse, _error_of_cluster)

    def only(self, node_id: int) -> AdminClient:
        """Returns a client that asks this node and no other. Raises AdminError."""
        nodes = self.describe_cluster().brokers
        found = [(node.host, node.port) for node in nodes if node.broker_id == node_id]
        if not found or not is_address(*found[0]):
            known = ", ".join(str(node.broker_id) for node in sorted(nodes, key=lambda node: node.broker_id))
            raise AdminError(f"There is no node {node_id}, or it has no address. Known are: {known}.")
        return AdminClient(
            found, to_controllers=False, config=self._config, clock=self._clock, software=self._software
        )

    def call(
        self, request: Message, answer: type[M], error_in: Callable[[M], tuple[Errors, str | None]]
    ) -> M:
        """Returns the response without an error.

        `error_in` takes code and message from a response. Raises RefusedError for an error after which the
        request is not repeated, and UnavailableError when no node responds otherwise in time, or no node
        serves the request.
        """
        deadline_ms = self._clock.now_ms() + self._config.default_api_timeout_ms
        self._problems.clear()
        self._without_api.clear()
        self._keys_to_check.clear()
        while True:
            endpoints = self._endpoints(deadline_ms)
            for endpoint in endpoints:
                response = self._attempt(endpoint, request, deadline_ms)
                if response is None:
                    continue
                assert isinstance(response, answer)
                error, message = error_in(response)
                if error == Errors.NONE:
                    return response
                if not is_repeated(request.NAME, error):
                    raise RefusedError(f"{request.NAME} at {endpoint_text(endpoint)}", error, message)
                self._problems[endpoint] = error.name
                if error in NOT_ACTIVE:
                    self._try_another_address(endpoint, error.name)
            if self._without_api.issuperset(endpoints):
                raise UnavailableError(no_node_serves(request.NAME, self._reasons()))
            if self._keys_to_check.keys() >= set(endpoints):
                keys = self._keys_to_check.values()
                raise UnavailableError(no_node_was_asked(request.NAME, self._reasons(), keys))
            if self._clock.now_ms() + self._config.retry_backoff_ms >= deadline_ms:
                raise UnavailableError(self._why_unavailable(request))
            self._known = []
            Event().wait(self._config.retry_backoff_ms / 1000)

    def _endpoints(self, deadline_ms: int) -> list[Endpoint]:
        if self.to_controllers and not self._known:
            self._known = self._controllers(deadline_ms)
        return list(dict.fromkeys([*self._known, *self._bootstrap]))

    def _controllers(self, deadline_ms: int) -> list[Endpoint]:
        """Returns all controllers, the active one first; empty if no bootstrap controller can or may
        list them.
        """
        request = self._describe_cluster()
        for endpoint in self._bootstrap:
            response = self._attempt(endpoint, request, deadline_ms)
            if not isinstance(response, DescribeClusterResponse) or response.error_code != Errors.NONE:
                continue
            nodes = sorted(response.brokers, key=lambda node: node.broker_id != response.controller_id)
            named = [(node.host, node.port) for node in nodes if is_address(node.host, node.port)]
            if named:
                return named[:NODES_MAX]
        return []

    def _describe_cluster(self) -> DescribeClusterRequest:
        kind = CONTROLLER_ENDPOINTS if self.to_controllers else BROKER_ENDPOINTS
        return DescribeClusterRequest(endpoint_type=kind)

    def _attempt(self, endpoint: Endpoint, request: Message, deadline_ms: int) -> Message | None:
        """Returns None when this node does not respond; `_problems` has the reason."""
        left_ms = deadline_ms - self._clock.now_ms()
        if left_ms <= 0:
            return None
        timeout_s = min(self._config.request_timeout_ms, left_ms) / 1000
        setup_s = min(self._config.connection_setup_timeout_ms / 1000, timeout_s)
        try:
            connection = self._connections.get(endpoint)
            if connection is None:
                connection = self._connect(endpoint, setup_s, timeout_s)
                self._connections[endpoint] = connection
            return connection.ask(request, timeout_s)
        except UnservedRequestError as error:
            self._problems[endpoint] = str(error)
            self._without_api.add(endpoint)
        except AuthenticationFailedError as error:
            self._keys_to_check[endpoint] = error.keys
            self._failed(endpoint, with_certificate(error, *endpoint))
        except TimeoutError as error:
            self._failed(endpoint, error, is_cut_short=left_ms < self._config.request_timeout_ms)
        except (OSError, DecodeError) as error:
            self._failed(endpoint, error)
        return None

    def _connect(self, endpoint: Endpoint, setup_s: float, timeout_s: float) -> BlockingConnection:
        return BlockingConnection(
            endpoint,
            client_id=self._config.client_id,
            software=self._software,
            security=self._config.security,
            setup_timeout_s=setup_s,
            timeout_s=timeout_s,
            known=self._hosts.host(*endpoint),
        )

    def _failed(self, endpoint: Endpoint, error: Exception, *, is_cut_short: bool = False) -> None:
        """Notes a failed attempt, unless the time of the operation ended it: an earlier failure says
        more then.
        """
        if not (is_cut_short and endpoint in self._problems):
            self._problems[endpoint] = str(error) or type(error).__name__
        dropped = self._connections.pop(endpoint, None)
        if dropped is not None:
            dropped.close()

    def _try_another_address(self, endpoint: Endpoint, reason: str) -> None:
        connection = self._connections.get(endpoint)
        if connection is not None and connection.try_another_address(reason):
            del self._connections[endpoint]
            connection.close()

    def _why_unavailable(self, request: Message) -> str:
        return (
            f"No node answered {request.NAME} within {self._config.default_api_timeout_ms} ms:"
            f" {self._reasons()}."
            f" Next step: check {self._keys_in_doubt()} of --command-config, the addresses, and that a"
            " majority of the voters is running."
        )

    def _keys_in_doubt(self) -> str:
        """Returns the keys to check when a node closes a connection: one that requires SSL or SASL
        cannot say why.
        """
        return ", ".join(dict.fromkeys(self._keys_to_check.values())) or SECURITY_PROTOCOL

    def _reasons(self) -> str:
        return "; ".join(f"{endpoint_text(node)}: {why}" for node, why in self._problems.items())


def _error_of_cluster(response: DescribeClusterResponse) -> tuple[Errors, str | None]:
    return error_of(response.error_code), response.error_message
