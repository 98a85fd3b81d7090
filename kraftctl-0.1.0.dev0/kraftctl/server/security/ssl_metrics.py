"""Counts reloads of the keys and certificates of listeners, and knows when those expire."""

from __future__ import annotations


class SslMetrics:
    """Counts since the start, and the listeners whose newest stores cannot be used."""

    def __init__(self) -> None:
        self.reloads_count = 0
        self.failed_reloads_count = 0
        self.failing_listeners: set[str] = set()
        self.certificate_expires_at_ms: dict[str, int] = {}
        """The Unix time at which the first certificate of each listener's keystore expires."""
        self.own_expires_at_ms: dict[str, int] = {}
        """The same of the certificate that each listener has for itself, without those of its issuers."""
        self.authority_expires_at_ms: dict[str, int] = {}
        """The Unix time at which the first certificate of each listener's truststore expires."""

    def reloaded(self, listener: str) -> None:
        """Notes that new stores are in use."""
        self.reloads_count += 1
        self.failing_listeners.discard(listener)

    def failed(self, listener: str) -> None:
        """Notes that new stores cannot be used."""
        self.failed_reloads_count += 1
        self.failing_listeners.add(listener)
