"""Fences brokers whose session ran out (KIP-631), one at a time: each sees what the last one changed.

A broker with very many partitions is fenced in slices, and requests are handled in between. It first leaves
ISRs and leaderships, slice by slice, and is fenced with the last of them. A broker whose fencing fails
is tried again later, after the others.
"""

from __future__ import annotations

from kraftctl.controller.cluster_control.stalls import Stalls
from kraftctl.controller.controller_result import ControllerResult, SoftChange
from kraftctl.controller.controller_state import ControllerState
from kraftctl.controller.failures import pause_ms
from kraftctl.controller.replication_control.broker_transitions import (
    PARTITIONS_PER_SLICE,
    records_before_fencing,
    records_for_fenced_broker,
)
from kraftctl_protocol.metadata_record import RecordAndVersion
from kraftctl_protocol.uuids import ZERO_UUID, Uuid

Incarnation = tuple[int, int]
"""(broker id, broker epoch)."""


class FailedFencing:
    """A broker that is still to be fenced, not before `due_ms`."""

    def __init__(self, failure_count: int, due_ms: int) -> None:
        self.failure_count = failure_count
        self.due_ms = due_ms


class StaleBrokerFencing:
    """The remaining work: a broker whose fencing has begun, and brokers whose fencing failed."""

    def __init__(self, state: ControllerState, stalls: Stalls) -> None:
        self._state = state
        self._stalls = stalls
        self._under_way: Incarnation | None = None
        self._after: Uuid = ZERO_UUID
        self._tried: Incarnation | None = None
        self._failed: dict[Incarnation, FailedFencing] = {}
        self.more = False
        """Whether the records that `run` returned last are not the last ones of their broker."""

    @property
    def in_progress(self) -> bool:
        """Whether `run` has more to do for the broker it began with."""
        return self._under_way is not None

    @property
    def next_retry_ms(self) -> int | None:
        """When a broker whose fencing failed is due again."""
        return min([failed.due_ms for failed in self._failed.values()], default=None)

    def run(self, now_ms: int) -> ControllerResult | None:
        """The next records, or None when every session is valid.

        A session of an earlier incarnation, of an unregistered or of an already fenced broker just ends. When
        this, or encoding the records, raises, call `failed`.
        """
        self._tried = None
        self.more = False
        incarnation = self._under_way or self._next_stale(now_ms)
        if incarnation is None:
            return None
        self._tried = incarnation
        if not self._is_unfenced(incarnation):
            self._under_way = None
            return None
        state = self._state
        broker_id = incarnation[0]
        if state.image.topics.isr_membership_count(broker_id) > PARTITIONS_PER_SLICE:
            after = self._after if self.in_progress else ZERO_UUID
            records, after = records_before_fencing(state.image, state.config, broker_id, after)
            if records:
                return self._result(records, incarnation, after)
        records = records_for_fenced_broker(state.image, state.config, broker_id)
        return self._result(records, incarnation, None)

    @property
    def tried(self) -> Incarnation | None:
        """The broker that `run` worked on last."""
        return self._tried

    def failed(self, now_ms: int) -> int | None:
        """The last records of `run` are not written: their broker is due again after a pause.

        Returns when; None when the failure concerns no single broker.
        """
        incarnation = self._tried
        self._under_way = None
        if incarnation is None:
            return None
        before = self._failed.get(incarnation)
        failure_count = 1 if before is None else before.failure_count + 1
        due_ms = now_ms + pause_ms(failure_count)
        self._failed[incarnation] = FailedFencing(failure_count, due_ms)
        self._state.heartbeats.end_session(*incarnation)
        return due_ms

    def advance(self, incarnation: Incarnation, after: Uuid | None) -> None:
        """Records for `incarnation` are being appended; `after` is None when they are its last ones."""
        if self._under_way is None:
            broker_id, broker_epoch = incarnation
            self._state.notices.append(
                f"The session of broker {broker_id} at epoch {broker_epoch} has timed out"
            )
            self._state.heartbeats.end_session(broker_id, broker_epoch)
        self._failed.pop(incarnation, None)
        self._under_way = None if after is None else incarnation
        self._after = ZERO_UUID if after is None else after

    def _result(
        self, records: list[RecordAndVersion], incarnation: Incarnation, after: Uuid | None
    ) -> ControllerResult:
        self.more = after is not None
        return ControllerResult.of(records, None, FencingProgress(self, incarnation, after))

    def _next_stale(self, now_ms: int) -> Incarnation | None:
        heartbeats = self._state.heartbeats
        while (expired := heartbeats.oldest_expired(now_ms)) is not None:
            if self._is_unfenced(expired):
                if self._spared(heartbeats.oldest_contact_ms, now_ms):
                    break
                return expired
            heartbeats.end_session(*expired)
        for incarnation in list(self._failed):
            if self._failed[incarnation].due_ms > now_ms:
                continue
            if self._is_unfenced(incarnation) and not heartbeats.has_valid_session(*incarnation, now_ms):
                return incarnation
            del self._failed[incarnation]
        return None

    def _spared(self, contact_ms: int | None, now_ms: int) -> bool:
        until_ms = None if contact_ms is None else self._stalls.fence_not_before_ms(contact_ms)
        return until_ms is not None and now_ms < until_ms

    def _is_unfenced(self, incarnation: Incarnation) -> bool:
        broker_id, broker_epoch = incarnation
        registration = self._state.image.cluster.broker(broker_id)
        return registration is not None and registration.epoch == broker_epoch and not registration.fenced


class FencingProgress(SoftChange):
    """The session of the broker ends, and the next slice begins where this one ended."""

    def __init__(self, fencing: StaleBrokerFencing, incarnation: Incarnation, after: Uuid | None) -> None:
        self._fencing = fencing
        self._incarnation = incarnation
        self._after = after

    def make(self) -> None:
        self._fencing.advance(self._incarnation, self._after)
