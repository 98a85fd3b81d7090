"""The logger `kafka.authorizer.logger` has the decisions of the authorizer, as Kafka logs them.

Clients cause denials at any rate: for each client, a principal at an address, a hundred are logged in ten
seconds, and a thousand for all together. The others are counted, and the log has their number.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from kraftctl.controller.state.authorizer_log import INFO
from kraftctl.node.events import AuthorizerLines
from kraftctl.server.logs.logging import AUTHORIZER_LOGGER

INTERVAL_SECONDS = 10.0

CLIENT_DENIALS_MAX = 100
"""The number of denials of one client in an interval."""

DENIALS_MAX = 1_000
"""The number of denials of all clients in an interval."""

CLIENTS_COUNTED_MAX = 100
"""Clients whose denials are counted separately when they are left out."""

OTHERS = "other clients"

logger = logging.getLogger(AUTHORIZER_LOGGER)


class AuthorizerLogger:
    """Writes the lines. `call_later` calls a function after a number of seconds."""

    def __init__(self, call_later: Callable[[float, Callable[[], None]], object]) -> None:
        self._call_later = call_later
        self._denials: dict[str, int] = {}
        self._denials_count = 0
        self._left_out: dict[str, int] = {}

    def log(self, effect: AuthorizerLines) -> None:
        """Logs lines. Only denials are limited: others are made only if an operator wants them."""
        for line in effect.lines:
            if line.level < INFO or self._admits(line.client):
                logger.log(line.level, "%s", line.text)
        if effect.left_out_count:
            self._leave_out(effect.lines[-1].client, effect.left_out_count)

    def _admits(self, client: str) -> bool:
        if not self._denials:
            self._call_later(INTERVAL_SECONDS, self._end_interval)
        count = self._denials.get(client, 0)
        if count >= CLIENT_DENIALS_MAX or self._denials_count >= DENIALS_MAX:
            self._leave_out(client, 1)
            return False
        self._denials[client] = count + 1
        self._denials_count += 1
        return True

    def _leave_out(self, client: str, count: int) -> None:
        known = client in self._left_out or len(self._left_out) < CLIENTS_COUNTED_MAX
        counted = client if known else OTHERS
        self._left_out[counted] = self._left_out.get(counted, 0) + count

    def _end_interval(self) -> None:
        left_out, self._left_out = self._left_out, {}
        self._denials.clear()
        self._denials_count = 0
        for client, count in left_out.items():
            logger.info("Left out %d lines of %s in the last %d s", count, client, INTERVAL_SECONDS)
