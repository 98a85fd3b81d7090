"""The proxies know who connects; what is cut waits, in the direction that is cut, and arrives later."""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator

import pytest

from kraftctl.dev.ports import free_port
from tests.chaos.links import CLIENTS, Network

SILENT_S = 0.3


@pytest.fixture
def served() -> Iterator[tuple[int, socket.socket]]:
    """Port and socket of the node that is connected to."""
    with socket.create_server(("127.0.0.1", free_port())) as server:
        server.settimeout(10.0)
        yield server.getsockname()[1], server


@pytest.fixture
def network() -> Iterator[Network]:
    network = Network({3000: "controller", 1: "broker"})
    yield network
    network.close()


def a_request(client_id: bytes) -> bytes:
    """The header of an ApiVersions request, and nothing after it."""
    return struct.pack(">ihhih", 20, 18, 3, 7, len(client_id)) + client_id


REQUEST = a_request(b"rdkafka")


def connect(network: Network, served: tuple[int, socket.socket]) -> tuple[socket.socket, socket.socket]:
    """The client's end and the node's, with the proxy between them."""
    proxy_port = free_port()
    network.add("node", proxy_port, served[0])
    client = socket.create_connection(("127.0.0.1", proxy_port), timeout=10.0)
    node, _ = served[1].accept()
    node.settimeout(10.0)
    return client, node


def is_silent(end: socket.socket) -> bool:
    end.settimeout(SILENT_S)
    try:
        end.recv(100)
    except TimeoutError:
        return True
    finally:
        end.settimeout(10.0)
    return False


def is_ended(end: socket.socket) -> bool:
    try:
        return end.recv(100) == b""
    except ConnectionResetError:
        return True


def test_what_is_sent_while_a_link_is_cut_arrives_afterwards(
    network: Network, served: tuple[int, socket.socket]
) -> None:
    client, node = connect(network, served)
    with client, node:
        network.cut("a fault", [(CLIENTS, "node")])
        client.sendall(REQUEST)
        assert is_silent(node)
        node.sendall(b"the other way")
        assert client.recv(100) == b"the other way"
        network.heal("a fault")
        assert node.recv(100) == REQUEST


@pytest.mark.parametrize(
    ("client_id", "source"),
    [
        pytest.param(b"raft-client-3000", "controller", id="voter"),
        pytest.param(b"raft-client-1", "broker", id="observer"),
        pytest.param(b"1", "broker", id="heartbeat"),
        pytest.param(b"broker-1-fetcher-0", "broker", id="fetcher"),
        pytest.param(b"chaos-1", CLIENTS, id="client"),
        pytest.param(b"7", CLIENTS, id="no-node"),
        pytest.param(b"", CLIENTS, id="nameless"),
    ],
)
def test_nodes_are_recognised_by_their_client_ids(
    network: Network, served: tuple[int, socket.socket], client_id: bytes, source: str
) -> None:
    client, node = connect(network, served)
    with client, node:
        others = {"controller", "broker", CLIENTS} - {source}
        network.cut("others", [(other, "node") for other in others])
        client.sendall(a_request(client_id))
        assert node.recv(100) == a_request(client_id)
        network.cut("others", [(source, "node")])
        client.sendall(b"more")
        assert is_silent(node)


def test_a_link_is_cut_as_long_as_one_fault_needs_it(
    network: Network, served: tuple[int, socket.socket]
) -> None:
    client, node = connect(network, served)
    with client, node:
        for owner in ("one", "other"):
            network.cut(owner, [(CLIENTS, "node")])
        client.sendall(REQUEST)
        network.heal("one")
        assert is_silent(node)
        network.heal("other")
        assert node.recv(100) == REQUEST


def test_the_end_of_a_connection_does_not_pass_a_cut_link(
    network: Network, served: tuple[int, socket.socket]
) -> None:
    client, node = connect(network, served)
    with node:
        client.sendall(REQUEST)
        assert node.recv(100) == REQUEST
        network.cut("a fault", [(CLIENTS, "node")])
        client.close()
        assert is_silent(node)
        network.heal("a fault")
        assert node.recv(100) == b""


def test_a_reset_ends_connections_of_either_direction(
    network: Network, served: tuple[int, socket.socket]
) -> None:
    client, node = connect(network, served)
    with client, node:
        client.sendall(REQUEST)
        assert node.recv(100) == REQUEST
        network.reset([("node", CLIENTS)])
        assert is_ended(client)


def test_a_node_that_does_not_run_ends_connections(network: Network) -> None:
    proxy_port = free_port()
    network.add("node", proxy_port, free_port())
    with socket.create_connection(("127.0.0.1", proxy_port), timeout=10.0) as client:
        assert is_ended(client)


def test_a_slow_link_delays_what_passes(network: Network, served: tuple[int, socket.socket]) -> None:
    client, node = connect(network, served)
    with client, node:
        network.delay("a fault", [(CLIENTS, "node")], 2 * SILENT_S)
        client.sendall(REQUEST)
        assert is_silent(node)
        assert node.recv(100) == REQUEST
