"""The effective value of a topic config (KIP-525): one lookup for what is described and what is obeyed.

| a key of a topic is looked up in | under |
|--|--|
| the topic's own configs | its own name |
| the dynamic configs of this controller's node id | the broker keys that are synonyms of it |
| the cluster-wide dynamic defaults | the same |
| this controller's properties file | the same |
| Kafka's defaults | its own name |

A stored value that the key cannot have is ignored and the next layer applies, as in Kafka's
DynamicBrokerConfig: a controller that is asked directly stores broker configs unchecked, and no restart
would take them away. A topic's own configs are described as they are stored, usable or not: an operator has
to find what to repair. CreateTopics shows inherited values as they are stored, too (KafkaConfigSchema).
"""

from __future__ import annotations

from typing import Final

from kraftctl.config.controller_config import ControllerConfig
from kraftctl.image.metadata_image import MetadataImage
from kraftctl.image.topics_image import TopicImage
from kraftctl.metadata.config_definitions import config_source
from kraftctl.metadata.config_definitions.config_key import (
    INT,
    ConfigKey,
    ConfigValue,
    InvalidConfigValueError,
    parse_value,
)
from kraftctl.metadata.config_definitions.generated.topic_config_data import TOPIC_CONFIG_KEYS
from kraftctl.metadata.config_definitions.generated.topic_config_synonyms import TOPIC_CONFIG_SYNONYMS
from kraftctl.metadata.config_definitions.min_insync_replicas import MIN_INSYNC_REPLICAS
from kraftctl_protocol.config_resource import BROKER, CLUSTER_DEFAULT, TOPIC

UNCLEAN_LEADER_ELECTION_ENABLE: Final = "unclean.leader.election.enable"

OBEYED_CONFIGS: Final = (MIN_INSYNC_REPLICAS, UNCLEAN_LEADER_ELECTION_ENABLE)
"""The topic configs that elections here depend on."""

_NO_SYNONYMS: Final[list[tuple[str, int]]] = []


class ConfigLayer:
    """The broker configs of one source."""

    def __init__(self, source: int, values: dict[str, str]) -> None:
        self.source = source
        self.values = values


class EffectiveConfig:
    """A config that applies: `text` as it is stored, `value` parsed. Null is None."""

    def __init__(
        self, definition: ConfigKey, text: str | None, source: int, value: ConfigValue | None
    ) -> None:
        self.definition = definition
        self.text = text
        self.source = source
        self.value = value

    def __repr__(self) -> str:
        return f"EffectiveConfig({self.definition.name}={self.text!r}, source={self.source})"


def broker_layers(image: MetadataImage, config: ControllerConfig) -> list[ConfigLayer]:
    """Returns the layers of broker configs, highest precedence first.

    Topics inherit what is stored of the controller's own, as Kafka's CreateTopics shows it, also where only
    brokers obey it.
    """
    configurations = image.configurations
    own = configurations.config(BROKER, str(config.node_id))
    return [
        ConfigLayer(config_source.DYNAMIC_BROKER_CONFIG, own),
        ConfigLayer(
            config_source.DYNAMIC_DEFAULT_BROKER_CONFIG, configurations.config(BROKER, CLUSTER_DEFAULT)
        ),
        static_layer(config),
    ]


def static_layer(config: ControllerConfig) -> ConfigLayer:
    """Returns the layer of this controller's properties file."""
    return ConfigLayer(config_source.STATIC_BROKER_CONFIG, config.originals)


def inherited_config(layers: list[ConfigLayer], key: str, *, as_stored: bool = False) -> EffectiveConfig:
    """Returns the config of a topic without a usable value of its own for `key`.

    `as_stored`: usable or not.
    """
    definition = TOPIC_CONFIG_KEYS[key]
    synonyms = TOPIC_CONFIG_SYNONYMS.get(key, _NO_SYNONYMS)
    for layer in layers:
        values = layer.values
        for name, factor in synonyms:
            text = values.get(name)
            if text is not None:
                text = _in_topic_unit(text, factor)
                value = None if text is None else usable_value(key, text)
                if value is not None or (as_stored and text is not None):
                    return EffectiveConfig(definition, text, layer.source, value)
    default = config_source.DEFAULT_CONFIG
    return EffectiveConfig(definition, definition.default, default, definition.default_value)


