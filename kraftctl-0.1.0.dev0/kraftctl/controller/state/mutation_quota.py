"""Limits how many partitions a client may create or delete before it is throttled (KIP-599).

A token bucket per client holds `controller_mutation_rate` x window seconds tokens when full. A request is
admitted while its bucket is not overdrawn, and may overdraw it by any amount.
"""

from __future__ import annotations

import math
from typing import Final

from kraftctl.controller.results.request_context import RequestContext
from kraftctl.image.client_quotas_image import ClientQuotasImage, QuotaEntity
from kraftctl_protocol.api_error import ApiError
from kraftctl_protocol.errors import Errors

CONTROLLER_MUTATION_RATE: Final = "controller_mutation_rate"

THROTTLE_TIME_MS_MAX: Final = (1 << 31) - 1
"""A response can have no larger throttle time; a tiny rate would need more."""

BUCKETS_MAX: Final = 10_000
"""The number of buckets; the oldest is dropped first, which gives its client a full bucket again."""


class TokenBucket:
    """A bucket, whose `tokens` may be negative; they come back at `rate` per second."""

    def __init__(self, rate: float, burst: float, now_ms: int) -> None:
        self.rate = rate
        self.burst = burst
        self.tokens = burst
        self._updated_ms = now_ms

    def refill(self, now_ms: int) -> None:
        """Adds the tokens that have accrued since the last refill."""
        elapsed_ms = max(0, now_ms - self._updated_ms)
        self.tokens = min(self.burst, self.tokens + self.rate * elapsed_ms / 1000.0)
        self._updated_ms = now_ms

    def wait_ms(self) -> int:
        """Returns the time until the bucket is not overdrawn any more."""
        if self.tokens >= 0 or self.rate <= 0:
            return 0
        return round(min(-self.tokens / self.rate * 1000.0, THROTTLE_TIME_MS_MAX))


class Charge:
    """The tokens that one request took from a bucket."""

    def __init__(self, bucket: TokenBucket, partition_count: int) -> None:
        self.bucket = bucket
        self.partition_count = partition_count


class MutationQuota:
    """The quota that applies to one request. Without a bucket it admits everything."""

    def __init__(
        self,
        bucket: TokenBucket | None = None,
        charges: list[Charge] | None = None,
        *,
        strict: bool = False,
        now_ms: int = 0,
    ) -> None:
        self._bucket = bucket
        self._charges: list[Charge] = [] if charges is None else charges
        self._strict = strict
        self.now_ms = now_ms
        """The time at which the next partitions are charged; it does not go back."""
        self._throttle_time_ms = 0

    def rehearsal(self) -> MutationQuota:
        """Returns a quota that admits what this one would admit now, without a charge."""
        bucket = self._bucket
        if bucket is None:
            return self
        copied = TokenBucket(bucket.rate, bucket.burst, self.now_ms)
        bucket.refill(self.now_ms)
        copied.tokens = bucket.tokens
        return MutationQuota(copied, strict=self._strict, now_ms=self.now_ms)

    def admit(self, partition_count: int) -> ApiError | None:
        """Charges `partition_count`; THROTTLING_QUOTA_EXCEEDED when the bucket is overdrawn.

        Old request versions do not know that error: they are charged and throttled.
        """
        bucket = self._bucket
        if bucket is None:
            return None
        bucket.refill(self.now_ms)
        if self._strict and bucket.tokens < 0:
            self._throttle_time_ms = bucket.wait_ms()
            return ApiError(Errors.THROTTLING_QUOTA_EXCEEDED)
        bucket.tokens -= partition_count
        self._charges.append(Charge(bucket, partition_count))
        if not self._strict:
            self._throttle_time_ms = bucket.wait_ms()
        return None

    @property
    def throttle_time_ms(self) -> int:
        """Returns how long the client should wait before its next request."""
        return self._throttle_time_ms


class MutationQuotas:
    """The buckets of all clients, which are soft state. A failover loses them, which at worst admits too
    much once.
    """

    def __init__(self, window_count: int, window_seconds: int) -> None:
        self._window_seconds = window_count * window_seconds
        self._buckets: dict[tuple[str | None, str | None], TokenBucket] = {}
        self._charges: list[Charge] = []

    def begin_request(self) -> None:
        """Starts a new request: `refund_request` returns what is charged from here on."""
        self._charges.clear()

    def refund_request(self) -> None:
        """Refunds a request that failed."""
        for charge in self._charges:
            charge.bucket.tokens += charge.partition_count
        self._charges.clear()

    def quota_for(
        self, quotas: ClientQuotasImage, context: RequestContext, *, strict: bool, now_ms: int
    ) -> MutationQuota:
        """Returns the quota of the request's user and client id."""
        client_id = context.client_id or ""
        found = mutation_rate(quotas, context.principal.name, client_id)
        if found is None:
            return MutationQuota()
        rate, per_user, per_client = found
        key = (context.principal.name if per_user else None, client_id if per_client else None)
        bucket = self._bucket(key, rate, now_ms)
        return MutationQuota(bucket, self._charges, strict=strict, now_ms=now_ms)

    def _bucket(self, key: tuple[str | None, str | None], rate: float, now_ms: int) -> TokenBucket:
        burst = rate * self._window_seconds
        bucket = self._buckets.get(key)
        if bucket is None:
            if len(self._buckets) >= BUCKETS_MAX:
                del self._buckets[next(iter(self._buckets))]
            bucket = TokenBucket(rate, burst, now_ms)
            self._buckets[key] = bucket
        elif bucket.rate != rate:
            bucket.refill(now_ms)
            bucket.rate = rate
            bucket.burst = burst
        return bucket


def is_usable_rate(rate: float) -> bool:
    """Returns whether a stored rate is usable: a positive, finite number, as AlterClientQuotas requires."""
    return 0 < rate < math.inf


def mutation_rate(quotas: ClientQuotasImage, user: str, client_id: str) -> tuple[float, bool, bool] | None:
    """Returns the rate of the most specific entity, and whether each user, and each client id, has its
    own bucket.
    """
    for user_name, client_name in _PRECEDENCE:
        entity: list[tuple[str, str | None]] = []
        if client_name != _ABSENT:
            entity.append(("client-id", client_id if client_name == _NAMED else None))
        if user_name != _ABSENT:
            entity.append(("user", user if user_name == _NAMED else None))
        key: QuotaEntity = tuple(entity)
        rate = quotas.quota(key).get(CONTROLLER_MUTATION_RATE)
        if rate is not None and is_usable_rate(rate):
            return rate, user_name != _ABSENT, client_name != _ABSENT
    return None


_NAMED: Final = 0
_DEFAULT: Final = 1
_ABSENT: Final = 2

_PRECEDENCE: Final = (
    (_NAMED, _NAMED),
    (_NAMED, _DEFAULT),
    (_NAMED, _ABSENT),
    (_DEFAULT, _NAMED),
    (_DEFAULT, _DEFAULT),
    (_DEFAULT, _ABSENT),
    (_ABSENT, _NAMED),
    (_ABSENT, _DEFAULT),
)
"""The pairs (user, client id), most specific first."""
