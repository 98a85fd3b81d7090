"""The listener for probes under clients that send too much, too little, or nothing; and its token."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from kraftctl.config.controller_config import ConfigException, ControllerConfig
from kraftctl.config.operate_config import CONNECTIONS_MAX
from kraftctl.operate.listener import HEAD_BYTES_MAX, HttpListener
from kraftctl.operate.pages import Pages
from kraftctl.operate.service import _token
from kraftctl.operate.watch import STARTING, Watch
from kraftctl.server.process.clock import Clock
from tests.operate.operated_quorum import get, probe
from tests.support.controller_properties import controller_properties

TOKEN = "a-token"


def config_of(directory: Path, **more: str) -> ControllerConfig:
    return ControllerConfig(controller_properties(directory, address="localhost:1", static=True, more=more))


@pytest.fixture
def port(tmp_path: Path) -> Iterator[int]:
    """A listener with a token, of a controller that has not started."""
    bound = socket.socket()
    bound.bind(("127.0.0.1", 0))
    bound.setblocking(False)
    pages = Pages(Watch(config_of(tmp_path), Clock()), TOKEN.encode())
    listener = HttpListener([(bound, None)], pages.respond)
    listener.start()
    yield bound.getsockname()[1]
    listener.stop()


def received(port: int, sent: bytes) -> bytes:
    """All that comes until the listener closes."""
    with socket.create_connection(("127.0.0.1", port), timeout=5.0) as connection:
        connection.sendall(sent)
        data = b""
        try:
            while part := connection.recv(65536):
                data += part
        except ConnectionResetError:
            pass
        return data


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        pytest.param(b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n", b"200", id="get"),
        pytest.param(b"GET /livez?verbose HTTP/1.0\r\n\r\n", b"200", id="query"),
        pytest.param(b"GET /readyz HTTP/1.1\r\n\r\n", b"503", id="not-ready"),
        pytest.param(b"GET / HTTP/1.1\r\n\r\n", b"404", id="other-path"),
        pytest.param(b"GET /../etc/passwd HTTP/1.1\r\n\r\n", b"404", id="dots"),
        pytest.param(b"POST /livez HTTP/1.1\r\nContent-Length: 9999999999\r\n\r\n", b"405", id="post"),
        pytest.param(b"PRI * HTTP/2.0\r\n\r\n", b"400", id="http-2"),
        pytest.param(b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n", b"400", id="ssl"),
        pytest.param(b"\xff\xfe  \r\n\r\n", b"400", id="bytes"),
        pytest.param(b"\r\n\r\n", b"400", id="nothing"),
        pytest.param(
            b"GET /livez HTTP/1.1\r\nX: " + b"x" * HEAD_BYTES_MAX + b"\r\n\r\n", b"", id="long-head"
        ),
        pytest.param(b"G" * 1_000_000, b"", id="no-end"),
    ],
)
def test_a_request_gets_a_status_or_the_end(port: int, sent: bytes, status: bytes) -> None:
    response = received(port, sent)
    assert response.split(b" ")[1:2] == ([status] if status else []), response
    assert get(port, "/livez")[0] == 200


def test_a_head_has_no_body(port: int) -> None:
    response = received(port, b"HEAD /readyz HTTP/1.1\r\n\r\n")
    assert response.startswith(b"HTTP/1.1 503 ")
    assert response.endswith(b"\r\n\r\n")


def test_silent_connections_keep_no_probe_out(port: int) -> None:
    """The oldest are closed for new ones."""
    silent = [socket.create_connection(("127.0.0.1", port)) for _ in range(3 * CONNECTIONS_MAX)]
    assert get(port, "/livez")[0] == 200
    silent[0].settimeout(5.0)
    assert silent[0].recv(1) == b"", "the first one was closed"
    for each in silent:
        each.close()


@pytest.mark.parametrize(
    ("authorization", "is_bearer"),
    [
        ("Bearer a-token", True),
        ("bearer  a-token", True),
        ("Bearer a-toke", False),
        ("Bearer a-token2", False),
        ("Bearer ", False),
        ("Basic a-token", False),
        ("a-token", False),
        ("", False),
    ],
)
def test_reasons_are_for_bearers_of_the_token(port: int, authorization: str, is_bearer: bool) -> None:
    status, body = get(port, "/readyz", {"Authorization": authorization})
    assert status == 503
    assert (STARTING in body) == is_bearer


def test_without_a_token_anybody_may_read(tmp_path: Path) -> None:
    bound = socket.socket()
    bound.bind(("127.0.0.1", 0))
    bound.setblocking(False)
    listener = HttpListener([(bound, None)], Pages(Watch(config_of(tmp_path), Clock()), b"").respond)
    listener.start()
    assert probe(bound.getsockname()[1]).text == STARTING
    listener.stop()


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (b"", "is empty"),
        (b" \n", "is empty"),
        (b"x" * 5_000, "more than 4,096 bytes"),
        (None, "No such file"),
    ],
)
def test_a_token_that_cannot_be_used_ends_the_start(
    tmp_path: Path, content: bytes | None, error: str
) -> None:
    path = tmp_path / "token"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ConfigException, match=error) as found:
        _token(str(path))
    assert "kraftctl.operate.token.path" in str(found.value)


@pytest.mark.parametrize(
    ("value", "error"),
    [
        ("127.0.0.1:80", "is not of the form http://HOST:PORT"),
        ("ftp://127.0.0.1:80", "is not of the form http://HOST:PORT"),
        ("http://127.0.0.1", "is not of the form http://HOST:PORT"),
        ("http://127.0.0.1:80/metrics", "is not of the form http://HOST:PORT"),
        ("http://127.0.0.1:70000", "port 70000"),
        ("https://127.0.0.1:80", "none of them uses SSL"),
    ],
)
def test_an_address_that_cannot_be_used_is_named(tmp_path: Path, value: str, error: str) -> None:
    with pytest.raises(ConfigException, match=error) as found:
        config_of(tmp_path, **{"kraftctl.operate.listeners": value})
    assert "kraftctl.operate.listeners" in str(found.value)


@pytest.mark.parametrize("value", ["http://127.0.0.1:80", "http://:80/", "http://[::1]:0,http://127.0.0.1:0"])
def test_addresses(tmp_path: Path, value: str) -> None:
    config = config_of(tmp_path, **{"kraftctl.operate.listeners": value})
    assert len(config.operate.endpoints) == len(value.split(","))


def test_its_connections_have_descriptors_of_their_own(tmp_path: Path) -> None:
    assert config_of(tmp_path).operate.reserved_descriptors == 0
    found = config_of(tmp_path, **{"kraftctl.operate.listeners": "http://127.0.0.1:80"})
    assert found.operate.reserved_descriptors > CONNECTIONS_MAX


def test_a_token_without_a_listener_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigException, match="nothing is served without"):
        config_of(tmp_path, **{"kraftctl.operate.token.path": "/token"})
