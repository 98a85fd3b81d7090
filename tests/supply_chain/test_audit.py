"""An audit is green only if a service that knows vulnerabilities was asked about all that is locked."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.supply_chain import audit
from tests.supply_chain.audit import CANARY, NEXT_STEP, UNKNOWN, VULNERABLE, pip_audit, verdict
from tests.supply_chain.locked_distributions import Locked, read_lock

ROW = {"id": "CVE-1", "fix_versions": ["3"], "aliases": [], "description": ""}

LOCK = [Locked("a", "1", ("0" * 64,), True), Locked("b", "2", ("0" * 64,), True)]

CLEAN_A = {"name": "a", "version": "1", "vulns": []}
CLEAN_B = {"name": "b", "version": "2", "vulns": []}
BAD_B = {**CLEAN_B, "vulns": [ROW]}
SKIPPED_B = {"name": "b", "skip_reason": "not found"}
KNOWING = {"name": CANARY[0], "version": CANARY[1], "vulns": [ROW, ROW]}
IGNORANT = {**KNOWING, "vulns": []}


@pytest.mark.parametrize(
    ("found", "status", "said"),
    [
        pytest.param([CLEAN_A, CLEAN_B, KNOWING], 0, ["2 distributions: no vulnerability is"], id="clean"),
        pytest.param([CLEAN_A, BAD_B, KNOWING], VULNERABLE, ["b 2: CVE-1, fixed in 3. Next"], id="known"),
        pytest.param([CLEAN_A, BAD_B, IGNORANT], VULNERABLE, ["b 2: CVE-1", "nothing was audited"],
                     id="known-and-no-canary"),
        pytest.param([CLEAN_A, CLEAN_B, IGNORANT], UNKNOWN, ["nothing was audited: the service knows no"],
                     id="no-vulnerabilities-at-all"),
        pytest.param([CLEAN_A, CLEAN_B], UNKNOWN, ["nothing was audited: the service knows no"],
                     id="no-canary"),
        pytest.param([CLEAN_A, SKIPPED_B, KNOWING], UNKNOWN, ["1 of 2 .*, b 2 among"], id="skipped"),
        pytest.param([CLEAN_A, KNOWING], UNKNOWN, ["1 of 2 .*, b 2 among"], id="left-out"),
        pytest.param([CLEAN_A, {**CLEAN_B, "version": "3"}, KNOWING], UNKNOWN, ["1 of 2 locked"],
                     id="another-version"),
        pytest.param([{**CLEAN_A, "vulns": [ROW]}, SKIPPED_B, KNOWING], VULNERABLE, ["a 1: CVE-1", "1 of 2"],
                     id="known-and-skipped"),
        pytest.param([], UNKNOWN, ["2 of 2 locked"], id="none"),
    ],
)  # fmt: skip
def test_the_verdict(found: list[dict[str, Any]], status: int, said: list[str]) -> None:
    given, lines = verdict(json.dumps({"dependencies": found, "fixes": []}), "", LOCK)
    assert given == status
    assert len(lines) == len(said)
    for line, pattern in zip(lines, said, strict=True):
        assert re.match(pattern, line), line
    assert status != UNKNOWN or lines[-1].endswith(NEXT_STEP)


@pytest.mark.parametrize("printed", ["", "No known vulnerabilities found", "{}", "[]", "null"])
def test_what_is_no_response_is_no_audit(printed: str) -> None:
    status, lines = verdict(printed, "ConnectionError: refused", LOCK)
    assert status == UNKNOWN
    assert lines == [
        f"nothing was audited: pip-audit has failed with `ConnectionError: refused`. {NEXT_STEP}"
    ]


@contextmanager
def service(response: Callable[[str], tuple[int, bytes]]) -> Iterator[str]:
    """Stands in for a service of known vulnerabilities; `response` is about a distribution."""

    class Service(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, sent = response(body["package"]["name"])
            self.send_response(status)
            self.send_header("Content-Length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        def log_message(self, *_: object) -> None: ...

    server = HTTPServer(("127.0.0.1", 0), Service)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


def knows(*vulnerable: str) -> Callable[[str], tuple[int, bytes]]:
    row = {"id": "CVE-1", "aliases": [], "affected": []}
    return lambda name: (200, json.dumps({"vulns": [row]} if name in vulnerable else {}).encode())


CANARY_NAME = CANARY[0]


@pytest.mark.parametrize(
    ("response", "status"),
    [
        pytest.param(knows(CANARY_NAME), 0, id="clean", marks=pytest.mark.long),
        pytest.param(knows(CANARY_NAME, "b"), VULNERABLE, id="vulnerable"),
        pytest.param(knows(), UNKNOWN, id="knows-nothing", marks=pytest.mark.long),
        pytest.param(lambda _: (500, b""), UNKNOWN, id="fails", marks=pytest.mark.long),
        pytest.param(lambda _: (200, b"<html>"), UNKNOWN, id="no-json", marks=pytest.mark.long),
    ],
)
def test_pip_audit_is_understood(
    response: Callable[[str], tuple[int, bytes]], status: int, tmp_path: Path
) -> None:
    lock = tmp_path / "requirements.lock"
    lock.write_text("".join(f"{each.name}=={each.version} --hash=sha256:{'0' * 64}\n" for each in LOCK))
    with service(response) as address:
        given, lines = verdict(*pip_audit(lock, ["-s", "osv", "--osv-url", address]), LOCK)
    assert given == status, lines


def test_what_is_locked_is_not_the_canary() -> None:
    """Otherwise pip-audit audits nothing at all."""
    assert CANARY_NAME not in {each.name for each in read_lock(audit.LOCK)}
