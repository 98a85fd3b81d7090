"""The configs of this node and of the cluster's default in DescribeConfigs, as in Kafka's ConfigHelper.

Which dynamic configs there are is `kraftctl.controller.state.dynamic_broker_config`. A limit of connections
is shown as it is in effect here; and truststores, which the properties file decides about, are not shown.
"""

from __future__ import annotations

from typing import Final

from kraftctl.config.dynamic_keys import is_limit, split_listener_key
from kraftctl.controller.configuration_control.node_configs import NodeConfigs, node_configs
from kraftctl.controller.state.controller_state import ControllerState
from kraftctl.controller.state.dynamic_broker_config import DynamicBrokerConfig, base_synonyms
from kraftctl.controller.state.effective_configs import ConfigLayer
from kraftctl.metadata.config_definitions import config_source
from kraftctl.metadata.config_definitions.config_key import (
    PASSWORD,
    TYPE_CODES,
    UNKNOWN_TYPE_CODE,
    ConfigKey,
    InvalidConfigValueError,
    parse_value,
)
from kraftctl.metadata.config_definitions.generated.broker_config_data import BROKER_CONFIG_KEYS
from kraftctl.metadata.config_definitions.generated.broker_quota_config_data import BROKER_QUOTA_CONFIG_KEYS
from kraftctl.metadata.config_definitions.generated.dynamic_broker_configs import DYNAMIC_BROKER_CONFIGS
from kraftctl.metadata.config_definitions.generated.topic_config_synonyms import TOPIC_CONFIG_SYNONYMS
from kraftctl.metadata.config_definitions.kafkas_form import in_kafkas_form
from kraftctl_protocol.generated.describe_configs_response import (
    DescribeConfigsResourceResult,
    DescribeConfigsSynonym,
)

LISTENER_MECHANISM_KEYS: Final = (
    "sasl.jaas.config",
    "sasl.login.callback.handler.class",
    "sasl.login.class",
    "sasl.server.callback.handler.class",
    "connections.max.reauth.ms",
)
"""These keys follow a listener's prefix and a mechanism of SASL: Kafka's LISTENER_MECHANISM_CONFIGS."""

RETENTION_MS: Final = "retention.ms"


class NodeDescriptions:
    """The repeated parts of one request's responses. Kafka's defaults are the last layer."""

    def __init__(self, state: ControllerState) -> None:
        self._dynamic = state.dynamic_config.once_committed(state.image)
        used = node_configs(state.config, self._dynamic.own, self._dynamic.cluster)
        self.properties = _in_effect(self._dynamic, used)
        defaults = {
            name: definition.default
            for name, definition in BROKER_CONFIG_KEYS.items()
            if definition.default is not None
        }
        self._layers = [
            ConfigLayer(
                config_source.DYNAMIC_BROKER_CONFIG, _without_unused_limits(self._dynamic.own, used.own)
            ),
            ConfigLayer(
                config_source.DYNAMIC_DEFAULT_BROKER_CONFIG,
                _without_unused_limits(self._dynamic.cluster, used.cluster),
            ),
            ConfigLayer(config_source.STATIC_BROKER_CONFIG, self._dynamic.static),
            ConfigLayer(config_source.DEFAULT_CONFIG, defaults),
        ]
        self._synonyms: dict[tuple[str, bool], list[DescribeConfigsSynonym]] = {}
        self._values: dict[str, str | None] = {}
        self._results: dict[tuple[str, bool], DescribeConfigsResourceResult] = {}
        self._names: set[str] = set()
        self.of_topics_without_their_own: list[DescribeConfigsResourceResult] | None = None

    def inherited_synonyms(self, name: str, sensitive: bool) -> list[DescribeConfigsSynonym]:
        """Returns the values that others inherit from broker configs; the list and its items do not
        change.
        """
        found = self._synonyms.get((name, sensitive))
        if found is None:
            found = _synonyms(name, self._layers, sensitive)
            self._synonyms[(name, sensitive)] = found
        return found

    def topic_value(self, definition: ConfigKey) -> str | None:
        """Returns what a topic has for a key that it does not set."""
        for name, factor in TOPIC_CONFIG_SYNONYMS.get(definition.name, []):
            text = self.value(name)
            if text is None:
                continue
            if factor != 1:
                text = _multiplied(name, text, factor)
            # Kafka takes any negative time for no limit.
            return "-1" if definition.name == RETENTION_MS and text.startswith("-") else text
        return definition.default

    def value(self, name: str) -> str | None:
        """Returns the value of a broker config that Kafka defines, as Kafka writes it."""
        if name not in self._values:
            self._values[name] = self._value(name)
        return self._values[name]

    def _value(self, name: str) -> str | None:
        definition = BROKER_CONFIG_KEYS[name]
        text = self.properties.get(name)
        if text is None:
            return definition.default
        return in_kafkas_form(definition.type, text, distinct=self._dynamic.is_distinct(name))

    def of_node(self, wanted: set[str] | None, synonyms: bool) -> list[DescribeConfigsResourceResult]:
        """Returns all public keys of Kafka, and whatever else is set."""
        if not self._names:
            public = [name for name, definition in BROKER_CONFIG_KEYS.items() if not definition.internal]
            self._names = {*public, *self.properties}
        names = self._names if wanted is None else wanted & self._names
        return [self._of_node(name, synonyms) for name in sorted(names)]

    def of_cluster(self, wanted: set[str] | None, synonyms: bool) -> list[DescribeConfigsResourceResult]:
        """Returns the default of all nodes, as it is stored."""
        stored = ConfigLayer(config_source.DYNAMIC_DEFAULT_BROKER_CONFIG, self._dynamic.cluster)
        names = sorted(stored.values if wanted is None else wanted & stored.values.keys())
        return [_result(name, stored.values[name], [stored], synonyms) for name in names]

    def _of_node(self, name: str, synonyms: bool) -> DescribeConfigsResourceResult:
        """Returns the same result for each resource of the request; the caller does not change it."""
        found = self._results.get((name, synonyms))
        if found is None:
            definition = BROKER_CONFIG_KEYS.get(name)
            as_set = definition is None or definition.internal
            value = self.properties[name] if as_set else self.value(name)
            found = _result(name, value, self._layers, synonyms)
            self._results[(name, synonyms)] = found
        return found


