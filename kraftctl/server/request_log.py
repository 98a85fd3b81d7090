"""Log lines about requests: one per request at DEBUG, and refusals at a limited rate."""

from __future__ import annotations

import logging
from collections.abc import Callable

from kraftctl.server.metrics import RequestMetrics
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


class RateLimitedLog:
    """A few lines per interval, then a count of the rest: clients must not be able to fill the disk."""

    def __init__(
        self,
        target: logging.Logger,
        now: Callable[[], float],
        lines_max: int = 10,
        interval_seconds: float = 10.0,
    ) -> None:
        self._target = target
        self._now = now
        self._lines_max = lines_max
        self._interval_seconds = interval_seconds
        self._interval_start = now()
        self._lines = 0
        self.suppressed_count = 0

    def has_room(self) -> bool:
        """Whether a line would be written now, rather than counted."""
        is_over = self._now() - self._interval_start >= self._interval_seconds
        return is_over or self._lines < self._lines_max

    def warning(self, message: str, *arguments: object) -> None:
        """Log a WARNING, or only count it."""
        self.log(logging.WARNING, message, *arguments)

    def log(self, level: int, message: str, *arguments: object) -> None:
        """Log, or only count."""
        now = self._now()
        if now - self._interval_start >= self._interval_seconds:
            self._interval_start = now
            self._lines = 0
            if self.suppressed_count:
                self._target.log(level, "%d similar lines were left out", self.suppressed_count)
                self.suppressed_count = 0
        if self._lines >= self._lines_max:
            self.suppressed_count += 1
            return
        self._lines += 1
        self._target.log(level, message, *arguments)
