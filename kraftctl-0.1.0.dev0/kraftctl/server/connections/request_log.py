"""Log lines about requests: one per request at DEBUG, and refusals at a limited rate."""

from __future__ import annotations

import logging

from kraftctl.server.connections.metrics import RequestMetrics
from kraftctl_protocol.requests import ParsedRequest

logger = logging.getLogger("kraftctl.server.request")


class RequestLog:
    """Counts every answered request and describes it at level DEBUG."""

    def __init__(self, metrics: RequestMetrics) -> None:
        self.metrics = metrics
        self._describes = False
        self.follow_level()

    def follow_level(self) -> None:
        """Look at the level of the logger: to ask it for each request takes longer than to count."""
        self._describes = logger.isEnabledFor(logging.DEBUG)

    def completed(
        self,
        peer: str,
        request: ParsedRequest,
        request_bytes: int,
        response_bytes: int,
        seconds: float,
    ) -> None:
        """A response is written, or collected for the end of this turn."""
        self.metrics.record(request.api_key, seconds)
        if self._describes:
            logger.debug(
                "Completed request: api=%s version=%d correlationId=%d clientId=%s connection=%s "
                "requestBytes=%d responseBytes=%d totalTimeMs=%.3f",
                request.body.NAME,
                request.version,
                request.header.correlation_id,
                request.header.client_id,
                peer,
                request_bytes,
                response_bytes,
                seconds * 1000,
            )
