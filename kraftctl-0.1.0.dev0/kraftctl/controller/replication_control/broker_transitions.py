"""Fences a broker or shuts it down, slice by slice (KIP-631, KIP-841, KIP-966).

Each slice leaves the cluster in a state that is safe, and is safe to lose: after a failover the session of
the broker runs out again, or the broker or client asks again, and the next controller finds the rest in the
image. A small broker is done in the first slice.
"""

from __future__ import annotations

from kraftctl.controller.replication_control.memberships import Memberships
from kraftctl.controller.replication_control.partition_updates import PartitionUpdates
from kraftctl.controller.results.controller_result import ControllerResult, SlicedWork, SoftChange
from kraftctl.controller.results.moment import Moment
from kraftctl.controller.results.slice_budget import SliceBudget
from kraftctl.controller.state.broker_heartbeat_manager import UNKNOWN_OFFSET
from kraftctl.controller.state.controller_state import ControllerState
from kraftctl.controller.state.leaving_brokers import Departure, DepartureBegins, DepartureEnds
from kraftctl.metadata.broker_registration import BrokerRegistration
from kraftctl.metadata.broker_registration_change import controlled_shutdown_record, fencing_record


class BrokerFencing(SlicedWork):
    """Removes the broker from all ISRs, then fences it: no fenced broker is ever seen in an ISR (KIP-841).

    Without ELR it is seen there if it is alone. `again`: it is fenced already, which is written once more.
    """

    def __init__(
        self, state: ControllerState, broker_id: int, broker_epoch: int, *, again: bool = False
    ) -> None:
        super().__init__(f"fence broker {broker_id} at epoch {broker_epoch}")
        self._state = state
        self._broker_id = broker_id
        self._broker_epoch = broker_epoch
        self._again = again
        self._memberships = Memberships(broker_id)
        self.departure = Departure(state.heartbeats.leaving)

    def next_slice(self, moment: Moment) -> ControllerResult:
        """Ends without a record if the broker is fenced, unregistered or registered again by now."""
        state, broker_id = self._state, self._broker_id
        registration = incarnation_of(state, broker_id, self._broker_epoch)
        if registration is None or registration.fenced != self._again:
            self.spent = 0
            return ControllerResult.of([], None, DepartureEnds(self.departure))
        updates = PartitionUpdates(state, removed=broker_id)
        budget = SliceBudget(moment.units)
        is_out = self._memberships.take(state.image, updates, budget, leaves_elrs=False)
        self.spent = budget.spent
        if not is_out:
            begins = DepartureBegins(self.departure, broker_id, self._broker_epoch)
            return ControllerResult.begun(updates.records, self, begins)
        updates.records.append(fencing_record(registration))
        return ControllerResult.of(updates.records, None, DepartureEnds(self.departure))

    def failed(self, moment: Moment) -> None:
        self.departure.end(stays=True)


class ControlledShutdown(SlicedWork):
    """Marks the broker first, so that no ISR change can return it (KIP-841); then removes it from ISRs.

    It may not stop before all other brokers have seen its last change: the offset of that is noted with the
    last slice. A mark that an earlier controller has written is not repeated.
    """

    def __init__(self, state: ControllerState, broker_id: int, broker_epoch: int) -> None:
        super().__init__(f"shut down broker {broker_id} at epoch {broker_epoch}")
        self._state = state
        self._broker_id = broker_id
        self._broker_epoch = broker_epoch
        self._memberships = Memberships(broker_id)

    def next_slice(self, moment: Moment) -> ControllerResult:
        """Ends without a record if the broker is fenced, unregistered or registered again by now."""
        state, broker_id = self._state, self._broker_id
        registration = incarnation_of(state, broker_id, self._broker_epoch)
        if registration is None or registration.fenced:
            self.spent = 0
            return ControllerResult.of([])
        updates = PartitionUpdates(state, removed=broker_id)
        if not registration.in_controlled_shutdown:
            updates.records.append(controlled_shutdown_record(registration))
        budget = SliceBudget(moment.units)
        is_out = self._memberships.take(state.image, updates, budget, leaves_elrs=False)
        self.spent = budget.spent
        if not is_out:
            return ControllerResult.begun(updates.records, self)
        last_offset = moment.next_offset + len(updates.records) - 1
        return ControllerResult.of(updates.records, None, LastShutdownChange(self, last_offset))

    def failed(self, moment: Moment) -> None:
        self.note_last_change(UNKNOWN_OFFSET)

    def note_last_change(self, offset: int) -> None:
        """Notes that the last slice ends at this offset."""
        self._state.heartbeats.end_changes_of_shutdown(self._broker_id, self._broker_epoch, offset)


class LastShutdownChange(SoftChange):
    """Notes that the broker only waits for the others from now on."""

    def __init__(self, shutdown: ControlledShutdown, offset: int) -> None:
        self._shutdown = shutdown
        self._offset = offset

    def make(self) -> None:
        self._shutdown.note_last_change(self._offset)


def incarnation_of(state: ControllerState, broker_id: int, broker_epoch: int) -> BrokerRegistration | None:
    """The registration of this incarnation; None when the broker is unregistered or registered again."""
    registration = state.image.cluster.broker(broker_id)
    return None if registration is None or registration.epoch != broker_epoch else registration
