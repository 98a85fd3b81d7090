"""Validates the configs of a group as Kafka 4.4 does: against the bounds that nodes set.

Only keys that the group sets are checked. A heartbeat interval is compared with a session timeout, or the
other way round, as soon as the group sets one of them; the node's default stands in for the other.
"""

from __future__ import annotations

from typing import Final

from kraftctl.config.controller_config import ControllerConfig
from kraftctl.config.group_checks import STREAMS_ASSIGNORS, STREAMS_BUILT_IN
from kraftctl.metadata.config_definitions.config_key import (
    ConfigKey,
    ConfigValue,
    InvalidConfigValueError,
)
from kraftctl.metadata.config_definitions.generated.broker_config_data import BROKER_CONFIG_KEYS
from kraftctl.metadata.config_definitions.generated.group_config_data import GROUP_CONFIG_KEYS
from kraftctl_protocol.api_error import ApiError
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.java_values import split_list

BOUNDED_GROUP_KEYS = (
    ("consumer", "session.timeout.ms"),
    ("consumer", "heartbeat.interval.ms"),
    ("consumer", "assignment.interval.ms"),
    ("share", "session.timeout.ms"),
    ("share", "heartbeat.interval.ms"),
    ("share", "record.lock.duration.ms"),
    ("share", "delivery.count.limit"),
    ("share", "partition.max.record.locks"),
    ("share", "assignment.interval.ms"),
    ("streams", "session.timeout.ms"),
    ("streams", "heartbeat.interval.ms"),
    ("streams", "assignment.interval.ms"),
    ("streams", "num.standby.replicas"),
    ("streams", "task.offset.interval.ms"),
    ("streams", "num.warmup.replicas"),
)
"""Group keys that brokers bound by `group.<kind>.min.<key>` and `group.<kind>.max.<key>`, without `num.`."""

GROUP_BOUNDS: Final[list[tuple[str, str, str]]] = [
    (
        f"{kind}.{key}",
        f"group.{kind}.min.{key.removeprefix('num.')}",
        f"group.{kind}.max.{key.removeprefix('num.')}",
    )
    for kind, key in BOUNDED_GROUP_KEYS
]
"""The bounds of each key."""

GROUP_TIMES: Final[list[tuple[str, str, str, str]]] = [
    (
        f"{kind}.session.timeout.ms",
        f"{kind}.heartbeat.interval.ms",
        f"group.{kind}.session.timeout.ms",
        f"group.{kind}.heartbeat.interval.ms",
    )
    for kind in ("consumer", "share", "streams")
]
"""The session timeout and heartbeat interval, and the keys with this node's defaults."""

RACK_AWARE_TAGS: Final = "streams.rack.aware.assignment.tags"
ASSIGNOR_NAME: Final = "streams.assignor.name"
DEAD_LETTER_TOPIC: Final = "errors.deadletterqueue.topic.name"
INTERNAL_TOPIC_PREFIX: Final = "__"


class GroupConfigCheck:
    """The bounds of this node, each read once for all groups of a request."""

    def __init__(self, config: ControllerConfig) -> None:
        self._config = config
        self._node_numbers: dict[str, int | None] = {}

    def why_invalid(self, name: str, configs: dict[str, str]) -> ApiError | None:
        """Returns the first rule that `configs`, the complete new set of the group, breaks."""
        if not name:
            return ApiError(Errors.INVALID_REQUEST, "there are no default group configs")
        values, error = parsed_configs(GROUP_CONFIG_KEYS, configs, Errors.INVALID_CONFIG)
        if error is not None:
            return error
        reason = (
            _why_tags_refused(configs) or self._why_number_refused(values) or self._why_text_refused(values)
        )
        return None if reason is None else ApiError(Errors.INVALID_CONFIG, reason)

    def _why_number_refused(self, values: dict[str, ConfigValue]) -> str | None:
        for key, minimum, maximum in GROUP_BOUNDS:
            value = values.get(key)
            if not isinstance(value, int):
                continue
            lowest, highest = self._node_number(minimum), self._node_number(maximum)
            if lowest is not None and value < lowest:
                return f"{key} must be greater than or equal to {minimum}"
            if highest is not None and value > highest:
                return f"{key} must be less than or equal to {maximum}"
        for session, heartbeat, node_session, node_heartbeat in GROUP_TIMES:
            if session not in values and heartbeat not in values:
                continue
            session_ms = self._group_number(values, session, node_session)
            heartbeat_ms = self._group_number(values, heartbeat, node_heartbeat)
            if session_ms is not None and heartbeat_ms is not None and session_ms <= heartbeat_ms:
                return f"{session} must be greater than {heartbeat}"
        return None

    def _why_text_refused(self, values: dict[str, ConfigValue]) -> str | None:
        """Checks names. A task assignor of a class has a name that only a JVM could tell."""
        assignor = values.get(ASSIGNOR_NAME)
        if assignor is not None:
            offered = split_list(self._config.originals.get(STREAMS_ASSIGNORS, ",".join(STREAMS_BUILT_IN)))
            if assignor not in offered and all(each in STREAMS_BUILT_IN for each in offered):
                return f"{ASSIGNOR_NAME} is {assignor}, which is not in {STREAMS_ASSIGNORS}: {offered}"
        topic = values.get(DEAD_LETTER_TOPIC)
        if isinstance(topic, str) and topic.startswith(INTERNAL_TOPIC_PREFIX):
            return f"{DEAD_LETTER_TOPIC} is {topic}: the names of internal topics begin so"
        return None

    def _group_number(self, values: dict[str, ConfigValue], key: str, node_key: str) -> int | None:
        """Returns the group's value: its own, else this node's default."""
        value = values.get(key)
        return value if isinstance(value, int) else self._node_number(node_key)

    def _node_number(self, name: str) -> int | None:
        if name not in self._node_numbers:
            self._node_numbers[name] = _node_number(self._config, name)
        return self._node_numbers[name]


def parsed_configs(
    keys: dict[str, ConfigKey], configs: dict[str, str], unknown: Errors
) -> tuple[dict[str, ConfigValue], ApiError | None]:
    """Returns the values of `configs`, or the error of one that is `unknown`, then of an invalid one."""
    values: dict[str, ConfigValue] = {}
    names = sorted(configs)
    for name in names:
        if name not in keys:
            return values, ApiError(unknown, f"Unknown config name: {name}")
    for name in names:
        try:
            values[name] = keys[name].parse(configs[name])
        except InvalidConfigValueError as error:
            return values, ApiError(Errors.INVALID_CONFIG, str(error))
    return values, None


def _why_tags_refused(configs: dict[str, str]) -> str | None:
    tags = split_list(configs.get(RACK_AWARE_TAGS, ""))
    return None if len(set(tags)) == len(tags) else f"{RACK_AWARE_TAGS} names a tag twice"


def _node_number(config: ControllerConfig, name: str) -> int | None:
    definition = BROKER_CONFIG_KEYS.get(name)
    if definition is None or definition.default is None:
        return None
    value = definition.parse(config.originals.get(name, definition.default))
    return value if isinstance(value, int) else None
