"""The broker configs that this node shows, as Kafka's DynamicBrokerConfig keeps them (KIP-226).

| kept | what |
|--|--|
| `own`, `cluster` | the dynamic configs of this node and of the cluster, but for those that Kafka ignores |
| `static` | the properties file |
| `properties` | what KafkaConfig was made of last: the file, and over it the dynamic configs |

Kafka stores whatever a controller is sent. It ignores a value that its key cannot have, a key that is not
dynamic, and of the cluster's default what only a node can have. A key that it does not know is kept. If all
of them together are no valid KafkaConfig, `properties` stay as they are until they are one.

Of its own, Kafka's controller changes threads and more while it runs. What this one does not change, it does
not keep: what is shown is in effect.

So what was there before counts. Each node takes the same steps, asked in between or not: a batch of committed
records is one. What was committed before a start, or is in a snapshot, is a single one, too.
"""

from __future__ import annotations

from typing import Final

from kraftctl.config.controller_config import ControllerConfig
from kraftctl.config.defined_values import names_a_class
from kraftctl.config.dynamic_keys import LISTENER_LIMIT_KEYS, changes_trust, split_listener_key
from kraftctl.config.kafka_config_checks import check_as_kafka
from kraftctl.controller.state.obeyed_configs import ObeyedConfigs
from kraftctl.image.metadata_image import MetadataImage
from kraftctl.metadata.config_definitions.config_key import (
    CLASS,
    INT,
    ConfigKey,
    InvalidConfigValueError,
    parse_value,
)
from kraftctl.metadata.config_definitions.generated.broker_config_data import BROKER_CONFIG_KEYS
from kraftctl.metadata.config_definitions.generated.broker_config_rules import broker_config_rules
from kraftctl.metadata.config_definitions.generated.broker_quota_config_data import BROKER_QUOTA_CONFIG_KEYS
from kraftctl.metadata.config_definitions.generated.dynamic_broker_configs import (
    DYNAMIC_BROKER_CONFIGS,
    LISTENER_ONLY_CONFIGS,
    PER_BROKER_CONFIGS,
)
from kraftctl.metadata.config_definitions.validators import ListOf
from kraftctl_protocol.config_resource import BROKER, CLUSTER_DEFAULT
from kraftctl_protocol.generated.config_record import ConfigRecord
from kraftctl_protocol.java_values import parse_integer, split_list
from kraftctl_security.tls.ssl_config import listener_prefix

NODE_IDS: Final = ("broker.id", "node.id")
"""Kafka has both whichever of the two is set."""

SYNONYM_GROUPS: Final = (
    ("log.roll.ms", "log.roll.hours"),
    ("log.roll.jitter.ms", "log.roll.jitter.hours"),
    ("log.flush.interval.ms", "log.flush.scheduler.interval.ms"),
    ("log.retention.ms", "log.retention.minutes", "log.retention.hours"),
)
"""Broker keys for the same setting in different units; a later one applies if no earlier one is set."""

CLUSTER_LISTENER_KEYS: Final = (*LISTENER_LIMIT_KEYS, "num.network.threads")
"""With the prefix of a listener, the cluster's default has only these: CLUSTER_LEVEL_LISTENER_CONFIGS."""

CLAMPED: Final = tuple(
    [f"group.{kind}.{{}}assignment.interval.ms" for kind in ("consumer", "share", "streams")]
)
"""Kafka keeps these between the bounds of the node: GroupCoordinatorConfig.clampDynamicConfigs."""

IO_THREADS: Final = "num.io.threads"
NETWORK_THREADS: Final = "num.network.threads"
POOLS: Final = (IO_THREADS, "num.replica.fetchers", "num.recovery.threads.per.data.dir", "background.threads")
"""Kafka compares all of these once IO_THREADS has changed: DynamicThreadPool."""

METRIC_REPORTERS: Final = "metric.reporters"

NEVER: Final = -1


