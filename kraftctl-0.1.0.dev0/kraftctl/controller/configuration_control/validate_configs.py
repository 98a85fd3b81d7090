"""Checks that a resource exists and its complete new configuration is valid, per kind of resource."""

from __future__ import annotations

import re
from typing import Final

from kraftctl.config.controller_config import ControllerConfig
from kraftctl.controller.configuration_control.validate_group_configs import (
    GroupConfigCheck,
    parsed_configs,
)
from kraftctl.controller.configuration_control.validate_topic_configs import TopicConfigCheck
from kraftctl.image.metadata_image import MetadataImage
from kraftctl.metadata.config_definitions.generated.client_metrics_config_data import (
    CLIENT_METRICS_CONFIG_KEYS,
)
from kraftctl.metadata.topic_name import why_topic_name_invalid
from kraftctl_protocol import config_resource
from kraftctl_protocol.api_error import ApiError
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.java_values import parse_integer, split_list

CONFIG_VALUE_LENGTH_MAX: Final = 32_767
"""A string of a ConfigRecord has at most this many bytes: Kafka's brokers cannot read a longer one."""

INTERVAL_MS_MIN = 100
INTERVAL_MS_MAX = 3_600_000
"""The bounds of the interval at which clients push their metrics (KIP-714)."""

CLIENT_MATCH_PARAMETERS = (
    "client_instance_id",
    "client_id",
    "client_software_name",
    "client_software_version",
    "client_source_address",
    "client_source_port",
)

PLAIN_PATTERN = re.compile(r"[\w .:@/-]*")
"""An expression that matches this text is valid without compiling it."""

PATTERNS_COST_MAX: Final = 10_000
"""The limit of all regular expressions in a request: 10,000 characters of them take 20 ms, and block the
loop."""

PLAIN_COST: Final = 2

SET_COST: Final = 20
SET_WITH_FLAGS_COST: Final = 150
WIDE_SET_COST: Final = 6_000
r"""The cost of a set of characters, as [a-z], and of each range in it: this much more if the expression
may ignore case, and again if it names characters beyond ASCII. One from \u0100 to \uffff takes 10 ms."""


def why_value_too_long(key: str, value: str) -> ApiError | None:
    """Checks the lengths of values, for configs of every type of resource."""
    if len(value.encode()) <= CONFIG_VALUE_LENGTH_MAX:
        return None
    reason = f"the value of {key} is longer than {CONFIG_VALUE_LENGTH_MAX} bytes"
    return ApiError(Errors.INVALID_CONFIG, reason)


