"""Storage tests open thousands of logs: what reaches a real disk is not what they are about.

Whether everything is flushed that must be is the business of test_power_failure, whose disk is a model.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _fsync_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


@pytest.fixture(autouse=True)
def _close_what_is_left_open() -> Iterator[None]:
    """A log that is opened again while it is open stands for a process that was killed: nobody closes it.

    Other tests of this process need file descriptors below 1024, for select().
    """
    yield
    for link in Path("/proc/self/fd").iterdir():
        try:
            target = os.readlink(link)
        except FileNotFoundError:
            continue
        if target.removesuffix(" (deleted)").endswith((".log", "index", ".deleted")):
            os.close(int(link.name))
