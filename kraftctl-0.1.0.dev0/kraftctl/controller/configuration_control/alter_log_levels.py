"""IncrementalAlterConfigs of a BROKER_LOGGER, as in Kafka's RuntimeLoggerManager: the levels of this
process.

Any controller changes its own, active or not, immediately and not through the log.
"""

from __future__ import annotations

from typing import Final

from kraftctl.controller.configuration_control.config_operation import APPEND, DELETE, SET, SUBTRACT
from kraftctl.controller.configuration_control.validate_configs import node_id_of
from kraftctl.controller.results.controller_result import SoftChange
from kraftctl.controller.results.failures import shortened
from kraftctl.controller.results.request_context import RequestContext
from kraftctl.controller.state.controller_state import ControllerState
from kraftctl.controller.state.log_levels import LEVELS, ROOT, LogLevels
from kraftctl_protocol import config_resource
from kraftctl_protocol.acl_operation import AclOperation
from kraftctl_protocol.api_error import ApiError
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kraftctl_protocol.message import Message

AUTHORIZER_LOGGER: Final = "kafka.authorizer.logger"
"""The authorizer makes no lines that this logger would not write."""

CHANGES_PER_REQUEST_MAX: Final = 10_000
"""A controller has some twenty loggers; a change takes a microsecond."""

_OPERATIONS: Final = {APPEND: "APPEND", SUBTRACT: "SUBTRACT"}


class LogLevelChange(SoftChange):
    """The levels that a request sets; the last change of a logger counts."""

    def __init__(self, state: ControllerState) -> None:
        self._state = state
        self._count = 0
        self._levels: dict[str, str | None] = {}

    def add(self, context: RequestContext, resource: AlterConfigsResource) -> ApiError | None:
        """Adds the changes of one resource. Returns the refusal, if there is one."""
        self._count += len(resource.configs)
        if self._count > CHANGES_PER_REQUEST_MAX:
            reason = f"One request cannot change more than {CHANGES_PER_REQUEST_MAX} levels of loggers."
            return ApiError(Errors.POLICY_VIOLATION, reason)
        error = _why_resource_refused(self._state, context, resource)
        if error is not None:
            return error
        for config in resource.configs:
            self._levels[config.name] = config.value if config.config_operation == SET else None
        return None

    def make(self) -> None:
        levels = self._state.log_levels
        levels.change(self._levels)
        if levels.has(AUTHORIZER_LOGGER):
            self._state.authorizer.log.threshold = levels.number(AUTHORIZER_LOGGER)


def concerns_loggers_only(request: Message) -> bool:
    """Returns whether no resource of the request needs the active controller."""
    if not isinstance(request, IncrementalAlterConfigsRequest) or not request.resources:
        return False
    return all(resource.resource_type == config_resource.BROKER_LOGGER for resource in request.resources)


def _why_resource_refused(
    state: ControllerState, context: RequestContext, resource: AlterConfigsResource
) -> ApiError | None:
    """Returns why the resource is refused: rights, another node's loggers, or the first invalid change."""
    if not state.authorizer.allows_on_cluster(context, AclOperation.CLUSTER_ACTION):
        return ApiError(Errors.CLUSTER_AUTHORIZATION_FAILED)
    reason = why_not_own_id(state, resource.resource_name)
    if reason is not None:
        return ApiError(Errors.INVALID_REQUEST, reason)
    for config in resource.configs:
        error = _why_refused(state.log_levels, config)
        if error is not None:
            return error
    return None


def why_not_own_id(state: ControllerState, name: str) -> str | None:
    """Returns, in Kafka's words, why this is not the name of the node that was asked."""
    node_id = node_id_of(name)
    if node_id is None:
        return f"{shortened(name)} is no node id"
    if node_id != state.node_id:
        return f"Unexpected node id. Expected {state.node_id}, but received {node_id}"
    return None


def _why_refused(levels: LogLevels, config: AlterableConfig) -> ApiError | None:
    name, operation = config.name, config.config_operation
    if operation not in (SET, DELETE):
        what = _OPERATIONS.get(operation)
        what = f"Unknown operation type {operation} is" if what is None else f"{what} operation is"
        return ApiError(Errors.INVALID_REQUEST, f"{what} not allowed for the BROKER_LOGGER resource")
    if not levels.has(name):
        return ApiError(Errors.INVALID_CONFIG, f"Logger {shortened(name)} does not exist!")
    if operation == DELETE:
        if name == ROOT:
            reason = f"the logger {ROOT} needs a level: set another one"
            return ApiError(Errors.INVALID_REQUEST, reason)
        return None
    if config.value is None or config.value not in LEVELS:
        level = "null" if config.value is None else shortened(config.value)
        reason = f"{level} is no level for the logger {name}."
        return ApiError(Errors.INVALID_CONFIG, f"{reason} Levels are {', '.join(sorted(LEVELS))}")
    return None
