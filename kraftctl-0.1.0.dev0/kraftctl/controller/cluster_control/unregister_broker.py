"""UnregisterBroker (KIP-631) forgets a broker. Its replicas stay assigned to its id.

A broker that leaves many ISRs is unregistered slice by slice, and the response comes with the last one.
After a failover the client asks again.
"""

from __future__ import annotations

from kraftctl.controller.replication_control.broker_transitions import incarnation_of
from kraftctl.controller.replication_control.memberships import Memberships
from kraftctl.controller.replication_control.partition_updates import PartitionUpdates
from kraftctl.controller.replication_control.partition_walk import ElrWalk, PartitionWalk, in_order
from kraftctl.controller.results.controller_result import ControllerResult, SlicedWork
from kraftctl.controller.results.moment import Moment
from kraftctl.controller.results.request_context import RequestContext
from kraftctl.controller.results.slice_budget import SliceBudget
from kraftctl.controller.state.controller_state import ControllerState
from kraftctl.controller.state.leaving_brokers import Departure, DepartureBegins, DepartureEnds
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.unregister_broker_record import UnregisterBrokerRecord
from kraftctl_protocol.generated.unregister_broker_request import UnregisterBrokerRequest
from kraftctl_protocol.generated.unregister_broker_response import UnregisterBrokerResponse
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import RecordAndVersion


def unregister_broker(
    state: ControllerState, context: RequestContext, request: Message, moment: Moment
) -> ControllerResult:
    """Unregisters even a live broker, as in Kafka: it must be restarted to register again."""
    assert isinstance(request, UnregisterBrokerRequest)
    registration = state.image.cluster.broker(request.broker_id)
    if registration is None:
        return ControllerResult.of([], _not_registered(request.broker_id))
    return BrokerUnregistration(state, registration.id, registration.epoch).next_slice(moment)


class BrokerUnregistration(SlicedWork):
    """Removes the broker from all ISRs, then its registration.

    It concerns the incarnation that was registered when the request came. If the broker has registered again
    in the meantime, unregistering it now would stop it until its next restart: the response says that the
    broker which was meant is not registered, and the client may repeat the request.
    """

    def __init__(self, state: ControllerState, broker_id: int, broker_epoch: int) -> None:
        super().__init__(f"unregister broker {broker_id} at epoch {broker_epoch}")
        self._state = state
        self._broker_id = broker_id
        self._broker_epoch = broker_epoch
        self._memberships = Memberships(broker_id)
        self._elr_walk: PartitionWalk | None = None
        self._departure = Departure(state.heartbeats.leaving)

    def next_slice(self, moment: Moment) -> ControllerResult:
        """Returns the next slice; BROKER_ID_NOT_REGISTERED if the incarnation is gone by now."""
        state, broker_id = self._state, self._broker_id
        if incarnation_of(state, broker_id, self._broker_epoch) is None:
            self.spent = 0
            ends = DepartureEnds(self._departure)
            if state.image.cluster.broker(broker_id) is None:
                return ControllerResult.of([], _not_registered(broker_id), ends)
            return ControllerResult.of([], _registered_anew(broker_id, self._broker_epoch), ends)
        updates = PartitionUpdates(state, removed=broker_id)
        budget = SliceBudget(moment.units)
        is_out = self._memberships.take(state.image, updates, budget, leaves_elrs=False)
        if is_out:
            is_out = self._look_at_elrs(updates, budget)
        self.spent = budget.spent
        if not is_out:
            begins = DepartureBegins(self._departure, broker_id, self._broker_epoch)
            return ControllerResult.begun(updates.records, self, begins)
        record = UnregisterBrokerRecord(broker_id=broker_id, broker_epoch=self._broker_epoch)
        updates.records.append(RecordAndVersion(record, 0))
        return ControllerResult.of(
            updates.records, UnregisterBrokerResponse(), DepartureEnds(self._departure)
        )

    def failed(self, moment: Moment) -> None:
        self._departure.end(stays=True)

    def _look_at_elrs(self, updates: PartitionUpdates, budget: SliceBudget) -> bool:
        """Elects leaders where the broker is in an ELR, in which it stays as in Kafka."""
        topics = self._state.image.topics
        if self._elr_walk is None:
            topic_ids = in_order(topics.elr_counts.get(self._broker_id, {}))
            self._elr_walk = ElrWalk(topic_ids, self._broker_id)
        return self._elr_walk.take(topics, updates, budget)


def _not_registered(broker_id: int) -> UnregisterBrokerResponse:
    return UnregisterBrokerResponse(
        error_code=Errors.BROKER_ID_NOT_REGISTERED,
        error_message=f"Broker ID {broker_id} is not currently registered",
    )


def _registered_anew(broker_id: int, broker_epoch: int) -> UnregisterBrokerResponse:
    return UnregisterBrokerResponse(
        error_code=Errors.BROKER_ID_NOT_REGISTERED,
        error_message=(
            f"Broker ID {broker_id} has registered again while it was unregistered, and broker epoch"
            f" {broker_epoch} is gone. Stop the broker and repeat the request to unregister it"
        ),
    )
