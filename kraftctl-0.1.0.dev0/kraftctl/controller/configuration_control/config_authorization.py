"""The rights that describing or altering the configs of a resource needs."""

from __future__ import annotations

from kraftctl.controller.results.request_context import RequestContext
from kraftctl.controller.state.authorization import ResourceType
from kraftctl.controller.state.controller_state import ControllerState
from kraftctl_protocol import config_resource
from kraftctl_protocol.api_error import ApiError
from kraftctl_protocol.errors import Errors


def why_not_authorized(
    state: ControllerState, context: RequestContext, operation: int, resource_type: int, name: str
) -> ApiError | None:
    """Checks the right: topics and groups have their own, every other type needs it on the cluster."""
    authorizer = state.authorizer
    if resource_type == config_resource.TOPIC:
        allowed = authorizer.allows(context, operation, ResourceType.TOPIC, name)
        return None if allowed else ApiError(Errors.TOPIC_AUTHORIZATION_FAILED)
    if resource_type == config_resource.GROUP:
        allowed = authorizer.allows(context, operation, ResourceType.GROUP, name)
        return None if allowed else ApiError(Errors.GROUP_AUTHORIZATION_FAILED)
    allowed = authorizer.allows_on_cluster(context, operation)
    return None if allowed else ApiError(Errors.CLUSTER_AUTHORIZATION_FAILED)
