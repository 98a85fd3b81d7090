"""The keys of a properties file as Kafka defines them: each checked by its type and rule, in Kafka's order.

Kafka checks all keys that it defines, also those that a controller does not use; its exception names the
first wrong one of its order.
"""

from __future__ import annotations

import re
from typing import Final

from kraftctl.config.endpoints import why_bootstrap_server_invalid, why_voter_invalid
from kraftctl.metadata.config_definitions.config_key import (
    CLASS,
    ConfigValue,
    InvalidConfigValueError,
    parse_value,
)
from kraftctl.metadata.config_definitions.generated.broker_config_data import BROKER_CONFIG_KEYS
from kraftctl.metadata.config_definitions.generated.broker_config_rules import (
    REQUIRED_BROKER_CONFIGS,
    broker_config_rules,
)
from kraftctl.metadata.config_definitions.validators import ListOf, Validator

BROKER_ID: Final = "broker.id"
NODE_ID: Final = "node.id"
VOTERS: Final = "controller.quorum.voters"
BOOTSTRAP_SERVERS: Final = "controller.quorum.bootstrap.servers"

_CLASS_NAME: Final = re.compile(r"[^\W\d][\w$]*(\.[^\W\d][\w$]*)+")
"""The name of a class in a package. Only a JVM can check that the class exists."""


class DefinedValues:
    """The values of a file, or their defaults. `errors` has a sentence for each bad key, in Kafka's order.

    A bad value counts as the default, so that keys that depend on it can be checked as well.
    """

    def __init__(self, properties: dict[str, str]) -> None:
        self.properties = properties
        self.errors: list[str] = []
        self.refused: set[str] = set()
        self._values: dict[str, ConfigValue] = {}
        self._rules = broker_config_rules()
        for key, rule in self._rules.items():
            name = self._name(key)
            if name in properties:
                self._read(name, key, properties[name], rule)
            elif key in REQUIRED_BROKER_CONFIGS:
                self.refuse([key], f'Missing required configuration "{key}": it has no default.')

    def has(self, key: str) -> bool:
        """Returns whether the file sets `key`."""
        return key in self.properties

    def refuse(self, keys: list[str], error: str) -> None:
        """Notes that `keys` do not fit each other, unless one of them was refused before."""
        if self.refused.isdisjoint(keys):
            self.errors.append(error)
        self.refused.update(keys)

    def integer(self, key: str) -> int:
        """Returns the value of an INT, SHORT or LONG that has a default."""
        value = self._value(key)
        return value if isinstance(value, int) else 0

    def optional_integer(self, key: str) -> int | None:
        """Returns the value of an INT or LONG; None without one."""
        value = self._value(key)
        return value if isinstance(value, int) else None

    def text(self, key: str) -> str:
        """Returns the value of a STRING; empty without one."""
        value = self._value(key)
        return value if isinstance(value, str) else ""

    def items(self, key: str) -> list[str]:
        """Returns the value of a LIST; empty without one."""
        value = self._value(key)
        return value if isinstance(value, list) else []

    def items_with_prefix(self, prefix: str, key: str) -> list[str]:
        """Returns a LIST that `prefix` may override. All keys with the prefix are checked, as Kafka does."""
        found = self.items(key)
        for name, text in self.properties.items():
            if not name.startswith(prefix) or name == prefix:
                continue
            plain = name.removeprefix(prefix)
            defined = plain if plain in self._rules else plain.partition(".")[2]
            if defined in self._rules:
                value = self._read(name, defined, text, self._rules[defined])
                if plain == key and isinstance(value, list):
                    found = value
        return found

    def _name(self, key: str) -> str:
        """Returns the key as the file has it: one of node.id and broker.id stands in for the other."""
        if key == BROKER_ID and not self.has(BROKER_ID):
            return NODE_ID
        return BROKER_ID if key == NODE_ID and not self.has(NODE_ID) else key

    def _value(self, key: str) -> ConfigValue | None:
        if self._name(key) in self._values:
            return self._values[self._name(key)]
        return BROKER_CONFIG_KEYS[key].default_value

    def _read(self, name: str, key: str, text: str, rule: Validator) -> ConfigValue | None:
        """Returns the file's value of `name`, by the rule of `key`."""
        type_ = BROKER_CONFIG_KEYS[key].type
        try:
            value = parse_value(name, type_, text)
        except InvalidConfigValueError as error:
            self.refuse([name], str(error))
            return None
        if isinstance(value, list) and isinstance(rule, ListOf):
            value = list(dict.fromkeys(value))
        reason = self._error(name, key, text, value, rule)
        if reason is not None:
            self.refuse([name], reason)
            return None
        self._values[name] = value
        return value

    def _error(self, name: str, key: str, text: str, value: ConfigValue, rule: Validator) -> str | None:
        if isinstance(value, list) and key in (VOTERS, BOOTSTRAP_SERVERS):
            return _why_addresses_invalid(name, key, text, value)
        if BROKER_CONFIG_KEYS[key].type == CLASS and not names_a_class(str(value)):
            return f"Invalid value {text} for configuration {name}: Class {text} could not be found."
        return rule.error(name, text, value)


def names_a_class(text: str) -> bool:
    """Returns whether `text` may be the name of a Java class."""
    return _CLASS_NAME.fullmatch(text) is not None


def _why_addresses_invalid(name: str, key: str, text: str, entries: list[str]) -> str | None:
    for entry in entries:
        reason = why_voter_invalid(entry) if key == VOTERS else why_bootstrap_server_invalid(entry)
        if reason is not None:
            return f"Invalid value {text} for configuration {name}: {reason}"
    return None
