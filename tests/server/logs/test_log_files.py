"""The files of the audit log and the authorizer's log: rotation, full disks, and a loop that never waits."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kraftctl.config.audit_config import AuditConfig
from kraftctl.controller.state.authorizer_log import INFO, AuthorizerLine
from kraftctl.node.events import AuthorizerLines
from kraftctl.server.logs.authorizer_logger import (
    CLIENT_DENIALS_MAX,
    DENIALS_MAX,
    INTERVAL_SECONDS,
    AuthorizerLogger,
)
from kraftctl.server.logs.background_file import LINE_OVERHEAD_BYTES, BackgroundFile, LeftOut
from kraftctl.server.logs.log_files import LogFiles
from kraftctl.server.logs.logging import AUTHORIZER_LOGGER
from kraftctl.server.logs.rotated_file import RotatedFile
from kraftctl.server.process.clock import Clock
from kraftctl.storage.errors import StorageError
from kraftctl_security.config_values import ConfigException, ConfigValues
from tests.node.audited_node import audited_node
from tests.node.test_audit_trail import topics

FULL = Path("/dev/full")
"""Every write to it fails with ENOSPC."""


def config(**properties: str) -> AuditConfig:
    values = ConfigValues({name.replace("__", "."): value for name, value in properties.items()})
    found = AuditConfig(values)
    values.raise_errors()
    return found


# One file.


def rotated(path: Path, *, max_bytes: int = 100, max_files: int = 3) -> RotatedFile:
    return RotatedFile(path, max_bytes=max_bytes, max_files=max_files)


def test_a_file_is_renamed_before_it_is_too_long(tmp_path: Path) -> None:
    path = tmp_path / "audit.log"
    file = rotated(path)
    for number in range(12):
        file.write(f"line {number:02d} {'x' * 41}\n".encode())
    file.close()
    found = {each.name: each.read_text().split()[1::3] for each in tmp_path.iterdir()}
    assert found == {"audit.log": ["10", "11"], "audit.log.1": ["08", "09"], "audit.log.2": ["06", "07"]}
    assert {each.stat().st_mode & 0o777 for each in tmp_path.iterdir()} == {0o600}


def test_a_single_file_begins_anew(tmp_path: Path) -> None:
    file = rotated(tmp_path / "audit.log", max_files=1)
    for number in range(3):
        file.write(f"{number}{'x' * 60}\n".encode())
    assert [each.read_text()[0] for each in tmp_path.iterdir()] == ["2"]


def test_a_file_is_continued(tmp_path: Path) -> None:
    path = tmp_path / "audit.log"
    for text in (b"before\n", b"after\n"):
        file = rotated(path)
        file.write(text)
        file.close()
    assert path.read_bytes() == b"before\nafter\n"


def test_a_part_of_a_line_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk takes the beginning of a line, and then is full."""
    path = tmp_path / "audit.log"
    file = rotated(path)
    file.write(b"whole\n")
    write = os.write
    answers = iter((3,))

    def full(descriptor: int, data: bytes) -> int:
        for count in answers:
            return write(descriptor, data[:count])
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", full)
        with pytest.raises(OSError, match="No space"):
            file.write(b"cut off\n")
    file.write(b"next\n")
    assert path.read_bytes() == b"whole\nnext\n"


# Its thread.


