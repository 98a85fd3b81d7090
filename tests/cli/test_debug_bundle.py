"""`kraftctl debug-bundle`: what is in the archive, and that no secret is."""

from __future__ import annotations

import contextlib
import datetime
import errno
import json
import os
import ssl
import stat
import tarfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest

from kraftctl.cli import main
from kraftctl.cli.config_file import read_config_file
from kraftctl.cli.health.verdict import OFFLINE_PARTITIONS, count_of
from kraftctl.cli.hidden_values import HiddenValues, shown_properties
from kraftctl_protocol.java_properties import parse_properties
from kraftctl_security.resolved_properties import ResolvedProperties
from tests.cli.test_doctor import SECRET_KEYS, Doctor, doctor, plant, with_ssl
from tests.operate.operated_quorum import OperatedQuorum

__all__ = ["doctor"]

OFFLINE = {"versions.json", "controller.properties", "doctor.json", "quorum.txt", "files.txt"}


def parts(archive: Path) -> dict[str, str]:
    with tarfile.open(archive) as opened:
        found = {member.name: opened.extractfile(member) for member in opened.getmembers()}
        return {
            name.removeprefix("kraftctl-debug/"): file.read().decode()
            for name, file in found.items()
            if file is not None
        }


@pytest.mark.parametrize("protocol", ["PLAINTEXT", "SSL", "SASL_PLAINTEXT"])
@pytest.mark.parametrize("is_valid", [True, False])
def test_no_secret_is_in_it(doctor: Doctor, protocol: str, is_valid: bool) -> None:
    secrets = plant(doctor)
    if is_valid:
        # A start refuses these two keys.
        for number in (12, 8):
            del doctor.properties[SECRET_KEYS[number]], secrets[number]
    doctor.properties["listener.security.protocol.map"] = f"CONTROLLER:{protocol}"
    doctor.properties["kraftctl.scram.users.path"] = "users"
    doctor.write()
    log = doctor.directory / "server.log"
    log.write_text("\n".join(f"a line with {each}, in parts {each[:6]}" for each in secrets))
    archive = doctor.directory / "bundle.tar.gz"
    assert main(["debug-bundle", str(doctor.file), "--to", str(archive), "--log", str(log), "--offline"]) == 0
    found = parts(archive)
    assert {*OFFLINE, "log.txt"} == found.keys()
    text = "".join(found.values())
    assert [each for each in secrets if each in text] == []
    assert found["log.txt"].count("a line with ") == len(secrets)
    assert stat.S_IMODE(archive.stat().st_mode) == 0o600


def test_what_is_not_secret_is_in_it(doctor: Doctor) -> None:
    doctor.properties["num.partitions"] = "7"
    doctor.write()
    archive = doctor.directory / "bundle.tar.gz"
    assert main(["debug-bundle", str(doctor.file), "--to", str(archive), "--offline"]) == 0
    found = parts(archive)
    assert "num.partitions=7" in found["controller.properties"]
    assert "meta.properties" in found["files.txt"]
    checks = {each["check"] for each in json.loads(found["doctor.json"])["findings"]}
    assert "room" in checks
    assert "flushes" not in checks, "a bundle may be made of a cluster in trouble: it puts no load on disks"
    assert json.loads(found["versions.json"])["libraries"]["cryptography"] != "none"


def test_an_archive_is_not_replaced(doctor: Doctor) -> None:
    doctor.write()
    archive = doctor.directory / "bundle.tar.gz"
    archive.write_text("kept")
    assert main(["debug-bundle", str(doctor.file), "--to", str(archive), "--offline"]) == 1
    assert archive.read_text() == "kept"


def test_without_the_file_there_is_no_archive(tmp_path: Path) -> None:
    archive = tmp_path / "bundle.tar.gz"
    assert main(["debug-bundle", str(tmp_path / "none"), "--to", str(archive)]) == 1
    assert not archive.exists()


class Pages(BaseHTTPRequestHandler):
    """Serves a status, and metrics unless they are taken away."""

    has_metrics = True

    def do_GET(self) -> None:
        is_status = self.path == "/status.json"
        self.send_response(200 if is_status or self.has_metrics else 500)
        self.end_headers()
        self.wfile.write(b'{"ready": true}' if is_status else b"kraftctl_ready 1")

    def log_message(self, *_: object) -> None:
        pass


@contextlib.contextmanager
def serving(handler: type[Pages], context: ssl.SSLContext | None) -> Iterator[int]:
    with HTTPServer(("127.0.0.1", 0), handler) as server:
        if context is not None:
            server.socket = context.wrap_socket(server.socket, server_side=True)
        Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        try:
            yield server.server_port
        finally:
            server.shutdown()


