"""BrokerRegistration (KIP-631, KIP-584, KIP-858, KIP-966): a broker process asks for an epoch.

The checks, in Kafka's order:

| # | must hold | else |
|--|--|--|
| 1 | the cluster id is ours | INCONSISTENT_CLUSTER_ID |
| 2 | the broker id is not negative: -1 means no broker (our own check) | INVALID_REGISTRATION |
| 3 | listeners, features, rack and log directories are not too large (our own check) | INVALID_REGISTRATION |
| 4 | no other process with that id has a live session | DUPLICATE_BROKER_REGISTRATION |
| 5 | it is not a migrating ZooKeeper broker | BROKER_ID_NOT_REGISTERED |
| 6 | log directories are named, valid, unique, and no other broker's (KIP-858) | INVALID_REGISTRATION |
| 7 | every finalized feature level is in the broker's range | UNSUPPORTED_VERSION |
| 8 | metadata.version is among its features | INVALID_REGISTRATION |

A new incarnation's epoch is the offset of the first record of this append. The clean-up after the old
incarnation comes before the registration, so that a failover in between is repaired by the broker's retry.
After a broker with many partitions it takes several slices, each with an append of its own, and the checks
are made again with each; the response comes with the last.
"""

from __future__ import annotations

from kraftctl.controller.replication_control.memberships import Memberships
from kraftctl.controller.replication_control.partition_updates import PartitionUpdates
from kraftctl.controller.results.controller_result import ControllerResult, SlicedWork
from kraftctl.controller.results.moment import Moment
from kraftctl.controller.results.request_context import RequestContext
from kraftctl.controller.results.slice_budget import SliceBudget
from kraftctl.controller.state.controller_state import ControllerState
from kraftctl.controller.state.leaving_brokers import Departure, DepartureBegins, DepartureEnds
from kraftctl.metadata import features
from kraftctl.metadata.broker_registration import BrokerRegistration
from kraftctl.metadata.directory_id import is_reserved
from kraftctl.metadata.registration_limits import (
    why_directories_too_many,
    why_features_too_large,
    why_listener_unusable,
    why_listeners_too_large,
    why_rack_too_long,
)
from kraftctl_protocol.api_error import ApiError
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.broker_registration_request import BrokerRegistrationRequest
from kraftctl_protocol.generated.broker_registration_response import BrokerRegistrationResponse
from kraftctl_protocol.generated.register_broker_record import (
    BrokerEndpoint,
    BrokerFeature,
    RegisterBrokerRecord,
)
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import RecordAndVersion
from kraftctl_protocol.uuids import uuid_to_string

CLEAN_SHUTDOWN_DETECTION_VERSION = 3
"""From this request version on a broker sends the epoch of its last clean shutdown (KIP-966)."""

NO_STORED_EPOCH = -2
"""This epoch never equals a previousBrokerEpoch, whose default is -1."""


def register_broker(
    state: ControllerState, context: RequestContext, request: Message, moment: Moment
) -> ControllerResult:
    """Returns the first slice: the registration, why it is refused, or a part of the cleanup after the last
    incarnation. The epoch in the response, which the last slice has, is valid once committed.
    """
    assert isinstance(request, BrokerRegistrationRequest)
    return BrokerRegistering(state, request, context.version).next_slice(moment)


