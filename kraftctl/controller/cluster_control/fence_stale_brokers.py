"""Fences brokers whose session ran out (KIP-631), one at a time: each sees what the last one changed.

A broker with very many partitions is fenced in slices, requests getting their turn in between. It first
leaves ISRs and leaderships, slice by slice, and is fenced with the last of them.
"""

from __future__ import annotations

from kraftctl.controller.controller_result import ControllerResult
from kraftctl.controller.controller_state import ControllerState
from kraftctl.controller.replication_control.broker_transitions import (
    PARTITIONS_PER_SLICE,
    records_before_fencing,
    records_for_fenced_broker,
)
from kraftctl_protocol.uuids import ZERO_UUID, Uuid


class StaleBrokerFencing:
    """What is left to do for a broker whose fencing began."""

    def __init__(self, state: ControllerState) -> None:
        self._state = state
        self._broker_id = -1
        self._broker_epoch = -1
        self._after: Uuid = ZERO_UUID

    @property
    def in_progress(self) -> bool:
        """Whether `run` has more to do for the broker it began with."""
        return self._broker_id >= 0

    def run(self, now_ms: int) -> ControllerResult | None:
        """The next records, or None when every session is valid.

        A session of an earlier incarnation, of an unregistered or of an already fenced broker just ends.
        """
        if not self.in_progress and not self._begin(now_ms):
            return None
        if not self._is_unfenced(self._broker_id, self._broker_epoch):
            self._broker_id = -1
            return None
        state = self._state
        if state.image.topics.isr_membership_count(self._broker_id) > PARTITIONS_PER_SLICE:
            records, self._after = records_before_fencing(
                state.image, state.config, self._broker_id, self._after
            )
            if records:
                return ControllerResult.of(records)
        records = records_for_fenced_broker(state.image, state.config, self._broker_id)
        self._broker_id = -1
        return ControllerResult.of(records)

    def _begin(self, now_ms: int) -> bool:
        while (expired := self._state.heartbeats.pop_expired(now_ms)) is not None:
            broker_id, broker_epoch = expired
            if self._is_unfenced(broker_id, broker_epoch):
                self._state.notices.append(
                    f"The session of broker {broker_id} at epoch {broker_epoch} has timed out"
                )
                self._broker_id = broker_id
                self._broker_epoch = broker_epoch
                self._after = ZERO_UUID
                return True
        return False

    def _is_unfenced(self, broker_id: int, broker_epoch: int) -> bool:
        registration = self._state.image.cluster.broker(broker_id)
        return registration is not None and registration.epoch == broker_epoch and not registration.fenced
