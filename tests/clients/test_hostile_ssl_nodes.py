"""A node that sends TLS without end, before or after its handshake: no client listens for long.

The clients are the controller that reaches others, and the blocking connection of the tools and the exporter.
"""

from __future__ import annotations

import asyncio
import logging
import re
import socket
import ssl
import time
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.serialization import Encoding

from kraftctl_protocol.primitives import DecodeError
from kraftctl_security.authentication_failures import AuthenticationFailedError
from kraftctl_security.blocking_connection import BlockingConnection
from kraftctl_security.client_config import ClientSecurity
from kraftctl_security.tls.ssl_socket import ClientSslSocket
from tests.server.peers.test_peers import Asker
from tests.server.security.ssl_serving import authority, context_of, identity, node_context
from tests.server.security.test_ssl_records import WITHOUT_DATA
from tests.server.serving import unregister
from tests.support.certificates import Authority, Identity
from tests.support.wire.hostile_ssl_node import Conversation, HostileSslNode, until_closed

ROOT = Path(__file__).parents[2]

FLOODS = [kind for kind in WITHOUT_DATA if kind != "unknown-kinds"]


def flood(kind: str) -> Conversation:
    def talk(node: HostileSslNode, client: socket.socket) -> None:
        records = node.records_after_handshake(client)
        until_closed(client, lambda: b"".join(WITHOUT_DATA[kind](records) for _ in range(50)))

    return talk


HANDSHAKES = {
    "bytes": b"\x16\x03\x03\x40\x00" + b"\x02\x00\xff\xff" + bytes(16_380),
    "pieces": b"\x16\x03\x03\x00\x01\x02" + b"\x16\x03\x03\x00\x01\x00" * 1_000,
    "empty": b"\x16\x03\x03\x00\x00" * 1_000,
    "warnings": b"\x15\x03\x03\x00\x02\x01\x5a" * 1_000,
    "changes-of-cipher": b"\x14\x03\x03\x00\x01\x01" * 1_000,
}


def handshake(kind: str) -> Conversation:
    def talk(_: HostileSslNode, client: socket.socket) -> None:
        client.recv(65_536)
        until_closed(client, lambda: HANDSHAKES[kind])

    return talk


def showing(node: HostileSslNode, client: socket.socket) -> None:
    node.shake_hands(client)
    client.recv(65_536)


def chain(own: Identity, extra: list[x509.Certificate], path: Path, version: str) -> ssl.SSLContext:
    path.write_text(own.pem() + "".join(each.public_bytes(Encoding.PEM).decode() for each in extra))
    context = node_context(own, ssl__enabled__protocols=version)
    context.load_cert_chain(path)
    return context


def long_one(names: int) -> x509.Certificate:
    other = Authority("CN=long")
    hosts = [x509.DNSName(f"{number}.{'x' * 50}.example") for number in range(names)]
    extension = x509.SubjectAlternativeName(hosts)
    return (
        other.builder(other.subject).add_extension(extension, critical=False).sign(other.key, hashes.SHA256())
    )


def ask_as_a_controller(port: int, seconds: float) -> str:
    """What the log says of the connection."""
    found: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: found.append(record.getMessage())  # type: ignore[method-assign]
    logger = logging.getLogger("kraftctl.server.peers")

    async def ask() -> None:
        asker = Asker(port, context_of(identity("CN=client")), int(seconds * 1_000))
        asker.ask(1, unregister(1))
        assert await asker.answer_to(1) is None
        await asker.peers.stop()

    logger.addHandler(handler)
    level = logger.level
    logger.setLevel(logging.INFO)
    try:
        asyncio.run(ask())
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
    return "\n".join(found)


def ask_as_a_tool(port: int, seconds: float) -> str:
    security = ClientSecurity(ssl_context=context_of(identity("CN=client")))
    with pytest.raises((OSError, DecodeError, AuthenticationFailedError)) as refused:
        BlockingConnection(
            ("127.0.0.1", port), client_id="tool", software=("tool", "1"), security=security,
            setup_timeout_s=seconds, timeout_s=seconds,
        )  # fmt: skip
    return str(refused.value)


CLIENTS = pytest.mark.parametrize("ask", [ask_as_a_controller, ask_as_a_tool], ids=["controller", "tool"])


@CLIENTS
@pytest.mark.parametrize("kind", FLOODS)
def test_records_without_data_end_the_connection(kind: str, ask) -> None:  # type: ignore[no-untyped-def]
    with HostileSslNode(flood(kind), node_context(ssl__enabled__protocols="TLSv1.3")) as node:
        began = time.thread_time()
        said = ask(node.port, 20.0)
        assert time.thread_time() - began < 5.0
    assert "32 records without data" in said or "SSL" in said, said


