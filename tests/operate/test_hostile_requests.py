"""The listener for probes under clients that send too much, too little, or nothing; and its token."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar, cast

import pytest

from kraftctl.config.controller_config import ConfigException, ControllerConfig
from kraftctl.config.operate_config import CONNECTIONS_MAX
from kraftctl.dev.ports import free_port
from kraftctl.operate.listener import BACKLOG, HEAD_BYTES_MAX, HttpListener, HttpRequest
from kraftctl.operate.pages import Pages
from kraftctl.operate.service import watched
from kraftctl.operate.token_file import read_token
from kraftctl.operate.watch import STARTING, STOPPING, Watch
from kraftctl.server.process.clock import Clock
from tests.operate.operated_quorum import get, probe
from tests.support.controller_properties import controller_properties

TOKEN = "a-token"


def config_of(directory: Path, **more: str) -> ControllerConfig:
    return ControllerConfig(controller_properties(directory, address="localhost:1", static=True, more=more))


def listening(directory: Path, bound: socket.socket, token: str = "") -> HttpListener:
    """A listener, not yet started, of a controller that has not started."""
    bound.bind(("127.0.0.1", 0))
    bound.setblocking(False)
    pages = Pages(Watch(config_of(directory), Clock()), token.encode())
    return HttpListener([(bound, None)], pages.respond)


@pytest.fixture
def port(tmp_path: Path) -> Iterator[int]:
    """A listener with a token."""
    bound = socket.socket()
    listener = listening(tmp_path, bound, TOKEN)
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
        pytest.param(b"GET http://host:80/livez?verbose HTTP/1.1\r\n\r\n", b"200", id="absolute"),
        pytest.param(b"GET HTTPS://[::1]/livez HTTP/1.1\r\n\r\n", b"200", id="absolute-of-ssl"),
        pytest.param(b"GET http://host HTTP/1.1\r\n\r\n", b"404", id="absolute-without-path"),
        pytest.param(b"GET ftp://host/livez HTTP/1.1\r\n\r\n", b"404", id="absolute-of-ftp"),
        pytest.param(b"GET /readyz HTTP/1.1\r\n\r\n", b"503", id="not-ready"),
        pytest.param(b"GET / HTTP/1.1\r\n\r\n", b"404", id="other-path"),
        pytest.param(b"GET /../etc/passwd HTTP/1.1\r\n\r\n", b"404", id="dots"),
        pytest.param(b"POST /livez HTTP/1.1\r\nContent-Length: 9999999999\r\n\r\n", b"405", id="post"),
        pytest.param(
            b"POST / HTTP/1.1\r\nContent-Length: 500000\r\n\r\n" + b"x" * 500_000, b"405", id="body"
        ),
        pytest.param(
            b"PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n7a120\r\n" + b"x" * 500_000,
            b"405",
            id="chunked-body",
        ),
        pytest.param(
            b"GET /livez HTTP/1.1\r\nContent-Length: 500000\r\n\r\n" + b"x" * 500_000,
            b"200",
            id="get-with-body",
        ),
        pytest.param(b"PRI * HTTP/2.0\r\n\r\n", b"400", id="http-2"),
        pytest.param(b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n", b"400", id="ssl"),
        pytest.param(b"\xff\xfe  \r\n\r\n", b"400", id="bytes"),
        pytest.param(b"\r\n\r\n", b"400", id="nothing"),
        pytest.param(
            b"GET /livez HTTP/1.1\r\nX: " + b"x" * HEAD_BYTES_MAX + b"\r\n\r\n", b"431", id="long-head"
        ),
        pytest.param(b"G" * 1_000_000, b"431", id="no-end"),
    ],
)
def test_a_request_gets_a_status(port: int, sent: bytes, status: bytes) -> None:
    """Also one that is not read to its end: a reset would take the response from the client."""
    response = received(port, sent)
    assert response.split(b" ")[1:2] == [status], response
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


def test_a_full_backlog_keeps_to_the_limit(tmp_path: Path) -> None:
    """Each one beyond the limit closes the oldest, and a probe gets in."""
    tasks_counts: list[int] = []

    class Counting(socket.socket):
        def accept(self) -> tuple[socket.socket, Any]:
            tasks_counts.append(len(asyncio.all_tasks()))
            return super().accept()

    bound = Counting()
    listener = listening(tmp_path, bound)
    bound.listen(BACKLOG)
    port = bound.getsockname()[1]
    flood = [socket.create_connection(("127.0.0.1", port), timeout=5.0) for _ in range(120)]
    listener.start()
    assert get(port, "/livez")[0] == 200
    assert max(tasks_counts) <= CONNECTIONS_MAX + 2, "with the one that accepts, and one that ends"
    for closed in flood[: 121 - CONNECTIONS_MAX]:
        assert closed.recv(1) == b""
    for kept in flood[121 - CONNECTIONS_MAX :]:
        kept.setblocking(False)
        with pytest.raises(BlockingIOError):
            kept.recv(1)
    for each in flood:
        each.close()
    listener.stop()


@pytest.mark.parametrize(
    "error", [RuntimeError("a defect"), OSError(24, "Too many open files"), KeyError("x")]
)
def test_listening_goes_on_after_any_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, error: Exception
) -> None:
    class FailingOnce(socket.socket):
        errors: ClassVar = [error]

        def accept(self) -> tuple[socket.socket, Any]:
            if self.errors:
                raise self.errors.pop()
            return super().accept()

    monkeypatch.setattr("kraftctl.operate.listener.RETRY_SECONDS", 0.0)
    bound = FailingOnce()
    listener = listening(tmp_path, bound)
    listener.start()
    assert get(bound.getsockname()[1], "/livez")[0] == 200
    listener.stop()
    assert "A connection for probes and metrics is not accepted" in caplog.text
    assert "Next step: " in caplog.text


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
    listener = listening(tmp_path, bound)
    listener.start()
    assert probe(bound.getsockname()[1]).text == STARTING
    listener.stop()


@pytest.mark.parametrize(
    ("path", "status"), [("/livez", 200), ("/readyz", 503), ("/restartz", 503), ("/status.json", 503)]
)
def test_after_the_end_of_the_controller_the_pages_say_that_it_stops(
    tmp_path: Path, path: str, status: int
) -> None:
    watch = Watch(config_of(tmp_path), Clock())
    watch.loop = asyncio.new_event_loop()
    watch.loop.close()
    watch.has_started = True
    watch.driver = cast("Any", SimpleNamespace(failed=SimpleNamespace(done=lambda: False)))
    watch.stopping()
    response = asyncio.run(Pages(watch, b"").respond(HttpRequest("GET", path, "")))
    assert response.status == status
    assert (STOPPING in response.body.decode()) == (status == 503)
    metrics = asyncio.run(Pages(watch, b"").respond(HttpRequest("GET", "/metrics", "")))
    assert "\nkraftctl_ready 0\n" in metrics.body.decode()


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
        read_token(str(path))
    assert "kraftctl.operate.token.path" in str(found.value)


@pytest.mark.parametrize(("mode", "lines"), [(0o600, 0), (0o640, 1), (0o604, 1)])
def test_a_start_warns_of_a_token_that_others_may_read(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, mode: int, lines: int
) -> None:
    """A doctor reads it, too, and says so in words of its own."""
    path = tmp_path / "token"
    path.write_bytes(b"secret\n")
    path.chmod(mode)
    assert read_token(str(path)) == b"secret"
    assert not caplog.messages
    assert read_token(str(path), warns=True) == b"secret"
    expected = f"Other accounts may read the token in {path}. Next step: chmod 600 {path}"
    assert caplog.messages == [expected] * lines


@pytest.mark.parametrize(
    ("value", "error"),
    [
        ("127.0.0.1:80", "is not of the form http://HOST:PORT"),
        ("ftp://127.0.0.1:80", "is not of the form http://HOST:PORT"),
        ("http://127.0.0.1", "is not of the form http://HOST:PORT"),
        ("http://127.0.0.1:80/metrics", "is not of the form http://HOST:PORT"),
        ("http://127.0.0.1:70000", "port 70000"),
        ("http://127.0.0.1:0", "port 0"),
        ("http://[::1:80", "is not of the form http://HOST:PORT"),
        ("http://::1:80", "is not of the form http://HOST:PORT"),
        ("http://:80,http://127.0.0.1:80", "has the address and port of another entry"),
        ("http://[::]:80,http://localhost:80", "has the address and port of another entry"),
        ("https://127.0.0.1:80", "none of them uses SSL"),
    ],
)
def test_an_address_that_cannot_be_used_is_named(tmp_path: Path, value: str, error: str) -> None:
    with pytest.raises(ConfigException, match=error) as found:
        config_of(tmp_path, **{"kraftctl.operate.listeners": value})
    assert "kraftctl.operate.listeners" in str(found.value)


def test_the_port_of_the_controller_is_taken(tmp_path: Path) -> None:
    port = config_of(tmp_path).listeners[0].port
    with pytest.raises(ConfigException, match=f"port {port} is that of the listener CONTROLLER"):
        config_of(tmp_path, **{"kraftctl.operate.listeners": f"http://:{port}"})


def test_an_address_that_others_reach_without_a_token_is_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for host, expected in (("127.0.0.1", 0), ("", 1)):
        caplog.clear()
        config = config_of(tmp_path, **{"kraftctl.operate.listeners": f"http://{host}:{free_port()}"})

        async def serve(config: ControllerConfig = config) -> None:
            async with watched(config, None, None):
                pass

        asyncio.run(serve())
        named = [each for each in caplog.messages if "Next step: set kraftctl.operate.token.path" in each]
        assert len(named) == expected


@pytest.mark.parametrize(
    "value", ["http://127.0.0.1:80", "http://:80/", "http://[::1]:80,http://127.0.0.1:80"]
)
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
