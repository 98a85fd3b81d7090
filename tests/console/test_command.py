"""The arguments of `kraftctl console`, what it refuses, and that it needs its extra."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import ssl
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

from kraftctl.cli import main
from kraftctl.cli.console.listen_address import ListenAddress, check_access, parse_listen_address
from kraftctl.dev.nodes import kraftctl_command
from kraftctl.dev.polling import await_result
from kraftctl.dev.ports import free_port
from kraftctl.dev.processes import ManagedProcess
from kraftctl_admin.errors import AdminError
from tests.support.certificates import Authority
from tests.support.console_stage import StagedLog, five_troubles

AT = ["--bootstrap-controllers", "127.0.0.1:1"]
TOKEN = "a-token-of-enough-bytes"

WITHOUT_EXTRA = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("starlette", "uvicorn", "jinja2"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Missing())
from kraftctl.cli import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("http://127.0.0.1:8080", ListenAddress("http", "127.0.0.1", 8080)),
        ("https://[::1]:8443/", ListenAddress("https", "::1", 8443)),
        ("http://localhost:1", ListenAddress("http", "localhost", 1)),
    ],
)
def test_an_address_is_parsed(text: str, expected: ListenAddress) -> None:
    assert parse_listen_address(text) == expected
    assert str(expected) == text.rstrip("/")
    assert expected.is_loopback


@pytest.mark.parametrize(
    "text", ["8080", "localhost:8080", "http://localhost", "ftp://h:1", "http://h:x", "http://h:1/p", "http://u@h:1",
             "http://h:1?q", "http://h:70000", "http://[::1"]
)  # fmt: skip
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(AdminError, match="--listen"):
        parse_listen_address(text)


@pytest.mark.parametrize(
    ("text", "has_token", "has_certificate", "reason"),
    [
        ("http://0.0.0.0:8080", False, False, "others could read the page"),
        ("http://192.0.2.1:8080", False, False, "others could read the page"),
        ("http://console.example:8080", False, False, "others could read the page"),
        ("https://127.0.0.1:8080", False, False, "needs --certificate and --key"),
        ("http://127.0.0.1:8080", False, True, "is for https"),
        ("http://127.0.0.1:8080", False, False, None),
        ("http://127.9.9.9:8080", False, False, None),
        ("http://0.0.0.0:8080", True, False, None),
        ("https://0.0.0.0:8080", True, True, None),
    ],
)
def test_who_may_read_it(text: str, has_token: bool, has_certificate: bool, reason: str | None) -> None:
    address = parse_listen_address(text)
    if reason is None:
        check_access(address, has_token=has_token, has_certificate=has_certificate)
        return
    with pytest.raises(AdminError, match=reason):
        check_access(address, has_token=has_token, has_certificate=has_certificate)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--listen", "http://0.0.0.0:8080"], "is not on loopback"),
        (["--certificate", "chain.pem"], "--certificate and --key belong together"),
        (["--operate", "c1:9099"], "--operate c1:9099 is no address of a listener"),
        (["--token-file", "missing"], "missing"),
        (["--command-config", "missing"], "missing"),
    ],
)
def test_wrong_arguments_have_a_reason(
    arguments: list[str], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["console", *AT, *arguments]) == 1
    found = capsys.readouterr().err
    assert reason in found
    assert "Traceback" not in found


def test_a_directory_has_no_controllers_to_ask(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["console", "--directory", "data", "--operate", "http://c1:9099"]) == 1
    assert "--operate is for --bootstrap-controllers" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["missing", "empty"])
def test_a_directory_that_is_none_has_a_reason(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    assert main(["console", "--directory", str(tmp_path / name)]) == 1
    found = capsys.readouterr().err
    assert found.startswith("kraftctl console: ")
    assert str(tmp_path / name) in found
    assert "Traceback" not in found


def test_what_a_leader_says_is_not_assumed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["console", *AT, "--assume-committed"]) == 1
    assert "--assume-committed is for --directory" in capsys.readouterr().err


def test_a_short_token_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    token = tmp_path / "token"
    token.write_text("short")
    token.chmod(0o644)
    assert main(["console", *AT, "--token-file", str(token)]) == 1
    found = capsys.readouterr().err
    assert "has 5 bytes: 16 or more are needed" in found
    assert f"Other accounts may read {token}" in found


def refusal(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """What a console that does not start prints."""
    assert main(["console", *AT, *arguments]) == 1
    found = capsys.readouterr().err
    assert "Traceback" not in found
    assert "findmnt" not in found or "cannot read" in found
    return found


def test_an_address_that_is_taken_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        found = refusal(["--listen", url], capsys)
    assert f"--listen {url} cannot be used" in found
    assert "ss -ltnp" in found


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://192.0.2.1:8080", "choose an address of this host"),
        ("http://console.invalid:8080", "the host console.invalid is not known"),
    ],
)
def test_an_address_of_another_host_is_refused(
    url: str, reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "token").write_text(TOKEN)
    found = refusal(["--listen", url, "--token-file", str(tmp_path / "token")], capsys)
    assert f"--listen {url}" in found
    assert reason in found


def test_a_pair_that_cannot_be_used_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    issued(tmp_path)
    chain, key, other = tmp_path / "chain.pem", tmp_path / "key.pem", tmp_path / "other.pem"
    listen = ["--listen", f"https://127.0.0.1:{free_port()}", "--certificate"]
    missing = refusal([*listen, str(chain), "--key", str(tmp_path / "missing")], capsys)
    assert "--key: cannot read" in missing
    assert "--certificate: cannot read" in refusal([*listen, str(tmp_path), "--key", str(key)], capsys)
    other.write_text(Authority().issue("CN=other").key_pem("a-password"))
    assert f"--key {other} is encrypted" in refusal([*listen, str(chain), "--key", str(other)], capsys)
    other.write_text("no key")
    assert "cannot be used together" in refusal([*listen, str(chain), "--key", str(other)], capsys)


def test_an_open_page_ends_quietly_with_the_console(tmp_path: Path) -> None:
    """Port 0 is another one, which is printed."""
    command = kraftctl_command("console", *AT, "--listen", "http://127.0.0.2:0")
    console = ManagedProcess("console", command, tmp_path / "console.log")
    try:
        console.await_line("has the console, until", 30.0)
        printed = (tmp_path / "console.log").read_text()
        port = int(printed.partition("http://127.0.0.2:")[2].partition(" ")[0])
        assert port > 0
        with urlopen(f"http://127.0.0.2:{port}/updates", timeout=20.0) as updates:
            assert updates.readline().startswith(b"data: ")
            console.signal(signal.SIGINT)
            assert console.wait(20.0) == 0
    finally:
        console.kill()
    log = (tmp_path / "console.log").read_text()
    assert log.splitlines() == [f"http://127.0.0.2:{port} has the console, until Ctrl-C"]


def test_without_its_extra_it_says_what_to_install() -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)}
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_EXTRA, "console", *AT], capture_output=True, text=True, env=environment
    )
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert re.search(
        r"the package \w+ is missing\. Next step: .*python\S* .*install .*(jinja2|uvicorn|starlette)", line
    )
    assert "Traceback" not in done.stderr


def test_https_and_a_token_without_a_leader(tmp_path: Path) -> None:
    """The page is there before anything is known of the quorum, and says why nothing is."""
    identity, authority = issued(tmp_path)
    token, port = tmp_path / "token", free_port()
    token.write_text(f"{TOKEN}\n")
    token.chmod(0o600)
    arguments = ["--listen", f"https://127.0.0.1:{port}", "--token-file", str(token)]
    pair = ["--certificate", str(identity / "chain.pem"), "--key", str(identity / "key.pem")]
    command = kraftctl_command("console", *AT, *arguments, *pair)
    console = ManagedProcess("console", command, tmp_path / "console.log")
    try:
        console.await_line("has the console, until", 30.0)
        context = ssl.create_default_context(cadata=authority)
        asked = Request(f"https://127.0.0.1:{port}/", headers={"Authorization": f"Bearer {TOKEN}"})
        page = urlopen(asked, context=context, timeout=20.0).read().decode()
        assert "Reading the log" in page
        assert console.terminate() == 0
    finally:
        console.kill()
    assert TOKEN not in (tmp_path / "console.log").read_text()


def test_a_directory_has_a_page_without_what_only_a_leader_knows(tmp_path: Path) -> None:
    log = StagedLog(tmp_path / "data")
    five_troubles(log)
    log.close()
    port = free_port()
    where = ["--directory", str(log.path), "--assume-committed", "--listen", f"http://127.0.0.1:{port}"]
    console = ManagedProcess("console", kraftctl_command("console", *where), tmp_path / "console.log")

    def read() -> dict[str, Any]:
        return dict(json.loads(urlopen(f"http://127.0.0.1:{port}/picture.json", timeout=10.0).read()))

    try:
        console.await_line("has the console, until", 30.0)
        await_result(lambda: "troubles" in read() and len(read()["problems"]) == 1, "it is read", 20.0)
        picture = read()
        assert [each["kind"] for each in picture["troubles"]][:3] == ["no-leader", "fenced", "reassignment"]
        assert "The page is of a directory" in picture["problems"][0]
        assert {each["role"] for each in picture["quorum"]["controllers"]} == {"registered", "voter"}
    finally:
        console.terminate()


def issued(directory: Path) -> tuple[Path, str]:
    """Writes a chain and a key for this host; returns their directory, and the authority in PEM."""
    authority = Authority()
    identity = authority.issue("CN=console", hosts=("127.0.0.1",))
    (directory / "chain.pem").write_text(identity.certificates_pem)
    (directory / "key.pem").write_text(identity.key_pem())
    return directory, authority.pem
