"""The time at which a client replaces its token (KIP-255, the keys `sasl.login.refresh.*`)."""

from __future__ import annotations

from typing import Final

RETRY_MS: Final = 10_000
"""The pause after a failed or late replacement, as in Kafka's ExpiringCredentialRefreshingLogin."""


class LoginRefreshConfig:
    """The keys; `window_factor` and `window_jitter` are parts of the lifetime of a token."""

    def __init__(
        self, *, window_factor: float, window_jitter: float, period_seconds_min: int, buffer_seconds: int
    ) -> None:
        self.window_factor = window_factor
        self.window_jitter = window_jitter
        self.period_seconds_min = period_seconds_min
        self.buffer_seconds = buffer_seconds


def refresh_at_ms(
    config: LoginRefreshConfig, *, issued_at_ms: int | None, expires_at_ms: int, now_ms: int, random: float
) -> int:
    """Returns when to ask for the next token, in wall-clock time. `random` is in [0, 1).

    That is when a part of the lifetime has passed; but not later than the buffer before its end, and not
    sooner than the minimum period, unless the lifetime is too short for both.
    """
    if now_ms > expires_at_ms:
        return now_ms + RETRY_MS
    part = config.window_factor + config.window_jitter * random
    period_ms, buffer_ms = config.period_seconds_min * 1_000, config.buffer_seconds * 1_000
    if now_ms + period_ms + buffer_ms > expires_at_ms:
        return now_ms + int((expires_at_ms - now_ms) * part)
    begins_at_ms = now_ms if issued_at_ms is None else issued_at_ms
    proposed_ms = begins_at_ms + int((expires_at_ms - begins_at_ms) * part)
    return max(min(proposed_ms, expires_at_ms - buffer_ms), now_ms + period_ms)
