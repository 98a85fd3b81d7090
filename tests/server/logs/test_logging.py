"""Log lines have Kafka's form, and clients cannot forge one."""

from __future__ import annotations

import io
import logging
import re
from collections.abc import Iterator

import pytest

from kraftctl.server.connections.metrics import RequestMetrics, performance_line
from kraftctl.server.logs.logging import configure_logging
from kraftctl.server.logs.rate_limited_log import RateLimitedLog


@pytest.fixture
def output() -> Iterator[io.StringIO]:
    import sys

    root = logging.getLogger()
    handlers, level, hook = list(root.handlers), root.level, sys.excepthook
    stream = io.StringIO()
    configure_logging(3000, "info", stream)
    yield stream
    root.handlers[:] = handlers
    root.setLevel(level)
    sys.excepthook = hook


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("kraftctl.controller", "QuorumController"),
        ("kraftctl.raft.node", "RaftManager"),
        ("kraftctl.snapshot", "SnapshotGenerator"),
        ("kraftctl.registration", "ControllerRegistrationManager"),
        ("kraftctl.server.listener", "ControllerServer"),
        ("asyncio", "ControllerServer"),
    ],
)
def test_a_line_has_time_level_part_text_and_logger(output: io.StringIO, name: str, part: str) -> None:
    logging.getLogger(name).warning("text %d", 1)
    pattern = (
        r"\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}\] WARN "
        + re.escape(f"[{part} id=3000] text 1 ({name})")
        + "\n"
    )
    assert re.fullmatch(pattern, output.getvalue())


def test_a_client_id_cannot_forge_a_line(output: io.StringIO) -> None:
    logging.getLogger("kraftctl.server").info(
        "client %s", "x\n[2026-11-21 10:00:00,123] INFO all is well\x1b[2J"
    )
    assert output.getvalue().count("\n") == 1
    assert "\x1b" not in output.getvalue()


def test_no_character_of_unicode_ends_a_line(output: io.StringIO) -> None:
    every = "".join(map(chr, [*range(0xD800), *range(0xE000, 0x110000)]))
    logging.getLogger("kafka.authorizer.logger").info("Topic:LITERAL:%s", every)
    assert len(output.getvalue().splitlines()) == 1


def test_the_level_is_kept(output: io.StringIO) -> None:
    logging.getLogger("kraftctl.server").debug("quiet")
    assert output.getvalue() == ""


def test_repeated_refusals_are_counted_not_printed(output: io.StringIO) -> None:
    now = 0.0
    limited = RateLimitedLog(
        logging.getLogger("kraftctl.server"), lambda: now, lines_max=2, interval_seconds=10
    )
    for number in range(5):
        limited.warning("refused %d", number)
    assert (output.getvalue().count("refused"), limited.suppressed_count) == (2, 3)
    now = 10.0
    limited.warning("refused again")
    assert "3 similar lines were left out" in output.getvalue()
    assert "refused again" in output.getvalue()


def test_the_performance_line_names_the_busiest_first() -> None:
    metrics = RequestMetrics()
    metrics.record(63, 0.002)
    metrics.record(63, 0.004)
    metrics.record(56, 0.5)
    line = performance_line(60_000, metrics.take(), {63: "BROKER_HEARTBEAT"})
    assert line == (
        "In the last 60000 ms 3 requests were answered: "
        "BROKER_HEARTBEAT 2 (average 3.00 ms, slowest 4.00 ms), "
        "56 1 (average 500.00 ms, slowest 500.00 ms)."
    )
    assert performance_line(1, metrics.take(), {}) == "In the last 1 ms no request was answered."
