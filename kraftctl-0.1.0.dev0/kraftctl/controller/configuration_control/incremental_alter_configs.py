"""IncrementalAlterConfigs (KIP-339): set and remove single configs, change items of lists."""

from __future__ import annotations

from typing import Final

from kraftctl.controller.configuration_control.alter_log_levels import LogLevelChange
from kraftctl.controller.configuration_control.config_alteration import OK, ConfigAlteration
from kraftctl.controller.configuration_control.config_operation import APPEND, DELETE, SET, SUBTRACT
from kraftctl.controller.results.controller_result import ControllerResult
from kraftctl.controller.results.excessive_requests import too_many_records, why_too_many_items
from kraftctl.controller.results.moment import Moment
from kraftctl.controller.results.request_context import RequestContext
from kraftctl.controller.state.controller_state import ControllerState
from kraftctl.metadata.config_definitions.config_key import LIST, ConfigKey
from kraftctl.metadata.config_definitions.config_keys import config_keys
from kraftctl_protocol.api_error import ApiError
from kraftctl_protocol.config_resource import BROKER, BROKER_LOGGER, TOPIC
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kraftctl_protocol.generated.incremental_alter_configs_response import (
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsResponse,
)
from kraftctl_protocol.message import Message

__all__ = ["APPEND", "DELETE", "SET", "SUBTRACT", "changed_list", "incremental_alter_configs"]

TYPES_WITH_LISTS: Final = (TOPIC, BROKER)
"""Kafka knows no lists of the other types: their values are set as a whole."""


def incremental_alter_configs(
    state: ControllerState, context: RequestContext, request: Message, moment: Moment
) -> ControllerResult:
    """Applies SET, DELETE, APPEND and SUBTRACT to single keys. Loggers come last in the response, as in
    Kafka.
    """
    assert isinstance(request, IncrementalAlterConfigsRequest)
    refusal = why_too_many_items(context, request, len(request.resources))
    if refusal is not None:
        return refusal
    of_loggers = [each for each in request.resources if each.resource_type == BROKER_LOGGER]
    others = [each for each in request.resources if each.resource_type != BROKER_LOGGER]
    named = [(resource.resource_type, resource.resource_name) for resource in others]
    alteration = ConfigAlteration(state, context, named)
    for resource in others:
        key = (resource.resource_type, resource.resource_name)
        if alteration.begin(key, [config.value for config in resource.configs]):
            current = state.image.configurations.config(key[0], key[1])
            wanted = _wanted(resource, current)
            if isinstance(wanted, ApiError):
                alteration.refuse(key, wanted)
            else:
                alteration.alter(key, wanted)
            if alteration.has_too_many_records:
                return too_many_records(context, request)
    levels = LogLevelChange(state)
    for resource in of_loggers:
        refused = levels.add(context, resource)
        alteration.answers.append(((BROKER_LOGGER, resource.resource_name), refused or OK))
    response = IncrementalAlterConfigsResponse(
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
    if request.validate_only:
        return ControllerResult.atomic_of([], response)
    return ControllerResult.atomic_of(alteration.records(), response, levels if of_loggers else None)


def _wanted(resource: AlterConfigsResource, current: dict[str, str]) -> dict[str, str | None] | ApiError:
    """Returns the value that each key of the request is to have, None for no value."""
    # A key named twice: its last change counts.
    changes = {config.name: config for config in resource.configs}
    wanted: dict[str, str | None] = {}
    for name, change in changes.items():
        operation = change.config_operation
        if operation in (APPEND, SUBTRACT):
            value = _changed_list(resource.resource_type, change, current.get(name))
            if isinstance(value, ApiError):
                return value
            wanted[name] = value
        elif operation == SET:
            wanted[name] = change.value
        elif operation == DELETE:
            wanted[name] = None
        else:
            return ApiError(Errors.INVALID_REQUEST, f"unknown config operation {operation}")
    return wanted


def _changed_list(resource_type: int, change: AlterableConfig, present: str | None) -> str | ApiError:
    name, operation = change.name, change.config_operation
    definition = config_keys(resource_type).get(name) if resource_type in TYPES_WITH_LISTS else None
    if definition is None or definition.type != LIST:
        verb = "APPEND" if operation == APPEND else "SUBTRACT"
        return ApiError(Errors.INVALID_CONFIG, f"Can't {verb} to key {name} because its type is not LIST.")
    if change.value is None:
        return ApiError(Errors.INVALID_CONFIG, f"the value to append to or subtract from {name} is null")
    return changed_list(present, definition, operation, change.value)


def changed_list(present: str | None, definition: ConfigKey, operation: int, value: str) -> str:
    """Returns a LIST value after APPEND or SUBTRACT; the base of an unset one is its default."""
    base = definition.default if present is None else present
    items = [item for item in (base or "").split(",") if item]
    if operation == SUBTRACT:
        return ",".join(_without(items, _named_items(value)))
    known = set(items)
    for item in _named_items(value):
        if item not in known:
            known.add(item)
            items.append(item)
    return ",".join(items)


def _named_items(value: str) -> list[str]:
    """Splits as Java does: without the empty items at its end, but empty text is one item."""
    kept = value.rstrip(",")
    return kept.split(",") if kept or not value else []


def _without(items: list[str], removed: list[str]) -> list[str]:
    """Removes for each item of `removed` the first that equals it, as often as it is named."""
    counts: dict[str, int] = {}
    for item in removed:
        counts[item] = counts.get(item, 0) + 1
    kept: list[str] = []
    for item in items:
        count = counts.get(item, 0)
        if count:
            counts[item] = count - 1
        else:
            kept.append(item)
    return kept
