"""Counts about the keys and certificates of listeners."""

from __future__ import annotations


class SslMetrics:
    """Counts since the start, and the listeners whose newest stores cannot be used."""

    def __init__(self) -> None:
        self.reloads_count = 0
        self.failed_reloads_count = 0
        self.failing_listeners: set[str] = set()

    def reloaded(self, listener: str) -> None:
        """New stores are in use."""
        self.reloads_count += 1
        self.failing_listeners.discard(listener)

    def failed(self, listener: str) -> None:
        """New stores cannot be used."""
        self.failed_reloads_count += 1
        self.failing_listeners.add(listener)
