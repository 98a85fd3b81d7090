"""Rolling restarts as `/restartz` allows them: the controllers that keep running stay ready all the time.

KRAFTCTL_ROLLING_MINUTES makes it longer.
"""

from __future__ import annotations

import os
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from kraftctl.dev.polling import await_result
from tests.operate.operated_quorum import OperatedController, OperatedQuorum

MINUTES = float(os.environ.get("KRAFTCTL_ROLLING_MINUTES", "0.5"))

pytestmark = [pytest.mark.long, pytest.mark.timeout(MINUTES * 60 + 300)]

POLL_SECONDS = 0.2

LATE_SECONDS = 2.0
"""A response that takes longer says more about the machine than about the controller."""


@dataclass
class Poller:
    """Asks one controller for `/readyz` again and again, from another thread, except while it restarts."""

    controller: OperatedController
    changes_count: int = 0
    polls_count: int = 0
    slowest_seconds: float = 0.0
    unready: list[str] = field(default_factory=list)
    _ends: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        while not self._ends.wait(POLL_SECONDS):
            before = self._stopped()
            if before % 2:
                continue
            began = time.monotonic()
            found = self.controller.probe()
            seconds = time.monotonic() - began
            if self._stopped() != before:
                continue  # it was stopped meanwhile
            self.polls_count += 1
            self.slowest_seconds = max(self.slowest_seconds, seconds)
            if found.status != 200:
                self.unready.append(f"{found.status} after {seconds:.2f} s: {found.text}")

    def _stopped(self) -> int:
        """Odd while it restarts."""
        return self.changes_count

    def end(self) -> None:
        self._ends.set()


def restart(poller: Poller) -> float:
    """Returns the seconds until it was ready again."""
    controller = poller.controller
    await_result(controller.may_stop, f"controller {controller.node_id} may stop", 60.0, 0.1)
    poller.changes_count += 1
    began = time.monotonic()
    assert controller.process.terminate() == 0
    controller.start()
    controller.await_ready(60.0)
    seconds = time.monotonic() - began
    poller.changes_count += 1
    return seconds


def test_the_others_stay_ready(tmp_path: Path) -> None:
    with OperatedQuorum(tmp_path) as quorum:
        quorum.await_ready()
        pollers = [Poller(each) for each in quorum.controllers]
        threads = [threading.Thread(target=each.run) for each in pollers]
        for thread in threads:
            thread.start()
        took: list[float] = []
        until = time.monotonic() + MINUTES * 60
        try:
            while time.monotonic() < until or len(took) < len(pollers):
                took.append(restart(pollers[len(took) % len(pollers)]))
        finally:
            for each in pollers:
                each.end()
            for thread in threads:
                thread.join()
        polls = sum(each.polls_count for each in pollers)
        slowest = max(each.slowest_seconds for each in pollers)
        print(
            f"{MINUTES} min: {len(took)} restarts, {min(took):.1f} to {max(took):.1f} s each until ready;"
            f" {polls} polls of the others, the slowest {slowest:.2f} s"
        )
        assert [text for each in pollers for text in each.unready] == []
        assert polls > len(took)
        assert slowest < LATE_SECONDS