class SlowFile(RotatedFile):
    """A disk that takes nothing until it is released."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, max_bytes=1 << 30, max_files=2)
        self.released = threading.Event()
        self.asked = threading.Event()

    def write(self, lines: bytes) -> None:
        self.asked.set()
        assert self.released.wait(20.0)
        super().write(lines)


def left_out_line(gap: LeftOut) -> bytes:
    return b"left out %d\n" % gap.count


def test_a_flood_is_not_waited_for(tmp_path: Path) -> None:
    """A hundred thousand lines while the disk takes none: the memory is bounded, and nothing waits."""
    path = tmp_path / "audit.log"
    slow = SlowFile(path)
    file = BackgroundFile(slow, left_out_line, waiting_bytes_max=1_000 * (100 + LINE_OVERHEAD_BYTES))
    file.start()
    file.write(b"0" * 99 + b"\n")
    assert slow.asked.wait(20.0)
    before = time.monotonic()
    for _ in range(100_000):
        file.write(b"x" * 99 + b"\n")
    assert time.monotonic() - before < 15.0
    slow.released.set()
    file.close()
    lines = path.read_bytes().splitlines()
    assert len(lines) == 1_001
    assert b"left out %d" % file.left_out_count in lines
    assert file.left_out_count == 100_001 - 1_000


def test_a_full_disk_costs_lines_and_nothing_else(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = BackgroundFile(rotated(FULL), left_out_line)
    file.start()
    for _ in range(10):
        file.write(b"line\n")
    file.close()
    assert file.left_out_count == 10
    (line,) = caplog.messages
    assert "/dev/full cannot be written" in line
    assert "No space left on device" in line


def test_lines_that_the_disk_did_not_take_are_counted_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "audit.log"

    class Failing(RotatedFile):
        failures = 2

        def write(self, lines: bytes) -> None:
            if self.failures:
                self.failures -= 1
                written.set()
                raise OSError(28, "No space left on device")
            super().write(lines)
            written.set()

    written = threading.Event()
    file = BackgroundFile(Failing(path, max_bytes=1000, max_files=2), left_out_line)
    file.start()
    for line in (b"a\n", b"b\n", b"c\n"):
        written.clear()
        file.write(line)
        assert written.wait(20.0)
    file.close()
    assert path.read_bytes() == b"left out 2\nc\n"


# As they are configured.


@pytest.fixture(autouse=True)
def authorizer_logger() -> Iterator[logging.Logger]:
    logger = logging.getLogger(AUTHORIZER_LOGGER)
    level = logger.level
    yield logger
    logger.setLevel(level)


def test_the_audit_log_is_json_by_lines(tmp_path: Path) -> None:
    node = audited_node(1)
    node.send(topics("t"))
    node.settle()
    path = tmp_path / "audit.log"
    with LogFiles(config(kraftctl__audit__log__path=str(path)), "cluster", 7, Clock()) as audit_log:
        assert audit_log is not None
        for entry in node.process.audit_entries:
            audit_log.audited(entry)
        with audit_log.file._changed:
            for _ in range(3):
                audit_log.file._leave_out_last()
        audit_log.audited(node.process.audit_entries[0])
    line, left_out, again = [json.loads(each) for each in path.read_text().splitlines()]
    assert (line["api"], line["cluster_id"], line["node_id"]) == ("CreateTopics", "cluster", 7)
    assert again == line
    assert (left_out["outcome"], left_out["lines_left_out"]) == ("left_out", 3)


def test_the_authorizers_log_has_a_file_of_its_own(
    tmp_path: Path, authorizer_logger: logging.Logger, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "authorizer.log"
    with LogFiles(config(kraftctl__authorizer__log__path=str(path)), "c", 7, Clock()) as audit_log:
        assert audit_log is None
        authorizer_logger.info("Principal = User:x is Denied")
        authorizer_logger.debug("Principal = User:x is Allowed")
    (line,) = path.read_text().splitlines()
    assert line.endswith(f"] INFO Principal = User:x is Denied ({AUTHORIZER_LOGGER})")
    assert caplog.messages == []
    authorizer_logger.info("afterwards")
    assert caplog.messages == ["afterwards"]


@pytest.mark.parametrize(
    ("level", "admitted"), [("off", 0), ("info", 1), ("debug", 2), ("trace", 3)], ids=lambda each: str(each)
)
def test_levels(
    level: str, admitted: int, authorizer_logger: logging.Logger, caplog: pytest.LogCaptureFixture
) -> None:
    with LogFiles(config(kraftctl__authorizer__log__level=level), "c", 7, Clock()):
        for number in (20, 10, 5):
            authorizer_logger.log(number, "line")
    assert len(caplog.messages) == admitted


def test_a_file_that_cannot_be_opened_refuses_the_start(tmp_path: Path) -> None:
    path = tmp_path / "no" / "audit.log"
    with pytest.raises(
        StorageError,
        match=r"kraftctl.audit.log.path=.*no/audit.log: .*Next step: check kraftctl.audit.log.path",
    ):
        with LogFiles(config(kraftctl__audit__log__path=str(path)), "c", 7, Clock()):
            pass


def test_what_brokers_do_is_chosen_by_name() -> None:
    named = config(
        kraftctl__audit__log__path="x", kraftctl__audit__log__internal__apis="AlterPartition"
    ).api_keys
    without = config(kraftctl__audit__log__path="x").api_keys
    assert len(named - without) == 1
    with pytest.raises(ConfigException, match="BrokerHeartbeat is not one of AllocateProducerIds, AlterPar"):
        config(kraftctl__audit__log__internal__apis="BrokerHeartbeat")


# How many denials are logged.


def test_one_client_cannot_fill_the_disk_or_hide_another(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(5, AUTHORIZER_LOGGER)
    ends: list[tuple[float, Callable[[], None]]] = []
    logger = AuthorizerLogger(lambda seconds, call: ends.append((seconds, call)))

    def deny(client: str, count: int) -> None:
        for _ in range(count):
            logger.log(AuthorizerLines([AuthorizerLine(INFO, client, f"denied {client}")], 0))

    deny("User:mallory from 10.0.0.1", 5_000)
    deny("User:alice from 10.0.0.2", 3)
    assert caplog.messages.count("denied User:mallory from 10.0.0.1") == CLIENT_DENIALS_MAX
    assert caplog.messages.count("denied User:alice from 10.0.0.2") == min(3, DENIALS_MAX)
    caplog.clear()
    ((seconds, end),) = ends
    assert seconds == INTERVAL_SECONDS
    end()
    assert caplog.messages == ["Left out 4900 lines of User:mallory from 10.0.0.1 in the last 10 s"]
    caplog.clear()
    deny("User:mallory from 10.0.0.1", 1)
    assert len(caplog.messages) == 1


async def test_the_loop_serves_while_the_disk_is_slow(tmp_path: Path) -> None:
    """The loop hands lines over and is free again."""
    slow = SlowFile(tmp_path / "audit.log")

    async def serve() -> int:
        file = BackgroundFile(slow, left_out_line)
        file.start()
        turns = 0
        for _ in range(1_000):
            file.write(b"line\n")
            await asyncio.sleep(0)
            turns += 1
        slow.released.set()
        file.close()
        return turns

    assert await serve() == 1_000
