"""The configs of this node and of the cluster's default in DescribeConfigs, as in Kafka's ConfigHelper.

The values in effect are shown: for a dynamic config that a controller does not obey, the value of the
properties file. Kafka's controllers show the dynamic one as if it were in effect.
"""

from __future__ import annotations

from typing import Final

from kraftctl.config.dynamic_keys import split_listener_key
from kraftctl.controller.configuration_control.node_configs import node_configs
from kraftctl.controller.state.controller_state import ControllerState
from kraftctl.controller.state.effective_configs import ConfigLayer, broker_layers, static_layer
from kraftctl.metadata.config_definitions import config_source
from kraftctl.metadata.config_definitions.config_key import (
    BOOLEAN,
    DOUBLE,
    INT,
    LONG,
    PASSWORD,
    SHORT,
    TYPE_CODES,
    UNKNOWN_TYPE_CODE,
    InvalidConfigValueError,
    parse_value,
)
from kraftctl.metadata.config_definitions.generated.broker_config_data import BROKER_CONFIG_KEYS
from kraftctl.metadata.config_definitions.generated.dynamic_broker_configs import DYNAMIC_BROKER_CONFIGS
from kraftctl_protocol.config_resource import BROKER, CLUSTER_DEFAULT
from kraftctl_protocol.generated.describe_configs_response import (
    DescribeConfigsResourceResult,
    DescribeConfigsSynonym,
)

SYNONYM_GROUPS: Final = (
    ("log.roll.ms", "log.roll.hours"),
    ("log.roll.jitter.ms", "log.roll.jitter.hours"),
    ("log.flush.interval.ms", "log.flush.scheduler.interval.ms"),
    ("log.retention.ms", "log.retention.minutes", "log.retention.hours"),
)
"""Broker keys for the same setting in different units; a later one applies if no earlier one is set."""

LISTENER_MECHANISM_KEYS: Final = (
    "sasl.jaas.config",
    "sasl.login.callback.handler.class",
    "sasl.login.class",
    "sasl.server.callback.handler.class",
    "connections.max.reauth.ms",
)
"""These keys follow a listener's prefix and a mechanism of SASL: Kafka's LISTENER_MECHANISM_CONFIGS."""

REPLICATION_QUOTAS: Final = (
    "leader.replication.throttled.rate",
    "follower.replication.throttled.rate",
    "replica.alter.log.dirs.io.max.bytes.per.second",
)
"""These have the type LONG and are dynamic only: Kafka's QuotaConfig.BROKER_QUOTA_CONFIGS."""

NODE_IDS: Final = ("broker.id", "node.id")
"""Kafka has both whichever of the two is set."""


class NodeDescriptions:
    """The repeated parts of one request's responses. Kafka's defaults are the last layer."""

    def __init__(self, state: ControllerState) -> None:
        self._state = state
        defaults = {
            name: definition.default
            for name, definition in BROKER_CONFIG_KEYS.items()
            if definition.default is not None
        }
        self._defaulted = ConfigLayer(config_source.DEFAULT_CONFIG, defaults)
        self._inherited = [*broker_layers(state.image, state.config), self._defaulted]
        self._synonyms: dict[tuple[str, bool], list[DescribeConfigsSynonym]] = {}
        self._node: _NodeDescription | None = None
        self.of_topics_without_their_own: list[DescribeConfigsResourceResult] | None = None

    def inherited_synonyms(self, name: str, sensitive: bool) -> list[DescribeConfigsSynonym]:
        """Returns the values that topics inherit from broker configs; the list and its items do not
        change.
        """
        found = self._synonyms.get((name, sensitive))
        if found is None:
            found = _synonyms(name, self._inherited, sensitive)
            self._synonyms[(name, sensitive)] = found
        return found

    def of_node(self, wanted: set[str] | None, synonyms: bool) -> list[DescribeConfigsResourceResult]:
        """Returns all public keys of Kafka, and whatever else is set."""
        node = self._node
        if node is None:
            node = _NodeDescription(self._state, self._defaulted)
            self._node = node
        return [
            node.result(name, synonyms)
            for name in sorted(node.names if wanted is None else wanted & node.names)
        ]

    def of_cluster(self, wanted: set[str] | None, synonyms: bool) -> list[DescribeConfigsResourceResult]:
        """Returns the stored default of all nodes, in effect here or not: brokers may obey it."""
        stored = self._state.image.configurations.config(BROKER, CLUSTER_DEFAULT)
        layers = [ConfigLayer(config_source.DYNAMIC_DEFAULT_BROKER_CONFIG, stored)]
        names = sorted(stored if wanted is None else wanted & stored.keys())
        return [_result(name, stored[name], layers, synonyms) for name in names]


class _NodeDescription:
    """The configs in effect here. A request may ask for them any number of times, so each result is made
    once.
    """

    def __init__(self, state: ControllerState, defaulted: ConfigLayer) -> None:
        configurations = state.image.configurations
        own = configurations.config(BROKER, str(state.node_id))
        used = node_configs(state.config, own, configurations.config(BROKER, CLUSTER_DEFAULT))
        static = _with_both_node_ids(static_layer(state.config).values)
        self._layers = [
            ConfigLayer(config_source.DYNAMIC_BROKER_CONFIG, used.own),
            ConfigLayer(config_source.DYNAMIC_DEFAULT_BROKER_CONFIG, used.cluster),
            ConfigLayer(config_source.STATIC_BROKER_CONFIG, static),
            defaulted,
        ]
        self._properties = used.over(static)
        public = [name for name, definition in BROKER_CONFIG_KEYS.items() if not definition.internal]
        self.names = {*public, *self._properties}
        self._results: dict[tuple[str, bool], DescribeConfigsResourceResult] = {}

    def result(self, name: str, synonyms: bool) -> DescribeConfigsResourceResult:
        """Returns the result for one of `names`; the caller does not change it."""
        found = self._results.get((name, synonyms))
        if found is None:
            found = _result(name, self._text(name), self._layers, synonyms)
            self._results[(name, synonyms)] = found
        return found

    def _text(self, name: str) -> str | None:
        definition = BROKER_CONFIG_KEYS.get(name)
        text = self._properties.get(name)
        if definition is None:
            return text
        if text is None:
            text = definition.default
        return text if text is None or definition.internal else in_kafkas_form(definition.type, text)


def _with_both_node_ids(properties: dict[str, str]) -> dict[str, str]:
    ids = [properties[name] for name in NODE_IDS if name in properties]
    return properties if len(ids) != 1 else {**properties, **dict.fromkeys(NODE_IDS, ids[0])}


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
    if name in REPLICATION_QUOTAS:
        return LONG
    for synonym in (name, *_synonym_names(name)):
        definition = BROKER_CONFIG_KEYS.get(synonym)
        if definition is not None:
            return definition.type
    return None


def _synonym_names(name: str) -> tuple[str, ...]:
    for group in SYNONYM_GROUPS:
        if name == group[0] or (name in group and name != "log.flush.scheduler.interval.ms"):
            return group
    prefix, base = split_listener_key(name)
    if not prefix:
        return (name,)
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


def in_kafkas_form(kind: str, text: str) -> str:
    """Returns a value of this type as Kafka writes it, whatever its form in the properties file."""
    try:
        value = parse_value("", kind, text)
    except InvalidConfigValueError:
        return text  # of a key that a controller does not check
    if kind == BOOLEAN:
        return "true" if value else "false"
    if isinstance(value, list):
        return ",".join(value)
    if kind in (INT, SHORT, LONG):
        return str(value)
    if kind == DOUBLE:
        written = repr(value)
        return text if "e" in written or "n" in written else written
    return str(value)
