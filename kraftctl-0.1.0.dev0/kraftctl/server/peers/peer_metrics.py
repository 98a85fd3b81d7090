"""Counts what this node sends to other controllers, as Kafka's raft-channel-metrics do."""

from __future__ import annotations


class PeerMetrics:
    """Counts since the start, and latencies since they were last taken."""

    def __init__(self) -> None:
        self.requests_count = 0
        self.responses_count = 0
        self.sent_bytes = 0
        self.received_bytes = 0
        self.connections_count = 0
        """The number of connections that were opened."""
        self._latencies = (0, 0.0, 0.0)

    def sent(self, size_bytes: int) -> None:
        self.requests_count += 1
        self.sent_bytes += size_bytes

    def received(self, size_bytes: int, seconds: float) -> None:
        self.responses_count += 1
        self.received_bytes += size_bytes
        count, total, longest = self._latencies
        self._latencies = count + 1, total + seconds, max(longest, seconds)

    def take_latencies(self) -> tuple[int, float, float]:
        """Returns count, sum and maximum in seconds since the last call."""
        taken, self._latencies = self._latencies, (0, 0.0, 0.0)
        return taken
