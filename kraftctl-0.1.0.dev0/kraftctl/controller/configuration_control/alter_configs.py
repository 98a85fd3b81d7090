"""AlterConfigs (KIP-133): replace all configs of a resource. IncrementalAlterConfigs has replaced it."""

from __future__ import annotations

from kraftctl.controller.configuration_control.config_alteration import ConfigAlteration
from kraftctl.controller.results.controller_result import ControllerResult
from kraftctl.controller.results.excessive_requests import too_many_records, why_too_many_items
from kraftctl.controller.results.moment import Moment
from kraftctl.controller.results.request_context import RequestContext
from kraftctl.controller.state.controller_state import ControllerState
from kraftctl_protocol.generated.alter_configs_request import AlterConfigsRequest
from kraftctl_protocol.generated.alter_configs_response import (
    AlterConfigsResourceResponse,
    AlterConfigsResponse,
)
from kraftctl_protocol.message import Message


def alter_configs(
    state: ControllerState, context: RequestContext, request: Message, moment: Moment
) -> ControllerResult:
    """Replaces the configs of each resource by those of the request."""
    assert isinstance(request, AlterConfigsRequest)
    refusal = why_too_many_items(context, request, len(request.resources))
    if refusal is not None:
        return refusal
    named = [(resource.resource_type, resource.resource_name) for resource in request.resources]
    alteration = ConfigAlteration(state, context, named)
    for resource in request.resources:
        key = (resource.resource_type, resource.resource_name)
        if alteration.begin(key, [config.value for config in resource.configs]):
            wanted: dict[str, str | None] = {config.name: config.value for config in resource.configs}
            current = state.image.configurations.config(key[0], key[1])
            for name in sorted([name for name in current if name not in wanted]):
                wanted[name] = None
            alteration.alter(key, wanted)
            if alteration.has_too_many_records:
                return too_many_records(context, request)
    response = AlterConfigsResponse(
        responses=[
            AlterConfigsResourceResponse(
                error_code=error.code,
                error_message=error.message,
                resource_type=kind,
                resource_name=name,
            )
            for (kind, name), error in alteration.answers
        ]
    )
    return ControllerResult.atomic_of([] if request.validate_only else alteration.records(), response)
