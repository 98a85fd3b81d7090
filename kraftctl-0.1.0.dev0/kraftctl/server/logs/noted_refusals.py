"""Writes the lines about refusals of one kind: of each sender now and then, and few in all."""

from __future__ import annotations

import logging
from collections.abc import Callable

from kraftctl.controller.results.noted_refusal import NotedRefusal
from kraftctl.raft.spoken_reasons import SpokenReasons
from kraftctl.server.logs.rate_limited_log import RateLimitedLog

logger = logging.getLogger("kraftctl.controller")


class NotedRefusals:
    """Lines about one sender are a minute apart, then longer; of all senders there are ten in ten seconds."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._log = RateLimitedLog(logger, now)
        self._now = now
        self._spoken = SpokenReasons()

    def note(self, refusal: NotedRefusal) -> None:
        """Writes the line, or leaves it out; it is counted if there are too many of other senders."""
        if self._log.has_room() and not self._spoken.is_due(refusal.sender, int(self._now() * 1000)):
            return
        if refusal.is_warning:
            self._log.warning("%s", refusal.text)
        else:
            self._log.log(logging.INFO, "%s", refusal.text)
