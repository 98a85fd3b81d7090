"""When a token is replaced: Kafka's rules for the keys `sasl.login.refresh.*`."""

from __future__ import annotations

import pytest

from kraftctl_security.sasl.oauthbearer.login_refresh import LoginRefreshConfig, refresh_at_ms

CONFIG = LoginRefreshConfig(window_factor=0.8, window_jitter=0.05, period_seconds_min=60, buffer_seconds=300)


@pytest.mark.parametrize(
    ("issued_at_ms", "expires_at_ms", "now_ms", "random", "expected_ms"),
    [
        pytest.param(0, 10_000_000, 0, 0.0, 8_000_000, id="a-part-of-the-lifetime"),
        pytest.param(0, 10_000_000, 0, 1.0, 8_500_000, id="with-all-of-the-jitter"),
        pytest.param(None, 10_000_000, 5_000_000, 0.0, 9_000_000, id="of-unknown-age"),
        pytest.param(0, 1_000_000, 0, 0.0, 700_000, id="not-later-than-the-buffer"),
        pytest.param(0, 1_000_000, 639_000, 0.0, 700_000, id="buffer-just-possible"),
        pytest.param(0, 10_000_000, 7_990_000, 0.0, 8_050_000, id="not-sooner-than-the-period"),
        pytest.param(0, 300_000, 0, 0.0, 240_000, id="too-short-for-buffer-and-period"),
        pytest.param(0, 1_000, 2_000, 0.0, 12_000, id="expired"),
    ],
)
def test_when_a_token_is_replaced(
    issued_at_ms: int | None, expires_at_ms: int, now_ms: int, random: float, expected_ms: int
) -> None:
    found = refresh_at_ms(
        CONFIG, issued_at_ms=issued_at_ms, expires_at_ms=expires_at_ms, now_ms=now_ms, random=random
    )
    assert found == expected_ms
