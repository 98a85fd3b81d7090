"""What a listener expects of a token besides its signature."""

from __future__ import annotations


class JwtValidatorConfig:
    """An empty `expected_audiences` and an `expected_issuer` of None expect nothing, as in Kafka."""

    def __init__(
        self,
        *,
        expected_audiences: list[str],
        expected_issuer: str | None,
        clock_skew_seconds: int,
        scope_claim_name: str,
        sub_claim_name: str,
    ) -> None:
        self.expected_audiences = expected_audiences
        self.expected_issuer = expected_issuer
        self.clock_skew_seconds = clock_skew_seconds
        self.scope_claim_name = scope_claim_name
        self.sub_claim_name = sub_claim_name
