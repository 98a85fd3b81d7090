"""Logs the node's notices, each under the logger of the part that it comes from.

The node does no IO: it hands over notices with a source and a level, and here they become log records of
`kraftctl.raft`, `kraftctl.controller`, `kraftctl.snapshot`, `kraftctl.loader` and `kraftctl.registration`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from kraftctl.controller.audit.audit_trail import AuditEntry
from kraftctl.controller.results.noted_refusal import KINDS, NotedRefusal
from kraftctl.controller.results.notice_sources import SOURCES
from kraftctl.node.events import AuthorizerLines, RequestFailed
from kraftctl.raft import effects
from kraftctl.server.logs.audit_log import AuditLog
from kraftctl.server.logs.authorizer_logger import AuthorizerLogger
from kraftctl.server.logs.noted_refusals import NotedRefusals
from kraftctl.server.logs.rate_limited_log import RateLimitedLog

_LEVELS = {
    effects.DEBUG: logging.DEBUG,
    effects.INFO: logging.INFO,
    effects.WARN: logging.WARNING,
    effects.ERROR: logging.ERROR,
}


class LoggedNotices:
    """Has a logger per source. Lines that clients can provoke are limited in rate, per source."""

    def __init__(
        self,
        now: Callable[[], float],
        call_later: Callable[[float, Callable[[], None]], object],
        audit_log: AuditLog | None,
    ) -> None:
        self._loggers = {
            source: logging.getLogger(f"kraftctl.{source}") for source in (effects.RAFT, *SOURCES)
        }
        self.failed_requests = {
            source: RateLimitedLog(logger, now) for source, logger in self._loggers.items()
        }
        self._noted_refusals = {kind: NotedRefusals(now) for kind in KINDS}
        self._authorizer_logger = AuthorizerLogger(call_later)
        self._audit_log = audit_log

    def notice(self, notice: effects.Notice) -> None:
        self._loggers[notice.source].log(_LEVELS[notice.level], "%s", notice.text)

    def request_failed(self, failure: RequestFailed) -> None:
        self.failed_requests[failure.source].log(logging.ERROR, "%s", failure.text)

    def refusal_noted(self, refusal: NotedRefusal) -> None:
        self._noted_refusals[refusal.kind].note(refusal)

    def audited(self, entry: AuditEntry) -> None:
        if self._audit_log is not None:
            self._audit_log.audited(entry)

    def authorizer_lines(self, effect: AuthorizerLines) -> None:
        self._authorizer_logger.log(effect)
