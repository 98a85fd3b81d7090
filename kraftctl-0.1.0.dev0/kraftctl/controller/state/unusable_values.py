"""Writes lines about stored values that this controller cannot use, and which values apply instead.

The log may have any value: Kafka's controllers store broker configs unchecked when they are asked directly.
Such a value is ignored and the next layer applies. Each is logged once.
"""

from __future__ import annotations

from typing import Final

from kraftctl.config.controller_config import ControllerConfig
from kraftctl.controller.state.effective_configs import (
    OBEYED_CONFIGS,
    EffectiveConfig,
    broker_layers,
    inherited_config,
    usable_value,
)
from kraftctl.controller.state.mutation_quota import CONTROLLER_MUTATION_RATE, is_usable_rate
from kraftctl.image.client_quotas_image import QuotaEntity
from kraftctl.image.metadata_image import MetadataImage
from kraftctl.metadata.config_definitions import config_source
from kraftctl_protocol.config_resource import BROKER, CLUSTER_DEFAULT, TOPIC
from kraftctl_protocol.secrets import shown_value

USER: Final = "user"
CLIENT_ID: Final = "client-id"

REPORTED_MAX: Final = 1_000
"""The number of values that one process reports."""

VALUE_CHARACTERS_MAX: Final = 100

Resource = tuple[int, str]
"""A resource is its type and its name."""


class UnusableValues:
    """The values that were reported already."""

    def __init__(self) -> None:
        self._reported: set[tuple[str, str, str]] = set()

    def notices(self, image: MetadataImage, config: ControllerConfig) -> list[str]:
        """A line for each stored value that is read here, cannot be used and was not reported before."""
        found: list[str] = []
        configurations = image.configurations
        own: Resource = (BROKER, str(config.node_id))
        cluster: Resource = (BROKER, CLUSTER_DEFAULT)
        layers = broker_layers(image, config)
        for resource in [*_topics_with_obeyed_configs(image), own, cluster]:
            below = layers[1:] if resource == own else layers[2:] if resource == cluster else layers
            stored = configurations.config(resource[0], resource[1])
            for key in OBEYED_CONFIGS:
                text = stored.get(key)
                if text is not None and usable_value(key, text) is None:
                    instead = f"{_described_value(inherited_config(below, key), own)} is used instead"
                    shown = shown_value(resource[0], key, text)
                    self._report(_described(resource), key, shown, instead, found)
        for entity in sorted(image.client_quotas.quotas, key=_described_entity):
            rate = image.client_quotas.quotas[entity].get(CONTROLLER_MUTATION_RATE)
            if rate is not None and not is_usable_rate(rate) and _is_client(entity):
                instead = "that of the next entity that applies, if there is one, is used instead"
                self._report(_described_entity(entity), CONTROLLER_MUTATION_RATE, str(rate), instead, found)
        return found

    def _report(self, resource: str, key: str, value: str, instead: str, found: list[str]) -> None:
        shown = value[:VALUE_CHARACTERS_MAX]
        reported = (resource, key, shown)
        if reported in self._reported or len(self._reported) >= REPORTED_MAX:
            return
        self._reported.add(reported)
        found.append(f"{key} of {resource} is stored as {shown!r}, which is not a valid value: {instead}")


def _topics_with_obeyed_configs(image: MetadataImage) -> list[Resource]:
    return sorted(
        [
            resource
            for resource, configs in image.configurations.resources.items()
            if resource[0] == TOPIC and (OBEYED_CONFIGS[0] in configs or OBEYED_CONFIGS[1] in configs)
        ]
    )


def _described_value(entry: EffectiveConfig, own: Resource) -> str:
    value = repr((entry.text or "").strip())
    if entry.source == config_source.DEFAULT_CONFIG:
        return f"Kafka's default {value}"
    if entry.source == config_source.STATIC_BROKER_CONFIG:
        return f"{value} of the properties file"
    resource = own if entry.source == config_source.DYNAMIC_BROKER_CONFIG else (BROKER, CLUSTER_DEFAULT)
    return f"{value} of {_described(resource)}"


def _described(resource: Resource) -> str:
    resource_type, name = resource
    if resource_type == TOPIC:
        return f"topic {name[:VALUE_CHARACTERS_MAX]!r}"
    return f"broker {name}" if name else "the cluster's default"


def _is_client(entity: QuotaEntity) -> bool:
    """Returns whether mutation rates are looked up for this entity."""
    return all(kind in (USER, CLIENT_ID) for kind, _ in entity)


def _described_entity(entity: QuotaEntity) -> str:
    parts = [
        f"{kind} {'default' if name is None else repr(name[:VALUE_CHARACTERS_MAX])}" for kind, name in entity
    ]
    return ", ".join(parts)
