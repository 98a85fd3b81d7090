"""What a request about configurations, quotas or features asks for, with the values that it replaces."""

from __future__ import annotations

from typing import Final

from kraftctl.controller.audit.change_list import ChangeList
from kraftctl.controller.state.log_levels import LEVELS
from kraftctl.image.client_quotas_image import quota_entity_key
from kraftctl.image.metadata_image import MetadataImage
from kraftctl_protocol.config_resource import BROKER_LOGGER, type_name
from kraftctl_protocol.generated.alter_client_quotas_request import AlterClientQuotasRequest
from kraftctl_protocol.generated.alter_configs_request import AlterConfigsRequest
from kraftctl_protocol.generated.incremental_alter_configs_request import IncrementalAlterConfigsRequest
from kraftctl_protocol.generated.update_features_request import UpdateFeaturesRequest
from kraftctl_protocol.message import Message
from kraftctl_protocol.secrets import shown_value

CONFIG_OPERATIONS: Final = {0: "SET", 1: "DELETE", 2: "APPEND", 3: "SUBTRACT"}


def describe_configs(request: Message, image: MetadataImage, found: ChangeList) -> None:
    """AlterConfigs replaces all configurations of a resource: those that it does not name are deleted."""
    assert isinstance(request, AlterConfigsRequest)
    for resource in request.resources:
        if found.is_full():
            found.leave_out(len(resource.configs))
            continue
        resource_type, name = resource.resource_type, resource.resource_name
        present = image.configurations.config(resource_type, name)
        named = {config.name for config in resource.configs}
        for config in resource.configs:
            old = present.get(config.name)
            _add_config(found, resource_type, name, config.name, "SET", old, config.value)
        for key in sorted(present):
            if key not in named:
                _add_config(found, resource_type, name, key, "DELETE", present[key], None)


def describe_incremental_configs(request: Message, image: MetadataImage, found: ChangeList) -> None:
    """`new` is the value of the request: APPEND and SUBTRACT change a list by it."""
    assert isinstance(request, IncrementalAlterConfigsRequest)
    for resource in request.resources:
        if found.is_full():
            found.leave_out(len(resource.configs))
            continue
        resource_type, name = resource.resource_type, resource.resource_name
        present = image.configurations.config(resource_type, name)
        for config in resource.configs:
            operation = CONFIG_OPERATIONS.get(config.config_operation, str(config.config_operation))
            old = present.get(config.name)
            _add_config(found, resource_type, name, config.name, operation, old, config.value)


def _add_config(
    found: ChangeList,
    resource_type: int,
    resource: str,
    key: str,
    operation: str,
    old: str | None,
    new: str | None,
) -> None:
    if found.has_room():
        found.add(
            {
                "resource_type": type_name(resource_type),
                "resource": found.text(resource),
                "config": found.text(key),
                "operation": operation,
                "old": _shown(found, resource_type, key, old),
                "new": _shown(found, resource_type, key, new),
            }
        )


def _shown(found: ChangeList, resource_type: int, key: str, value: str | None) -> str | None:
    if resource_type == BROKER_LOGGER and value in LEVELS:
        return value  # what is no level may be anything
    return None if value is None else found.text(shown_value(resource_type, key, value))


def describe_quotas(request: Message, image: MetadataImage, found: ChangeList) -> None:
    """A part of an entity without a name is the default."""
    assert isinstance(request, AlterClientQuotasRequest)
    for entry in request.entries:
        if found.is_full():
            found.leave_out(len(entry.ops))
            continue
        parts = [(part.entity_type, part.entity_name) for part in entry.entity]
        parts.sort(key=quota_entity_key)
        present = image.client_quotas.quota(tuple(parts))
        for op in entry.ops:
            if found.has_room():
                entity: dict[str, object] = {found.text(kind) or "": found.text(name) for kind, name in parts}
                found.add(
                    {
                        "entity": entity,
                        "quota": found.text(op.key),
                        "old": present.get(op.key),
                        "new": None if op.remove else op.value,
                    }
                )


def describe_features(request: Message, image: MetadataImage, found: ChangeList) -> None:
    assert isinstance(request, UpdateFeaturesRequest)
    for update in request.feature_updates:
        if found.has_room():
            old, new = image.features.level(update.feature), update.max_version_level
            found.add({"feature": found.text(update.feature), "old": old, "new": new})
