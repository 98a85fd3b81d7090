"""BrokerControlState: where a heartbeat finds a broker and where it moves it (KIP-631, KIP-841).

| present | the broker wants | next |
|--|--|--|
| FENCED | shut down | SHUTDOWN_NOW |
| FENCED | be unfenced, and it has read its own registration | UNFENCED |
| FENCED | anything else | FENCED |
| UNFENCED | be fenced and shut down | SHUTDOWN_NOW |
| UNFENCED | be fenced | FENCED |
| UNFENCED | shut down, leads partitions | CONTROLLED_SHUTDOWN |
| UNFENCED | shut down, leads none | SHUTDOWN_NOW |
| CONTROLLED_SHUTDOWN | leads partitions, or an active broker has not seen it go | CONTROLLED_SHUTDOWN |
| CONTROLLED_SHUTDOWN | otherwise | SHUTDOWN_NOW |
"""

from __future__ import annotations

from typing import Final

from kraftctl.controller.state.broker_heartbeat_manager import BrokerHeartbeatState
from kraftctl_protocol.generated.broker_heartbeat_request import BrokerHeartbeatRequest

FENCED: Final = "FENCED"
UNFENCED: Final = "UNFENCED"
CONTROLLED_SHUTDOWN: Final = "CONTROLLED_SHUTDOWN"
SHUTDOWN_NOW: Final = "SHUTDOWN_NOW"


def current_state(state: BrokerHeartbeatState) -> str:
    """Returns the present state of the broker."""
    if state.shutting_down:
        return CONTROLLED_SHUTDOWN
    return FENCED if state.fenced else UNFENCED


def next_state(
    state: BrokerHeartbeatState,
    request: BrokerHeartbeatRequest,
    *,
    registration_offset: int,
    lowest_active_offset: int,
    leads_partitions: bool,
) -> str:
    """Returns the next state of the broker after `request`, according to the table above."""
    current = current_state(state)
    if current == FENCED:
        return _next_of_fenced(request, registration_offset)
    if current == UNFENCED:
        return _next_of_unfenced(request, leads_partitions)
    if leads_partitions or state.controlled_shutdown_offset > lowest_active_offset:
        return CONTROLLED_SHUTDOWN
    return SHUTDOWN_NOW


def _next_of_fenced(request: BrokerHeartbeatRequest, registration_offset: int) -> str:
    if request.want_shut_down:
        return SHUTDOWN_NOW
    # The offset of the registration, not the end of the log: a busy log would never be reached (KAFKA-13959).
    if not request.want_fence and request.current_metadata_offset >= registration_offset:
        return UNFENCED
    return FENCED


def _next_of_unfenced(request: BrokerHeartbeatRequest, leads_partitions: bool) -> str:
    if request.want_fence:
        return SHUTDOWN_NOW if request.want_shut_down else FENCED
    if request.want_shut_down:
        return CONTROLLED_SHUTDOWN if leads_partitions else SHUTDOWN_NOW
    return UNFENCED
