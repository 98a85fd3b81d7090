"""The keys that limit the number of delegation tokens. Kafka has none: every user may create any number."""

from __future__ import annotations

from kraftctl_security.config_values import ConfigValues


class TokenLimits:
    """The limits, and the keys that they have."""

    per_owner_key = "kraftctl.delegation.tokens.max.per.owner"
    all_key = "kraftctl.delegation.tokens.max"

    def __init__(self, values: ConfigValues) -> None:
        self.per_owner_max = values.int32(self.per_owner_key, 5_000, 0)
        self.all_max = values.int32(self.all_key, 20_000, 0)
