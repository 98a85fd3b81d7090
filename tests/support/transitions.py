"""Transitions of brokers as tests drive them: all records together, or slice by slice as they are appended.

`records_for_...` return the records of a transition that is not cut, and change nothing.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from kraftctl.config.controller_config import ControllerConfig
from kraftctl.controller.cluster_control.register_broker import BrokerRegistering
from kraftctl.controller.cluster_control.unregister_broker import BrokerUnregistration
from kraftctl.controller.replication_control.broker_transitions import BrokerFencing, ControlledShutdown
from kraftctl.controller.replication_control.leader_elections import BrokerUnfencing
from kraftctl.controller.replication_control.offline_directories import OfflineDirectories
from kraftctl.controller.results.controller_result import ControllerResult, SlicedWork
from kraftctl.controller.results.moment import Moment
from kraftctl.controller.state.controller_state import ControllerState
from kraftctl.image.metadata_image import MetadataImage
from kraftctl_protocol.generated.broker_registration_request import BrokerRegistrationRequest
from kraftctl_protocol.generated.register_broker_record import RegisterBrokerRecord
from kraftctl_protocol.metadata_record import RecordAndVersion
from kraftctl_protocol.uuids import Uuid
from tests.support.active_controller import registration
from tests.support.metadata_state import UNLIMITED, MetadataState


def run(state: MetadataState, work: SlicedWork, units: int) -> list[ControllerResult]:
    """All slices of `work`, appended one by one. The last one is the last result."""
    results: list[ControllerResult] = []
    while not results or results[-1].rest is not None:
        assert len(results) < 10_000, f"{work.name} does not end"
        results.append(next_slice(state, work, units))
    return results


def next_slice(state: MetadataState, work: SlicedWork, units: int) -> ControllerResult:
    """One slice, appended; its soft change is made before, as the node does."""
    result = work.next_slice(Moment(0, 0, state.next_offset, units))
    if result.soft_change is not None:
        result.soft_change.make()
    return state.apply(result)


def records_for_fenced_broker(
    image: MetadataImage, config: ControllerConfig, broker_id: int
) -> list[RecordAndVersion]:
    return _records(image, config, BrokerFencing, broker_id)


def records_for_controlled_shutdown(
    image: MetadataImage, config: ControllerConfig, broker_id: int
) -> list[RecordAndVersion]:
    return _records(image, config, ControlledShutdown, broker_id)


def records_for_unregistered_broker(
    image: MetadataImage, config: ControllerConfig, broker_id: int
) -> list[RecordAndVersion]:
    return _records(image, config, BrokerUnregistration, broker_id)


def records_for_unfenced_broker(
    image: MetadataImage,
    config: ControllerConfig,
    broker_id: int,
    offline_directories: Sequence[Uuid] = (),
) -> list[RecordAndVersion]:
    state = _state(image, config)
    work = BrokerUnfencing(state, broker_id, _epoch(state, broker_id), offline_directories)
    return _all(work)


def records_for_offline_directories(
    image: MetadataImage, config: ControllerConfig, broker_id: int, offline_directories: Sequence[Uuid]
) -> list[RecordAndVersion]:
    state = _state(image, config)
    return _all(OfflineDirectories(state, broker_id, _epoch(state, broker_id), offline_directories))


def records_for_new_incarnation(
    image: MetadataImage, config: ControllerConfig, broker_id: int, *, clean_shutdown: bool
) -> list[RecordAndVersion]:
    """Without the RegisterBrokerRecord, which comes last."""
    state = _state(image, config)
    records = _all(registering(state, broker_id, clean_shutdown=clean_shutdown))
    assert isinstance(records[-1].record, RegisterBrokerRecord)
    return records[:-1]


def registering(
    state: ControllerState, broker_id: int, *, clean_shutdown: bool, directories: Sequence[Uuid] = ()
) -> BrokerRegistering:
    """The registration of a new incarnation, in the newest version of the request."""
    request = new_incarnation(broker_id)
    request.cluster_id = state.cluster_id
    if directories:
        request.log_dirs = list(directories)
    known = state.image.cluster.broker(broker_id)
    request.previous_broker_epoch = known.epoch if known is not None and clean_shutdown else -1
    return BrokerRegistering(state, request, BrokerRegistrationRequest.HIGHEST_VERSION)


def new_incarnation(broker_id: int) -> BrokerRegistrationRequest:
    return registration(broker_id, number=7)


def _records(
    image: MetadataImage,
    config: ControllerConfig,
    kind: Callable[[ControllerState, int, int], SlicedWork],
    broker_id: int,
) -> list[RecordAndVersion]:
    state = _state(image, config)
    return _all(kind(state, broker_id, _epoch(state, broker_id)))


def _all(work: SlicedWork) -> list[RecordAndVersion]:
    result = work.next_slice(Moment(0, 0, 0, UNLIMITED))
    assert result.rest is None
    return result.records


def _state(image: MetadataImage, config: ControllerConfig) -> ControllerState:
    return ControllerState(config, "cluster", image, random.Random(1))


def _epoch(state: ControllerState, broker_id: int) -> int:
    return state.image.cluster.brokers[broker_id].epoch
