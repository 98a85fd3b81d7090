"""DescribeConfigs (KIP-133, KIP-226, KIP-569) on a controller: from image and properties file."""

from __future__ import annotations

from kraftctl.controller.configuration_control.config_authorization import why_not_authorized
from kraftctl.controller.configuration_control.describe_node_configs import NodeDescriptions
from kraftctl.controller.configuration_control.describe_own_configs import OwnConfigs
from kraftctl.controller.configuration_control.validate_configs import node_id_of
from kraftctl.controller.results.controller_result import ControllerResult
from kraftctl.controller.results.failures import shortened
from kraftctl.controller.results.moment import Moment
from kraftctl.controller.results.request_context import RequestContext
from kraftctl.controller.results.response_entries import ResponseEntries
from kraftctl.controller.state.controller_state import ControllerState
from kraftctl.metadata.config_definitions import config_source
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
)
from kraftctl_protocol.message import Message

TOO_MANY_CONFIGS = "More configurations than one answer may list are asked for: ask for fewer resources."


def describe_configs(
    state: ControllerState, context: RequestContext, request: Message, moment: Moment
) -> ControllerResult:
    """Returns one result per resource, those that the client may not describe last, as in Kafka;
    POLICY_VIOLATION for those that make the response too long. An unknown type refuses all resources.
    """
    assert isinstance(request, DescribeConfigsRequest)
    results: list[DescribeConfigsResult] = []
    refused: list[DescribeConfigsResult] = []
    entries = ResponseEntries()
    entries.add_items(len(request.resources))
    nodes = NodeDescriptions(state)
    why_full = _why_type_unknown(request)
    for resource in request.resources:
        kind, name = resource.resource_type, resource.resource_name
        answer: list[DescribeConfigsResourceResult] | ApiError | None = why_full
        if answer is None:
            why_refused = why_not_authorized(state, context, AclOperation.DESCRIBE_CONFIGS, kind, name)
            if why_refused is not None:
                refused.append(_result_of(resource, why_refused))
                continue
            answer = _describe(state, nodes, request, resource)
            if not isinstance(answer, ApiError):
                count = sum([1 + len(config.synonyms) for config in answer])
                if entries.has_room(count):
                    entries.add(count)
                else:
                    why_full = ApiError(Errors.POLICY_VIOLATION, TOO_MANY_CONFIGS)
                    answer = why_full
        results.append(_result_of(resource, answer))
    return ControllerResult.of([], DescribeConfigsResponse(results=results + refused))


def _why_type_unknown(request: DescribeConfigsRequest) -> ApiError | None:
    for resource in request.resources:
        if resource.resource_type not in config_resource.NAMES:
            return ApiError(Errors.INVALID_REQUEST)
    return None


def _result_of(
    resource: DescribeConfigsResource, answer: list[DescribeConfigsResourceResult] | ApiError
) -> DescribeConfigsResult:
    result = DescribeConfigsResult(resource_type=resource.resource_type, resource_name=resource.resource_name)
    if isinstance(answer, ApiError):
        result.error_code = answer.code
        result.error_message = answer.message
    else:
        result.configs = answer
    return result


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
    own = state.image.configurations.config(kind, name)
    return OwnConfigs(kind, own, nodes).described(wanted, request.include_synonyms)


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
    own = state.image.configurations.config(config_resource.TOPIC, topic)
    if own or wanted is not None:
        return OwnConfigs(config_resource.TOPIC, own, nodes).described(wanted, synonyms)
    if nodes.of_topics_without_their_own is None:
        described = OwnConfigs(config_resource.TOPIC, own, nodes).described(None, synonyms)
        nodes.of_topics_without_their_own = described
    return nodes.of_topics_without_their_own
