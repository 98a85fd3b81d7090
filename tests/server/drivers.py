"""A driver over a node and a storage that the test provides."""

from __future__ import annotations

from typing import Any

from kraftctl.server.driver import Driver
from kraftctl.server.process.clock import Clock


def driver_of(node: Any, storage: Any) -> Driver:
    return Driver(
        node,
        storage,
        Clock(),
        retention_bytes=-1,
        retention_ms=-1,
        client_id="test",
        request_timeout_ms=1_000,
        retry_backoff_ms=20,
    )
