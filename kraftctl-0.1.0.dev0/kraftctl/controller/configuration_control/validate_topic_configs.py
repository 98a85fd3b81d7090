"""Validates the configs of a topic like Kafka's LogConfig: each one and all together."""

from __future__ import annotations

from typing import Final

from kraftctl.config.controller_config import ControllerConfig
from kraftctl.controller.state.effective_configs import inherited_config, static_layer
from kraftctl.metadata.config_definitions.config_key import ConfigValue, InvalidConfigValueError
from kraftctl.metadata.config_definitions.generated.topic_config_data import TOPIC_CONFIG_KEYS
from kraftctl_protocol.api_error import ApiError
from kraftctl_protocol.errors import Errors

REMOTE_STORAGE_ENABLE: Final = "remote.storage.enable"
REMOTE_LOG_STORAGE_SYSTEM_ENABLE: Final = "remote.log.storage.system.enable"

REMOTE_LIMITS: Final = (
    ("local.retention.bytes", "retention.bytes", "remote.copy.lag.bytes"),
    ("local.retention.ms", "retention.ms", "remote.copy.lag.ms"),
)
"""What a log may have here, what it may have in all, and how long a segment stays only here."""

SAME_AS_TOTAL: Final = -2


class TopicConfigCheck:
    """The common data of a request's topics: the values of keys that a topic does not set.

    They are those of this controller's properties file: dynamic broker configs take no part in validation.
    They are found for the first topic that sets any.
    """

    def __init__(self, config: ControllerConfig) -> None:
        self._config = config
        self._inherited: dict[str, ConfigValue | None] = {}

    def why_invalid(self, configs: dict[str, str], existing: dict[str, str]) -> ApiError | None:
        """Returns INVALID_CONFIG with a reason. `configs` is the complete new set, `existing` the
        present one.
        """
        for name in sorted(configs):
            if name not in TOPIC_CONFIG_KEYS:
                return _invalid(f"Unknown topic config name: {name}")
        if not self._inherited:
            static = [static_layer(self._config)]
            self._inherited = {name: inherited_config(static, name).value for name in TOPIC_CONFIG_KEYS}
        values = dict(self._inherited)
        try:
            for name in _in_order_of_definition(configs):
                values[name] = TOPIC_CONFIG_KEYS[name].parse(configs[name])
        except InvalidConfigValueError as error:
            return _invalid(str(error))
        reason = _why_combination_invalid(values, self._config, existing)
        return None if reason is None else _invalid(reason)


def why_topic_configs_invalid(
    config: ControllerConfig, configs: dict[str, str], existing: dict[str, str] | None = None
) -> ApiError | None:
    """Runs `TopicConfigCheck` for one topic."""
    return TopicConfigCheck(config).why_invalid(configs, existing or {})


def _in_order_of_definition(configs: dict[str, str]) -> list[str]:
    """Returns the configs in Kafka's parsing order: a refusal names the first that is invalid."""
    names = list(configs)
    return names if len(names) < 2 else [name for name in TOPIC_CONFIG_KEYS if name in configs]


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
    """Returns combinations that a topic in remote storage may not have (KIP-405, KIP-950)."""
    if config.originals.get(REMOTE_LOG_STORAGE_SYSTEM_ENABLE, "false").strip().lower() != "true":
        return "tiered storage is switched off in this cluster, so no topic can use it"
    policy = values["cleanup.policy"]
    if policy not in (["delete"], []):
        return "remote storage needs cleanup.policy=delete, or an empty one"
    return (
        _why_local_retention_invalid(values)
        or _why_copy_lag_invalid(values)
        or _why_read_only_retention_invalid(values)
    )


def _why_local_retention_invalid(values: dict[str, ConfigValue | None]) -> str | None:
    for local_key, key, _ in REMOTE_LIMITS:
        local, total = _number(values, local_key), _number(values, key)
        if local == SAME_AS_TOTAL or total < 0:
            continue
        if local == -1:
            return f"Invalid value -1 for configuration {local_key}: {key} is limited to {total}"
        if local > total:
            return f"Invalid value {local} for configuration {local_key}: it exceeds {key}, which is {total}"
    return None


def _why_copy_lag_invalid(values: dict[str, ConfigValue | None]) -> str | None:
    """Returns why a segment would be deleted here before it is copied."""
    for local_key, key, lag_key in REMOTE_LIMITS:
        lag, limit_key = _number(values, lag_key), local_key
        if _number(values, local_key) == SAME_AS_TOTAL:
            limit_key = key
        limit = _number(values, limit_key)
        if 0 <= limit < lag:
            return (
                f"Invalid value {lag} for configuration {lag_key}: it exceeds {limit_key}, which is {limit}"
            )
    return None


def _why_read_only_retention_invalid(values: dict[str, ConfigValue | None]) -> str | None:
    if values["remote.log.copy.disable"] is not True:
        return None
    for local_key, key, _ in REMOTE_LIMITS:
        if _number(values, local_key) not in (SAME_AS_TOTAL, _number(values, key)):
            return f"with remote.log.copy.disable {local_key} must equal {key}"
    return None