class BrokerRegistering(SlicedWork):
    """Cleans up after the previous incarnation slice by slice, then registers the broker.

    A repeated request of the same process does the same beside it: whichever comes last finds this
    incarnation registered, and keeps its epoch.
    """

    def __init__(self, state: ControllerState, request: BrokerRegistrationRequest, version: int) -> None:
        super().__init__(f"register broker {request.broker_id}")
        self._state = state
        self._request = request
        self._version = version
        self._memberships = Memberships(request.broker_id)
        self._departure = Departure(state.heartbeats.leaving)

    def next_slice(self, moment: Moment) -> ControllerResult:
        """Returns the next slice; a refusal if a check fails by now."""
        state, request = self._state, self._request
        self.spent = 0
        refusal = why_refused(state, request, moment.now_ms)
        if refusal is not None:
            response = BrokerRegistrationResponse(error_code=refusal.code)
            who = f"BrokerRegistration of broker {request.broker_id}"
            refused = ControllerResult.refused(response, who, refusal)
            refused.soft_change = DepartureEnds(self._departure, stays=True)
            return refused
        existing = state.image.cluster.broker(request.broker_id)
        new_incarnation = existing is None or existing.incarnation_id != request.incarnation_id
        records: list[RecordAndVersion] = []
        if new_incarnation:
            is_out, records = self._leave(existing, moment)
            if not is_out:
                begins = None
                if existing is not None:
                    begins = DepartureBegins(self._departure, existing.id, existing.epoch)
                return ControllerResult.begun(records, self, begins)
        metadata_version = state.image.features.metadata_version
        record = _registration_record(request, metadata_version)
        if new_incarnation:
            record.broker_epoch = moment.next_offset
        else:
            assert existing is not None
            record.fenced = existing.fenced
            record.in_controlled_shutdown = existing.in_controlled_shutdown
            record.broker_epoch = existing.epoch
        version = features.register_broker_record_version(metadata_version)
        records.append(RecordAndVersion(record, version))
        response = BrokerRegistrationResponse(broker_epoch=record.broker_epoch)
        return ControllerResult.of(records, response, DepartureEnds(self._departure))

    def failed(self, moment: Moment) -> None:
        self._departure.end(stays=True)

    def _leave(
        self, existing: BrokerRegistration | None, moment: Moment
    ) -> tuple[bool, list[RecordAndVersion]]:
        """Returns the changes after the previous incarnation in this slice, and whether they are complete.

        After an unclean shutdown the broker may have lost the tail of its logs, so that with KIP-966 it is
        neither in sync nor eligible any more (KAFKA-15586).
        """
        state, broker_id = self._state, self._request.broker_id
        clean = _shut_down_cleanly(existing, self._request, self._version)
        leaves_elrs = state.image.features.elr_enabled and not clean
        if leaves_elrs:
            updates = PartitionUpdates(state, unclean=broker_id)
        else:
            updates = PartitionUpdates(state, removed=broker_id)
        budget = SliceBudget(moment.units)
        is_out = self._memberships.take(state.image, updates, budget, leaves_elrs=leaves_elrs)
        self.spent = budget.spent
        return is_out, updates.records


def why_refused(state: ControllerState, request: BrokerRegistrationRequest, now_ms: int) -> ApiError | None:
    """Returns the error of the first check of the table that fails."""
    if request.cluster_id != state.cluster_id:
        return ApiError(
            Errors.INCONSISTENT_CLUSTER_ID,
            f"this is cluster {state.cluster_id}, the broker belongs to {request.cluster_id}",
        )
    if request.broker_id < 0:
        reason = f"broker id {request.broker_id} is negative: node.id has to be at least 0"
        return ApiError(Errors.INVALID_REGISTRATION, reason)
    malformed = _why_refused_alone(request)
    if malformed is not None:
        return ApiError(Errors.INVALID_REGISTRATION, malformed)
    existing = state.image.cluster.broker(request.broker_id)
    if (
        existing is not None
        and existing.incarnation_id != request.incarnation_id
        and state.heartbeats.has_valid_session(existing.id, existing.epoch, now_ms)
    ):
        return ApiError(
            Errors.DUPLICATE_BROKER_REGISTRATION,
            f"broker {existing.id} is alive in another process; its session must run out first",
        )
    if request.is_migrating_zk_broker:
        return ApiError(Errors.BROKER_ID_NOT_REGISTERED, "ZooKeeper brokers cannot be registered")
    return _why_directories_refused(state, request) or _why_features_refused(state, request)


def _why_refused_alone(request: BrokerRegistrationRequest) -> str | None:
    return (
        why_listeners_too_large([(listener.name, listener.host) for listener in request.listeners])
        or _why_listeners_unusable(request)
        or why_features_too_large(len(request.features), (feature.name for feature in request.features))
        or why_rack_too_long(request.rack)
        or why_directories_too_many(len(request.log_dirs))
    )