class DynamicBrokerConfig:
    """The configs of one process, as of what is committed."""

    def __init__(self, config: ControllerConfig) -> None:
        self._config = config
        self._rules = broker_config_rules()
        self._prefixes = [listener_prefix(endpoint.listener) for endpoint in config.listeners]
        self._obeyed = ObeyedConfigs(config)
        self._broker_changes = NEVER
        self._taken_end = NEVER
        self._batch_ends: list[int] = []
        self._stored: dict[str, dict[str, str]] = {CLUSTER_DEFAULT: {}, str(config.node_id): {}}
        self.static = with_both_node_ids(config.originals)
        self.cluster: dict[str, str] = {}
        self.own: dict[str, str] = {}
        self.properties = self.static

    def appended(self, record: ConfigRecord, batch_end: int) -> None:
        """Notes a record of a batch that this node appends, up to `batch_end`: it may never be committed."""
        if record.resource_type != BROKER or record.resource_name not in self._stored:
            return
        if not self._batch_ends or self._batch_ends[-1] != batch_end:
            self._batch_ends.append(batch_end)

    def renounced(self) -> None:
        """Forgets what was appended: it is undone."""
        self._batch_ends.clear()

    def take_appended(self, image: MetadataImage, stable_end: int) -> None:
        """Takes the batches before `stable_end`, one by one. The journal has to hold what they change."""
        while self._batch_ends and self._batch_ends[0] <= stable_end:
            self._use(_stored_before(image, self._batch_ends.pop(0), list(self._stored)))

    def take_replayed(self, image: MetadataImage, stable_end: int) -> None:
        """Takes the batch of others that was replayed last; nothing while no broker config has changed."""
        changes = image.configurations.broker_changes
        # In a metadata transaction, `stable_end` stays where it began.
        if changes == self._broker_changes or stable_end == self._taken_end:
            return
        self._taken_end = stable_end
        if image.journal.transaction_start is None:
            self._broker_changes = changes
        self._use(_stored_before(image, stable_end, list(self._stored)))

    def release_image(self) -> None:
        """Notes that another image is read from now on, whatever it has."""
        self._broker_changes = self._taken_end = NEVER

    def once_committed(self, image: MetadataImage) -> DynamicBrokerConfig:
        """Returns what this becomes when all of `image` is committed; itself if nothing changes by that."""
        stored = {name: image.configurations.config(BROKER, name) for name in self._stored}
        if not self._batch_ends and stored == self._stored:
            return self
        future = DynamicBrokerConfig(self._config)
        future._stored, future.properties = self._stored, self.properties
        future.cluster, future.own = self.cluster, self.own
        for batch_end in self._batch_ends:
            future._use(_stored_before(image, batch_end, list(self._stored)))
        future._use({name: dict(configs) for name, configs in stored.items()})
        return future

    def _use(self, stored: dict[str, dict[str, str]]) -> None:
        if stored == self._stored:
            return
        self._stored = stored
        kept = {
            name: {key: value for key, value in configs.items() if self._is_kept(name, key, value)}
            for name, configs in stored.items()
        }
        self.cluster, self.own = kept[CLUSTER_DEFAULT], kept[str(self._config.node_id)]
        self._apply()

    def is_distinct(self, name: str) -> bool:
        """Returns whether the items of this LIST count once."""
        return isinstance(self._rules.get(name), ListOf)

    def _is_kept(self, name: str, key: str, value: str) -> bool:
        prefix, base = split_listener_key(key)
        definition = _dynamic_definition(base)
        if definition is not None and not self._has_valid_value(definition, value):
            return False
        if key in BROKER_CONFIG_KEYS and _dynamic_definition(key) is None:
            return False
        if key in LISTENER_ONLY_CONFIGS or (changes_trust(key) and not self._config.dynamic_trust):
            return False
        if name != CLUSTER_DEFAULT:
            return not self._is_without_effect(key, prefix, base)
        return base in CLUSTER_LISTENER_KEYS if prefix else key not in PER_BROKER_CONFIGS

    def _is_without_effect(self, key: str, prefix: str, base: str) -> bool:
        """Returns whether Kafka has this key, and no controller here obeys it while it runs."""
        is_defined = base in BROKER_CONFIG_KEYS and self._obeyed.has_listener(prefix)
        return is_defined and self._obeyed.why_not(key) is not None

    def _has_valid_value(self, definition: ConfigKey, text: str) -> bool:
        try:
            value = parse_value(definition.name, definition.type, text)
        except InvalidConfigValueError:
            return False
        if definition.type == CLASS and not names_a_class(str(value)):
            return False
        if isinstance(value, list) and self.is_distinct(definition.name) and len(set(value)) < len(value):
            return False  # Kafka 4.4; a file may name an item twice
        rule = self._rules.get(definition.name, definition.validator)
        return rule.error(definition.name, text, value) is None

    def _apply(self) -> None:
        properties = dict(self.static)
        for layer in (self.cluster, self.own):
            for key, value in layer.items():
                for synonym in base_synonyms(key):
                    properties.pop(synonym, None)
                properties[key] = value
        if _clamp(properties) and not self._is_refused(properties):
            self.properties = with_both_node_ids(properties)

    def _is_refused(self, properties: dict[str, str]) -> bool:
        if check_as_kafka(properties).errors:
            return True
        reporters = properties.get(METRIC_REPORTERS, "")
        new_reporters = reporters != self.properties.get(METRIC_REPORTERS, "")
        if new_reporters and not all(names_a_class(item) for item in split_list(reporters)):
            return True
        if self._changes("", IO_THREADS, properties) and any(
            self._is_another_pool("", key, properties) for key in POOLS
        ):
            return True
        return any(self._is_refused_by_listener(prefix, properties) for prefix in self._prefixes)

    def _is_refused_by_listener(self, prefix: str, properties: dict[str, str]) -> bool:
        if self._is_another_pool(prefix, NETWORK_THREADS, properties):
            return True
        changed = any(self._changes(prefix, key, properties) for key in LISTENER_LIMIT_KEYS)
        return changed and any(_number(prefix, key, properties) <= 0 for key in LISTENER_LIMIT_KEYS)

    def _changes(self, prefix: str, key: str, properties: dict[str, str]) -> bool:
        return _number(prefix, key, properties) != _number(prefix, key, self.properties)

    def _is_another_pool(self, prefix: str, key: str, properties: dict[str, str]) -> bool:
        """Returns whether the number of threads becomes less than half, or more than twice as large."""
        new, old = _number(prefix, key, properties), _number(prefix, key, self.properties)
        return new != old and not max(1, old // 2) <= new <= old * 2


def _stored_before(image: MetadataImage, end_offset: int, names: list[str]) -> dict[str, dict[str, str]]:
    """Returns the stored configs of these nodes, without the records from `end_offset` on."""
    view = image.journal.open_view(end_offset)
    stored = {name: dict(image.configurations.config_in_view(view, (BROKER, name))) for name in names}
    image.journal.close_view(view)
    return stored


def with_both_node_ids(properties: dict[str, str]) -> dict[str, str]:
    """Returns `properties` with node.id and broker.id, if they have one of the two."""
    ids = [properties[name] for name in NODE_IDS if name in properties]
    return properties if len(ids) != 1 else {**properties, **dict.fromkeys(NODE_IDS, ids[0])}


def base_synonyms(name: str) -> tuple[str, ...]:
    """Returns the keys that stand for the same setting as `name`; itself, if there are none."""
    for group in SYNONYM_GROUPS:
        if name == group[0] or (name in group and name != "log.flush.scheduler.interval.ms"):
            return group
    return (name,)


def _dynamic_definition(name: str) -> ConfigKey | None:
    quota = BROKER_QUOTA_CONFIG_KEYS.get(name)
    if quota is not None:
        return quota
    return BROKER_CONFIG_KEYS.get(name) if name in DYNAMIC_BROKER_CONFIGS else None


def _clamp(properties: dict[str, str]) -> bool:
    """Moves the CLAMPED into their bounds. Returns False where Kafka fails: it does not trim them."""
    for form in CLAMPED:
        text = properties.get(form.format(""))
        if text is None:
            continue
        value = parse_integer(text, 32)
        if value is None:
            return False
        least, most = (
            _number("", form.format("min."), properties),
            _number("", form.format("max."), properties),
        )
        if not least <= value <= most:
            properties[form.format("")] = str(least if value < least else most)
    return True


def _number(prefix: str, key: str, properties: dict[str, str]) -> int:
    """Returns an INT of a listener, or of the node; 0 if it is none."""
    text = properties.get(prefix + key, properties.get(key))
    try:
        value = BROKER_CONFIG_KEYS[key].default_value if text is None else parse_value(key, INT, text)
    except InvalidConfigValueError:
        return 0
    return value if isinstance(value, int) else 0
