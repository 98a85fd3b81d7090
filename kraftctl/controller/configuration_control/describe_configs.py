"""DescribeConfigs (KIP-133, KIP-226, KIP-569) on a controller: from image and properties file."""

from __future__ import annotations

from kraftctl.controller.configuration_control.config_authorization import why_not_authorized
from kraftctl.controller.configuration_control.describe_node_configs import NodeDescriptions
from kraftctl.controller.configuration_control.validate_configs import node_id_of
from kraftctl.controller.results.controller_result import ControllerResult
from kraftctl.controller.results.failures import shortened
from kraftctl.controller.results.moment import Moment
from kraftctl.controller.results.request_context import RequestContext
from kraftctl.controller.results.response_entries import ResponseEntries
from kraftctl.controller.state.controller_state import ControllerState
from kraftctl.controller.state.effective_configs import describe_topic_configs
from kraftctl.metadata.config_definitions import config_source
from kraftctl.metadata.config_definitions.config_keys import config_keys
from kraftctl.metadata.config_definitions.generated.topic_config_synonyms import TOPIC_CONFIG_SYNONYMS
from kraftctl.metadata.topic_name import why_topic_name_invalid
from kraftctl_protocol import config_resource
from kraftctl_protocol.acl_operation import AclOperation
from kraftctl_protocol.api_error import ApiError
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.describe_configs_request import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from kraftctl_protocol.generated.describe_configs_response import (
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)
from kraftctl_protocol.message import Message

TOO_MANY_CONFIGS = "More configurations than one answer may list are asked for: ask for fewer resources."


def describe_configs(
    state: ControllerState, context: RequestContext, request: Message, moment: Moment
) -> ControllerResult:
    """Returns one result per resource; POLICY_VIOLATION for those that make the response too long."""
    assert isinstance(request, DescribeConfigsRequest)
    results: list[DescribeConfigsResult] = []
    entries = ResponseEntries()
    entries.add_items(len(request.resources))
    nodes = NodeDescriptions(state)
    why_full: ApiError | None = None
    for resource in request.resources:
        answer: list[DescribeConfigsResourceResult] | ApiError | None = why_full
        if answer is None:
            answer = _why_not_allowed(state, context, resource) or _describe(state, nodes, request, resource)
            if not isinstance(answer, ApiError):
                count = sum([1 + len(config.synonyms) for config in answer])
                if entries.has_room(count):
                    entries.add(count)
                else:
                    why_full = ApiError(Errors.POLICY_VIOLATION, TOO_MANY_CONFIGS)
                    answer = why_full
        result = DescribeConfigsResult(
            resource_type=resource.resource_type, resource_name=resource.resource_name
        )
        if isinstance(answer, ApiError):
            result.error_code = answer.code
            result.error_message = answer.message
        else:
            result.configs = answer
        results.append(result)
    return ControllerResult.of([], DescribeConfigsResponse(results=results))


def _why_not_allowed(
    state: ControllerState, context: RequestContext, resource: DescribeConfigsResource
) -> ApiError | None:
    kind = resource.resource_type
    if kind not in config_resource.NAMES:
        return ApiError(Errors.INVALID_REQUEST)
    return why_not_authorized(state, context, AclOperation.DESCRIBE_CONFIGS, kind, resource.resource_name)


def _describe(
    state: ControllerState,
    nodes: NodeDescriptions,
    request: DescribeConfigsRequest,
    resource: DescribeConfigsResource,
) -> list[DescribeConfigsResourceResult] | ApiError:
    kind, name = resource.resource_type, resource.resource_name
    keys = resource.configuration_keys
    wanted = set(keys) if keys else None  # no keys are all keys, as in Kafka
    if kind == config_resource.TOPIC:
        return _describe_topic(state, nodes, name, wanted, request.include_synonyms)
    if kind == config_resource.BROKER:
        if name == config_resource.CLUSTER_DEFAULT:
            return nodes.of_cluster(wanted, request.include_synonyms)
        reason = _why_not_this_node(state, name, " or empty string,")
        if reason is not None:
            return ApiError(Errors.INVALID_REQUEST, reason)
        return nodes.of_node(wanted, request.include_synonyms)
    if kind == config_resource.BROKER_LOGGER:
        return _describe_loggers(state, name, wanted)
    if not name:
        return ApiError(Errors.INVALID_REQUEST, f"{config_resource.type_name(kind)} needs a name")
    return _describe_plain(state, kind, name, wanted, request.include_synonyms)


