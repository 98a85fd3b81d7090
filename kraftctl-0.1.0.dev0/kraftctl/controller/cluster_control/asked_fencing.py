"""The fencings and shutdowns that heartbeats ask for; each counts once, with what is appended for it."""

from __future__ import annotations

from kraftctl.controller.replication_control.broker_transitions import BrokerFencing, ControlledShutdown
from kraftctl.controller.results.controller_result import ControllerResult, SlicedWork, SoftChange
from kraftctl.controller.results.moment import Moment
from kraftctl.controller.results.soft_changes import SoftChanges
from kraftctl.controller.state.controller_state import ControllerState
from kraftctl.controller.state.fencing_counts import FencingCounts
from kraftctl.metadata.broker_registration import BrokerRegistration


def asked_fencing(state: ControllerState, registration: BrokerRegistration) -> SlicedWork:
    """Returns the work; one that ends a controlled shutdown was counted with that."""
    if registration.in_controlled_shutdown:
        return BrokerFencing(state, registration.id, registration.epoch)
    return AskedFencing(state, registration.id, registration.epoch)


def asked_shutdown(state: ControllerState, registration: BrokerRegistration) -> SlicedWork:
    """Returns the work; one that an earlier controller has begun was counted there."""
    if registration.in_controlled_shutdown:
        return ControlledShutdown(state, registration.id, registration.epoch)
    return AskedShutdown(state, registration.id, registration.epoch)


class AskedFencing(BrokerFencing):
    """Counts with its last slice, which fences the broker."""

    def next_slice(self, moment: Moment) -> ControllerResult:
        result = super().next_slice(moment)
        if result.rest is None and result.records:
            _add(result, FencingCounted(self._state.fencings, is_shutdown=False))
        return result


class AskedShutdown(ControlledShutdown):
    """Counts with its first slice, which marks the broker."""

    def __init__(self, state: ControllerState, broker_id: int, broker_epoch: int) -> None:
        super().__init__(state, broker_id, broker_epoch)
        self._is_marked = False

    def next_slice(self, moment: Moment) -> ControllerResult:
        result = super().next_slice(moment)
        if not self._is_marked:
            self._is_marked = True
            _add(result, FencingCounted(self._state.fencings, is_shutdown=True))
        return result


class FencingCounted(SoftChange):
    """Takes effect with the records of the fencing, or with the mark of the shutdown."""

    def __init__(self, counts: FencingCounts, *, is_shutdown: bool) -> None:
        self._counts = counts
        self._is_shutdown = is_shutdown

    def make(self) -> None:
        if self._is_shutdown:
            self._counts.shutdown_count += 1
        else:
            self._counts.asked_count += 1


def _add(result: ControllerResult, change: SoftChange) -> None:
    before = result.soft_change
    result.soft_change = change if before is None else SoftChanges([before, change])
