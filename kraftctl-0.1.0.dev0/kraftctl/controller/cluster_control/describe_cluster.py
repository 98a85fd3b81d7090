"""DescribeCluster on a controller (KIP-700, KIP-919): the registered controllers and the leader."""

from __future__ import annotations

from typing import Final

from kraftctl.controller.results.controller_result import ControllerResult
from kraftctl.controller.results.moment import Moment
from kraftctl.controller.results.request_context import RequestContext
from kraftctl.controller.state.controller_state import ControllerState
from kraftctl.metadata import features
from kraftctl_protocol.acl_operation import AclOperation
from kraftctl_protocol.api_error import ApiError
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.describe_cluster_request import DescribeClusterRequest
from kraftctl_protocol.generated.describe_cluster_response import (
    DescribeClusterBroker,
    DescribeClusterResponse,
)
from kraftctl_protocol.message import Message

BROKER_ENDPOINTS: Final = 1
CONTROLLER_ENDPOINTS: Final = 2

WRONG_ENDPOINTS: Final = (
    "controllers listen here, and brokers are asked for. Next step: give the tool a"
    " broker's address, or this one with --bootstrap-controller"
)
UNKNOWN_ENDPOINTS: Final = "endpoint type {} is not known here: 1 means brokers, 2 controllers"

CLUSTER_OPERATIONS: Final = (
    AclOperation.CREATE,
    AclOperation.ALTER,
    AclOperation.DESCRIBE,
    AclOperation.CLUSTER_ACTION,
    AclOperation.DESCRIBE_CONFIGS,
    AclOperation.ALTER_CONFIGS,
    AclOperation.IDEMPOTENT_WRITE,
)
"""The operations that authorizedOperations may list for a cluster."""


def describe_cluster(
    state: ControllerState, context: RequestContext, request: Message, moment: Moment
) -> ControllerResult:
    """Returns the endpoints of the listener the request came in on.

    During an election the last leader is named. Kafka's controllers then name none, and an admin client does
    not ask again until its call has timed out; one that is sent to the last leader does.
    """
    assert isinstance(request, DescribeClusterRequest)
    error = _why_refused(state, context, request)
    if error is not None:
        response = DescribeClusterResponse(error_code=error.code, error_message=error.message)
        return ControllerResult.of([], response)
    nodes = [
        DescribeClusterBroker(broker_id=registration.id, host=endpoint.host, port=endpoint.port)
        for _, registration in sorted(state.image.cluster.controllers.items())
        for endpoint in registration.listeners.values()
        if endpoint.name == context.listener
    ]
    known = any(node.broker_id == state.leader_id for node in nodes)
    response = DescribeClusterResponse(
        endpoint_type=CONTROLLER_ENDPOINTS,
        cluster_id=state.cluster_id,
        controller_id=state.leader_id if known else -1,
        brokers=nodes,
    )
    if request.include_cluster_authorized_operations:
        response.cluster_authorized_operations = _authorized_operations(state, context)
    return ControllerResult.of([], response)


def _why_refused(
    state: ControllerState, context: RequestContext, request: DescribeClusterRequest
) -> ApiError | None:
    if not features.is_controller_registration_supported(state.image.features.metadata_version):
        return ApiError(
            Errors.UNSUPPORTED_VERSION, "the finalized metadata.version has no controller registrations"
        )
    if request.endpoint_type == CONTROLLER_ENDPOINTS:
        return None
    unknown = request.endpoint_type != BROKER_ENDPOINTS
    code = Errors.UNSUPPORTED_ENDPOINT_TYPE if unknown else Errors.MISMATCHED_ENDPOINT_TYPE
    text = UNKNOWN_ENDPOINTS.format(request.endpoint_type) if unknown else WRONG_ENDPOINTS
    return ApiError(Errors.INVALID_REQUEST if context.version == 0 else code, text)


def _authorized_operations(state: ControllerState, context: RequestContext) -> int:
    if not state.authorizer.allows_on_cluster(context, AclOperation.DESCRIBE):
        return 0
    bits = 0
    for operation in CLUSTER_OPERATIONS:
        if state.authorizer.allows_on_cluster(context, operation, logs_grant=False, logs_denial=False):
            bits |= 1 << operation
    return bits
