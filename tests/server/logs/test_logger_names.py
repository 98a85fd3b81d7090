"""A line ends with the name of its logger: what it is about, in whichever module it is written."""

from __future__ import annotations

import logging
import re
from pathlib import Path

import pytest

import kraftctl.server
from kraftctl.server.logs.log_levels import LOGGERS
from kraftctl.server.logs.rate_limited_log import RateLimitedLog

SERVER = Path(kraftctl.server.__path__[0])

NAMED = re.compile(r'getLogger\("kraftctl\.server\.?([a-z_]*)"\)')

SUBJECTS: dict[str, set[str]] = {
    "connections": {"connections", "request", "sasl", "ssl"},
    "listeners": {"connections", "listener"},
    "logs": {"", "log_files"},
    "loop": {"effect_executor", "snapshots"},
    "peers": {"peers"},
    "process": {"", "snapshots"},
    "security": {"peers", "sasl", "ssl"},
    "controller_server.py": {"", "ssl"},
    "driver.py": {"driver"},
    "running_settings.py": {"connections"},
}
"""By room: the loggers `kraftctl.server.*` that its modules name. "" is `kraftctl.server`."""

OTHER_ROOM = {
    "descriptors.py": {"connections"},
    "local_users.py": {"sasl"},
    "peer_authorization_check.py": {"peers"},
}
"""Modules whose lines are about one thing of several."""


def named(path: Path) -> set[str]:
    return set(NAMED.findall(path.read_text()))


def test_each_room_logs_under_its_subjects() -> None:
    found: dict[str, set[str]] = {}
    for path in SERVER.rglob("*.py"):
        found.setdefault(path.relative_to(SERVER).parts[0], set()).update(named(path))
    assert {room: names for room, names in found.items() if names} == SUBJECTS


@pytest.mark.parametrize("name", OTHER_ROOM)
def test_a_module_logs_under_its_subject(name: str) -> None:
    (path,) = SERVER.rglob(name)
    assert named(path) == OTHER_ROOM[name]


def test_every_subject_can_be_given_a_level() -> None:
    names = {f"kraftctl.server.{name}".rstrip(".") for names in SUBJECTS.values() for name in names}
    assert names <= set(LOGGERS)


def test_loggers_share_the_limit_of_lines(caplog: pytest.LogCaptureFixture) -> None:
    now = 0.0
    log = RateLimitedLog(logging.getLogger("kraftctl.server.connections"), lambda: now, lines_max=2)
    other = log.beside(logging.getLogger("kraftctl.server.ssl"))
    for number in range(3):
        log.warning("closing %d", number)
        other.warning("failed %d", number)
    assert (log.suppressed_count, other.suppressed_count, other.has_room()) == (4, 4, False)
    now = 10.0
    other.warning("failed again")
    assert [(record.name.rpartition(".")[2], record.getMessage()) for record in caplog.records] == [
        ("connections", "closing 0"),
        ("ssl", "failed 0"),
        ("ssl", "4 similar lines were left out"),
        ("ssl", "failed again"),
    ]