def usable_value(key: str, text: str) -> ConfigValue | None:
    """Returns the value that a stored `text` has; None when the topic config `key` cannot have it."""
    try:
        return TOPIC_CONFIG_KEYS[key].parse(text)
    except InvalidConfigValueError:
        return None


def _in_topic_unit(value: str, factor: int) -> str | None:
    """Converts to the topic's unit; None when it is not a number."""
    if factor == 1:
        return value
    try:
        number = parse_value("", INT, value)
    except InvalidConfigValueError:
        return None
    assert isinstance(number, int)
    return str(number * factor)


def describe_topic_configs(
    image: MetadataImage,
    config: ControllerConfig,
    own: dict[str, str],
    *,
    as_stored: bool = False,
    wanted: set[str] | None = None,
) -> list[EffectiveConfig]:
    """Returns the configs of a topic whose own are `own`, sorted by name; sensitive values are left out.

    `as_stored`: inherited values are those that are stored, also if they cannot be used. `wanted`: only
    these keys; None is all.

    Internal keys are listed only when the topic sets them.
    """
    layers = broker_layers(image, config)
    result: list[EffectiveConfig] = []
    for name in sorted(TOPIC_CONFIG_KEYS if wanted is None else wanted & TOPIC_CONFIG_KEYS.keys()):
        definition = TOPIC_CONFIG_KEYS[name]
        if name in own:
            value = usable_value(name, own[name])
            entry = EffectiveConfig(definition, own[name], config_source.TOPIC_CONFIG, value)
        elif definition.internal:
            continue
        else:
            entry = inherited_config(layers, name, as_stored=as_stored)
        if definition.sensitive:
            entry.text = entry.value = None
        result.append(entry)
    return result


class TopicSettings:
    """The effective values of obeyed configs in one image.

    Inherited values are looked up again once a broker config has changed: to do so for each request took 1.1
    us of the 23 that the core spends on an AlterPartition of one partition.
    """

    def __init__(self, image: MetadataImage, config: ControllerConfig) -> None:
        self._image = image
        self._config = config
        self._configurations = image.configurations
        self._broker_changes = image.configurations.broker_changes
        self._min_isr: ConfigValue | None = None
        self._unclean: ConfigValue | None = None

    def min_isr(self, topic: TopicImage) -> int:
        """Returns min.insync.replicas, but never more than the topic has replicas (KIP-966)."""
        value = self._own_value(topic.name, MIN_INSYNC_REPLICAS)
        if value is None:
            value = self.inherited_min_isr()
        assert isinstance(value, int)
        return min(value, topic.replication_factor)

    def inherited_min_isr(self) -> int:
        """Returns min.insync.replicas of topics that have none of their own."""
        self._forget_what_changed()
        if self._min_isr is None:
            self._min_isr = self._inherited_value(MIN_INSYNC_REPLICAS)
        assert isinstance(self._min_isr, int)
        return self._min_isr

    def unclean_election_enabled(self, topic_name: str) -> bool:
        """Returns whether the topic prefers being available over keeping all acknowledged data."""
        value = self._own_value(topic_name, UNCLEAN_LEADER_ELECTION_ENABLE)
        if value is None:
            self._forget_what_changed()
            if self._unclean is None:
                self._unclean = self._inherited_value(UNCLEAN_LEADER_ELECTION_ENABLE)
            value = self._unclean
        assert isinstance(value, bool)
        return value

    def _forget_what_changed(self) -> None:
        if self._broker_changes != self._configurations.broker_changes:
            self._broker_changes = self._configurations.broker_changes
            self._min_isr = None
            self._unclean = None

    def _own_value(self, topic_name: str, key: str) -> ConfigValue | None:
        text = self._configurations.config(TOPIC, topic_name).get(key)
        return None if text is None else usable_value(key, text)

    def _inherited_value(self, key: str) -> ConfigValue:
        value = inherited_config(broker_layers(self._image, self._config), key).value
        assert value is not None, "what the controller obeys has a default"
        return value