@CLIENTS
@pytest.mark.parametrize("kind", HANDSHAKES)
def test_a_handshake_without_end_ends_the_connection(kind: str, ask) -> None:  # type: ignore[no-untyped-def]
    with HostileSslNode(handshake(kind), node_context()) as node:
        said = ask(node.port, 20.0)
    assert "the SSL handshake has more than" in said or "SSL: " in said, said


@CLIENTS
@pytest.mark.parametrize("version", ["TLSv1.2", "TLSv1.3"])
@pytest.mark.parametrize(
    ("extra", "reason"),
    [
        ([Authority("CN=one").certificate] * 10, "the node shows 11 certificates, and 10 are allowed"),
        ([long_one(280)], "bytes of certificates, and 16,384 are allowed"),
        ([long_one(1_800)], "excessive message size"),
    ],
    ids=["eleven", "long", "longer"],
)
def test_a_chain_is_as_short_as_that_of_a_client(  # type: ignore[no-untyped-def]
    extra: list[x509.Certificate], reason: str, version: str, ask, tmp_path: Path
) -> None:
    context = chain(identity(), extra, tmp_path / "shown.pem", version)
    with HostileSslNode(showing, context) as node:
        assert reason in ask(node.port, 20.0).lower().replace("_", " ")


@CLIENTS
@pytest.mark.parametrize(
    ("subject", "reason"),
    [
        (",".join(f"OU={number}" for number in range(21)), "21 parts, and 20 are allowed"),
        (",".join(f"OU={number:060d}" for number in range(18)), "bytes, and 1,024 are allowed"),
    ],
    ids=["parts", "bytes"],
)
def test_a_subject_is_as_short_as_that_of_a_client(subject: str, reason: str, ask) -> None:  # type: ignore[no-untyped-def]
    with HostileSslNode(showing, node_context(authority().issue(subject, ("127.0.0.1",)))) as node:
        said = ask(node.port, 20.0)
    assert "SSL: the node shows a certificate without a usable name" in said
    assert reason in said


@CLIENTS
@pytest.mark.parametrize(
    "head",
    [b"HTTP/1.1 400 Bad Request\r\n", b"SSH-2.0-OpenSSH_9.6\r\n", b"\0\0\0\x10\0\0\0\0", b"\x17\x2e\0\0\x09"],
    ids=["http", "ssh", "kafka", "other"],
)  # fmt: skip
def test_a_node_that_speaks_no_tls_is_known_by_its_first_bytes(head: bytes, ask) -> None:  # type: ignore[no-untyped-def]
    """Read as the header of a record, they may announce 16 KB that do not come."""

    def talk(node: HostileSslNode, client: socket.socket) -> None:
        client.recv(65_536)
        client.sendall(head)
        node.ended.wait(20.0)

    with HostileSslNode(talk, node_context()) as node:
        assert "SSL: WRONG_VERSION_NUMBER" in ask(node.port, 20.0)


@CLIENTS
@pytest.mark.parametrize("drips", [False, True], ids=["silence", "drips"])
def test_a_handshake_that_does_not_end_has_the_time_of_the_attempt(drips: bool, ask) -> None:  # type: ignore[no-untyped-def]
    def talk(node: HostileSslNode, client: socket.socket) -> None:
        if drips:
            client.sendall(b"\x16\x03\x03\x40\0")
        while not node.ended.wait(0.02):
            if drips:
                client.sendall(b"\0")

    with HostileSslNode(talk, node_context()) as node:
        said = ask(node.port, 0.3)
    assert re.search(r"within \d\.\d s", said), said


def test_a_timeout_is_that_of_the_whole_call() -> None:
    """A byte of a record now and then does not begin it again."""

    def talk(node: HostileSslNode, client: socket.socket) -> None:
        node.shake_hands(client)
        client.sendall(b"\x17\x03\x03\x40\0")
        for _ in range(100):
            client.sendall(b"\0")
            node.ended.wait(0.02)

    with HostileSslNode(talk, node_context()) as node:
        with socket.create_connection(("127.0.0.1", node.port), 20.0) as plain:
            secured = ClientSslSocket(plain, context_of(), "127.0.0.1")
            secured.do_handshake()
            secured.sendall(b"x")
            secured.settimeout(0.2)
            with pytest.raises(TimeoutError):
                secured.recv(1_000)


def test_no_other_code_opens_tls_connections() -> None:
    """What Python's own SSL reads has no limits. The issuer of OAuth tokens is named by the operator."""
    opened = re.compile(r"\.wrap_(socket|bio)\(|(open|create)_connection\([^)]*ssl=|start_tls\(")
    found = [
        path.name
        for package in ("kraftctl", "protocol", "spark")
        for path in sorted((ROOT / package).rglob("*.py"))
        if "generated" not in path.parts and opened.search(path.read_text())
    ]
    assert found == ["ssl_records.py", "trial_handshake.py"]
