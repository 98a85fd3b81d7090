"""Writes lines about certificates that expire: ahead of time, and once a day how long they last."""

from __future__ import annotations

import datetime
import logging
from typing import Final

from kraftctl.server.security.ssl_metrics import SslMetrics
from kraftctl.server.security.watched_stores import WatchedStores
from kraftctl_security.tls.certificate_expiry import DAY_MS, Expiry, ExpiryWarnings, expiries

logger = logging.getLogger("kraftctl.server.ssl")

CHECK_MS: Final = 3_600_000

LINES_MAX: Final = 20
"""The number of warnings of one check. A truststore may have a hundred authorities."""


class ExpiryLines:
    """Watches the certificates of all listeners with SSL."""

    def __init__(self, metrics: SslMetrics) -> None:
        self._metrics = metrics
        self._warnings: dict[str, ExpiryWarnings] = {}
        self._checked_ms = -CHECK_MS
        self._logged_ms = -DAY_MS

    def check(self, watched: list[WatchedStores], now_ms: int, *, have_changed: bool = False) -> None:
        """Checks once an hour, and when stores `have_changed`."""
        if not have_changed and 0 <= now_ms - self._checked_ms < CHECK_MS:
            return
        self._checked_ms = now_ms
        is_day_over = not 0 <= now_ms - self._logged_ms < DAY_MS
        if is_day_over:
            self._logged_ms = now_ms
        for stores in watched:
            found = expiries(stores.stores)
            self._note(stores.listener, found)
            if have_changed or is_day_over:
                self._log_metrics(stores.listener, now_ms)
            warnings = self._warnings.setdefault(stores.listener, ExpiryWarnings())
            due = warnings.due(found, now_ms)
            for expiry in due[:LINES_MAX]:
                logger.warning("%s", _warning(stores, expiry, now_ms))
            if len(due) > LINES_MAX:
                logger.warning(
                    "Listener %s: the same holds for %d more", stores.listener, len(due) - LINES_MAX
                )

    def _note(self, listener: str, found: list[Expiry]) -> None:
        for expires_at_ms, is_trusted in (
            (self._metrics.certificate_expires_at_ms, False),
            (self._metrics.authority_expires_at_ms, True),
        ):
            times = [each.at_ms for each in found if each.is_trusted == is_trusted]
            if times and not is_trusted:
                self._metrics.own_expires_at_ms[listener] = times[0]
            if times:
                expires_at_ms[listener] = min(times)
            else:
                expires_at_ms.pop(listener, None)

    def _log_metrics(self, listener: str, now_ms: int) -> None:
        metrics = self._metrics
        parts = [
            f"{what} {_when(expires_at_ms[listener] - now_ms)}"
            for what, expires_at_ms in (
                ("its certificate", metrics.certificate_expires_at_ms),
                ("the first that it trusts", metrics.authority_expires_at_ms),
            )
            if listener in expires_at_ms
        ]
        logger.info("Listener %s: %s", listener, ", ".join(parts))
        if listener in metrics.failing_listeners:
            logger.warning("Listener %s: what is in its stores now cannot be used, see above", listener)


def _warning(stores: WatchedStores, expiry: Expiry, now_ms: int) -> str:
    config = stores.config.truststore if expiry.is_trusted else stores.config.keystore
    where = None if config is None else config.location
    what = "trusted certificate" if expiry.is_trusted else "certificate"
    until = datetime.datetime.fromtimestamp(expiry.at_ms / 1000, datetime.UTC).isoformat()
    left_ms = expiry.at_ms - now_ms
    expires = f"{_when(left_ms)}, at {until}"
    if expiry.is_early(now_ms):
        since = datetime.datetime.fromtimestamp(expiry.since_ms / 1000, datetime.UTC).isoformat()
        now = datetime.datetime.fromtimestamp(now_ms // 1000, datetime.UTC).isoformat()
        return (
            f"Listener {stores.listener}: the {what} '{expiry.name}' in {where or 'its properties'} is not"
            f" valid before {since}, and the clock of this host is at {now}. Next step: check the clock."
        )
    next_step = "replace it there; no restart is needed" if where else "set another one"
    return (
        f"Listener {stores.listener}: the {what} '{expiry.name}' in {where or 'its properties'} {expires}."
        f" Next step: {next_step}."
    )


def _when(left_ms: int) -> str:
    if left_ms < 0:
        return f"has expired {_duration(-left_ms)} ago"
    return f"expires in {_duration(left_ms)}"


def _duration(duration_ms: int) -> str:
    days = duration_ms // DAY_MS
    return f"{days} days" if days > 1 else f"{duration_ms // CHECK_MS} hours"
