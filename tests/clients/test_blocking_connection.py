"""A blocking connection: encrypted and authenticated, or refused with the key that decides."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Iterator

import pytest

from kraftctl_protocol.generated.describe_cluster_request import DescribeClusterRequest
from kraftctl_protocol.generated.describe_cluster_response import DescribeClusterResponse
from kraftctl_protocol.generated.fetch_request import FetchRequest
from kraftctl_protocol.generated.sasl_handshake_request import SaslHandshakeRequest
from kraftctl_protocol.message import Message
from kraftctl_security.authentication_failures import AuthenticationFailedError
from kraftctl_security.blocking_connection import BlockingConnection, UnservedRequestError
from kraftctl_security.client_config import ClientSecurity
from tests.clients.sasl_script import SECRET, TwoSteps, sasl_script
from tests.server.security.ssl_serving import context_of, identity, node_context
from tests.support.certificates import Authority
from tests.support.wire.scripted_node import ScriptedNode

CLUSTER = DescribeClusterResponse(cluster_id="c1", endpoint_type=2)


def answered(_: Message) -> Message:
    return CLUSTER


def connect(
    node: ScriptedNode | int,
    security: ClientSecurity | None = None,
    *,
    host: str = "127.0.0.1",
    timeout_s: float = 5.0,
) -> BlockingConnection:
    return BlockingConnection(
        (host, node if isinstance(node, int) else node.port),
        client_id="client",
        software=("kraftctl", "1"),
        security=security or ClientSecurity(),
        setup_timeout_s=timeout_s,
        timeout_s=timeout_s,
    )


@pytest.fixture
def encrypted() -> Iterator[ScriptedNode]:
    context = node_context(ssl__client__auth="required")
    with ScriptedNode({DescribeClusterRequest: answered}, ssl_context=context) as node:
        yield node


def test_a_node_and_a_client_that_trust_each_other(encrypted: ScriptedNode) -> None:
    connection = connect(encrypted, ClientSecurity(ssl_context=context_of(identity("CN=client"))))
    assert connection.ask(DescribeClusterRequest(), 5.0) == CLUSTER
    with pytest.raises(UnservedRequestError, match="serve this FetchRequest in version 17"):
        connection.ask(FetchRequest(), 5.0, 17)
    assert connection.ask(DescribeClusterRequest(), 5.0) == CLUSTER
    connection.close()


@pytest.mark.parametrize(
    ("context", "host", "reason", "keys"),
    [
        pytest.param(
            lambda: context_of(identity("CN=client"), trusted=Authority("CN=Other")),
            "127.0.0.1",
            "certificate verify failed: ",
            "ssl.truststore.*",
            id="a-node-of-another-authority",
        ),
        pytest.param(
            lambda: context_of(identity("CN=client")),
            "localhost",
            "certificate verify failed: Hostname mismatch",
            "ssl.endpoint.identification.algorithm, or the host of the address",
            id="a-node-with-another-name",
        ),
        pytest.param(
            context_of, "127.0.0.1", "CERTIFICATE_REQUIRED", "ssl.keystore.*", id="no-own-certificate"
        ),
        pytest.param(
            lambda: context_of(Authority("CN=Other").issue("CN=client")),
            "127.0.0.1",
            "UNKNOWN_CA",
            "ssl.keystore.*",
            id="a-certificate-that-is-not-accepted",
        ),
    ],
)
def test_what_ssl_does_not_accept_names_the_key(
    encrypted: ScriptedNode, context: type[ssl.SSLContext], host: str, reason: str, keys: str
) -> None:
    with pytest.raises(AuthenticationFailedError, match=reason) as failed:
        connect(encrypted, ClientSecurity(ssl_context=context()), host=host)
    assert failed.value.keys == keys
    assert encrypted.requests == []


def test_versions_without_a_common_one_name_the_key() -> None:
    context = node_context(ssl__enabled__protocols="TLSv1.2")
    only_new = ClientSecurity(ssl_context=context_of(ssl__enabled__protocols="TLSv1.3"))
    with ScriptedNode({}, ssl_context=context) as node:
        with pytest.raises(AuthenticationFailedError) as failed:
            connect(node, only_new)
    assert failed.value.keys == "ssl.enabled.protocols"


def test_a_node_without_ssl_is_not_taken_for_one_that_refuses_the_client() -> None:
    """It closes the connection, as one that stops does: another attempt may succeed."""
    with ScriptedNode({}) as node, pytest.raises(ConnectionResetError, match="has closed the connection"):
        connect(node, ClientSecurity(ssl_context=context_of()))


def test_a_node_that_answers_with_an_alert_of_ssl_names_the_protocol() -> None:
    """As Kafka's listeners with SSL do."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def alert() -> None:
            with listener.accept()[0] as client:
                client.recv(1_000)
                client.sendall(b"\x15\x03\x03\x00\x02\x02\x50")

        thread = threading.Thread(target=alert)
        thread.start()
        with pytest.raises(AuthenticationFailedError, match="the node answers with SSL") as failed:
            connect(listener.getsockname()[1])
        assert failed.value.keys == "security.protocol"
        thread.join()


def test_sasl_over_ssl_precedes_requests_and_is_repeated_before_the_session_ends() -> None:
    script = {**sasl_script(lifetime_ms=1), DescribeClusterRequest: answered}
    with ScriptedNode(script, ssl_context=node_context()) as node:
        security = ClientSecurity(ssl_context=context_of(), new_sasl_client=TwoSteps)
        connection = connect(node, security)
        assert connection.ask(DescribeClusterRequest(), 5.0) == CLUSTER
        authenticated = [request.NAME for request in node.requests[:3]]
        assert authenticated == ["SaslHandshakeRequest", *["SaslAuthenticateRequest"] * 2]
        threading.Event().wait(1.2)
        assert connection.ask(DescribeClusterRequest(), 5.0) == CLUSTER
        assert [request.NAME for request in node.requests[4:7]] == authenticated
        assert sum(isinstance(request, SaslHandshakeRequest) for request in node.requests) == 2
        connection.close()


def test_a_wrong_password_names_the_key_and_is_not_shown() -> None:
    wrong = SECRET[:4] + "-word"
    with ScriptedNode({**sasl_script(), DescribeClusterRequest: answered}) as node:
        security = ClientSecurity(new_sasl_client=lambda: TwoSteps(wrong))
        with pytest.raises(
            AuthenticationFailedError, match="refused with SASL_AUTHENTICATION_FAILED"
        ) as failed:
            connect(node, security)
        assert failed.value.keys == "sasl.jaas.config"
        assert wrong not in f"{failed.value!r} {security!r} {vars(failed.value)}"
        assert not any(isinstance(request, DescribeClusterRequest) for request in node.requests)


def test_a_node_that_drips_bytes_does_not_prolong_the_timeout() -> None:
    """Each byte is in time; the response is not."""
    stop = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def drip() -> None:
            with listener.accept()[0] as client:
                client.sendall((1_000).to_bytes(4, "big"))
                while not stop.wait(0.05):
                    client.sendall(b"x")

        thread = threading.Thread(target=drip)
        thread.start()
        stop_later = threading.Timer(5.0, stop.set)
        stop_later.start()
        with pytest.raises(TimeoutError):
            connect(listener.getsockname()[1], timeout_s=0.2)
        assert not stop.is_set()
        stop_later.cancel()
        stop.set()
        thread.join()
