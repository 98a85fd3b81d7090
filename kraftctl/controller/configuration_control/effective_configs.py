"""Effective values of topic configs, and whether a set of them is valid.

A key is looked up in the topic's own configs, then under the broker keys that stand in for it: dynamic
configs of this controller's node id, dynamic cluster defaults, this controller's properties file, default.
"""

from __future__ import annotations

from kraftctl.config.controller_config import ControllerConfig
from kraftctl.image.metadata_image import MetadataImage
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
from kraftctl_protocol import config_resource
from kraftctl_protocol.api_error import ApiError
from kraftctl_protocol.errors import Errors

MIN_INSYNC_REPLICAS = "min.insync.replicas"
UNCLEAN_LEADER_ELECTION_ENABLE = "unclean.leader.election.enable"
REMOTE_STORAGE_ENABLE = "remote.storage.enable"
REMOTE_LOG_STORAGE_SYSTEM_ENABLE = "remote.log.storage.system.enable"

NONE = ApiError(Errors.NONE)


class EffectiveConfig:
    """One config as it applies. `value` is None when it is null or must not be shown."""

    def __init__(self, name: str, value: str | None, source: int, sensitive: bool, type_code: int) -> None:
        self.name = name
        self.value = value
        self.source = source
        self.sensitive = sensitive
        self.type_code = type_code
        self.read_only = False

    def __repr__(self) -> str:
        return f"EffectiveConfig({self.name}={self.value!r}, source={self.source})"


def effective_topic_config(
    image: MetadataImage, config: ControllerConfig, overrides: dict[str, str], key: str
) -> EffectiveConfig:
    """The config `key` of a topic whose own configs are `overrides`.

    Shown as it is stored, also when nobody can use it: who describes it has to find what to repair.
    """
    definition = TOPIC_CONFIG_KEYS[key]
    if key in overrides:
        return _effective(definition, overrides[key], config_source.TOPIC_CONFIG)
    synonyms = TOPIC_CONFIG_SYNONYMS.get(key, [])
    configurations = image.configurations
    layers: list[tuple[int, dict[str, str]]] = [
        (
            config_source.DYNAMIC_BROKER_CONFIG,
            configurations.config(config_resource.BROKER, str(config.node_id)),
        ),
        (
            config_source.DYNAMIC_DEFAULT_BROKER_CONFIG,
            configurations.config(config_resource.BROKER, config_resource.CLUSTER_DEFAULT),
        ),
        (config_source.STATIC_BROKER_CONFIG, config.originals),
    ]
    for source, values in layers:
        for name, factor in synonyms:
            value = _in_topic_unit(values.get(name), factor)
            if value is not None:
                return _effective(definition, value, source)
    return _effective(definition, definition.default, config_source.DEFAULT_CONFIG)


def _effective(definition: ConfigKey, value: str | None, source: int) -> EffectiveConfig:
    return EffectiveConfig(definition.name, value, source, definition.sensitive, definition.type_code)


def usable_value(key: str, text: str) -> ConfigValue | None:
    """What a stored `text` stands for; None when the topic config `key` cannot have that value."""
    try:
        return TOPIC_CONFIG_KEYS[key].parse(text)
    except InvalidConfigValueError:
        return None


def _in_topic_unit(value: str | None, factor: int) -> str | None:
    """None when there is no value or it is no number: broker configs are stored unchecked."""
    if value is None or factor == 1:
        return value
    try:
        number = parse_value("", INT, value)
    except InvalidConfigValueError:
        return None
    assert isinstance(number, int)
    return str(number * factor)


def describe_topic_configs(
    image: MetadataImage, config: ControllerConfig, overrides: dict[str, str]
) -> list[EffectiveConfig]:
    """All configs of a topic whose own are `overrides`, sorted by name; sensitive values are left out.

    Internal keys are listed only when the topic sets them.
    """
    result: list[EffectiveConfig] = []
    for name in sorted(TOPIC_CONFIG_KEYS):
        if TOPIC_CONFIG_KEYS[name].internal and name not in overrides:
            continue
        entry = effective_topic_config(image, config, overrides, name)
        if entry.sensitive:
            entry.value = None
        result.append(entry)
    return result


