"""DescribeConfigs (KIP-133, KIP-226, KIP-569) as a controller answers: from image and properties file."""

from __future__ import annotations

from kraftctl.controller.answer_entries import AnswerEntries
from kraftctl.controller.configuration_control.config_authorization import why_not_authorized
from kraftctl.controller.configuration_control.effective_configs import (
    ConfigLayer,
    broker_layers,
    describe_topic_configs,
)
from kraftctl.controller.controller_result import ControllerResult
from kraftctl.controller.controller_state import ControllerState
from kraftctl.controller.moment import Moment
from kraftctl.controller.request_context import RequestContext
from kraftctl.metadata.config_definitions import config_source
from kraftctl.metadata.config_definitions.config_key import PASSWORD, UNKNOWN_TYPE_CODE
from kraftctl.metadata.config_definitions.config_keys import config_keys
from kraftctl.metadata.config_definitions.generated.broker_config_data import BROKER_CONFIG_KEYS
from kraftctl.metadata.config_definitions.generated.dynamic_broker_configs import DYNAMIC_BROKER_CONFIGS
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

SYNONYM_GROUPS = (
    ("log.roll.ms", "log.roll.hours"),
    ("log.roll.jitter.ms", "log.roll.jitter.hours"),
    ("log.flush.interval.ms", "log.flush.scheduler.interval.ms"),
    ("log.retention.ms", "log.retention.minutes", "log.retention.hours"),
)
"""Broker keys for the same setting in different units; a later one applies if no earlier one is set."""


def describe_configs(
    state: ControllerState, context: RequestContext, request: Message, moment: Moment
) -> ControllerResult:
    """One result per resource; POLICY_VIOLATION for those whose configurations make the answer too long."""
    assert isinstance(request, DescribeConfigsRequest)
    results: list[DescribeConfigsResult] = []
    entries = AnswerEntries()
    entries.add_items(len(request.resources))
    broker_configs = _BrokerConfigs(state)
    why_full: ApiError | None = None
    for resource in request.resources:
        answer: list[DescribeConfigsResourceResult] | ApiError | None = why_full
        if answer is None:
            answer = _why_not_allowed(state, context, resource) or _describe(
                state, broker_configs, request, resource
            )
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
        return ApiError(Errors.INVALID_REQUEST, f"unknown resource type {kind}")
    return why_not_authorized(state, context, AclOperation.DESCRIBE_CONFIGS, kind, resource.resource_name)


def _describe(
    state: ControllerState,
    broker_configs: _BrokerConfigs,
    request: DescribeConfigsRequest,
    resource: DescribeConfigsResource,
) -> list[DescribeConfigsResourceResult] | ApiError:
    kind, name = resource.resource_type, resource.resource_name
    keys = resource.configuration_keys
    wanted = None if keys is None else set(keys)
    if kind == config_resource.TOPIC:
        return _describe_topic(state, broker_configs, name, wanted, request.include_synonyms)
    if kind == config_resource.BROKER:
        if name not in (config_resource.CLUSTER_DEFAULT, str(state.node_id)):
            reason = f"this is node {state.node_id}: it describes itself or the cluster default, not {name!r}"
            return ApiError(Errors.INVALID_REQUEST, reason)
        return _describe_node(broker_configs, name, wanted, request.include_synonyms)
    if kind == config_resource.BROKER_LOGGER:
        return ApiError(Errors.INVALID_REQUEST, "this controller has no Java loggers to describe")
    if not name:
        return ApiError(Errors.INVALID_REQUEST, f"{config_resource.type_name(kind)} needs a name")
    return _describe_plain(state, kind, name, wanted, request.include_synonyms)


def _wanted(name: str, wanted: set[str] | None) -> bool:
    return wanted is None or name in wanted


