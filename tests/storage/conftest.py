"""Storage tests open thousands of logs; they do not need a real disk.

Whether everything is flushed that must be is the business of test_power_failure, whose disk is a model.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _fsync_immediately(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)
    monkeypatch.setattr(os, "fdatasync", lambda descriptor: None)


@pytest.fixture(autouse=True)
def _files_are_closed(tmp_path: Path) -> Iterator[None]:
    """A log that is left as after a kill keeps its files open until the process ends: here, the test."""
    yield
    for name in os.listdir("/proc/self/fd"):
        try:
            if Path(f"/proc/self/fd/{name}").readlink().is_relative_to(tmp_path):
                os.close(int(name))
        except FileNotFoundError:
            continue  # what listed them
