"""UnregisterController (KIP-1312) forgets the registration of a controller that is gone for good.

As long as it is there, its features limit what can be finalized. A controller that is alive notices that
its registration is gone, and registers again.
"""

from __future__ import annotations

from kraftctl.controller.results.controller_result import ControllerResult
from kraftctl.controller.results.moment import Moment
from kraftctl.controller.results.request_context import RequestContext
from kraftctl.controller.state.controller_state import ControllerState
from kraftctl.metadata import features
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.unregister_controller_record import UnregisterControllerRecord
from kraftctl_protocol.generated.unregister_controller_request import UnregisterControllerRequest
from kraftctl_protocol.generated.unregister_controller_response import UnregisterControllerResponse
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import RecordAndVersion


def unregister_controller(
    state: ControllerState, context: RequestContext, request: Message, moment: Moment
) -> ControllerResult:
    """Unregisters any controller but this one, the active one; as in Kafka 4.4, voters as well."""
    assert isinstance(request, UnregisterControllerRequest)
    controller_id = request.controller_id
    if controller_id == state.node_id:
        return _refused(
            Errors.INVALID_REQUEST,
            f"Controller {controller_id} is the active controller, and stays registered. Next step: if it has"
            " to go, remove it from the voters with kraftctl quorum remove-controller, and repeat this when"
            " another controller is active",
        )
    level = state.image.features.metadata_version
    if not features.is_controller_unregistration_supported(level):
        return _refused(
            Errors.UNSUPPORTED_VERSION,
            f"metadata.version {features.metadata_version_name(level)} has no record that unregisters a"
            " controller. Next step: raise it to 4.4-IV2, when all brokers and controllers can: there is no"
            " way back, and brokers of 4.3 cannot join then",
        )
    if controller_id not in state.image.cluster.controllers:
        return _refused(
            Errors.CONTROLLER_ID_NOT_REGISTERED, f"There is no registration of a controller {controller_id}"
        )
    record = UnregisterControllerRecord(controller_id=controller_id)
    return ControllerResult.atomic_of([RecordAndVersion(record, 0)], UnregisterControllerResponse())


def _refused(error: Errors, message: str) -> ControllerResult:
    return ControllerResult.of([], UnregisterControllerResponse(error_code=error, error_message=message))
