"""The changes of the leader recovery state that a leader may request (KIP-704)."""

from __future__ import annotations

from kraftctl.metadata.leader_recovery_state import RECOVERED, RECOVERING, is_leader_recovery_state
from kraftctl.metadata.partition_registration import PartitionRegistration
from kraftctl_protocol.api_error import ApiError
from kraftctl_protocol.errors import Errors


def why_recovery_state_refused(
    partition: PartitionRegistration, *, requested_state: int, new_isr_size: int
) -> ApiError | None:
    """Returns INVALID_REQUEST with the rule that the request breaks, or None.

    Only an unclean election starts recovery, and only the controller elects. Until the leader has recovered,
    its log may still be truncated, so no other replica can be in sync with it.
    """
    if not is_leader_recovery_state(requested_state):
        return ApiError(Errors.INVALID_REQUEST, f"unknown leader recovery state {requested_state}")
    if requested_state == RECOVERING and new_isr_size > 1:
        return ApiError(Errors.INVALID_REQUEST, "the ISR of a recovering leader has one member")
    if partition.leader_recovery_state == RECOVERED and requested_state == RECOVERING:
        return ApiError(Errors.INVALID_REQUEST, "a leader cannot go back from recovered to recovering")
    return None