def bundled(doctor: Doctor, scheme: str, port: int) -> tuple[int, dict[str, str]]:
    doctor.properties["kraftctl.operate.listeners"] = f"{scheme}://127.0.0.1:{port}"
    doctor.write()
    archive = doctor.directory / "bundle.tar.gz"
    status = main(["debug-bundle", str(doctor.file), "--to", str(archive)])
    return status, parts(archive)


@pytest.mark.parametrize("is_own", [True, False])
def test_the_listener_has_a_private_certificate(doctor: Doctor, is_own: bool) -> None:
    """The file of its own is in the properties; another one at this address gets no token."""
    with_ssl(doctor, datetime.timedelta(days=90))
    keystore = doctor.directory / "keystore.pem"
    shown = doctor.directory / "shown.pem"
    shown.write_bytes(keystore.read_bytes())
    if not is_own:
        with_ssl(doctor, datetime.timedelta(days=90))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(shown, password="key-password")
    with serving(Pages, context) as port:
        status, found = bundled(doctor, "https", port)
    if is_own:
        assert status == 0
        assert found["metrics.txt"] == "kraftctl_ready 1"
        assert "operate-problem.txt" not in found
    else:
        assert status == 1
        assert found["operate-problem.txt"].startswith(f"https://127.0.0.1:{port}: /status.json: ")
        assert "status.json" not in found


def test_metrics_that_are_missing_are_a_problem(doctor: Doctor, capsys: pytest.CaptureFixture[str]) -> None:
    class WithoutMetrics(Pages):
        has_metrics = False

    with serving(WithoutMetrics, None) as port:
        status, found = bundled(doctor, "http", port)
    assert status == 1
    assert "status.json" in found
    assert "/metrics: HTTP Error 500" in found["operate-problem.txt"]
    assert "/metrics: HTTP Error 500" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_a_running_controller_adds_its_status(tmp_path: Path) -> None:
    """The pages need a token, which is a secret, too."""
    token = tmp_path / "token"
    token.write_text("token-of-probes")

    def change(properties: dict[str, str]) -> None:
        properties["kraftctl.operate.token.path"] = str(token)

    with OperatedQuorum(tmp_path, 1, change=change) as alone:
        (controller,) = alone.controllers
        controller.await_ready()
        archive = tmp_path / "bundle.tar.gz"
        log = controller.directory / "output.log"
        assert main(["debug-bundle", str(controller.file), "--to", str(archive), "--log", str(log)]) == 0
    found = parts(archive)
    assert {*OFFLINE, "log.txt", "status.json", "metrics.txt", "health.json"} == found.keys()
    assert json.loads(found["status.json"])["ready"] is True
    assert json.loads(found["health.json"])["verdict"] == "healthy"
    assert "kraftctl_ready 1" in found["metrics.txt"]
    assert count_of(found["metrics.txt"], OFFLINE_PARTITIONS) == 0
    assert "LeaderId:               1" in found["quorum.txt"]
    assert "token-of-probes" not in "".join(found.values())


def closing(monkeypatch: pytest.MonkeyPatch, closed: Path) -> None:
    """Root, as whom tests may run, can list every directory: the refusal is one that others get."""
    closed.mkdir()
    scandir = os.scandir

    def refusing(path: str) -> object:
        if Path(path) == closed:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)


