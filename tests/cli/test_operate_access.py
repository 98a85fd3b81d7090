"""Tokens, authorities and addresses for listeners for probes are checked at the start, and never shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from kraftctl.cli import main
from kraftctl.cli.health.collection import read_pages

TWO_LINES = b"abcdefghijklmnop\r\nqrst"
TOKENS = [
    pytest.param(TWO_LINES, id="two-lines"),
    pytest.param(b"abcdefghijklmnop\x00q", id="a-control-character"),
    pytest.param("abcdefghijklmnop\u00e9".encode(), id="not-ascii"),
    pytest.param(b"abcdefghijklmnop\xff", id="not-utf-8"),
]
CONSOLE = ["console", "--bootstrap-controllers", "127.0.0.1:1"]
HEALTH = ["health", "--bootstrap-controllers", "127.0.0.1:1"]


@pytest.mark.parametrize("content", TOKENS)
@pytest.mark.parametrize(
    ("command", "flag"),
    [(CONSOLE, "--token-file"), (CONSOLE, "--operate-token"), (HEALTH, "--operate-token")],
    ids=["console", "console-operate", "health"],
)
def test_a_token_that_no_header_may_have_is_refused_and_not_shown(
    tmp_path: Path, content: bytes, command: list[str], flag: str, capsys: pytest.CaptureFixture[str]
) -> None:
    token = tmp_path / "token"
    token.write_bytes(content)
    token.chmod(0o600)
    assert main([*command, "--operate", "http://127.0.0.1:1", flag, str(token)]) == 1
    found = capsys.readouterr()
    assert f"{flag} {token} is not one line" in found.err
    assert "abcdefgh" not in found.out + found.err
    assert "qrst" not in found.out + found.err


def test_a_problem_never_has_the_token() -> None:
    page = read_pages("http://127.0.0.1:1", token=TWO_LINES.decode(), context=None, timeout_s=5.0)
    assert page.problem is not None
    assert "the token is not one line" in page.problem
    assert "abcdefgh" not in page.problem


@pytest.mark.parametrize("command", [CONSOLE, HEALTH], ids=["console", "health"])
@pytest.mark.parametrize(
    "url", ["http://", "http://h:x", "http://h:0", "http://h:70000", "http://u:p@h:1", "http://h:1/?q", "http://h:1#f",
            "http://a b:1", "ftp://h:1", "http://[::1"],
)  # fmt: skip
def test_an_address_of_no_listener_is_refused(
    command: list[str], url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*command, "--operate", url]) == 1
    assert "is no address of a listener" in capsys.readouterr().err


@pytest.mark.parametrize("command", [CONSOLE, HEALTH], ids=["console", "health"])
def test_an_authority_that_cannot_be_read_is_named_with_its_flag(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*command, "--operate-ca", str(tmp_path / "missing.pem")]) == 1
    assert "--operate-ca: cannot read" in capsys.readouterr().err
    (tmp_path / "ca.pem").write_text("no certificate")
    assert main([*command, "--operate-ca", str(tmp_path / "ca.pem")]) == 1
    found = capsys.readouterr().err
    assert f"--operate-ca {tmp_path / 'ca.pem'} has no certificates" in found
