"""IncrementalAlterConfigs (KIP-339) and legacy AlterConfigs (KIP-133): dynamic configs of all kinds.

One bad config refuses its whole resource; other resources of the request go ahead. Everything accepted is
one atomic batch.
"""

from __future__ import annotations

from typing import Final

from kraftctl.config.controller_config import ControllerConfig
from kraftctl.controller.configuration_control.effective_configs import (
    MIN_INSYNC_REPLICAS,
    UNCLEAN_LEADER_ELECTION_ENABLE,
    usable_value,
)
from kraftctl.controller.configuration_control.validate_configs import (
    why_resource_invalid,
    why_resource_unknown,
)
from kraftctl.image.metadata_image import MetadataImage
from kraftctl.metadata import features
from kraftctl.metadata.config_definitions.config_key import (
    LIST,
    ConfigKey,
    InvalidConfigValueError,
    split_list,
)
from kraftctl.metadata.config_definitions.generated.broker_config_data import BROKER_CONFIG_KEYS
from kraftctl.metadata.config_definitions.generated.client_metrics_config_data import (
    CLIENT_METRICS_CONFIG_KEYS,
)
from kraftctl.metadata.config_definitions.generated.group_config_data import GROUP_CONFIG_KEYS
from kraftctl.metadata.config_definitions.generated.topic_config_data import TOPIC_CONFIG_KEYS
from kraftctl_protocol import config_resource
from kraftctl_protocol.api_error import ApiError
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.clear_elr_record import ClearElrRecord
from kraftctl_protocol.generated.config_record import ConfigRecord
from kraftctl_protocol.metadata_record import RecordAndVersion

SET: Final = 0
DELETE: Final = 1
APPEND: Final = 2
SUBTRACT: Final = 3

CONFIG_VALUE_LENGTH_MAX: Final = 32_767
"""Bytes that a string on the wire can hold; appending could exceed it."""

CORDONED_LOG_DIRS: Final = "cordoned.log.dirs"

SELF_READ_BROKER_CONFIGS: Final = (MIN_INSYNC_REPLICAS, UNCLEAN_LEADER_ELECTION_ENABLE)
"""Brokers check broker configs before they forward them, a controller asked directly takes what it gets, as
Kafka's does. These two are different: elections here depend on them."""

NONE = ApiError(Errors.NONE)

ConfigChange = tuple[str, int, str | None]
"""Key, operation, value."""


def config_keys(resource_type: int) -> dict[str, ConfigKey]:
    """What is known about the keys of such resources."""
    if resource_type == config_resource.TOPIC:
        return TOPIC_CONFIG_KEYS
    if resource_type == config_resource.BROKER:
        return BROKER_CONFIG_KEYS
    if resource_type == config_resource.GROUP:
        return GROUP_CONFIG_KEYS
    if resource_type == config_resource.CLIENT_METRICS:
        return CLIENT_METRICS_CONFIG_KEYS
    return {}


