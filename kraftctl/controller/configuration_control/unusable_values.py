"""Says once which stored values this controller cannot use, and what applies instead.

The log may hold anything: Kafka's controllers store broker configs unchecked when they are asked directly.
What reads such a value takes that of the next layer; here are the lines that operators get about it.
"""

from __future__ import annotations

from typing import Final

from kraftctl.config.controller_config import ControllerConfig
from kraftctl.controller.configuration_control.effective_configs import (
    MIN_INSYNC_REPLICAS,
    UNCLEAN_LEADER_ELECTION_ENABLE,
    usable_value,
)
from kraftctl.controller.replication_control.mutation_quota import CONTROLLER_MUTATION_RATE, is_usable_rate
from kraftctl.image.client_quotas_image import QuotaEntity
from kraftctl.image.metadata_image import MetadataImage
from kraftctl_protocol.config_resource import BROKER, CLUSTER_DEFAULT, TOPIC
from kraftctl_protocol.secrets import shown_value

KEYS: Final = (MIN_INSYNC_REPLICAS, UNCLEAN_LEADER_ELECTION_ENABLE)
"""The dynamic configs that the controller itself obeys."""

USER: Final = "user"
CLIENT_ID: Final = "client-id"

REPORTED_MAX: Final = 1_000
"""Values remembered, and named in the log, in the life of the process."""

VALUE_CHARACTERS_MAX: Final = 100

Layer = tuple[int, str]
"""Resource type and name."""


class UnusableValues:
    """What was reported already."""

    def __init__(self) -> None:
        self._reported: set[tuple[str, str, str]] = set()

    def notices(self, image: MetadataImage, config: ControllerConfig) -> list[str]:
        """A line for each stored value that is read here, cannot be used and was not reported before."""
        found: list[str] = []
        lower = [(BROKER, str(config.node_id)), (BROKER, CLUSTER_DEFAULT)]
        topics = sorted(
            [
                layer
                for layer, configs in image.configurations.resources.items()
                if layer[0] == TOPIC and (KEYS[0] in configs or KEYS[1] in configs)
            ]
        )
        for layers in [[topic, *lower] for topic in topics] + [lower, lower[1:]]:
            for key in KEYS:
                self._check_config(image, config, layers, key, found)
        for entity in sorted(image.client_quotas.quotas, key=_described_entity):
            rate = image.client_quotas.quotas[entity].get(CONTROLLER_MUTATION_RATE)
            if rate is not None and not is_usable_rate(rate) and _is_client(entity):
                instead = "that of the next entity that applies, if there is one, is used instead"
                self._report(_described_entity(entity), CONTROLLER_MUTATION_RATE, str(rate), instead, found)
        return found

    def _check_config(
        self, image: MetadataImage, config: ControllerConfig, layers: list[Layer], key: str, found: list[str]
    ) -> None:
        """Whether the first of `layers` has a value for `key` that cannot be used."""
        resource_type, name = layers[0]
        text = image.configurations.config(resource_type, name).get(key)
        if text is None or usable_value(key, text) is not None:
            return
        instead = f"{_next_layer(image, config, layers[1:], key)} is used instead"
        self._report(_described(layers[0]), key, shown_value(resource_type, key, text), instead, found)

    def _report(self, resource: str, key: str, value: str, instead: str, found: list[str]) -> None:
        shown = value[:VALUE_CHARACTERS_MAX]
        reported = (resource, key, shown)
        if reported in self._reported or len(self._reported) >= REPORTED_MAX:
            return
        self._reported.add(reported)
        found.append(f"{key} of {resource} is stored as {shown!r}, which is not a valid value: {instead}")


def _next_layer(image: MetadataImage, config: ControllerConfig, layers: list[Layer], key: str) -> str:
    for layer in layers:
        text = image.configurations.config(layer[0], layer[1]).get(key)
        if text is not None and usable_value(key, text) is not None:
            return f"{text.strip()!r} of {_described(layer)}"
    if key == MIN_INSYNC_REPLICAS:
        static = str(config.min_insync_replicas)
    else:
        static = str(config.unclean_leader_election_enable).lower()
    return f"{static!r} of the properties file" if key in config.originals else f"Kafka's default {static!r}"


def _described(layer: Layer) -> str:
    resource_type, name = layer
    if resource_type == TOPIC:
        return f"topic {name[:VALUE_CHARACTERS_MAX]!r}"
    return f"broker {name}" if name else "the cluster's default"


def _is_client(entity: QuotaEntity) -> bool:
    """Whether mutation rates are looked up for it."""
    return all(kind in (USER, CLIENT_ID) for kind, _ in entity)


def _described_entity(entity: QuotaEntity) -> str:
    parts = [
        f"{kind} {'default' if name is None else repr(name[:VALUE_CHARACTERS_MAX])}" for kind, name in entity
    ]
    return ", ".join(parts)
