"""What every test of this folder leaves behind."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True, scope="session")
def destroyed_clients() -> Iterator[None]:
    """Clients of librdkafka are destroyed while the interpreter runs: their threads must not outlive it."""
    yield
    gc.collect()
