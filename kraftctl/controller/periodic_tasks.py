"""What the active controller does by itself, and when.

| task | when |
|--|--|
| fence a broker | as soon as its session ran out; the next one 10 ms later; none right after a stall here |
| write a NoOpRecord (KIP-835) | every metadata.max.idle.interval.ms, 0 for never |
| elect preferred leaders | every leader.imbalance.check.interval.seconds, at most 1000 partitions at a time |
| elect unclean leaders | every unclean.leader.election.interval.ms, where a topic allows it |
| remove expired delegation tokens (KIP-48) | every delegation.token.expiry.check.interval.ms |
| register this controller (KIP-919) | when metadata.version begins to allow it |
"""

from __future__ import annotations

from typing import Final

from kraftctl.controller.cluster_control.fence_stale_brokers import StaleBrokerFencing
from kraftctl.controller.cluster_control.register_controller import needs_registration
from kraftctl.controller.controller_result import ControllerResult
from kraftctl.controller.controller_state import ControllerState
from kraftctl.controller.delegation_token_control import sweep_expired_tokens
from kraftctl.controller.replication_control.elect_leaders import (
    elect_preferred_leaders,
    elect_unclean_leaders,
)
from kraftctl.metadata.controller_registration import ControllerRegistration
from kraftctl_protocol.generated.no_op_record import NoOpRecord
from kraftctl_protocol.metadata_record import RecordAndVersion

IMMEDIATE_MS: Final = 10
"""A task with more to do runs again after this, as in Kafka: requests get their turn in between."""

SLICE_MS: Final = 1
"""Between two slices of one long task."""

STALLED_MS: Final = 1_000
"""Later than this no timer is unless the whole process stood still."""

HEARTBEATS_AFTER_STALL: Final = 2
"""So many heartbeat intervals brokers then have to be heard of."""

REGISTRATION_RETRY_MS: Final = 1_000

NEVER: Final = (1 << 62) - 1


class PeriodicTasks:
    """Deadlines of one activation. A call of `run_due` does one thing at most, and the next one sees it."""

    def __init__(self, state: ControllerState, own: ControllerRegistration, now_ms: int) -> None:
        config = state.config
        self._state = state
        self._own = own
        self._no_op_interval_ms = config.metadata_max_idle_interval_ms
        self._preferred_interval_ms = config.leader_imbalance_check_interval_seconds * 1_000
        self._unclean_interval_ms = config.unclean_leader_election_interval_ms
        self._heartbeat_interval_ms = config.broker_heartbeat_interval_ms
        self._fencing = StaleBrokerFencing(state)
        self._fence_not_before_ms = now_ms
        self._no_op_ms = now_ms + self._no_op_interval_ms if self._no_op_interval_ms > 0 else NEVER
        rebalance = config.auto_leader_rebalance_enable
        self._preferred_ms = now_ms + self._preferred_interval_ms if rebalance else NEVER
        self._unclean_ms = now_ms + self._unclean_interval_ms
        tokens = config.delegation_token_secret_key is not None
        self._sweep_interval_ms = config.delegation_token_expiry_check_interval_ms
        self._sweep_ms = now_ms + self._sweep_interval_ms if tokens else NEVER
        self._wall_minus_monotonic_ms = state.wall_ms - now_ms
        self._registration_ms = now_ms

    @property
    def next_deadline_ms(self) -> int:
        """When something is due."""
        election_ms = min(self._preferred_ms, self._unclean_ms)
        return min(self._fence_ms(), self._no_op_ms, election_ms, self._sweep_ms, self._registration_ms)

    def _fence_ms(self) -> int:
        if self._fencing.in_progress:
            return self._fence_not_before_ms
        expiry_ms = self._state.heartbeats.next_expiry_ms
        return NEVER if expiry_ms is None else max(expiry_ms, self._fence_not_before_ms)

    def run_due(self, now_ms: int) -> ControllerResult | None:
        """Records of one task that is due; None when nothing (more) is due."""
        while self.next_deadline_ms <= now_ms:
            result = self._run_one(now_ms)
            if result is not None and result.records:
                return result
        return None

    def _run_one(self, now_ms: int) -> ControllerResult | None:
        if self._fence_ms() <= now_ms:
            if now_ms - self._fence_ms() > STALLED_MS and not self._fencing.in_progress:
                # It was us who were silent: heartbeats wait in the sockets, or come again soon.
                self._fence_not_before_ms = now_ms + HEARTBEATS_AFTER_STALL * self._heartbeat_interval_ms
                return None
            result = self._fencing.run(now_ms)
            self._fence_not_before_ms = now_ms + (SLICE_MS if self._fencing.in_progress else IMMEDIATE_MS)
            return result
        if self._registration_ms <= now_ms:
            self._registration_ms = now_ms + REGISTRATION_RETRY_MS
            if needs_registration(self._state.image, self._own):
                return ControllerResult.atomic_of([self._own.to_record()])
            return None
        if self._no_op_ms <= now_ms:
            self._no_op_ms = now_ms + self._no_op_interval_ms
            return ControllerResult.of([RecordAndVersion(NoOpRecord(), 0)])
        if self._preferred_ms <= now_ms:
            result, more = elect_preferred_leaders(self._state)
            self._preferred_ms = now_ms + (IMMEDIATE_MS if more else self._preferred_interval_ms)
            return result
        if self._sweep_ms <= now_ms:
            result, more = sweep_expired_tokens(self._state, now_ms + self._wall_minus_monotonic_ms)
            self._sweep_ms = now_ms + (IMMEDIATE_MS if more else self._sweep_interval_ms)
            return result
        result, more = elect_unclean_leaders(self._state)
        self._unclean_ms = now_ms + (IMMEDIATE_MS if more else self._unclean_interval_ms)
        return result