def _why_listeners_unusable(request: BrokerRegistrationRequest) -> str | None:
    for listener in request.listeners:
        reason = why_listener_unusable(
            name=listener.name,
            host=listener.host,
            port=listener.port,
            security_protocol=listener.security_protocol,
        )
        if reason is not None:
            return reason
    return None


def _why_directories_refused(state: ControllerState, request: BrokerRegistrationRequest) -> ApiError | None:
    if not features.is_directory_assignment_supported(state.image.features.metadata_version):
        return None
    directories = request.log_dirs
    if not directories:
        return ApiError(Errors.INVALID_REGISTRATION, "the request names no log directory")
    if any(is_reserved(directory) for directory in directories):
        return ApiError(Errors.INVALID_REGISTRATION, "the request names a reserved directory id")
    wanted = set(directories)
    if len(wanted) != len(directories):
        return ApiError(Errors.INVALID_REGISTRATION, "the request repeats a directory id")
    for other in state.image.cluster.brokers.values():
        if other.id == request.broker_id:
            continue
        for directory in other.directories:
            if directory in wanted:
                return ApiError(
                    Errors.INVALID_REGISTRATION,
                    f"directory {uuid_to_string(directory)} belongs to broker {other.id}",
                )
    return None


def _why_features_refused(state: ControllerState, request: BrokerRegistrationRequest) -> ApiError | None:
    finalized = dict(state.image.features.finalized)
    finalized[features.METADATA_VERSION] = state.image.features.metadata_version
    # kraft.version lives in the raft layer, and old brokers must be refused for it as well (KAFKA-17305).
    finalized[features.KRAFT_VERSION] = state.kraft_version
    offered: dict[str, tuple[int, int]] = {}
    for feature in request.features:
        offered[feature.name] = (feature.min_supported_version, feature.max_supported_version)
        error = _why_level_refused(feature.name, finalized.get(feature.name, 0), offered[feature.name])
        if error is not None:
            return error
    if features.METADATA_VERSION not in offered:
        return ApiError(Errors.INVALID_REGISTRATION, "the broker's features lack metadata.version")
    for name in sorted(finalized):
        if name not in offered and finalized[name] != 0:
            error = _why_level_refused(name, finalized[name], (0, 0))
            if error is not None:
                return error
    return None


def _why_level_refused(name: str, level: int, offered: tuple[int, int]) -> ApiError | None:
    lowest, highest = offered
    if lowest <= level <= highest:
        return None
    return ApiError(
        Errors.UNSUPPORTED_VERSION,
        f"level {level} of {name} is finalized, and the broker knows levels {lowest} to {highest}",
    )


def _shut_down_cleanly(
    existing: BrokerRegistration | None, request: BrokerRegistrationRequest, version: int
) -> bool:
    if version < CLEAN_SHUTDOWN_DETECTION_VERSION:
        return False
    stored_epoch = NO_STORED_EPOCH if existing is None else existing.epoch
    return stored_epoch == request.previous_broker_epoch


def _registration_record(request: BrokerRegistrationRequest, metadata_version: int) -> RegisterBrokerRecord:
    record = RegisterBrokerRecord(
        broker_id=request.broker_id,
        incarnation_id=request.incarnation_id,
        end_points=[
            BrokerEndpoint(
                name=listener.name,
                host=listener.host,
                port=listener.port,
                security_protocol=listener.security_protocol,
            )
            for listener in {listener.name: listener for listener in request.listeners}.values()
        ],
        features=[
            BrokerFeature(
                name=feature.name,
                min_supported_version=feature.min_supported_version,
                max_supported_version=feature.max_supported_version,
            )
            for feature in request.features
        ],
        rack=request.rack,
        fenced=True,
    )
    if features.is_directory_assignment_supported(metadata_version):
        record.log_dirs = list(request.log_dirs)
    return record
