"""UnregisterBroker (KIP-631): forget a broker. Its replicas stay assigned to its id."""

from __future__ import annotations

from kraftctl.controller.controller_result import ControllerResult
from kraftctl.controller.controller_state import ControllerState
from kraftctl.controller.moment import Moment
from kraftctl.controller.replication_control.broker_transitions import records_for_unregistered_broker
from kraftctl.controller.request_context import RequestContext
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.unregister_broker_request import UnregisterBrokerRequest
from kraftctl_protocol.generated.unregister_broker_response import UnregisterBrokerResponse
from kraftctl_protocol.message import Message


def unregister_broker(
    state: ControllerState, context: RequestContext, request: Message, moment: Moment
) -> ControllerResult:
    """Allowed even while the broker is alive, as in Kafka: it must be restarted to come back."""
    assert isinstance(request, UnregisterBrokerRequest)
    if state.image.cluster.broker(request.broker_id) is None:
        response = UnregisterBrokerResponse(
            error_code=Errors.BROKER_ID_NOT_REGISTERED,
            error_message=f"Broker ID {request.broker_id} is not currently registered",
        )
        return ControllerResult.of([], response)
    records = records_for_unregistered_broker(state.image, state.config, request.broker_id)
    return ControllerResult.of(records, UnregisterBrokerResponse())
