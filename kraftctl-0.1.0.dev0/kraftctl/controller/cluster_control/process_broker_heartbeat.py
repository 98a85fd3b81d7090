"""BrokerHeartbeat (KIP-631, KIP-841, KIP-858, KIP-1066): liveness, fencing, shutdown, failed directories.

A starting broker sends one every 10 ms. As long as nothing changes this reads a few dict entries and writes
no record. A transition of a broker with very many partitions begins with one heartbeat and continues in
slices; no heartbeat waits for its end.
"""

from __future__ import annotations

from kraftctl.controller.cluster_control import broker_control_state
from kraftctl.controller.cluster_control.asked_fencing import asked_fencing, asked_shutdown
from kraftctl.controller.replication_control.broker_transitions import BrokerFencing
from kraftctl.controller.replication_control.leader_elections import BrokerUnfencing
from kraftctl.controller.replication_control.offline_directories import (
    OfflineDirectories,
    failed_log_dirs_record,
)
from kraftctl.controller.results.controller_result import ControllerResult, SlicedWork, SoftChange
from kraftctl.controller.results.moment import Moment
from kraftctl.controller.results.request_context import RequestContext
from kraftctl.controller.results.soft_changes import SoftChanges
from kraftctl.controller.state.broker_epoch import why_epoch_stale
from kraftctl.controller.state.broker_heartbeat_manager import SHUTDOWN_UNDER_WAY, BrokerHeartbeatManager
from kraftctl.controller.state.controller_state import ControllerState
from kraftctl.metadata import features
from kraftctl.metadata.broker_registration import BrokerRegistration
from kraftctl.metadata.broker_registration_change import cordoned_log_dirs_record, fencing_record
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
    """Returns the next state of the broker, and the records for it."""
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
    begun = _begin_transition(state, registration, current, following, offline, moment)
    under_way = begun.rest is not None
    if offline and begun.records and following != broker_control_state.UNFENCED and not under_way:
        # It leaves all ISRs and leaderships with this heartbeat: no replica is left in these directories.
        begun.records.append(failed_log_dirs_record(registration, offline))
    elif offline and not under_way:
        directories = OfflineDirectories(state, registration.id, registration.epoch, offline)
        begun = _take_out_too(begun, directories, moment)
    records = begun.records
    ends_fenced = following in (broker_control_state.FENCED, broker_control_state.SHUTDOWN_NOW)
    if under_way and ends_fenced and not registration.fenced:
        # It is fenced with the last slice, and a later heartbeat says so.
        following = current
    # Null until the broker has caught up for the first time, and from brokers before 4.3.
    if request.cordoned_log_dirs is not None:
        records += _cordoned_records(state, registration, request.cordoned_log_dirs)
    gone = following == broker_control_state.SHUTDOWN_NOW
    response = BrokerHeartbeatResponse(
        is_caught_up=request.current_metadata_offset >= registration_offset,
        is_fenced=gone or following == broker_control_state.FENCED,
        should_shut_down=gone,
    )
    last_offset = SHUTDOWN_UNDER_WAY if under_way else moment.next_offset + len(records) - 1
    outcome = HeartbeatOutcome(state.heartbeats, request, following, last_offset)
    soft_change = outcome if begun.soft_change is None else SoftChanges([begun.soft_change, outcome])
    return ControllerResult(records, response, False, soft_change, rest=begun.rest)


def _why_directories_refused(request: BrokerHeartbeatRequest) -> ApiError | None:
    """Returns an error for more directories than any registration has."""
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
    is_leaving = state.heartbeats.leaving.has(request.broker_id, request.broker_epoch)
    if is_leaving and current != broker_control_state.FENCED:
        # It is fenced or unregistered soon: nothing more begins, and the heartbeat does not wait for it.
        return current, current
    leaving = request.want_shut_down or current == broker_control_state.CONTROLLED_SHUTDOWN
    following = broker_control_state.next_state(
        soft,
        request,
        registration_offset=registration_offset,
        lowest_active_offset=state.heartbeats.lowest_active_offset() if leaving else 0,
        leads_partitions=leaving and state.image.topics.has_leaderships(request.broker_id),
    )
    return current, following


def _begin_transition(
    state: ControllerState,
    registration: BrokerRegistration,
    current: str,
    following: str,
    offline: list[Uuid],
    moment: Moment,
) -> ControllerResult:
    """Returns the first slice of the transition that this heartbeat leads to, which usually is all of it."""
    if current == following:
        return ControllerResult.of([])
    if registration.fenced and following == broker_control_state.SHUTDOWN_NOW:
        # Each such heartbeat writes that it is fenced, as in Kafka, and no slice keeps it from stopping.
        if state.heartbeats.leaving.has(registration.id, registration.epoch):
            return ControllerResult.of([fencing_record(registration)])
        return BrokerFencing(state, registration.id, registration.epoch, again=True).next_slice(moment)
    return _transition_to(state, registration, following, offline).next_slice(moment)


def _take_out_too(
    transition: ControllerResult, directories: OfflineDirectories, moment: Moment
) -> ControllerResult:
    """Removes failed directories with the same heartbeat if `transition` is over.

    Otherwise a later one removes them: the broker names them in each.
    """
    taken_out = directories.next_slice(moment)
    changes = [change for change in (transition.soft_change, taken_out.soft_change) if change is not None]
    records = transition.records + taken_out.records
    return ControllerResult(records, None, False, SoftChanges(changes), rest=taken_out.rest)


def _transition_to(
    state: ControllerState, registration: BrokerRegistration, following: str, offline: list[Uuid]
) -> SlicedWork:
    if following == broker_control_state.UNFENCED:
        return BrokerUnfencing(state, registration.id, registration.epoch, offline)
    if following == broker_control_state.CONTROLLED_SHUTDOWN:
        return asked_shutdown(state, registration)
    return asked_fencing(state, registration)


def _newly_offline(
    state: ControllerState, registration: BrokerRegistration, request: BrokerHeartbeatRequest
) -> list[Uuid]:
    """Returns the registered directories that this heartbeat reports as failed, and no other one before
    it.
    """
    reported = request.offline_log_dirs
    if not reported or not features.is_directory_assignment_supported(state.image.features.metadata_version):
        return []
    failed, leaving = set(reported), state.heartbeats.leaving
    return [
        directory
        for directory in registration.directories
        if directory in failed and not leaving.has_directory(directory)
    ]


def _cordoned_records(
    state: ControllerState, registration: BrokerRegistration, cordoned: list[Uuid]
) -> list[RecordAndVersion]:
    if not features.is_cordoned_log_dirs_supported(
        state.image.features.metadata_version
    ) or not cordoned_directories_changed(registration, cordoned):
        return []
    return [cordoned_log_dirs_record(registration, list(cordoned))]


def cordoned_directories_changed(registration: BrokerRegistration, cordoned: list[Uuid]) -> bool:
    """Returns whether the broker reports other cordoned directories than are registered, in any order."""
    known = registration.cordoned_directories
    return known is None or set(known) != set(cordoned)


class HeartbeatOutcome(SoftChange):
    """The soft state that follows from a heartbeat.

    `last_offset` is that of the heartbeat's last record, SHUTDOWN_UNDER_WAY if more follow.
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
