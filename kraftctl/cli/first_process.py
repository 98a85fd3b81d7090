"""The first process of a container: the kernel drops each signal to it that it does not handle."""

from __future__ import annotations

import os
import signal
from types import FrameType


def end_on_sigterm() -> None:
    """Lets SIGTERM end the first process, as it does every other one, until a command handles the signal.

    A stop of the container would wait for the whole grace period otherwise, while modules are loaded, a
    directory is formatted or a log is recovered.
    """
    if os.getpid() == 1:
        signal.signal(signal.SIGTERM, _end)


def _end(number: int, frame: FrameType | None) -> None:
    os._exit(128 + number)
