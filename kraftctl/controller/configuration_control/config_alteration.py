"""The common part of AlterConfigs and IncrementalAlterConfigs: rights, accepted values.

One bad config refuses its whole resource; other resources of the request are altered. Everything accepted is
one atomic batch.
"""

from __future__ import annotations

from typing import Final

from kraftctl.controller.configuration_control.config_authorization import why_not_authorized
from kraftctl.controller.configuration_control.elr_configs import (
    clear_elr_records,
    why_min_isr_change_refused,
)
from kraftctl.controller.configuration_control.node_configs import (
    PER_IP_KEYS,
    why_limit_invalid,
    why_no_client_may_connect,
    why_trust_unchanged,
)
from kraftctl.controller.configuration_control.validate_configs import (
    ResourceCheck,
    why_resource_unknown,
    why_value_too_long,
)
from kraftctl.controller.results.excessive_requests import has_too_many
from kraftctl.controller.results.request_context import RequestContext
from kraftctl.controller.state.controller_state import ControllerState
from kraftctl.controller.state.effective_configs import OBEYED_CONFIGS
from kraftctl.metadata import features
from kraftctl.metadata.config_definitions.config_key import InvalidConfigValueError
from kraftctl.metadata.config_definitions.generated.topic_config_data import TOPIC_CONFIG_KEYS
from kraftctl.metadata.config_definitions.min_insync_replicas import MIN_INSYNC_REPLICAS
from kraftctl_protocol import config_resource
from kraftctl_protocol.acl_operation import AclOperation
from kraftctl_protocol.api_error import ApiError
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.config_record import ConfigRecord
from kraftctl_protocol.java_values import split_list
from kraftctl_protocol.metadata_record import RecordAndVersion

CORDONED_LOG_DIRS: Final = "cordoned.log.dirs"

CHARACTERS_PER_REQUEST_MAX: Final = 4 * 1024 * 1024
"""The characters of all values in the request, and of those that the altered resources have now, of
brokers only the former: validating 32 KB of a list takes 1 ms."""

CONFIGS_PER_REQUEST_MAX: Final = 120_000
"""The number of these configs; brokers store any, and theirs are not validated."""

DELETIONS_PER_CONFIG: Final = 8
"""This many take the time of one: MirrorMaker deletes 27 configs of each topic, most of which do not
exist."""

Resource = tuple[int, str]
"""A resource is its type and its name."""

OK: Final = ApiError(Errors.NONE)


