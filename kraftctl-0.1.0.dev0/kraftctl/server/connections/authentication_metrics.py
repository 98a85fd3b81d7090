"""Counts of authentications, by the names that Kafka's selectors give them."""

from __future__ import annotations

from dataclasses import asdict, dataclass


@dataclass
class AuthenticationMetrics:
    """Since the start; `take_line` says what has changed.

    An attribute is named as Kafka's metric, with underscores. The first authentication of a connection is
    counted apart from those that renew its session (KIP-368).
    """

    successful_authentication_total: int = 0
    successful_authentication_no_reauth_total: int = 0
    """Counts clients that do not learn when they have to authenticate again."""
    failed_authentication_total: int = 0
    successful_reauthentication_total: int = 0
    failed_reauthentication_total: int = 0
    expired_connections_killed_count: int = 0
    """Whose session had expired when they sent another request."""

    def succeeded(self, *, is_renewal: bool, is_renewable: bool) -> None:
        if is_renewal:
            self.successful_reauthentication_total += 1
            return
        self.successful_authentication_total += 1
        if not is_renewable:
            self.successful_authentication_no_reauth_total += 1

    def failed(self, *, is_renewal: bool) -> None:
        if is_renewal:
            self.failed_reauthentication_total += 1
        else:
            self.failed_authentication_total += 1

    def __post_init__(self) -> None:
        self._reported = asdict(self)

    def take_line(self, period_ms: int) -> str | None:
        """What was counted since the last call, by Kafka's names; None if nothing was."""
        totals = asdict(self)
        grown = {name: total - self._reported[name] for name, total in totals.items()}
        self._reported = totals
        parts = [f"{name.replace('_', '-')} {count}" for name, count in grown.items() if count]
        return f"In the last {period_ms} ms: {', '.join(parts)}." if parts else None