def _describe_topic(
    state: ControllerState,
    broker_configs: _BrokerConfigs,
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
        return _topic_results(state, broker_configs, overrides, wanted, synonyms)
    shared = broker_configs.of_topics_without_their_own
    if shared is None:
        shared = _topic_results(state, broker_configs, overrides, None, synonyms)
        broker_configs.of_topics_without_their_own = shared
    return shared


def _topic_results(
    state: ControllerState,
    broker_configs: _BrokerConfigs,
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
        )
        if synonyms:
            if entry.source == config_source.TOPIC_CONFIG:
                result.synonyms.append(
                    DescribeConfigsSynonym(name=definition.name, value=entry.text, source=entry.source)
                )
            for name, _ in TOPIC_CONFIG_SYNONYMS.get(definition.name, [])[:1]:
                result.synonyms += broker_configs.synonyms(name, definition.sensitive)
        results.append(result)
    return results


class _BrokerConfigs:
    """What the answers of one request repeat: `layers` of broker configs, Kafka's defaults last."""

    def __init__(self, state: ControllerState) -> None:
        defaults = {
            name: definition.default
            for name, definition in BROKER_CONFIG_KEYS.items()
            if definition.default is not None
        }
        self.layers = [
            *broker_layers(state.image, state.config),
            ConfigLayer(config_source.DEFAULT_CONFIG, defaults),
        ]
        self._synonyms: dict[tuple[str, bool], list[DescribeConfigsSynonym]] = {}
        self.of_topics_without_their_own: list[DescribeConfigsResourceResult] | None = None

    def synonyms(self, name: str, sensitive: bool) -> list[DescribeConfigsSynonym]:
        """The values in all layers; the list and what is in it are not changed."""
        found = self._synonyms.get((name, sensitive))
        if found is None:
            found = _synonyms(name, self.layers, sensitive)
            self._synonyms[(name, sensitive)] = found
        return found


def _synonym_names(name: str) -> tuple[str, ...]:
    for group in SYNONYM_GROUPS:
        if name == group[0] or (name in group and name != "log.flush.scheduler.interval.ms"):
            return group
    return (name,)


def _synonyms(name: str, layers: list[ConfigLayer], sensitive: bool) -> list[DescribeConfigsSynonym]:
    """The values of `name` and its synonyms in all layers, highest precedence first."""
    found = [
        DescribeConfigsSynonym(
            name=synonym, value=None if sensitive else layer.values[synonym], source=layer.source
        )
        for layer in layers
        for synonym in _synonym_names(name)
        if synonym in layer.values
    ]
    while found and found[0].name != name:
        found.pop(0)
    return found


def _describe_node(
    broker_configs: _BrokerConfigs, node: str, wanted: set[str] | None, synonyms: bool
) -> list[DescribeConfigsResourceResult]:
    """The cluster default has only what was set for it; this node has all keys."""
    layers = broker_configs.layers
    cluster_only = node == config_resource.CLUSTER_DEFAULT
    if cluster_only:
        layers = [layer for layer in layers if layer.source == config_source.DYNAMIC_DEFAULT_BROKER_CONFIG]
    known = layers[0].values.keys() if cluster_only else BROKER_CONFIG_KEYS.keys()
    results: list[DescribeConfigsResourceResult] = []
    for name in sorted(known if wanted is None else wanted & known):
        definition = BROKER_CONFIG_KEYS.get(name)
        if definition is not None and definition.internal:
            continue
        # An unknown key may hold a secret.
        sensitive = definition is None or definition.type == PASSWORD
        found = (
            _synonyms(name, layers, sensitive) if cluster_only else broker_configs.synonyms(name, sensitive)
        )
        results.append(
            DescribeConfigsResourceResult(
                name=name,
                value=found[0].value if found else None,
                read_only=name not in DYNAMIC_BROKER_CONFIGS,
                config_source=found[0].source if found else config_source.DEFAULT_CONFIG,
                is_sensitive=sensitive,
                synonyms=found if synonyms else [],
                config_type=UNKNOWN_TYPE_CODE if definition is None else definition.type_code,
            )
        )
    return results


def _describe_plain(
    state: ControllerState, kind: int, name: str, wanted: set[str] | None, synonyms: bool
) -> list[DescribeConfigsResourceResult]:
    """Groups and client metrics subscriptions: their own value or the default."""
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
            name=key, value=value, config_source=source, config_type=definition.type_code
        )
        if synonyms and key in own:
            result.synonyms.append(DescribeConfigsSynonym(name=key, value=value, source=source))
        results.append(result)
    return results
