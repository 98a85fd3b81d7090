"""Waits where neither controller says when it is ready."""

from __future__ import annotations

import threading


def pause(seconds: float) -> None:
    """Returns after this time."""
    if seconds > 0:
        threading.Event().wait(seconds)