class ConfigAlterer:
    """Works out the records for the changes of one request, resource by resource."""

    def __init__(
        self, image: MetadataImage, config: ControllerConfig, voter_ids: list[int], forwarded: bool
    ) -> None:
        self._image = image
        self._config = config
        self._voter_ids = voter_ids
        self._forwarded = forwarded
        self._records: list[RecordAndVersion] = []

    def records(self) -> list[RecordAndVersion]:
        """The records of every resource that was accepted, ClearElr records last."""
        return self._records + clear_elr_records(self._image, self._records)

    def incremental(self, resource_type: int, name: str, changes: list[ConfigChange]) -> ApiError:
        """Apply `changes` to what the resource has."""
        current = self._image.configurations.config(resource_type, name)
        # A key named twice: its last change counts.
        by_key = {change[0]: change for change in changes}
        altered: dict[str, str | None] = {}
        for key, operation, value in by_key.values():
            present = current.get(key)
            if operation in (APPEND, SUBTRACT):
                definition = config_keys(resource_type).get(key)
                if definition is None or definition.type != LIST:
                    verb = "APPEND" if operation == APPEND else "SUBTRACT"
                    reason = f"Can't {verb} to key {key} because its type is not LIST."
                    return ApiError(Errors.INVALID_CONFIG, reason)
                if value is None:
                    return ApiError(Errors.INVALID_CONFIG, f"nothing to append to {key} or to subtract")
                wanted: str | None = changed_list(present, definition, operation, value)
            elif operation == SET:
                wanted = value
            elif operation == DELETE:
                wanted = None
            else:
                return ApiError(Errors.INVALID_REQUEST, f"unknown config operation {operation}")
            # Brokers reload files named in a config even when the name stays (KAFKA-14136).
            if wanted != present or resource_type == config_resource.BROKER:
                altered[key] = wanted
        return self._accept(resource_type, name, altered, [])

    def replace(self, resource_type: int, name: str, configs: dict[str, str | None]) -> ApiError:
        """Make `configs` all that the resource has."""
        current = self._image.configurations.config(resource_type, name)
        altered = {
            key: value
            for key, value in configs.items()
            if value != current.get(key) or resource_type == config_resource.BROKER
        }
        deleted = sorted(key for key in current if key not in configs)
        return self._accept(resource_type, name, altered, deleted)

    def _accept(
        self, resource_type: int, name: str, altered: dict[str, str | None], deleted: list[str]
    ) -> ApiError:
        error = self._why_refused(resource_type, name, altered, deleted)
        if error is not None:
            return error
        for key, value in altered.items():
            self._records.append(_config_record(resource_type, name, key, value))
        for key in deleted:
            self._records.append(_config_record(resource_type, name, key, None))
        return NONE

    def _why_refused(
        self, resource_type: int, name: str, altered: dict[str, str | None], deleted: list[str]
    ) -> ApiError | None:
        current = self._image.configurations.config(resource_type, name)
        complete = dict(current)
        changes = list(altered.items()) + [(key, None) for key in deleted]
        for key, value in changes:
            reason = self._why_change_invalid(resource_type, name, key, value, current.get(key))
            if reason is not None:
                return ApiError(Errors.INVALID_CONFIG, reason)
            if value is None:
                complete.pop(key, None)
            else:
                complete[key] = value
        error = why_resource_invalid(self._image, self._config, resource_type, name, complete, current)
        if error is not None:
            return error
        return why_resource_unknown(self._image, self._voter_ids, resource_type, name)

    def _why_change_invalid(
        self, resource_type: int, name: str, key: str, value: str | None, present: str | None
    ) -> str | None:
        if resource_type == config_resource.BROKER:
            reason = self._why_broker_change_invalid(name, key, value, present)
            if reason is not None:
                return reason
        if value is not None and len(value.encode()) > CONFIG_VALUE_LENGTH_MAX:
            return f"the value of {key} is longer than {CONFIG_VALUE_LENGTH_MAX} bytes"
        return None

    def _why_broker_change_invalid(
        self, name: str, key: str, value: str | None, present: str | None
    ) -> str | None:
        """KIP-966: with ELR one min.insync.replicas holds for the cluster. KIP-1066: cordoned directories."""
        if key == MIN_INSYNC_REPLICAS and self._image.features.elr_enabled:
            if name != config_resource.CLUSTER_DEFAULT:
                return f"{key} cannot be set for a single broker while eligible leader replicas are enabled"
            if value is None:
                return f"the cluster's {key} cannot be removed while eligible leader replicas are enabled"
        if value is not None and key in SELF_READ_BROKER_CONFIGS:
            try:
                TOPIC_CONFIG_KEYS[key].parse(value)
            except InvalidConfigValueError as error:
                return str(error)
        if key == CORDONED_LOG_DIRS:
            if not features.is_cordoned_log_dirs_supported(self._image.features.metadata_version):
                return f"{key} needs metadata.version {features.metadata_version_name(features.IBP_4_3_IV0)}"
            if not self._forwarded and not _is_subset(value, present):
                return f"a controller cannot check paths: directly sent, {key} may only be shortened"
        return None


def _is_subset(value: str | None, present: str | None) -> bool:
    if value is None or not value.strip():
        return True
    known = [] if present is None else split_list(present)
    return all(directory in known for directory in split_list(value))


def changed_list(present: str | None, definition: ConfigKey, operation: int, value: str) -> str:
    """A LIST value after APPEND or SUBTRACT; the base of an unset one is its default."""
    base = definition.default if present is None else present
    items = [item for item in (base or "").split(",") if item]
    for item in value.split(","):
        if operation == SUBTRACT:
            if item in items:
                items.remove(item)
        elif item not in items:
            items.append(item)
    return ",".join(items)


def _config_record(resource_type: int, name: str, key: str, value: str | None) -> RecordAndVersion:
    record = ConfigRecord(resource_type=resource_type, resource_name=name, name=key, value=value)
    return RecordAndVersion(record, 0)


def clear_elr_records(image: MetadataImage, records: list[RecordAndVersion]) -> list[RecordAndVersion]:
    """KIP-966: one ClearElr per change of min.insync.replicas, as who was eligible may not be now."""
    if not image.features.elr_enabled:
        return []
    result: list[RecordAndVersion] = []
    for entry in records:
        record = entry.record
        if isinstance(record, ConfigRecord) and record.name == MIN_INSYNC_REPLICAS:
            topic = record.resource_name if record.resource_type == config_resource.TOPIC else ""
            result.append(RecordAndVersion(ClearElrRecord(topic_name=topic), 0))
    return result


def elr_safety_records(image: MetadataImage, config: ControllerConfig) -> list[RecordAndVersion]:
    """Before ELR is enabled: a cluster-wide min.insync.replicas that is one, and none for single brokers."""
    records: list[RecordAndVersion] = []
    cluster = image.configurations.config(config_resource.BROKER, config_resource.CLUSTER_DEFAULT)
    stored = cluster.get(MIN_INSYNC_REPLICAS)
    if stored is None or usable_value(MIN_INSYNC_REPLICAS, stored) is None:
        value = str(config.min_insync_replicas)
        records.append(
            _config_record(
                config_resource.BROKER, config_resource.CLUSTER_DEFAULT, MIN_INSYNC_REPLICAS, value
            )
        )
    names = [name for kind, name in image.configurations.resources if kind == config_resource.BROKER and name]
    records += [
        _config_record(config_resource.BROKER, name, MIN_INSYNC_REPLICAS, None)
        for name in sorted(names)
        if MIN_INSYNC_REPLICAS in image.configurations.config(config_resource.BROKER, name)
    ]
    return records
