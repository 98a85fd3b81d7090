"""The two RPCs around `configuration_control`: who may alter what, and one answer per resource."""

from __future__ import annotations

from kraftctl.controller.configuration_control.config_alterer import ConfigAlterer, ConfigChange
from kraftctl.controller.controller_result import ControllerResult
from kraftctl.controller.controller_state import ControllerState
from kraftctl.controller.moment import Moment
from kraftctl.controller.request_context import RequestContext
from kraftctl.controller.security.authorization import ResourceType
from kraftctl_protocol import config_resource
from kraftctl_protocol.acl_operation import AclOperation
from kraftctl_protocol.api_error import ApiError
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.alter_configs_request import AlterConfigsRequest
from kraftctl_protocol.generated.alter_configs_response import (
    AlterConfigsResourceResponse as LegacyResourceResponse,
)
from kraftctl_protocol.generated.alter_configs_response import AlterConfigsResponse
from kraftctl_protocol.generated.incremental_alter_configs_request import IncrementalAlterConfigsRequest
from kraftctl_protocol.generated.incremental_alter_configs_response import (
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsResponse,
)
from kraftctl_protocol.message import Message

Resource = tuple[int, str]


def incremental_alter_configs(
    state: ControllerState, context: RequestContext, request: Message, moment: Moment
) -> ControllerResult:
    """SET, DELETE, APPEND and SUBTRACT single keys."""
    assert isinstance(request, IncrementalAlterConfigsRequest)
    named = [(resource.resource_type, resource.resource_name) for resource in request.resources]
    answers, accepted = _refused_up_front(state, context, named)
    alterer = ConfigAlterer(state.image, state.config, state.voter_ids, context.envelope)
    for resource in request.resources:
        key = (resource.resource_type, resource.resource_name)
        if key in accepted:
            changes: list[ConfigChange] = [
                (config.name, config.config_operation, config.value) for config in resource.configs
            ]
            answers.append((key, alterer.incremental(key[0], key[1], changes)))
    response = IncrementalAlterConfigsResponse(
        responses=[
            AlterConfigsResourceResponse(
                error_code=error.code,
                error_message=error.message,
                resource_type=kind,
                resource_name=name,
            )
            for (kind, name), error in answers
        ]
    )
    return ControllerResult.atomic_of([] if request.validate_only else alterer.records(), response)


def legacy_alter_configs(
    state: ControllerState, context: RequestContext, request: Message, moment: Moment
) -> ControllerResult:
    """Replace all configs of a resource."""
    assert isinstance(request, AlterConfigsRequest)
    named = [(resource.resource_type, resource.resource_name) for resource in request.resources]
    answers, accepted = _refused_up_front(state, context, named)
    alterer = ConfigAlterer(state.image, state.config, state.voter_ids, context.envelope)
    for resource in request.resources:
        key = (resource.resource_type, resource.resource_name)
        if key in accepted:
            configs: dict[str, str | None] = {config.name: config.value for config in resource.configs}
            answers.append((key, alterer.replace(key[0], key[1], configs)))
    response = AlterConfigsResponse(
        responses=[
            LegacyResourceResponse(
                error_code=error.code,
                error_message=error.message,
                resource_type=kind,
                resource_name=name,
            )
            for (kind, name), error in answers
        ]
    )
    return ControllerResult.atomic_of([] if request.validate_only else alterer.records(), response)


def _refused_up_front(
    state: ControllerState, context: RequestContext, named: list[Resource]
) -> tuple[list[tuple[Resource, ApiError]], set[Resource]]:
    """Answers for unknown types, duplicates and what the principal may not alter; and the resources left."""
    answers: list[tuple[Resource, ApiError]] = []
    accepted: set[Resource] = set()
    counts: dict[Resource, int] = {}
    for resource in named:
        counts[resource] = counts.get(resource, 0) + 1
    for resource, count in counts.items():
        kind = resource[0]
        if kind not in config_resource.NAMES:
            answers.append((resource, ApiError(Errors.UNSUPPORTED_VERSION, f"Unknown resource type {kind}.")))
        elif count > 1:
            answers.append((resource, ApiError(Errors.INVALID_REQUEST, "Duplicate resource.")))
        else:
            error = _why_not_allowed(state, context, resource)
            if error is None:
                accepted.add(resource)
            else:
                answers.append((resource, error))
    return answers, accepted


def _why_not_allowed(state: ControllerState, context: RequestContext, resource: Resource) -> ApiError | None:
    kind, name = resource
    operation = AclOperation.ALTER_CONFIGS
    authorizer = state.authorizer
    if kind in (config_resource.BROKER, config_resource.CLIENT_METRICS):
        allowed = authorizer.allows_on_cluster(context, operation)
        return None if allowed else ApiError(Errors.CLUSTER_AUTHORIZATION_FAILED)
    if kind == config_resource.TOPIC:
        allowed = authorizer.allows(context, operation, ResourceType.TOPIC, name)
        return None if allowed else ApiError(Errors.TOPIC_AUTHORIZATION_FAILED)
    if kind == config_resource.GROUP:
        allowed = authorizer.allows(context, operation, ResourceType.GROUP, name)
        return None if allowed else ApiError(Errors.GROUP_AUTHORIZATION_FAILED)
    return ApiError(
        Errors.INVALID_REQUEST, f"{config_resource.type_name(kind)} configs are not kept in the metadata log"
    )
