"""ControllerRegistration (KIP-919): controllers register their endpoints and features.

Tools that connect to controllers directly see only registered ones.
"""

from __future__ import annotations

from kraftctl.controller.results.controller_result import ControllerResult
from kraftctl.controller.results.moment import Moment
from kraftctl.controller.results.request_context import RequestContext
from kraftctl.controller.state.controller_state import ControllerState
from kraftctl.image.metadata_image import MetadataImage
from kraftctl.metadata import features
from kraftctl.metadata.controller_registration import ControllerRegistration
from kraftctl.metadata.registration_limits import (
    why_features_too_large,
    why_listener_unusable,
    why_listeners_too_large,
)
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated import controller_registration_request as wire
from kraftctl_protocol.generated.controller_registration_request import ControllerRegistrationRequest
from kraftctl_protocol.generated.controller_registration_response import ControllerRegistrationResponse
from kraftctl_protocol.generated.register_controller_record import (
    ControllerEndpoint,
    ControllerFeature,
    RegisterControllerRecord,
)
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import RecordAndVersion


def register_controller(
    state: ControllerState, context: RequestContext, request: Message, moment: Moment
) -> ControllerResult:
    """Registers a controller, this one or another."""
    assert isinstance(request, ControllerRegistrationRequest)
    if not features.is_controller_registration_supported(state.image.features.metadata_version):
        response = ControllerRegistrationResponse(
            error_code=Errors.UNSUPPORTED_VERSION,
            error_message=None,
        )
        return ControllerResult.of([], response)
    reason = _why_refused(request)
    if reason is not None:
        response = ControllerRegistrationResponse(
            error_code=Errors.INVALID_REGISTRATION, error_message=reason
        )
        return ControllerResult.of([], response)
    record = RegisterControllerRecord(
        controller_id=request.controller_id,
        incarnation_id=request.incarnation_id,
        zk_migration_ready=False,
        end_points=[
            ControllerEndpoint(
                name=listener.name,
                host=listener.host,
                port=listener.port,
                security_protocol=listener.security_protocol,
            )
            for listener in {listener.name: listener for listener in request.listeners}.values()
        ],
        features=[
            ControllerFeature(
                name=feature.name,
                min_supported_version=feature.min_supported_version,
                max_supported_version=feature.max_supported_version,
            )
            for feature in request.features
        ],
    )
    return ControllerResult.atomic_of([RecordAndVersion(record, 0)], ControllerRegistrationResponse())


def _why_refused(request: ControllerRegistrationRequest) -> str | None:
    for listener in request.listeners:
        reason = why_listener_unusable(
            name=listener.name,
            host=listener.host,
            port=listener.port,
            security_protocol=listener.security_protocol,
        )
        if reason is not None:
            return reason
    return why_listeners_too_large(
        [(listener.name, listener.host) for listener in request.listeners]
    ) or why_features_too_large(len(request.features), (feature.name for feature in request.features))


def needs_registration(image: MetadataImage, own: ControllerRegistration) -> bool:
    """Returns whether this process is not registered yet, and metadata.version allows it."""
    if not features.is_controller_registration_supported(image.features.metadata_version):
        return False
    registered = image.cluster.controllers.get(own.id)
    return registered is None or registered.incarnation_id != own.incarnation_id


def registration_request(own: ControllerRegistration) -> ControllerRegistrationRequest:
    """Returns the request that a standby sends to the active controller."""
    return ControllerRegistrationRequest(
        controller_id=own.id,
        incarnation_id=own.incarnation_id,
        zk_migration_ready=False,
        listeners=[
            wire.Listener(
                name=endpoint.name,
                host=endpoint.host,
                port=endpoint.port,
                security_protocol=endpoint.security_protocol,
            )
            for _, endpoint in sorted(own.listeners.items())
        ],
        features=[
            wire.Feature(name=name, min_supported_version=levels.min, max_supported_version=levels.max)
            for name, levels in sorted(own.supported_features.items())
        ],
    )
