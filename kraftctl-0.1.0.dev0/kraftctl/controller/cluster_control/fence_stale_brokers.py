"""Fences brokers whose session ran out (KIP-631): one begins at a time, and sees what the last one changed.

A broker with very many partitions is fenced in slices, and requests are handled in between. It first leaves
ISRs and leaderships, slice by slice, and is fenced with the last of them. Several brokers may be leaving at
the same time; none of them is then elected. A broker whose fencing fails is tried again later.
"""

from __future__ import annotations

from kraftctl.controller.cluster_control.stalls import Stalls
from kraftctl.controller.replication_control.broker_transitions import BrokerFencing, incarnation_of
from kraftctl.controller.results.controller_result import ControllerResult, SoftChange
from kraftctl.controller.results.failures import pause_ms
from kraftctl.controller.results.moment import Moment
from kraftctl.controller.results.soft_changes import SoftChanges
from kraftctl.controller.state.controller_state import ControllerState

Incarnation = tuple[int, int]
"""An incarnation is (broker id, broker epoch)."""


class FailedFencing:
    """A broker that is still to be fenced, not before `due_ms`."""

    def __init__(self, failure_count: int, due_ms: int) -> None:
        self.failure_count = failure_count
        self.due_ms = due_ms


class StaleBrokerFencing:
    """The remaining work: brokers whose fencing has begun, and brokers whose fencing failed.

    `_under_way` has how often the fencing of each has failed before.
    """

    def __init__(self, state: ControllerState, stalls: Stalls) -> None:
        self._state = state
        self._stalls = stalls
        self._under_way: dict[Incarnation, int] = {}
        self._tried: Incarnation | None = None
        self._failed: dict[Incarnation, FailedFencing] = {}

    @property
    def next_retry_ms(self) -> int | None:
        """The time at which a broker whose fencing failed is due again."""
        if not self._failed:
            return None
        return min([failed.due_ms for failed in self._failed.values()], default=None)

    def run(self, moment: Moment) -> ControllerResult | None:
        """Returns the first slice of the next fencing, or None when every session is valid.

        A session of an earlier incarnation, of an unregistered or of an already fenced broker just ends.
        When this, or encoding the records, raises, call `failed`.
        """
        self._tried = None
        incarnation = self._next_stale(moment.now_ms)
        if incarnation is None:
            return None
        self._tried = incarnation
        fencing = SessionFencing(self, self._state, incarnation)
        result = fencing.next_slice(moment)
        changes: list[SoftChange] = [FencingBegins(self, incarnation)]
        if result.soft_change is not None:
            changes.append(result.soft_change)
        return ControllerResult(result.records, None, False, SoftChanges(changes), rest=result.rest)

    @property
    def tried(self) -> Incarnation | None:
        """The broker that `run` worked on last."""
        return self._tried

    def failed(self, now_ms: int) -> int | None:
        """Notes that the last records of `run` are not written: their broker is due again after a pause.

        It returns when; None when the failure concerns no single broker.
        """
        return None if self._tried is None else self.retry_later(self._tried, now_ms)

    def retry_later(self, incarnation: Incarnation, now_ms: int) -> int:
        """Notes that a slice of a fencing has failed. Returns when the broker is due again."""
        before = self._failed.get(incarnation)
        known_count = self._under_way.pop(incarnation, 0) if before is None else before.failure_count
        failure_count = known_count + 1
        due_ms = now_ms + pause_ms(failure_count)
        self._failed[incarnation] = FailedFencing(failure_count, due_ms)
        self._state.heartbeats.end_session(*incarnation)
        return due_ms

    def begin(self, incarnation: Incarnation) -> None:
        """Notes that the first records for `incarnation` are being appended."""
        broker_id, broker_epoch = incarnation
        self._state.notices.append(f"The session of broker {broker_id} at epoch {broker_epoch} has timed out")
        self._state.fencings.timed_out_count += 1
        self._state.heartbeats.end_session(broker_id, broker_epoch)
        before = self._failed.pop(incarnation, None)
        self._under_way[incarnation] = 0 if before is None else before.failure_count

    def end(self, incarnation: Incarnation) -> None:
        """Notes that the last records for `incarnation` are being appended, or it need not be fenced any
        more.
        """
        self._under_way.pop(incarnation, None)

    def _next_stale(self, now_ms: int) -> Incarnation | None:
        heartbeats = self._state.heartbeats
        while (expired := heartbeats.oldest_expired(now_ms)) is not None:
            if self._is_to_be_fenced(expired):
                if self._spared(heartbeats.oldest_contact_ms, now_ms):
                    break
                return expired
            heartbeats.end_session(*expired)
        for incarnation in list(self._failed):
            if self._failed[incarnation].due_ms > now_ms:
                continue
            if self._is_to_be_fenced(incarnation) and not heartbeats.has_valid_session(*incarnation, now_ms):
                return incarnation
            del self._failed[incarnation]
        return None

    def _spared(self, contact_ms: int | None, now_ms: int) -> bool:
        until_ms = None if contact_ms is None else self._stalls.fence_not_before_ms(contact_ms)
        return until_ms is not None and now_ms < until_ms

    def _is_to_be_fenced(self, incarnation: Incarnation) -> bool:
        if incarnation in self._under_way:
            return False
        registration = incarnation_of(self._state, *incarnation)
        return registration is not None and not registration.fenced


class SessionFencing(BrokerFencing):
    """The fencing of a broker whose session ran out. If a slice fails, another fencing begins later."""

    def __init__(self, fencing: StaleBrokerFencing, state: ControllerState, incarnation: Incarnation) -> None:
        super().__init__(state, incarnation[0], incarnation[1])
        self._fencing = fencing
        self._incarnation = incarnation

    def next_slice(self, moment: Moment) -> ControllerResult:
        """Returns the next slice of the fencing."""
        result = super().next_slice(moment)
        if result.rest is None:
            assert result.soft_change is not None, "a fencing that ends is no longer under way"
            ends = FencingEnds(self._fencing, self._incarnation)
            result.soft_change = SoftChanges([result.soft_change, ends])
        return result

    def failed(self, moment: Moment) -> None:
        super().failed(moment)
        self._fencing.retry_later(self._incarnation, moment.now_ms)


class FencingBegins(SoftChange):
    """Ends the session of the broker when its fencing begins."""

    def __init__(self, fencing: StaleBrokerFencing, incarnation: Incarnation) -> None:
        self._fencing = fencing
        self._incarnation = incarnation

    def make(self) -> None:
        self._fencing.begin(self._incarnation)


class FencingEnds(SoftChange):
    """Notes that the broker is fenced: its next session may run out."""

    def __init__(self, fencing: StaleBrokerFencing, incarnation: Incarnation) -> None:
        self._fencing = fencing
        self._incarnation = incarnation

    def make(self) -> None:
        self._fencing.end(self._incarnation)
