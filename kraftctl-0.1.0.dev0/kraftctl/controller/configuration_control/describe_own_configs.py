"""The configs of topics, groups and client metrics in DescribeConfigs: their own, and what they inherit."""

from __future__ import annotations

from kraftctl.controller.configuration_control.describe_node_configs import NodeDescriptions
from kraftctl.metadata.config_definitions import config_source
from kraftctl.metadata.config_definitions.config_key import UNKNOWN_TYPE_CODE, ConfigKey
from kraftctl.metadata.config_definitions.config_keys import config_keys
from kraftctl.metadata.config_definitions.generated.group_config_synonyms import GROUP_CONFIG_SYNONYMS
from kraftctl.metadata.config_definitions.generated.topic_config_synonyms import TOPIC_CONFIG_SYNONYMS
from kraftctl.metadata.config_definitions.kafkas_form import in_kafkas_form
from kraftctl.metadata.config_definitions.validators import ListOf
from kraftctl_protocol.config_resource import GROUP, TOPIC
from kraftctl_protocol.generated.describe_configs_response import (
    DescribeConfigsResourceResult,
    DescribeConfigsSynonym,
)
from kraftctl_protocol.java_values import split_list

ASSIGNOR_NAME = "streams.assignor.name"

OWN_SOURCES = {
    TOPIC: config_source.TOPIC_CONFIG,
    GROUP: config_source.GROUP_CONFIG,
}


class OwnConfigs:
    """The configs of one resource. `own` are those that are stored for it."""

    def __init__(self, kind: int, own: dict[str, str], nodes: NodeDescriptions) -> None:
        self._kind = kind
        self._own = own
        self._nodes = nodes
        self._own_source = OWN_SOURCES.get(kind, config_source.CLIENT_METRICS_CONFIG)

    def described(self, wanted: set[str] | None, synonyms: bool) -> list[DescribeConfigsResourceResult]:
        """Returns all public keys and those that are stored, sorted; `wanted`: only these."""
        keys = config_keys(self._kind)
        names = {*keys, *self._own}
        return [
            self._described(name, keys.get(name), synonyms)
            for name in sorted(names if wanted is None else wanted & names)
            if name in self._own or self._is_listed(keys[name])
        ]

    def _described(
        self, name: str, definition: ConfigKey | None, synonyms: bool
    ) -> DescribeConfigsResourceResult:
        sensitive = self._kind in OWN_SOURCES and (definition is None or definition.sensitive)
        value = None if sensitive else self._value(name, definition)
        found = [] if definition is None else self._inherited_synonyms(definition)
        if name in self._own:
            own = DescribeConfigsSynonym(name=name, value=value, source=self._own_source)
            found = [own, *found]
        return DescribeConfigsResourceResult(
            name=name,
            value=value,
            config_source=found[0].source if found else config_source.DEFAULT_CONFIG,
            is_sensitive=sensitive,
            synonyms=found if synonyms else [],
            config_type=UNKNOWN_TYPE_CODE if definition is None else definition.type_code,
            documentation=None,
        )

    def _is_listed(self, definition: ConfigKey) -> bool:
        """Returns whether a key is listed that the resource does not set."""
        if not definition.internal:
            return True
        return self._kind == GROUP and GROUP_CONFIG_SYNONYMS[definition.name] in self._nodes.properties

    def _value(self, name: str, definition: ConfigKey | None) -> str | None:
        text = self._own.get(name)
        if definition is None:
            return text
        if text is not None:
            if definition.internal:
                return text
            return in_kafkas_form(definition.type, text, distinct=isinstance(definition.validator, ListOf))
        if self._kind == TOPIC:
            return self._nodes.topic_value(definition)
        if self._kind == GROUP and name in GROUP_CONFIG_SYNONYMS:
            inherited = self._nodes.value(GROUP_CONFIG_SYNONYMS[name])
            if name == ASSIGNOR_NAME and inherited:
                return split_list(inherited)[0]
            return inherited
        return definition.default

    def _inherited_synonyms(self, definition: ConfigKey) -> list[DescribeConfigsSynonym]:
        name = definition.name
        if self._kind == TOPIC and name in TOPIC_CONFIG_SYNONYMS:
            return self._nodes.inherited_synonyms(TOPIC_CONFIG_SYNONYMS[name][0][0], definition.sensitive)
        if self._kind != GROUP:
            return []
        if name in GROUP_CONFIG_SYNONYMS:
            return self._nodes.inherited_synonyms(GROUP_CONFIG_SYNONYMS[name], definition.sensitive)
        if definition.default is None:
            return []
        default = config_source.DEFAULT_CONFIG
        return [DescribeConfigsSynonym(name=name, value=definition.default, source=default)]
