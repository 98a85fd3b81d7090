"""The expectations of a listener about a token, besides its signature."""

from __future__ import annotations


class JwtValidatorConfig:
    """The expectations; an empty `expected_audiences` and an `expected_issuer` of None allow all, as in
    Kafka.
    """

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
