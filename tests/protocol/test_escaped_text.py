"""No text of others begins a line, commands a terminal or turns the direction of what is read."""

from __future__ import annotations

import ast
import io
import logging
import sys
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest

from kraftctl.cli.quorum.describe import status_text
from kraftctl.cli.quorum.quorum_info import QuorumInfo, QuorumReplica, VoterEndpoint
from kraftctl.server.logs.logging import KafkaFormatter
from kraftctl_protocol.escaped_text import escaped
from kraftctl_security.authentication_failures import plain_text
from kraftctl_spark.commands.log_lines import _OneLine

EVERY = [chr(code) for code in range(sys.maxunicode + 1) if not 0xD800 <= code < 0xE000]

HARMFUL = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")

DIRECTIONS = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c"


def test_every_harmful_character_is_escaped() -> None:
    for each in EVERY:
        found = escaped(f"a{each}b")
        if unicodedata.category(each) in HARMFUL:
            assert found.isascii(), each
            assert found.isprintable()
        elif found.isascii() and not each.isascii():
            assert unicodedata.category(each) == "Zs"
        else:
            assert found == f"a{each}b"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2J", r"\x1b[2J"),
        ("a\r\nb", r"a\x0d\x0ab"),
        ("\u202e", r"\u202e"),
        ("\U000e0041", r"\U000e0041"),
        ("\x85\u2028", r"\x85\u2028"),
        ("Ünïcödé 日本 👍", "Ünïcödé 日本 👍"),
    ],
)
def test_what_is_shown(text: str, shown: str) -> None:
    assert escaped(text) == shown


def test_what_is_kept_stays() -> None:
    assert escaped("a\nb\x1b\t", keep="\n\t") == "a\nb\\x1b\t"


def kafka_line(text: str) -> str:
    return KafkaFormatter(1).format(logging.LogRecord("kraftctl.server", 20, "", 0, "%s", (text,), None))


def authorizer_line(text: str) -> str:
    record = logging.LogRecord(
        "kafka.authorizer.logger", 20, "", 0, "Principal = %s is Denied", (text,), None
    )
    return KafkaFormatter(1).format(record)


def exporter_line(text: str) -> str:
    record = logging.LogRecord("kraftctl_spark.cli", 20, "", 0, "%s", (text,), None)
    return _OneLine("[%(asctime)s] %(levelname)s %(message)s (%(name)s)").format(record)


def described(text: str) -> str:
    replica = QuorumReplica(1, bytes(16), 1, None, None)
    endpoints: dict[int, tuple[VoterEndpoint, ...]] = {1: (VoterEndpoint(text, text, 1),)}
    shown = status_text(text, QuorumInfo(1, 1, 1, (replica,), (), endpoints))
    assert shown.count("\n") == 7
    return shown.replace("\n", "")


OUTPUTS: dict[str, Callable[[str], str]] = {
    "log": kafka_line,
    "authorizer": authorizer_line,
    "exporter": exporter_line,
    "quorum-describe": described,
    "errors-of-clients": plain_text,
}


@pytest.mark.parametrize("output", OUTPUTS)
def test_what_shows_texts_of_others_escapes_them(output: str) -> None:
    for start in range(0, len(EVERY), 4_096):
        text = "".join(EVERY[start : start + 4_096])
        assert OUTPUTS[output](text).isprintable()
    for each in DIRECTIONS:
        assert f"\\u{ord(each):04x}" in OUTPUTS[output](f"x{each}")


def test_a_quote_in_a_host_does_not_end_it() -> None:
    (endpoint,) = (str(VoterEndpoint("L", 'h", "evil', 1)),)
    assert endpoint == r"L://h\x22, \x22evil:1"


def test_an_exception_shows_its_text_in_lines_of_its_own() -> None:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(KafkaFormatter(1))
    try:
        raise ValueError("\u202e\x1b[2J")
    except ValueError:
        record = logging.LogRecord("kraftctl.server", 50, "", 0, "Stopping", (), sys.exc_info())
    handler.emit(record)
    assert "\u202e" not in stream.getvalue()
    assert "\x1b" not in stream.getvalue()
    assert "\n  File " in stream.getvalue()


def test_no_other_formatter_writes_lines() -> None:
    """A new one has to escape, too."""
    root = Path(__file__).parents[2]
    found = set()
    for folder in ("kraftctl", "protocol", "spark/kraftctl_spark"):
        for path in (root / folder).rglob("*.py"):
            text = path.read_text()
            if "logging" in text:
                for node in ast.walk(ast.parse(text)):
                    name = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
                    if name.endswith(("basicConfig", "setFormatter")):
                        found.add(path.name)
    assert found == {"logging.py", "log_files.py", "log_lines.py"}
