"""A wait for the disk is said while it lasts, soon and then rarely; on a virtual clock."""

from __future__ import annotations

import logging

import pytest

from kraftctl.operate.readiness import DISK_SECONDS_MAX
from kraftctl.server.loop.disk_watch import LONG_SECONDS, REPEAT_SECONDS, DiskWatch

logger = logging.getLogger("kraftctl.server.driver")


class Disk:
    """A flush that began at `since`; None while nothing waits."""

    def __init__(self) -> None:
        self.now = 1_000.0
        self.since: float | None = None
        self.watch = DiskWatch(logger, lambda: self.now, self.oldest_wait)

    def oldest_wait(self) -> tuple[str, float]:
        return ("", 0.0) if self.since is None else ("FlushLog", self.now - self.since)

    def run_for(self, seconds: float) -> None:
        for _ in range(int(seconds // LONG_SECONDS)):
            self.now += LONG_SECONDS
            self.watch.look()


def test_a_stall_is_said_while_it_lasts(caplog: pytest.LogCaptureFixture) -> None:
    disk = Disk()
    disk.run_for(REPEAT_SECONDS)
    assert caplog.messages == []
    disk.since = disk.now + 1.0
    disk.run_for(2 * LONG_SECONDS)
    assert [message.partition(" and")[0] for message in caplog.messages] == [
        "FlushLog has waited for the disk of metadata.log.dir for 9 s"
    ]
    disk.run_for(10 * LONG_SECONDS)
    assert len(caplog.messages) == 1
    disk.run_for(REPEAT_SECONDS)
    assert len(caplog.messages) == 2


def test_a_controller_is_not_ready_when_the_line_comes() -> None:
    assert LONG_SECONDS == DISK_SECONDS_MAX


def test_short_waits_are_no_stall(caplog: pytest.LogCaptureFixture) -> None:
    disk = Disk()
    for _ in range(20):
        disk.since = disk.now + 0.1
        disk.run_for(LONG_SECONDS)
    assert caplog.messages == []