def _why_not_this_node(state: ControllerState, name: str, also: str = "") -> str | None:
    node_id = node_id_of(name)
    if node_id is None:
        return f"{shortened(name)} is no node id"
    if node_id != state.node_id:
        return f"Unexpected broker id, expected {state.node_id}{also} but received {shortened(name)}"
    return None


def _describe_loggers(
    state: ControllerState, name: str, wanted: set[str] | None
) -> list[DescribeConfigsResourceResult] | ApiError:
    """Describes loggers, each of which has a level, if only that of another one above it."""
    reason = _why_not_this_node(state, name) if name else "loggers are those of a node: give its id"
    if reason is not None:
        return ApiError(Errors.INVALID_REQUEST, reason)
    return [
        DescribeConfigsResourceResult(
            name=logger,
            value=state.log_levels.level(logger),
            config_source=config_source.DYNAMIC_BROKER_LOGGER_CONFIG,
        )
        for logger in state.log_levels.names()
        if _wanted(logger, wanted)
    ]


def _wanted(name: str, wanted: set[str] | None) -> bool:
    return wanted is None or name in wanted


def _describe_topic(
    state: ControllerState,
    nodes: NodeDescriptions,
    topic: str,
    wanted: set[str] | None,
    synonyms: bool,
) -> list[DescribeConfigsResourceResult] | ApiError:
    reason = why_topic_name_invalid(topic)
    if reason is not None:
        return ApiError(Errors.INVALID_TOPIC_EXCEPTION, reason)
    if state.image.topics.topic_by_name(topic) is None:
        return ApiError(Errors.UNKNOWN_TOPIC_OR_PARTITION)
    overrides = state.image.configurations.config(config_resource.TOPIC, topic)
    if overrides or wanted is not None:
        return _topic_results(state, nodes, overrides, wanted, synonyms)
    if nodes.of_topics_without_their_own is None:
        nodes.of_topics_without_their_own = _topic_results(state, nodes, overrides, None, synonyms)
    return nodes.of_topics_without_their_own


def _topic_results(
    state: ControllerState,
    nodes: NodeDescriptions,
    overrides: dict[str, str],
    wanted: set[str] | None,
    synonyms: bool,
) -> list[DescribeConfigsResourceResult]:
    results: list[DescribeConfigsResourceResult] = []
    for entry in describe_topic_configs(state.image, state.config, overrides, wanted=wanted):
        definition = entry.definition
        result = DescribeConfigsResourceResult(
            name=definition.name,
            value=entry.text,
            config_source=entry.source,
            is_sensitive=definition.sensitive,
            config_type=definition.type_code,
            documentation=None,
        )
        if synonyms:
            if entry.source == config_source.TOPIC_CONFIG:
                result.synonyms.append(
                    DescribeConfigsSynonym(name=definition.name, value=entry.text, source=entry.source)
                )
            for name, _ in TOPIC_CONFIG_SYNONYMS.get(definition.name, [])[:1]:
                result.synonyms += nodes.inherited_synonyms(name, definition.sensitive)
        results.append(result)
    return results


def _describe_plain(
    state: ControllerState, kind: int, name: str, wanted: set[str] | None, synonyms: bool
) -> list[DescribeConfigsResourceResult]:
    """Describes groups and client metrics subscriptions: their own value or the default."""
    own = state.image.configurations.config(kind, name)
    group = kind == config_resource.GROUP
    own_source = config_source.GROUP_CONFIG if group else config_source.CLIENT_METRICS_CONFIG
    results: list[DescribeConfigsResourceResult] = []
    for key, definition in sorted(config_keys(kind).items()):
        if not _wanted(key, wanted):
            continue
        source = own_source if key in own else config_source.DEFAULT_CONFIG
        value = own.get(key, definition.default)
        result = DescribeConfigsResourceResult(
            name=key,
            value=value,
            config_source=source,
            config_type=definition.type_code,
            documentation=None,
        )
        if synonyms and key in own:
            result.synonyms.append(DescribeConfigsSynonym(name=key, value=value, source=source))
        results.append(result)
    return results