def validate_topic_configs(
    image: MetadataImage,
    config: ControllerConfig,
    configs: dict[str, str | None],
    existing: dict[str, str] | None = None,
) -> ApiError:
    """INVALID_CONFIG with a reason, or NONE. `configs` is the complete new set, `existing` what there is."""
    nulls = sorted(name for name, value in configs.items() if value is None)
    if nulls:
        return _invalid(f"Null value not supported for topic configs: {','.join(nulls)}")
    given = {name: value for name, value in configs.items() if value is not None}
    for name in sorted(given):
        if name not in TOPIC_CONFIG_KEYS:
            return _invalid(f"Unknown topic config name: {name}")
    values: dict[str, ConfigValue | None] = {}
    try:
        for name, definition in TOPIC_CONFIG_KEYS.items():
            text: str | None = given.get(name)
            if text is None:
                text = _controller_default(config, definition)
            values[name] = None if text is None else definition.parse(text)
    except InvalidConfigValueError as error:
        return _invalid(str(error))
    reason = _why_combination_invalid(values, config, existing or {})
    return NONE if reason is None else _invalid(reason)


def _controller_default(config: ControllerConfig, definition: ConfigKey) -> str | None:
    """As this controller's properties have it: dynamic broker configs take no part in validation."""
    for name, factor in TOPIC_CONFIG_SYNONYMS.get(definition.name, []):
        value = _in_topic_unit(config.originals.get(name), factor)
        if value is not None:
            return value
    return definition.default


def _invalid(reason: str) -> ApiError:
    return ApiError(Errors.INVALID_CONFIG, reason)


def _number(values: dict[str, ConfigValue | None], name: str) -> int:
    value = values[name]
    assert isinstance(value, int), name
    return value


def _why_combination_invalid(
    values: dict[str, ConfigValue | None], config: ControllerConfig, existing: dict[str, str]
) -> str | None:
    least, most = _number(values, "min.compaction.lag.ms"), _number(values, "max.compaction.lag.ms")
    if least > most:
        return f"min.compaction.lag.ms ({least}) is greater than max.compaction.lag.ms ({most})"
    if values[REMOTE_STORAGE_ENABLE] is True:
        return _why_remote_storage_invalid(values, config)
    was_remote = existing.get(REMOTE_STORAGE_ENABLE, "false").strip().lower() == "true"
    if was_remote and values["remote.log.delete.on.disable"] is not True:
        return (
            "remote storage is switched off together with its data (remote.log.delete.on.disable=true); "
            "to keep the data read-only set remote.log.copy.disable=true"
        )
    return None


def _why_remote_storage_invalid(
    values: dict[str, ConfigValue | None], config: ControllerConfig
) -> str | None:
    """KIP-405, KIP-950: what a topic in remote storage may not combine."""
    if config.originals.get(REMOTE_LOG_STORAGE_SYSTEM_ENABLE, "false").strip().lower() != "true":
        return "tiered storage is switched off in this cluster, so no topic can use it"
    policy = values["cleanup.policy"]
    if policy not in (["delete"], []):
        return "remote storage needs cleanup.policy=delete, or an empty one"
    for local_key, key in (
        ("local.retention.bytes", "retention.bytes"),
        ("local.retention.ms", "retention.ms"),
    ):
        local, total = _number(values, local_key), _number(values, key)
        if local == -2:
            continue
        if total >= 0 and local == -1:
            return f"Invalid value -1 for configuration {local_key}: {key} is limited to {total}"
        if total >= 0 and local > total:
            return f"Invalid value {local} for configuration {local_key}: it exceeds {key}, which is {total}"
        if values["remote.log.copy.disable"] is True and local != total:
            return f"with remote.log.copy.disable {local_key} must equal {key}"
    return None
