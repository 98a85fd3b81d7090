"""What tests of commands share."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator

import pytest


@pytest.fixture
def logging_as_before() -> Iterator[None]:
    """For commands that configure logging and run in this process."""
    root = logging.getLogger()
    handlers, level, hook = list(root.handlers), root.level, sys.excepthook
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    sys.excepthook = hook