class ResourceCheck:
    """Checks that complete new configurations are valid. Data that the resources of a request share is
    found once.
    """

    def __init__(self, config: ControllerConfig) -> None:
        self._config = config
        self._topics: TopicConfigCheck | None = None
        self._groups: GroupConfigCheck | None = None
        self._patterns_cost = 0

    def why_invalid(
        self, resource_type: int, name: str, configs: dict[str, str], existing: dict[str, str]
    ) -> ApiError | None:
        """Returns the first rule that `configs`, the complete new set, breaks. Broker configs are not
        checked.
        """
        if resource_type == config_resource.TOPIC:
            return self._why_topic_invalid(name, configs, existing)
        if resource_type == config_resource.BROKER:
            return why_broker_name_invalid(name)
        if resource_type == config_resource.CLIENT_METRICS:
            return self._why_client_metrics_invalid(name, configs)
        if resource_type == config_resource.GROUP:
            if self._groups is None:
                self._groups = GroupConfigCheck(self._config)
            return self._groups.why_invalid(name, configs)
        return ApiError(
            Errors.INVALID_REQUEST, f"resource type {resource_type} has no configs in the metadata log"
        )

    def _why_topic_invalid(
        self, name: str, configs: dict[str, str], existing: dict[str, str]
    ) -> ApiError | None:
        if not name:
            return ApiError(Errors.INVALID_REQUEST, "there are no default topic configs")
        reason = why_topic_name_invalid(name)
        if reason is not None:
            return ApiError(Errors.INVALID_TOPIC_EXCEPTION, reason)
        if self._topics is None:
            self._topics = TopicConfigCheck(self._config)
        return self._topics.why_invalid(configs, existing)

    def _why_client_metrics_invalid(self, name: str, configs: dict[str, str]) -> ApiError | None:
        if not name:
            return ApiError(Errors.INVALID_REQUEST, "a client metrics subscription needs a name")
        values, error = parsed_configs(CLIENT_METRICS_CONFIG_KEYS, configs, Errors.INVALID_REQUEST)
        if error is not None:
            return error
        interval_ms = values.get("interval.ms")
        if isinstance(interval_ms, int) and not INTERVAL_MS_MIN <= interval_ms <= INTERVAL_MS_MAX:
            reason = f"interval.ms must be between {INTERVAL_MS_MIN} and {INTERVAL_MS_MAX}, not {interval_ms}"
            return ApiError(Errors.INVALID_REQUEST, reason)
        for item in split_list(configs.get("match", "")):
            expression = client_match_expression(item)
            if expression is not None:
                self._patterns_cost += pattern_cost(expression)
                if self._patterns_cost > PATTERNS_COST_MAX:
                    reason = (
                        "One request cannot match clients by this many, or this long, regular expressions."
                    )
                    return ApiError(Errors.POLICY_VIOLATION, reason)
            if expression is None or not _is_pattern(expression):
                return ApiError(Errors.INVALID_CONFIG, f"Illegal client matching pattern: {item}")
        return None


def node_id_of(name: str) -> int | None:
    """Returns the node id that names a broker or controller; None if the name is not a number."""
    return parse_integer(name, 32)


def why_broker_name_invalid(name: str) -> ApiError | None:
    """Returns an error unless the name is empty, or a number that is not negative."""
    if not name:
        return None
    node_id = node_id_of(name)
    if node_id is None:
        return ApiError(Errors.INVALID_REQUEST, f"the broker name {name!r} is not a number")
    if node_id < 0:
        return ApiError(Errors.INVALID_REQUEST, f"the broker id {name} is negative")
    return None


def why_resource_unknown(
    image: MetadataImage, voter_ids: list[int], resource_type: int, name: str
) -> ApiError | None:
    """Returns an error unless the topic exists, or the broker or controller is registered."""
    if resource_type == config_resource.TOPIC and image.topics.topic_by_name(name) is None:
        return ApiError(Errors.UNKNOWN_TOPIC_OR_PARTITION, f"The topic '{name}' does not exist.")
    if resource_type == config_resource.BROKER and name:
        node_id = int(name)
        known = node_id in image.cluster.brokers or node_id in image.cluster.controllers
        if not known and node_id not in voter_ids:
            return ApiError(Errors.BROKER_ID_NOT_REGISTERED, f"No node with id {node_id} found.")
    return None


def client_match_expression(item: str) -> str | None:
    """Returns the regular expression in an item of a client metrics subscription's match; None without
    one.
    """
    parts = item.rstrip("=").split("=")  # as in Java, without what is empty at the end
    if len(parts) != 2 or parts[0].strip() not in CLIENT_MATCH_PARAMETERS:
        return None
    return parts[1].strip()


def pattern_cost(expression: str) -> int:
    """Returns the cost of validating the expression, in characters of one without sets."""
    if PLAIN_PATTERN.fullmatch(expression) is not None:
        return PLAIN_COST
    cost = len(expression)
    if "[" in expression:
        of_set = SET_COST
        if not expression.isascii() or "\\u" in expression.lower() or "\\N" in expression:
            of_set = WIDE_SET_COST
        elif "(?" in expression:
            of_set = SET_WITH_FLAGS_COST
        cost += of_set * (expression.count("[") + expression.count("-"))
    return cost


def _is_pattern(expression: str) -> bool:
    if PLAIN_PATTERN.fullmatch(expression) is not None:
        return True
    try:
        re.compile(expression)
    except (re.error, OverflowError, RecursionError):
        return False
    return True
