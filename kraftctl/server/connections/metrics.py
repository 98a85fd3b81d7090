"""Counts and durations of requests per API, for the performance line."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from kraftctl.server.connections.authentication_metrics import AuthenticationMetrics
from kraftctl.server.process.durations import Durations

NS_PER_SECOND: Final = 1e9


@dataclass
class ApiMetrics:
    """One API since the last line."""

    count: int = 0
    total_seconds: float = 0.0
    max_seconds: float = 0.0
    durations: Durations = field(default_factory=Durations)
    """They count since the start."""


class RequestMetrics:
    """Counts per API key; `take` starts a new period."""

    def __init__(self) -> None:
        self._by_api: dict[int, ApiMetrics] = {}
        self.durations: dict[int, Durations] = {}
        """By API key, since the start."""
        self.connections_count = 0
        self.refused_connections_count = 0
        self.closed_idle_count = 0
        """Closed to make room for other connections."""
        self.closed_holders_count = 0
        """Closed because they held too many bytes."""
        self.authentications = AuthenticationMetrics()
        self._reported = (0, 0, 0)

    def record(self, api_key: int, seconds: float) -> None:
        """One request was answered after `seconds`."""
        metrics = self._by_api.get(api_key)
        if metrics is None:
            durations = self.durations.setdefault(api_key, Durations())
            metrics = self._by_api[api_key] = ApiMetrics(durations=durations)
        metrics.count += 1
        metrics.total_seconds += seconds
        metrics.max_seconds = max(metrics.max_seconds, seconds)
        metrics.durations.note(int(seconds * NS_PER_SECOND))

    def take(self) -> dict[int, ApiMetrics]:
        """Returns everything since the last call."""
        taken, self._by_api = self._by_api, {}
        return taken

    def take_pressure(self, period_ms: int) -> str | None:
        """One line about the connections that were turned away or closed since the last call, if any were."""
        counts = (self.refused_connections_count, self.closed_idle_count, self.closed_holders_count)
        refused, idle, holders = (count - old for count, old in zip(counts, self._reported, strict=True))
        self._reported = counts
        if refused + idle + holders == 0:
            return None
        return (
            f"In the last {period_ms} ms {refused} connections were refused, {idle} idle ones closed to make"
            f" room, and {holders} closed that held too many bytes; {self.connections_count} are open."
        )


def performance_line(period_ms: int, metrics: dict[int, ApiMetrics], names: dict[int, str]) -> str:
    """One line about a period, the most frequent APIs first."""
    total = sum(api.count for api in metrics.values())
    if total == 0:
        return f"In the last {period_ms} ms no request was answered."
    busiest = sorted(metrics.items(), key=lambda item: (-item[1].count, item[0]))
    parts = [
        f"{names.get(api_key, str(api_key))} {api.count} "
        f"(average {api.total_seconds / api.count * 1000:.2f} ms, slowest {api.max_seconds * 1000:.2f} ms)"
        for api_key, api in busiest
    ]
    return f"In the last {period_ms} ms {total} requests were answered: {', '.join(parts)}."
