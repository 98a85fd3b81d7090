"""Clients that speak another protocol than the listener: one line says which, and what to do about it."""

from __future__ import annotations

import contextlib
import logging
import socket
import ssl
import struct

import pytest

from kraftctl.server.connections.foreign_clients import ForeignClients
from kraftctl.server.connections.foreign_protocols import FRAMED, KAFKA, PROTOCOLS
from kraftctl.server.logs.rate_limited_log import RateLimitedLog
from kraftctl.server.loop.connected_client import ConnectedClient
from kraftctl_protocol.frames import encode_frame
from kraftctl_protocol.generated.api_versions_request import ApiVersionsRequest
from kraftctl_protocol.generated.sasl_handshake_request import SaslHandshakeRequest
from tests.server.security.sasl_serving import serving_sasl
from tests.server.security.ssl_serving import connect_ssl, context_of, identity, serving_ssl
from tests.server.serving import Client, connect, eventually, request_bytes, serving, unregister
from tests.support.certificates import Authority


def client_hello() -> bytes:
    outgoing = ssl.MemoryBIO()
    context = ssl.create_default_context()
    side = context.wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname="controller")
    with contextlib.suppress(ssl.SSLWantReadError):
        side.do_handshake()
    return outgoing.read()


OLD_HELLO = bytes.fromhex(
    "802e0103010015000000100100800300800700c006004002008004008000003a00003900003800003500"
)
ZOOKEEPER = struct.pack(">iiqiqi16s?", 45, 0, 0, 30_000, 0, 16, bytes(16), False)
PROXY_V2 = b"\r\n\r\n\x00\r\nQUIT\n\x21\x11\x00\x0c\x7f\x00\x00\x01\x7f\x00\x00\x01\x10\x92\x23\x85"

SPOKEN = {
    "tls": (client_hello(), "SSL"),
    "tls-alert": (b"\x15\x03\x03\x00\x02\x02\x28", "SSL"),
    "ssl-of-old": (OLD_HELLO, "SSL"),
    "http-get": (b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP"),
    "http-head": (b"HEAD / HTTP/1.0\r\n\r\n", "HTTP"),
    "http-options": (b"OPTIONS * HTTP/1.1\r\n\r\n", "HTTP"),
    "grpc": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "HTTP/2 (gRPC)"),
    "proxy-v1": (b"PROXY TCP4 127.0.0.1 127.0.0.1 4242 9093\r\n", "the PROXY protocol"),
    "proxy-v2": (PROXY_V2, "the PROXY protocol"),
    "ssh": (b"SSH-2.0-OpenSSH_9.6\r\n", "SSH"),
    "redis": (b"*1\r\n$4\r\nPING\r\n", "the protocol of Redis"),
    "redis-inline": (b"PING\r\n", "the protocol of Redis"),
    "zookeeper-word": (b"ruok", "four-letter words of ZooKeeper"),
    "mqtt": (b"\x10\x10\x00\x04MQTT\x04\x02\x00\x3c\x00\x04test", "MQTT"),
    "amqp": (b"AMQP\x00\x00\x09\x01", "AMQP"),
    "jmx": (b"JRMI\x00\x02K", "Java RMI (JMX)"),
    "rdp": (b"\x03\x00\x00\x13\x0e\xe0\x00\x00\x00\x00\x00\x01\x00\x08\x00\x03\x00\x00\x00", "RDP"),
    "ldap": (b"\x30\x0c\x02\x01\x01\x60\x07\x02\x01\x03\x04\x00\x80\x00", "LDAP"),
    "smtp": (b"EHLO host\r\n", "SMTP or FTP"),
    "text": (b'{"id": 1}\n', "a protocol of text"),
    "postgresql-ssl": (b"\x00\x00\x00\x08\x04\xd2\x16\x2f", "the protocol of PostgreSQL"),
    "postgresql": (b"\x00\x00\x00\x17\x00\x03\x00\x00user\x00postgres\x00\x00", "the protocol of PostgreSQL"),
    "smb": (encode_frame(b"\xffSMB\x72" + bytes(30)), "SMB"),
    "zookeeper": (ZOOKEEPER, "the protocol of ZooKeeper"),
}
"""What a client begins with, and the name that its line has."""

FIRST_KAFKA = request_bytes(ApiVersionsRequest(client_software_name="a", client_software_version="1"), 3)


def lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [
        record.getMessage()
        for record in caplog.records
        if record.getMessage().startswith("Closing connection")
    ]


async def turned_away(client: Client, data: bytes) -> str:
    """Its address."""
    host, port = client.writer.get_extra_info("sockname")
    client.send(data)
    await client.expect_ended()
    return f"{host}:{port}"


def test_each_known_protocol_is_spoken() -> None:
    names = {protocol.name for _, protocol in (*PROTOCOLS, *FRAMED)}
    assert names == {name for _, name in SPOKEN.values()}


@pytest.mark.parametrize("kind", SPOKEN)
async def test_another_protocol_on_a_listener_without_ssl(
    kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    data, name = SPOKEN[kind]
    peers: list[str] = []
    async with serving() as (server, handler):
        peers.extend([await turned_away(await connect(server), data) for _ in range(3)])
        assert handler.requests == []
    (line,) = lines(caplog)
    assert line.startswith(
        f"Closing connection from {peers[0]} to listener CONTROLLER: it speaks {name}, and "
    )
    assert ". Next step: " in line
    assert "frame of" not in line


@pytest.mark.parametrize("kind", [kind for kind in SPOKEN if SPOKEN[kind][1] != "SSL"])
async def test_another_protocol_on_a_listener_with_ssl(kind: str, caplog: pytest.LogCaptureFixture) -> None:
    data, name = SPOKEN[kind]
    async with serving_ssl() as (server, _):
        await turned_away(await connect(server), data)
    (line,) = lines(caplog)
    framed = {protocol.name for _, protocol in FRAMED}
    said = KAFKA if name in framed else name
    assert f"it speaks {said}. Next step: " in line


async def test_kafka_without_ssl_on_a_listener_with_ssl(caplog: pytest.LogCaptureFixture) -> None:
    async with serving_ssl() as (server, _):
        await turned_away(await connect(server), encode_frame(FIRST_KAFKA))
    (line,) = lines(caplog)
    assert (
        "to listener CONTROLLER: it does not begin with SSL: it speaks Kafka's protocol without SSL" in line
    )
    assert "Next step: check the client's security.protocol: the listener's is SSL" in line


async def test_another_protocol_within_ssl(caplog: pytest.LogCaptureFixture) -> None:
    """A browser, or a health check over HTTPS."""
    async with serving_ssl() as (server, _):
        await turned_away(await connect_ssl(server), SPOKEN["http-get"][0])
    assert "it speaks HTTP, and" in lines(caplog)[0]


@pytest.mark.parametrize("kind", ["tls", "http-get", "postgresql-ssl", "zookeeper"])
async def test_another_protocol_on_a_listener_with_sasl(kind: str, caplog: pytest.LogCaptureFixture) -> None:
    data, name = SPOKEN[kind]
    async with serving_sasl() as (server, _):
        await turned_away(await connect(server), data)
    assert f"it speaks {name}, and" in lines(caplog)[0]


async def test_sasl_on_a_listener_without(caplog: pytest.LogCaptureFixture) -> None:
    """It is answered as Kafka does, and said once."""
    async with serving() as (server, _):
        for _ in range(3):
            client = await connect(server)
            client.request(SaslHandshakeRequest("PLAIN"), 1)
            client.writer.write_eof()
            await client.expect_ended()
    (line,) = lines(caplog)
    assert "it wants to authenticate by SASL, and the security protocol of this listener is PLAINTEXT" in line
    assert "Next step: " in line


async def test_no_sasl_on_a_listener_with(caplog: pytest.LogCaptureFixture) -> None:
    """As Kafka's clients begin: with ApiVersions, which is answered."""
    async with serving_sasl() as (server, _):
        client = await connect(server)
        client.send(encode_frame(FIRST_KAFKA))
        await client.frame()
        client.request(unregister(1), 0)
        await client.expect_ended()
    (line,) = lines(caplog)
    assert "UnregisterBrokerRequest before SASL authentication: it does not authenticate. Next step: " in line


@pytest.mark.parametrize("serve", [serving, serving_ssl, serving_sasl])
@pytest.mark.parametrize("reset", [False, True])
async def test_a_health_check_that_only_connects_is_silent(
    serve: object, reset: bool, caplog: pytest.LogCaptureFixture
) -> None:
    async with serve() as (server, _):  # type: ignore[operator]
        for _ in range(3):
            probe = socket.create_connection(("127.0.0.1", server.bound_ports["CONTROLLER"]))
            if reset:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            await eventually(lambda: len(server.accounts.connections) > 0)
            probe.close()
            await eventually(lambda: len(server.accounts.connections) == 0)
    assert [record for record in caplog.records if record.levelname == "WARNING"] == []


async def test_the_bytes_may_come_one_after_the_other(caplog: pytest.LogCaptureFixture) -> None:
    async with serving() as (server, _):
        client = await connect(server)
        client.send(b"GE")
        await eventually(lambda: any(each._incoming.held_bytes for each in server.accounts.connections))
        client.send(b"T / HTTP/1.1\r\n")
        await client.expect_ended()
    (line,) = lines(caplog)
    assert "it speaks HTTP, and" in line


async def test_later_bytes_are_not_taken_for_another_protocol(caplog: pytest.LogCaptureFixture) -> None:
    async with serving() as (server, _):
        client = await connect(server)
        client.request(unregister(1), 0)
        await client.frame()
        client.send(b"GET / HTTP/1.1\r\n\r\n")
        await client.expect_ended()
    assert "frame of 1195725856 bytes" in lines(caplog)[0]


API_LINES = [
    pytest.param(
        b"\x00\x03\x00\x0d", "API key 3 version 13 is not served here: METADATA is for brokers", id="metadata"
    ),
    pytest.param(
        b"\x00\x00\x00\x03", "API key 0 version 3 is not served here: PRODUCE is for brokers", id="produce"
    ),
    pytest.param(
        b"\x00\x0b\x00\x05",
        "API key 11 version 5 is not served here: JOIN_GROUP is for brokers",
        id="join-group",
    ),
    pytest.param(
        b"\x00\x01\x00\x00",
        "API key 1 version 0 is not served here, other versions of FETCH are",
        id="fetch-of-old",
    ),
    pytest.param(b"\x7f\xff\x00\x00", "API key 32767 version 0 is not known", id="no-api"),
]
"""The first bytes of a request, and what is said of it."""


@pytest.mark.parametrize(("kind", "said"), API_LINES)
async def test_a_client_of_brokers(kind: bytes, said: str, caplog: pytest.LogCaptureFixture) -> None:
    """One that does not ask which APIs are served."""
    async with serving() as (server, _):
        for _ in range(3):
            await turned_away(await connect(server), encode_frame(kind + bytes(40)))
    (line,) = lines(caplog)
    assert f"to listener CONTROLLER: {said}" in line
    assert ("Next step: give the client the address of a broker" in line) == ("brokers" in said)


async def test_a_certificate_that_is_refused_repeatedly_is_said_rarely(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A controller whose certificate has expired connects twice a second, until somebody renews it."""
    async with serving_ssl({"ssl.client.auth": "required"}) as (server, _):
        for own in (identity(expired=True), identity(expired=True), Authority("CN=Other").issue("CN=a")):
            with contextlib.suppress(OSError):
                client = await connect_ssl(server, context_of(own))
                client.request(unregister(1), 0)
                await client.expect_ended()
        await turned_away(await connect(server), SPOKEN["http-get"][0])
        await eventually(lambda: server.metrics.connections_count == 0)
    expired, other, http = lines(caplog)
    assert "certificate has expired" in expired
    assert "unable to get local issuer certificate" in other
    assert "it speaks HTTP" in http


def client(host: str, port: int) -> ConnectedClient:
    return ConnectedClient("CONTROLLER", host, bytes(4), f"{host}:{port}")


def test_a_line_that_was_left_out_is_written_when_there_is_room(caplog: pytest.LogCaptureFixture) -> None:
    """Lines about others have filled the log: the reason was counted, and not written."""
    now = 0.0
    log = RateLimitedLog(logging.getLogger("kraftctl.server"), lambda: now, lines_max=2)
    clients = ForeignClients(log, lambda: now)
    for host in ("a", "b", "c"):
        clients.note(client(host, 1), "it speaks HTTP")
    assert [host in caplog.text for host in ("a:1", "b:1", "c:1")] == [True, True, False]
    now = 10.0
    clients.note(client("a", 2), "it speaks HTTP")
    clients.note(client("c", 2), "it speaks HTTP")
    assert ["a:2" in caplog.text, "c:2" in caplog.text] == [False, True]
    assert "1 similar lines were left out" in caplog.text
