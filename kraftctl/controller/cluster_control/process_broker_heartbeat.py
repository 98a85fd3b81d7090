"""BrokerHeartbeat (KIP-631, KIP-841, KIP-858, KIP-1066): liveness, fencing, shutdown, failed directories.

A starting broker sends one every 10 ms. As long as nothing changes this reads a few dict entries and writes
no record.
"""

from __future__ import annotations

from kraftctl.controller.cluster_control import broker_control_state
from kraftctl.controller.cluster_control.broker_epoch import why_epoch_stale
from kraftctl.controller.cluster_control.broker_heartbeat_manager import BrokerHeartbeatManager
from kraftctl.controller.controller_result import ControllerResult, SoftChange
from kraftctl.controller.controller_state import ControllerState
from kraftctl.controller.moment import Moment
from kraftctl.controller.replication_control.broker_transitions import (
    records_for_controlled_shutdown,
    records_for_fenced_broker,
    records_for_offline_directories,
    records_for_unfenced_broker,
)
from kraftctl.controller.request_context import RequestContext
from kraftctl.metadata import features
from kraftctl.metadata.broker_registration import BrokerRegistration
from kraftctl.metadata.broker_registration_change import cordoned_log_dirs_record
from kraftctl.metadata.registration_limits import why_directories_too_many
from kraftctl_protocol.api_error import ApiError
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.broker_heartbeat_request import BrokerHeartbeatRequest
from kraftctl_protocol.generated.broker_heartbeat_response import BrokerHeartbeatResponse
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import RecordAndVersion
from kraftctl_protocol.uuids import Uuid


def process_broker_heartbeat(
    state: ControllerState, context: RequestContext, request: Message, moment: Moment
) -> ControllerResult:
    """The next state of the broker, and the records for it."""
    assert isinstance(request, BrokerHeartbeatRequest)
    # Before anything else: whatever this heartbeat leads to, the broker is alive (KAFKA-17793).
    state.heartbeats.update_contact_time(request.broker_id, request.broker_epoch, moment.now_ms)
    error = why_epoch_stale(
        state.image.cluster, request.broker_id, request.broker_epoch
    ) or _why_directories_refused(request)
    if error is not None:
        refused = BrokerHeartbeatResponse(error_code=error.code)
        return ControllerResult.refused(refused, f"BrokerHeartbeat of broker {request.broker_id}", error)
    registration = state.image.cluster.brokers[request.broker_id]
    registration_offset = state.image.cluster.registration_offsets[request.broker_id]
    current, following = _transition(state, request, registration_offset)
    offline = _newly_offline(state, registration, request)
    records: list[RecordAndVersion] = []
    if current != following:
        records += _transition_records(state, registration, following, offline)
    records += _directory_records(state, registration, request, offline)
    gone = following == broker_control_state.SHUTDOWN_NOW
    response = BrokerHeartbeatResponse(
        is_caught_up=request.current_metadata_offset >= registration_offset,
        is_fenced=gone or following == broker_control_state.FENCED,
        should_shut_down=gone,
    )
    last_offset = moment.next_offset + len(records) - 1
    outcome = HeartbeatOutcome(state.heartbeats, request, following, last_offset)
    return ControllerResult.of(records, response, outcome)


def _why_directories_refused(request: BrokerHeartbeatRequest) -> ApiError | None:
    """No registration has so many directories."""
    count = len(request.offline_log_dirs)
    cordoned = request.cordoned_log_dirs
    if cordoned is not None:
        count = max(count, len(cordoned))
    reason = why_directories_too_many(count)
    return None if reason is None else ApiError(Errors.INVALID_REQUEST, reason)


def _transition(
    state: ControllerState, request: BrokerHeartbeatRequest, registration_offset: int
) -> tuple[str, str]:
    soft = state.heartbeats.state(request.broker_id)
    current = broker_control_state.current_state(soft)
    leaving = request.want_shut_down or current == broker_control_state.CONTROLLED_SHUTDOWN
    following = broker_control_state.next_state(
        soft,
        request,
        registration_offset=registration_offset,
        lowest_active_offset=state.heartbeats.lowest_active_offset() if leaving else 0,
        leads_partitions=leaving and state.image.topics.has_leaderships(request.broker_id),
    )
    return current, following


def _transition_records(
    state: ControllerState, registration: BrokerRegistration, following: str, offline: list[Uuid]
) -> list[RecordAndVersion]:
    if following == broker_control_state.UNFENCED:
        return records_for_unfenced_broker(state.image, state.config, registration.id, offline)
    if following == broker_control_state.CONTROLLED_SHUTDOWN:
        return records_for_controlled_shutdown(state.image, state.config, registration.id)
    if registration.fenced:
        return []
    return records_for_fenced_broker(state.image, state.config, registration.id)


def _newly_offline(
    state: ControllerState, registration: BrokerRegistration, request: BrokerHeartbeatRequest
) -> list[Uuid]:
    """The registered directories that this heartbeat reports as failed."""
    reported = request.offline_log_dirs
    if not reported or not features.is_directory_assignment_supported(state.image.features.metadata_version):
        return []
    failed = set(reported)
    return [directory for directory in registration.directories if directory in failed]


def _directory_records(
    state: ControllerState,
    registration: BrokerRegistration,
    request: BrokerHeartbeatRequest,
    offline: list[Uuid],
) -> list[RecordAndVersion]:
    metadata_version = state.image.features.metadata_version
    records: list[RecordAndVersion] = []
    if offline:
        records += records_for_offline_directories(state.image, state.config, registration.id, offline)
    cordoned = request.cordoned_log_dirs
    # Null until the broker has caught up for the first time, and from brokers before 4.3.
    if (
        cordoned is not None
        and features.is_cordoned_log_dirs_supported(metadata_version)
        and cordoned_directories_changed(registration, cordoned)
    ):
        records.append(cordoned_log_dirs_record(registration, list(cordoned)))
    return records


def cordoned_directories_changed(registration: BrokerRegistration, cordoned: list[Uuid]) -> bool:
    """Whether the broker reports other cordoned directories than are registered, in any order."""
    known = registration.cordoned_directories
    return known is None or set(known) != set(cordoned)


class HeartbeatOutcome(SoftChange):
    """The soft state that follows from a heartbeat.

    `last_offset` is that of the heartbeat's last record.
    """

    def __init__(
        self,
        heartbeats: BrokerHeartbeatManager,
        request: BrokerHeartbeatRequest,
        following: str,
        last_offset: int,
    ) -> None:
        self._heartbeats = heartbeats
        self._request = request
        self._following = following
        self._last_offset = last_offset

    def make(self) -> None:
        request, following, heartbeats = self._request, self._following, self._heartbeats
        fenced = following in (broker_control_state.FENCED, broker_control_state.SHUTDOWN_NOW)
        heartbeats.touch(request.broker_id, fenced, request.current_metadata_offset)
        if following == broker_control_state.CONTROLLED_SHUTDOWN:
            heartbeats.begin_controlled_shutdown(request.broker_id, self._last_offset)
        elif following == broker_control_state.SHUTDOWN_NOW:
            # Its next incarnation may register immediately.
            heartbeats.end_session(request.broker_id, request.broker_epoch)
