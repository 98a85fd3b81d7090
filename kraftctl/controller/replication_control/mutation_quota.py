"""KIP-599: how many partitions a request may create or delete before it is told to wait."""

from __future__ import annotations

from kraftctl.controller.api_error import ApiError


class MutationQuota:
    """The quota as one request meets it; this one admits everything."""

    def admit(self, partition_count: int) -> ApiError | None:
        """Charge the quota for `partition_count` partitions; THROTTLING_QUOTA_EXCEEDED if it is used up."""
        return None

    @property
    def throttle_time_ms(self) -> int:
        """How long the client should wait before its next request."""
        return 0


UNLIMITED = MutationQuota()
