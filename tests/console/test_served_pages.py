"""What the console serves, to whom, and that no name of others is more than a text in it."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from kraftctl.cli.console import serving
from kraftctl.console import access
from kraftctl.console.access import Guard
from kraftctl.console.painter import BusyError
from kraftctl.console.update_stream import CLIENTS_MAX
from kraftctl_protocol.config_resource import BROKER
from kraftctl_protocol.generated.access_control_entry_record import AccessControlEntryRecord
from kraftctl_protocol.generated.config_record import ConfigRecord
from kraftctl_protocol.generated.topic_record import TopicRecord
from kraftctl_protocol.generated.user_scram_credential_record import UserScramCredentialRecord
from tests.support.console_stage import Console, StagedLog, five_troubles, statuses
from tests.support.explained_log import partition
from tests.support.planted_secrets import PlantedSecrets

TOKEN = b"a-token-of-enough-bytes"
SCRIPT = "<script>alert(1)</script>"
HOSTILE = f'"><img src=x onerror=alert(1)>{SCRIPT}\u202e\x1b[2J'

PATHS = ("/", "/parts", "/picture.json", "/search?q=solo", "/search.json?q=solo", "/quorum", "/topic/solo",
         "/partition/solo-0", "/partition/solo-0/json", "/broker/3", "/controller/3009")  # fmt: skip


def hostile_names(log: StagedLog) -> None:
    """A topic, a principal, a user and a config that others have named."""
    topic_id = b"hostile".ljust(16, b".")
    born = partition([3], topic_id=topic_id, partition_id=0, leader=-1)
    log.write(TopicRecord(name=HOSTILE, topic_id=topic_id), born)
    log.write(
        AccessControlEntryRecord(
            id=bytes(16), resource_type=2, resource_name=HOSTILE, pattern_type=3, principal=f"User:{HOSTILE}",
            host=HOSTILE, operation=3, permission_type=3,
        )
    )  # fmt: skip
    log.write(ConfigRecord(resource_type=2, resource_name=HOSTILE, name=HOSTILE, value=HOSTILE))


@pytest.fixture(scope="module")
def secrets() -> PlantedSecrets:
    return PlantedSecrets()


@pytest.fixture(scope="module")
def console(tmp_path_factory: pytest.TempPathFactory, secrets: PlantedSecrets) -> Iterator[Console]:
    """A console without a token, of a cluster with all kinds of troubles."""
    log = StagedLog(tmp_path_factory.mktemp("console") / "data")
    five_troubles(log)
    log.config("unclean.leader.election.enable", "true", topic="orders")
    name, password = "listener.name.ssl.key.password", secrets.text("password")
    log.write(ConfigRecord(resource_type=BROKER, resource_name="1", name=name, value=password))
    log.write(
        UserScramCredentialRecord(
            name="ann", mechanism=1, salt=secrets.data("salt"), stored_key=secrets.data("stored"),
            server_key=secrets.data("server"), iterations=4096,
        )
    )  # fmt: skip
    with closing(log), Console(log.path, log.reading(*statuses())) as running:
        yield running


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Console]:
    """A console with a token."""
    log = StagedLog(tmp_path_factory.mktemp("guarded") / "data")
    five_troubles(log)
    with closing(log), Console(log.path, log.reading(), TOKEN) as running:
        yield running


@pytest.mark.parametrize("path", PATHS)
def test_each_page_is_served_with_the_headers_of_security(console: Console, path: str) -> None:
    status, headers, body = console.get(path)
    assert (status, bool(body)) == (200, True)
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"
    assert headers["referrer-policy"] == "no-referrer"
    assert "server" not in headers
    assert not [name for name in headers if name.startswith("access-control")]


def test_the_picture_has_everything(console: Console) -> None:
    picture = json.loads(console.get("/picture.json")[2])
    assert [each["kind"] for each in picture["troubles"]][:5] == [
        "no-leader", "fenced", "reassignment", "voter", "ghost",
    ]  # fmt: skip
    assert {each["name"]: each["value"] for each in picture["badges"]} == {
        "voters in sync": "2 of 3",
        "leaderless": "1",
        "under min ISR": "5",
        "brokers fenced": "1 of 4",
        "reassigning": "1",
        "ghost": "1",
        "certificate days": "9",
    }
    roles = {each["id"]: each["role"] for each in picture["quorum"]["controllers"]}
    assert roles == {3000: "leader", 3001: "voter", 3002: "voter", 3009: "ghost"}
    assert picture["quorum"]["is_mixed"] is False
    assert [each["id"] for each in picture["brokers"]] == [3, 1, 2, 4]
    assert picture["upgrade"][0]["is_blocked"] is True
    assert "ghost" in picture["upgrade"][0]["because"][0]
    assert picture["log"]["behind"] == 0


def test_a_story_has_the_explanation_and_the_events(console: Console) -> None:
    story = json.loads(console.get("/partition/solo-0/json")[2])
    assert story["explanations"][0]["statement"]["text"] == "solo-0 has no leader"
    assert story["rows"][0]["elr"] == [3]
    reassigned = json.loads(console.get("/partition/orders-0/json")[2])
    assert len(reassigned["explanations"]) == 2
    second = json.loads(console.get("/partition/payments-0/json")[2])
    assert (
        second["events"][0]["text"] == "Broker 3 leaves the ISR of: solo-0, payments-0, payments-1 and 2 more"
    )
    broker = json.loads(console.get("/broker/3/json")[2])
    assert broker["events"][0]["text"] == "Broker 3 is fenced"
    topic = json.loads(console.get("/topic/payments/json")[2])
    assert [row["wrong"] for row in topic["rows"]] == ["under min ISR"] * 4


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/partition/solo-7", 404),
        ("/partition/solo", 404),
        ("/topic/missing", 404),
        ("/broker/77", 404),
        ("/broker/one", 404),
        ("/broker/99999999999999999999", 404),
        ("/controller/1234/json", 404),
        ("/nothing/here", 404),
        ("/nothing", 404),
        ("/topic/..%2f..%2fetc", 404),
        ("/search?q=" + "a" * 5000, 414),
    ],
)
def test_what_is_not_there_is_refused(console: Console, path: str, status: int) -> None:
    assert console.get(path)[0] == status


def test_search_finds_topics_brokers_and_principals(console: Console) -> None:
    def found(text: str) -> list[tuple[str, str]]:
        content = json.loads(console.get(f"/search.json?q={text}")[2])
        return [(each["kind"], each["name"]) for each in content["found"]]

    assert found("pay") == [("topic", "payments")]
    assert found("orders-3") == [("partition", "orders-3")]
    assert found("3") == [("broker", "3")]
    assert found("User:an") == [("SCRAM user", "User:ann")]
    assert found("") == []


def test_no_page_has_a_secret(console: Console, secrets: PlantedSecrets) -> None:
    leaks = [
        leak for path in (*PATHS, "/search.json?q=ann") for leak in secrets.in_(path, console.get(path)[2])
    ]
    assert leaks == []
    assert "(redacted)" in console.get("/picture.json")[2]


def test_names_of_others_are_only_texts(tmp_path: Path) -> None:
    log = StagedLog(tmp_path / "data")
    log.brokers(3)
    hostile_names(log)
    with closing(log), Console(log.path, log.reading()) as console:
        pages = {
            path: console.get(path)[2] for path in ("/", "/parts", "/search?q=User", "/search?q=%22%3E%3Cimg")
        }
    assert "&lt;script&gt;" in pages["/"]
    assert "&lt;script&gt;" in pages["/search?q=User"]
    for page in pages.values():
        assert "<script>" not in page
        assert "<img" not in page
        assert "\u202e" not in page
        assert "\x1b" not in page


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "PATCH"])
def test_only_get_is_served(console: Console, method: str) -> None:
    assert console.get("/", method=method)[0] == 405


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost", 200),
        ("LOCALHOST:8080", 200),
        ("127.0.0.1:1", 200),
        ("[::1]:8080", 200),
        ("attacker.example", 421),
        ("localhost.attacker.example", 421),
        ("127.0.0.1.attacker.example:8080", 421),
        ("", 421),
    ],
)
def test_another_name_of_this_host_is_refused(console: Console, host: str, status: int) -> None:
    """So that a page of others cannot read this one under a name that it owns (DNS rebinding)."""
    assert console.get("/picture.json", {"Host": host})[0] == status


@pytest.mark.parametrize("path", PATHS)
def test_without_the_token_nothing_is_shown(guarded: Console, path: str) -> None:
    status, headers, body = guarded.get(path)
    assert (status, headers["www-authenticate"]) == (401, "Bearer")
    assert "solo" not in body
    assert 'name="token"' in body


@pytest.mark.parametrize(
    "given",
    ["Bearer", "Bearer ", "Bearer a-token", "Basic a-token-of-enough-bytes", "a-token-of-enough-bytes"],
)
def test_a_wrong_token_is_refused(guarded: Console, given: str) -> None:
    assert guarded.get("/picture.json", {"Authorization": given})[0] == 401


def test_a_program_sends_the_token(guarded: Console) -> None:
    assert guarded.get("/picture.json", {"Authorization": f"bearer {TOKEN.decode()}"})[0] == 200


def test_a_browser_exchanges_the_token_for_a_cookie(guarded: Console) -> None:
    status, headers, body = guarded.get(f"/search?q=solo&token={TOKEN.decode()}")
    assert (status, headers["location"], body) == (303, "/search?q=solo", "")
    cookie = headers["set-cookie"]
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(cookie.split("; "))
    assert TOKEN.decode() not in cookie
    value = cookie.partition(";")[0]
    assert guarded.get("/picture.json", {"Cookie": value})[0] == 200
    assert guarded.get("/picture.json", {"Cookie": f'odd="{{; =; {value}'})[0] == 200
    assert guarded.get("/picture.json", {"Cookie": value[:-1] + "x"})[0] == 401
    assert guarded.get("/picture.json", {"Cookie": f"{value.partition('=')[0]}={TOKEN.decode()}"})[0] == 401


def test_consoles_of_one_host_have_cookies_of_their_own(guarded: Console) -> None:
    cookie = guarded.get(f"/?token={TOKEN.decode()}")[1]["set-cookie"]
    assert cookie.startswith(f"kraftctl-console-{guarded.port}=")


FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def test_the_form_sends_the_token_in_its_body(guarded: Console) -> None:
    page = guarded.get("/")[2]
    assert '<form class="login" method="post" action="/">' in page
    assert "is wrong" not in page
    status, headers, _ = guarded.get("/", FORM, "POST", f"token={TOKEN.decode()}")
    assert (status, headers["location"]) == (303, "/")
    value = headers["set-cookie"].partition(";")[0]
    assert guarded.get("/picture.json", {"Cookie": value})[0] == 200


@pytest.mark.parametrize(
    ("path", "kind", "body", "status"),
    [
        ("/", FORM["Content-Type"], "token=wrong", 401),
        ("/", FORM["Content-Type"], "", 401),
        ("/", "application/json", f"token={TOKEN.decode()}", 415),
        ("/", FORM["Content-Type"], "token=" + "a" * 20_000, 413),
        ("/picture.json", FORM["Content-Type"], f"token={TOKEN.decode()}", 405),
    ],
)
def test_a_form_without_the_token_gets_no_cookie(
    guarded: Console, path: str, kind: str, body: str, status: int
) -> None:
    found, headers, page = guarded.get(path, {"Content-Type": kind}, "POST", body)
    assert found == status
    assert "set-cookie" not in headers
    assert ("This token is wrong" in page) == (status == 401)


def test_a_form_that_does_not_arrive_is_not_waited_for(
    guarded: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(access, "FORM_SECONDS_MAX", 0.2)
    head = f"POST / HTTP/1.1\r\nHost: h\r\nContent-Type: {FORM['Content-Type']}\r\nContent-Length: 9\r\n\r\n"
    with closing(socket.create_connection(("127.0.0.1", guarded.port), timeout=10.0)) as client:
        client.sendall(head.encode())
        assert b" 408 " in received(client, b"\r\n")


def test_with_a_token_a_proxy_may_keep_its_name(guarded: Console) -> None:
    headers = {"Host": "console.example", "Authorization": f"Bearer {TOKEN.decode()}"}
    assert guarded.get("/picture.json", headers)[0] == 200
    assert guarded.get("/picture.json", {"Host": "console.example"})[0] == 401


def test_a_wrong_token_in_an_address_gets_no_cookie(guarded: Console) -> None:
    status, headers, _ = guarded.get("/?token=wrong")
    assert status == 401
    assert "set-cookie" not in headers


def test_the_exchange_leads_to_no_other_host(guarded: Console) -> None:
    _, headers, _ = guarded.get(f"//attacker.example/?token={TOKEN.decode()}")
    assert headers["location"].startswith("/attacker.example")


def test_nothing_is_served_to_others_without_a_token() -> None:
    async def application(*_: object) -> None: ...

    with pytest.raises(AssertionError, match="token"):
        Guard(application, token=b"", is_loopback=False, is_https=True, login=b"")


def connected(console: Console) -> socket.socket:
    """A client that has asked for updates."""
    client = socket.create_connection(("127.0.0.1", console.port), timeout=10.0)
    client.sendall(b"GET /updates HTTP/1.1\r\nHost: localhost\r\n\r\n")
    return client


def received(client: socket.socket, text: bytes) -> bytes:
    """What a client has got, up to `text`."""
    data = b""
    while text not in data:
        part = client.recv(4096)
        assert part, data
        data += part
    return data


def test_an_event_announces_each_picture(console: Console) -> None:
    with closing(connected(console)) as client:
        head = received(client, b"data: ")
        assert b"text/event-stream" in head
        assert b"content-security-policy" in head
        received(client, b"data: ")
        received(client, b"data: ")


def test_the_number_of_open_pages_is_bounded(console: Console) -> None:
    clients = [connected(console) for _ in range(CLIENTS_MAX)]
    try:
        for client in clients:
            received(client, b"data: ")
        assert console.get("/updates")[0] == 503
        assert console.get("/picture.json")[0] == 200
    finally:
        for client in clients:
            client.close()
    with closing(connected(console)) as client:
        while b"200 OK" not in (head := received(client, b"\r\n")):
            client.close()
            assert b"503" in head
            client = connected(console)


def test_more_questions_than_can_wait_are_refused(console: Console) -> None:
    began, may_end = threading.Event(), threading.Event()

    def wait(*_: object) -> None:
        began.set()
        may_end.wait()

    console.painter.question(wait)
    try:
        assert began.wait(10.0)
        with pytest.raises(BusyError):
            list(map(console.painter.question, [lambda *_: None] * 1000))
        assert console.get("/picture.json")[0] == 200
        assert console.get("/topic/solo")[0] == 503
    finally:
        may_end.set()


def test_a_connection_without_a_request_is_closed(console: Console, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "SILENT_SECONDS_MAX", 0.2)
    with closing(socket.create_connection(("127.0.0.1", console.port), timeout=10.0)) as client:
        client.sendall(b"GET / HTTP/1.1\r\nHost: local")
        assert client.recv(100) == b""
    with closing(connected(console)) as client:
        for _ in range(3):
            received(client, b"data: ")


def test_a_head_without_end_is_refused(console: Console) -> None:
    with closing(socket.create_connection(("127.0.0.1", console.port), timeout=10.0)) as client:
        client.sendall(b"GET / HTTP/1.1\r\nX: " + b"a" * 100_000)
        assert b" 400 " in received(client, b"\r\n")
