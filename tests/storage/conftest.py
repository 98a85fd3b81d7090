"""Storage tests open thousands of logs: what reaches a real disk is not what they are about.

Whether everything is flushed that must be is the business of test_power_failure, whose disk is a model.
"""

from __future__ import annotations

import os

import pytest


@pytest.fixture(autouse=True)
def _fsync_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)
    monkeypatch.setattr(os, "fdatasync", lambda descriptor: None)
