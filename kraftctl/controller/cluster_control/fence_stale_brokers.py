"""Fences brokers whose session ran out (KIP-631), one at a time: each sees what the last one changed."""

from __future__ import annotations

from kraftctl.controller.controller_result import ControllerResult
from kraftctl.controller.controller_state import ControllerState
from kraftctl.controller.replication_control.broker_transitions import records_for_fenced_broker


def fence_one_stale_broker(state: ControllerState, now_ms: int) -> ControllerResult | None:
    """Records that fence one broker, or None when every session is valid.

    A session of an earlier incarnation, of an unregistered or of an already fenced broker just ends.
    """
    while (expired := state.heartbeats.pop_expired(now_ms)) is not None:
        broker_id, broker_epoch = expired
        registration = state.image.cluster.broker(broker_id)
        if registration is None or registration.epoch != broker_epoch or registration.fenced:
            continue
        state.notices.append(f"The session of broker {broker_id} at epoch {broker_epoch} has timed out")
        return ControllerResult.of(records_for_fenced_broker(state.image, state.config, broker_id))
    return None
