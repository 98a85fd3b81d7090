"""ConnectionLogs: the lines about the connections of all listeners, each kind with its limit."""

from __future__ import annotations

import logging
from collections.abc import Callable

from kraftctl.server.connections.foreign_clients import ForeignClients
from kraftctl.server.connections.metrics import RequestMetrics
from kraftctl.server.connections.request_log import RequestLog
from kraftctl.server.logs.rate_limited_log import RateLimitedLog

logger = logging.getLogger("kraftctl.server.connections")
sasl_logger = logging.getLogger("kraftctl.server.sasl")


class ConnectionLogs:
    """Counts requests, and logs connections that are refused, closed or have failed."""

    def __init__(self, metrics: RequestMetrics, now: Callable[[], float]) -> None:
        self.requests = RequestLog(metrics)
        self.refusals = RateLimitedLog(logger, now)
        self.failures = RateLimitedLog(logger, now)
        self.failed_authentications = RateLimitedLog(sasl_logger, now)
        """A limit of its own: other clients must not hide who guesses passwords."""
        self.foreign_clients = ForeignClients(self.refusals, now)
