"""Polls a condition of another process until a deadline."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

POLL_INTERVAL_S = 0.1


def await_result(
    ask: Callable[[], T | None], what: str, timeout_s: float = 30.0, interval_s: float = POLL_INTERVAL_S
) -> T:
    """Returns the first result of `ask` that is neither None nor False. Raises TimeoutError naming `what`."""
    deadline = time.monotonic() + timeout_s
    pause = threading.Event()
    while True:
        answer = ask()
        if answer is not None and answer is not False:
            return answer
        if time.monotonic() >= deadline:
            raise TimeoutError(f"{what}: not within {timeout_s:g} s")
        pause.wait(interval_s)