def test_the_directory_of_root_on_a_mount_makes_no_bundle_incomplete(
    doctor: Doctor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ext4 makes it for root alone, and the account of a controller cannot list it."""
    closing(monkeypatch, doctor.data / "lost+found")
    doctor.write()
    archive = doctor.directory / "bundle.tar.gz"
    assert main(["debug-bundle", str(doctor.file), "--to", str(archive), "--offline"]) == 0
    found = parts(archive)
    assert found.keys() == OFFLINE
    assert f" {doctor.data}/lost+found\n" in found["files.txt"]


def test_a_directory_that_cannot_be_read_makes_it_incomplete(
    doctor: Doctor, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    closed = doctor.data / "__cluster_metadata-0"
    closing(monkeypatch, closed)
    doctor.write()
    archive = doctor.directory / "bundle.tar.gz"
    assert main(["debug-bundle", str(doctor.file), "--to", str(archive), "--offline"]) == 1
    found = parts(archive)
    assert {*OFFLINE, "files-problem.txt"} == found.keys()
    assert found["files-problem.txt"].startswith(f"cannot list {closed}: Permission denied.")
    assert f"it is not complete: cannot list {closed}" in capsys.readouterr().err


def test_a_token_that_is_no_text(doctor: Doctor) -> None:
    """The listener compares bytes; a client cannot send these."""
    token = doctor.directory / "token"
    token.write_bytes(b"\xff\xfe-planted")
    doctor.properties["kraftctl.operate.token.path"] = str(token)
    with serving(Pages, None) as port:
        status, found = bundled(doctor, "http", port)
    assert status == 1
    assert "the token is not one line of visible characters" in found["operate-problem.txt"]


URLS = [
    pytest.param("https://u:planted-pw@h/p", "https://(redacted)@h/p", id="password-of-a-user"),
    pytest.param("https://planted-pw@h", "https://(redacted)@h", id="token-as-a-user"),
    pytest.param("https://u:a@planted-pw@h:1", "https://(redacted)@h:1", id="password-with-an-at"),
    pytest.param("https://h/p?sig=planted-pw&a=b", "https://h/p?(redacted)", id="signature"),
    pytest.param("https://h?client_secret=planted-pw", "https://h?(redacted)", id="secret-of-a-client"),
    pytest.param("https://h/p#access_token=planted-pw", "https://h/p#(redacted)", id="fragment"),
    pytest.param("https://u:a/planted-pw@h", "https://(redacted)", id="password-with-a-slash"),
    pytest.param("https://u:a?planted-pw@h", "https://(redacted)", id="password-with-a-question-mark"),
    pytest.param("https://u:a#planted-pw@h", "https://(redacted)", id="password-with-a-hash"),
    pytest.param("https://u:a@b/planted-pw@h", "https://(redacted)", id="password-with-an-at-and-a-slash"),
    pytest.param("https://g,https://u:planted-pw@h", "https://(redacted)", id="second-url-of-a-list"),
    pytest.param("https://h/p?", "https://h/p", id="empty-query"),
    pytest.param("https://@h/p", "https://h/p", id="empty-user"),
]


@pytest.mark.parametrize("prefix", ["", "listener.name.controller.oauthbearer."])
@pytest.mark.parametrize("name", ["token", "jwks"])
@pytest.mark.parametrize(("url", "shown"), URLS)
def test_a_password_in_a_url(doctor: Doctor, prefix: str, name: str, url: str, shown: str) -> None:
    """Kafka's keys of URLs are not secret, and what is in them may be."""
    key = f"{prefix}sasl.oauthbearer.{name}.endpoint.url"
    doctor.properties[key] = url
    doctor.write()
    log = doctor.directory / "server.log"
    log.write_text(f"asked {url}: refused")
    archive = doctor.directory / "bundle.tar.gz"
    assert main(["debug-bundle", str(doctor.file), "--to", str(archive), "--log", str(log), "--offline"]) == 0
    found = parts(archive)
    assert parse_properties(found["controller.properties"])[key] == shown
    assert "planted-pw" not in "".join(found.values())


def test_values_without_a_url_are_as_they_are() -> None:
    properties = {
        "listeners": "CONTROLLER://:9093,CONTROLLER2://[::1]:9094",
        "ssl.principal.mapping.rules": "RULE:^CN=(.*?),.*$/$1/,DEFAULT",
    }
    assert shown_properties(ResolvedProperties(properties, {}, (), {})) == properties


SHOWN: list[tuple[str, str, bool]] = [
    ("num.partitions", "3", True),
    ("listeners", "C://h:1", True),
    ("listener.name.controller.ssl.client.auth", "required", True),
    ("kraftctl.operate.token.path", "a/path", True),
    ("ssl.key.password", "x", False),
    ("listener.name.controller.ssl.key.password", "x", False),
    ("listener.name.controller.plain.sasl.jaas.config", "x", False),
    ("listener.name.other.ssl.client.auth", "required", False),
    ("my.plugin", "x", False),
    ("kraftctl.unknown", "x", False),
]


@pytest.mark.parametrize(("key", "value", "is_shown"), SHOWN)
def test_which_values_are_shown(key: str, value: str, is_shown: bool) -> None:
    names = {"listeners": "CONTROLLER://h:1", "listener.security.protocol.map": "CONTROLLER:SSL"}
    properties = ResolvedProperties({**names, key: value}, {}, (), {})
    assert shown_properties(properties)[key] == (value if is_shown else "(redacted)")


def test_an_unknown_key_does_not_hide_a_common_word(doctor: Doctor) -> None:
    doctor.properties["my.plugin.host"] = "localhost"
    doctor.properties["my.plugin.secret"] = "planted-secret"
    doctor.write()
    hidden = HiddenValues(read_config_file(doctor.file))
    assert hidden.hide("localhost has planted-secret") == "localhost has [hidden]"
