"""Which dynamic broker configs a controller obeys, of its own node and of the cluster's default.

| key | what becomes of a dynamic value |
|--|--|
| `LIMIT_KEYS`, and `LISTENER_LIMIT_KEYS` with a listener's prefix | applied when it is committed |
| `STORE_KEYS` with a listener's prefix, of the own node | applied when it is committed and can be used |
| `TRUST_KEYS` among them | applied only with `kraftctl.dynamic.trust` |
| `OBEYED_CONFIGS` | elections of partition leaders obey it |
| any other | stored and shown, as Kafka's controllers do, and without effect |

A value that its key cannot have is stored as well, if another controller let it pass: the next layer applies.
"""

from __future__ import annotations

from typing import Final

from kraftctl.config.connection_limits import ConnectionLimits
from kraftctl.config.controller_config import ControllerConfig
from kraftctl.config.dynamic_keys import (
    DYNAMIC_TRUST,
    MAX_CONNECTION_CREATION_RATE,
    MAX_CONNECTIONS,
    MAX_CONNECTIONS_PER_IP,
    MAX_CONNECTIONS_PER_IP_OVERRIDES,
    changes_trust,
    is_limit,
    split_listener_key,
)
from kraftctl.controller.state.effective_configs import OBEYED_CONFIGS, usable_value
from kraftctl.controller.state.obeyed_configs import ObeyedConfigs
from kraftctl_protocol import config_resource
from kraftctl_protocol.secrets import shown_value
from kraftctl_security.config_values import ConfigValues

VALUE_CHARACTERS_MAX: Final = 100

_AT_LEAST_ONE: Final = (MAX_CONNECTIONS, MAX_CONNECTION_CREATION_RATE)
"""These are at least one, as in Kafka: zero would end the connections by which it could be undone."""

PER_IP_KEYS: Final = (MAX_CONNECTIONS_PER_IP, MAX_CONNECTIONS_PER_IP_OVERRIDES)


class UnusedConfig:
    """A dynamic config without effect: of the node of that name, or of the cluster, whose name is empty."""

    def __init__(self, name: str, key: str, value: str, reason: str) -> None:
        self.name = name
        self.key = key
        self.value = value
        self.reason = reason

    def line(self) -> str:
        """Returns a line for the log; without the value, where it may be a secret."""
        shown = shown_value(config_resource.BROKER, self.key, self.value)[:VALUE_CHARACTERS_MAX]
        of = f"node {self.name}" if self.name else "the cluster's default"
        key = self.key[:VALUE_CHARACTERS_MAX]
        return f"The dynamic config {key}={shown} of {of} has no effect on this controller: {self.reason}."


class NodeConfigs:
    """The dynamic configs that this controller obeys, of its own and of the cluster's default.

    `unused` has each that is stored for this node alone and has no effect, and each with a value that its
    key cannot have.
    """

    def __init__(self, own: dict[str, str], cluster: dict[str, str], unused: list[UnusedConfig]) -> None:
        self.own = own
        self.cluster = cluster
        self.unused = unused

    def over(self, static: dict[str, str]) -> dict[str, str]:
        """Returns the properties in effect: `static`, those of the file, with the dynamic ones over them."""
        return {**static, **self.cluster, **self.own}


def node_configs(config: ControllerConfig, own: dict[str, str], cluster: dict[str, str]) -> NodeConfigs:
    """Judges the dynamic configs `own` and `cluster` as they are stored."""
    used = NodeConfigs({}, {}, [])
    obeyed = ObeyedConfigs(config)
    for key, value in sorted(cluster.items()):
        prefix, _ = split_listener_key(key)
        if not obeyed.has_listener(prefix):
            continue  # brokers may have such a listener
        reason = why_limit_invalid(key, value)
        if reason is not None:
            used.unused.append(UnusedConfig(config_resource.CLUSTER_DEFAULT, key, value, reason))
        elif _is_used_of_cluster(key, value):
            used.cluster[key] = value
    for key, value in sorted(own.items()):
        reason = _why_not_used(obeyed, key, value)
        if reason is not None:
            used.unused.append(UnusedConfig(str(config.node_id), key, value, reason))
        else:
            used.own[key] = value
    _let_some_client_connect(config, used)
    return used


def why_limit_invalid(key: str, value: str) -> str | None:
    """Returns why a limit of connections cannot have this value; None if it can, and for all other keys."""
    _, base = split_listener_key(key)
    if not is_limit(key):
        return None
    values = ConfigValues({base: value})
    ConnectionLimits(values, [])
    if base == MAX_CONNECTIONS_PER_IP and values.errors and value.strip() == "0":
        return None  # it depends on the overrides
    if values.errors:
        return values.errors[0].replace(f"configuration {base}:", f"configuration {key}:")
    if base in _AT_LEAST_ONE and int(value) == 0:
        return f"Invalid value {value} for configuration {key}: the least dynamic value is 1"
    return None


def why_trust_unchanged(config: ControllerConfig, key: str) -> str | None:
    """Returns why no dynamic config may have this key; None if one may."""
    if config.dynamic_trust or not changes_trust(key):
        return None
    return (
        f"{key} would change whom a controller trusts, which its properties file decides. Next step: set the"
        " truststore there; a new content of the file is used without a restart. With"
        f" {DYNAMIC_TRUST}=true on all controllers, who may alter configs decides it, as in Kafka"
    )


def why_no_client_may_connect(
    config: ControllerConfig, own: dict[str, str], cluster: dict[str, str]
) -> str | None:
    """Returns Kafka's refusal of max.connections.per.ip=0 without an override: no client could undo it."""
    in_effect: dict[str, str] = {}
    for layer in (config.originals, cluster, own):
        for key in PER_IP_KEYS:
            if key in layer and why_limit_invalid(key, layer[key]) is None:
                in_effect[key] = layer[key]
    limits = ConfigValues(in_effect)
    ConnectionLimits(limits, [])
    return limits.errors[0] if limits.errors else None


def _let_some_client_connect(config: ControllerConfig, used: NodeConfigs) -> None:
    reason = why_no_client_may_connect(config, used.own, used.cluster)
    if reason is None:
        return
    for name, configs in ((str(config.node_id), used.own), (config_resource.CLUSTER_DEFAULT, used.cluster)):
        for key in PER_IP_KEYS:
            if key in configs:
                value = configs.pop(key)
                used.unused.append(UnusedConfig(name, key, value, reason))


def _is_used_of_cluster(key: str, value: str) -> bool:
    return usable_value(key, value) is not None if key in OBEYED_CONFIGS else is_limit(key)


def _why_not_used(obeyed: ObeyedConfigs, key: str, value: str) -> str | None:
    """Judges the dynamic configs that this node has of its own, by the key and then by the value."""
    reason = obeyed.why_not(key)
    if reason is not None:
        return reason
    if key in OBEYED_CONFIGS:
        return None if usable_value(key, value) is not None else "it is not a valid value"
    return why_limit_invalid(key, value)