class ConfigAlteration:
    """One request. `answers` has an entry per resource; those refused up front come first."""

    def __init__(self, state: ControllerState, context: RequestContext, named: list[Resource]) -> None:
        self._state = state
        self._image = state.image
        self._forwarded = context.envelope
        self._records: list[RecordAndVersion] = []
        self.answers: list[tuple[Resource, ApiError]] = []
        self._open: set[Resource] = set()
        self._characters = 0
        self._config_count = 0
        self._deletions = 0
        self._check = ResourceCheck(state.config)
        counts: dict[Resource, int] = {}
        for resource in named:
            counts[resource] = counts.get(resource, 0) + 1
        for resource, count in counts.items():
            error = _why_refused_up_front(state, context, resource, count)
            if error is None:
                self._open.add(resource)
            else:
                # As in Kafka, types that are not known are not compared.
                for _ in range(1 if resource[0] in config_resource.NAMES else count):
                    self.refuse(resource, error)

    @property
    def has_too_many_records(self) -> bool:
        """Returns whether the whole request has to be refused: all of it is one batch."""
        return has_too_many(self._records)

    def begin(self, resource: Resource, values: list[str | None]) -> bool:
        """Returns whether the resource was not refused up front, nor is now.

        `values` in the request, and those that it has, are all validated.
        """
        if resource not in self._open:
            return False
        texts = [value for value in values if value is not None]
        deletions = self._deletions + len(values) - len(texts)
        if resource[0] != config_resource.BROKER:
            texts += self._image.configurations.config(resource[0], resource[1]).values()
        characters = self._characters + sum([len(text) for text in texts])
        config_count = self._config_count + len(texts)
        if characters > CHARACTERS_PER_REQUEST_MAX:
            reason = f"One request cannot alter configs of more than {CHARACTERS_PER_REQUEST_MAX} characters."
        elif config_count + deletions // DELETIONS_PER_CONFIG > CONFIGS_PER_REQUEST_MAX:
            reason = f"One request cannot alter resources with more than {CONFIGS_PER_REQUEST_MAX} configs."
        else:
            self._characters, self._config_count, self._deletions = characters, config_count, deletions
            return True
        self.refuse(resource, ApiError(Errors.POLICY_VIOLATION, reason))
        return False

    def refuse(self, resource: Resource, error: ApiError) -> None:
        """Refuses the resource and leaves it as it is."""
        self.answers.append((resource, error))

    def alter(self, resource: Resource, wanted: dict[str, str | None]) -> None:
        """Gives the resource the values `wanted` has, None for no value, or refuses it."""
        kind, name = resource
        current = self._image.configurations.config(kind, name)
        # Brokers reload files named in a config even when the name stays (KAFKA-14136).
        altered = {
            key: value
            for key, value in wanted.items()
            if value != current.get(key) or kind == config_resource.BROKER
        }
        error = self._why_refused(kind, name, altered, current)
        if error is not None:
            self.refuse(resource, error)
            return
        for key, value in altered.items():
            self._records.append(RecordAndVersion(ConfigRecord(kind, name, key, value), 0))
        self.answers.append((resource, OK))

    def records(self) -> list[RecordAndVersion]:
        """Returns the records of every resource that was altered, ClearElr records last."""
        return self._records + clear_elr_records(self._image, self._records)

    def _why_refused(
        self, kind: int, name: str, altered: dict[str, str | None], current: dict[str, str]
    ) -> ApiError | None:
        """Returns why Kafka would refuse the change, or its values cannot be obeyed.

        Brokers check broker configs before they forward them; a controller stores what it is sent, as
        Kafka's does, except for the configs that elections depend on, limits of connections that a
        controller applies itself, and whom it trusts.
        """
        for key, value in altered.items():
            error = self._why_change_refused(kind, name, key, value)
            if error is not None:
                return error
        # A broker may have thousands of configs, and what it stores is not validated.
        complete = current if kind == config_resource.BROKER else _changed(current, altered)
        error = self._check.why_invalid(kind, name, complete, current)
        error = error or why_resource_unknown(self._image, self._state.voter_ids, kind, name)
        if error is None and kind == config_resource.BROKER:
            reason = self._why_not_obeyed(name, altered, current)
            return None if reason is None else ApiError(Errors.INVALID_CONFIG, reason)
        return error

    def _why_change_refused(self, kind: int, name: str, key: str, value: str | None) -> ApiError | None:
        if kind == config_resource.BROKER:
            reason = self._why_broker_change_refused(name, key, value)
            if reason is not None:
                return ApiError(Errors.INVALID_CONFIG, reason)
        return None if value is None else why_value_too_long(key, value)

    def _why_broker_change_refused(self, name: str, key: str, value: str | None) -> str | None:
        """Returns why Kafka's controller refuses a change of broker configs: KIP-966 for min.insync.replicas,
        KIP-1066 for cordoned directories, which only a broker can check.
        """
        if key == MIN_INSYNC_REPLICAS and self._image.features.elr_enabled:
            return why_min_isr_change_refused(name, value)
        if key == CORDONED_LOG_DIRS:
            if not features.is_cordoned_log_dirs_supported(self._image.features.metadata_version):
                return f"{key} needs metadata.version {features.metadata_version_name(features.IBP_4_3_IV0)}"
            present = self._image.configurations.config(config_resource.BROKER, name).get(key)
            if not self._forwarded and not _is_subset(value, present):
                return f"a controller cannot check paths: without a broker, {key} may only be shortened"
        return None

    def _why_not_obeyed(
        self, name: str, altered: dict[str, str | None], current: dict[str, str]
    ) -> str | None:
        is_of_controllers = self._is_of_controllers(name)
        for key, value in altered.items():
            if value is None:
                continue
            if key in OBEYED_CONFIGS:
                try:
                    TOPIC_CONFIG_KEYS[key].parse(value)
                except InvalidConfigValueError as error:
                    return str(error)
            if is_of_controllers:
                reason = why_limit_invalid(key, value) or why_trust_unchanged(self._state.config, key)
                if reason is not None:
                    return reason
        if any(key in PER_IP_KEYS for key in altered):
            return self._why_no_client_may_connect(name, _changed(current, altered))
        return None

    def _is_of_controllers(self, name: str) -> bool:
        """Returns whether a controller obeys the broker configs of this name, which is known."""
        return name == config_resource.CLUSTER_DEFAULT or int(name) not in self._image.cluster.brokers

    def _why_no_client_may_connect(self, name: str, changed: dict[str, str]) -> str | None:
        """Returns why no client could connect to this controller; the files of others are not known here."""
        own_name, configurations = str(self._state.node_id), self._image.configurations
        if name == config_resource.CLUSTER_DEFAULT:
            own = configurations.config(config_resource.BROKER, own_name)
            return why_no_client_may_connect(self._state.config, own, changed)
        if name == own_name:
            cluster = configurations.config(config_resource.BROKER, config_resource.CLUSTER_DEFAULT)
            return why_no_client_may_connect(self._state.config, changed, cluster)
        return None


def _changed(current: dict[str, str], altered: dict[str, str | None]) -> dict[str, str]:
    """Returns the configs after the change."""
    complete = dict(current)
    for key, value in altered.items():
        if value is None:
            complete.pop(key, None)
        else:
            complete[key] = value
    return complete


def _why_refused_up_front(
    state: ControllerState, context: RequestContext, resource: Resource, count: int
) -> ApiError | None:
    """Returns refusals of unknown types, duplicates, missing rights, and resources that the log does not
    keep.
    """
    kind, name = resource
    if kind not in config_resource.NAMES:
        return ApiError(Errors.UNSUPPORTED_VERSION, f"Unknown resource type {kind}.")
    if count > 1:
        return ApiError(Errors.INVALID_REQUEST, "Duplicate resource.")
    if kind == config_resource.BROKER_LOGGER:
        # AlterConfigs has no levels of loggers; those of IncrementalAlterConfigs do not come here.
        return ApiError(Errors.INVALID_REQUEST, "Unexpected resource type BROKER_LOGGER.")
    return why_not_authorized(state, context, AclOperation.ALTER_CONFIGS, kind, name)


def _is_subset(value: str | None, present: str | None) -> bool:
    if value is None or not value.strip():
        return True
    known = set() if present is None else set(split_list(present))
    return all(directory in known for directory in split_list(value))