def _in_effect(dynamic: DynamicBrokerConfig, used: NodeConfigs) -> dict[str, str]:
    """Returns the properties, with limits of connections as this controller obeys them."""
    limits = [key for key in {**dynamic.cluster, **dynamic.own} if is_limit(key)]
    if not limits:
        return dynamic.properties
    obeyed = used.over(dynamic.static)
    shown = dict(dynamic.properties)
    for key in limits:
        shown.pop(key, None)
        if key in obeyed:
            shown[key] = obeyed[key]
    return shown


def _without_unused_limits(stored: dict[str, str], used: dict[str, str]) -> dict[str, str]:
    """Returns the dynamic configs, without the limits that have no effect: they are no source of a value."""
    return {key: value for key, value in stored.items() if key in used or not is_limit(key)}


def _multiplied(name: str, text: str, factor: int) -> str:
    try:
        number = parse_value(name, BROKER_CONFIG_KEYS[name].type, text)
    except InvalidConfigValueError:
        return text
    assert isinstance(number, int)
    return str(number * factor)


def _result(
    name: str, text: str | None, layers: list[ConfigLayer], synonyms: bool
) -> DescribeConfigsResourceResult:
    kind = _type_of(name)
    # An unknown key may hold a secret.
    sensitive = kind is None or kind == PASSWORD
    found = _synonyms(name, layers, sensitive)
    return DescribeConfigsResourceResult(
        name=name,
        value=None if sensitive else text,
        read_only=name not in DYNAMIC_BROKER_CONFIGS,
        config_source=found[0].source if found else config_source.DEFAULT_CONFIG,
        is_sensitive=sensitive,
        synonyms=found if synonyms else [],
        config_type=UNKNOWN_TYPE_CODE if kind is None else TYPE_CODES[kind],
        documentation=None,
    )


def _type_of(name: str) -> str | None:
    """Returns the type of a key, with or without the prefix of a listener; None if Kafka has no such key."""
    quota = BROKER_QUOTA_CONFIG_KEYS.get(name)
    if quota is not None:
        return quota.type
    for synonym in (name, *_synonym_names(name)):
        definition = BROKER_CONFIG_KEYS.get(synonym)
        if definition is not None:
            return definition.type
    return None


def _synonym_names(name: str) -> tuple[str, ...]:
    prefix, base = split_listener_key(name)
    if not prefix:
        return base_synonyms(name)
    for mechanism_key in LISTENER_MECHANISM_KEYS:
        if base.endswith(mechanism_key):
            return (name, mechanism_key)
    return (name, base)


def _synonyms(name: str, layers: list[ConfigLayer], sensitive: bool) -> list[DescribeConfigsSynonym]:
    """Returns the values of `name` and its synonyms in all layers, highest precedence first."""
    names = _synonym_names(name)
    found = [
        DescribeConfigsSynonym(
            name=synonym, value=None if sensitive else layer.values[synonym], source=layer.source
        )
        for layer in layers
        for synonym in names
        if synonym in layer.values
    ]
    first = 0
    while first < len(found) and found[first].name != name:
        first += 1
    return found[first:]
