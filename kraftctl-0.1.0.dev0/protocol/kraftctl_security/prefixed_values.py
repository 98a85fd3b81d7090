"""Keys that a prefix may override for one listener: `listener.name.controller.ssl.keystore.type`."""

from __future__ import annotations

from kraftctl_protocol.java_values import split_list
from kraftctl_security.config_values import ConfigValues


class PrefixedValues:
    """Reads a key with the first prefix that sets it, else the plain one. A prefix may be empty."""

    def __init__(self, values: ConfigValues, *prefixes: str) -> None:
        self.values = values
        self._prefixes = prefixes

    def name(self, key: str) -> str:
        """Returns the key that decides, as the file has it; asking counts as reading all of them."""
        names = [prefix + key for prefix in self._prefixes]
        present = [name for name in [*names, key] if self.values.has(name)]
        return present[0] if present else key

    def has(self, key: str) -> bool:
        return self.values.has(self.name(key))

    def text(self, key: str, default: str) -> str:
        """Returns the value of a STRING, trimmed; it may be empty."""
        return self.values.text(self.name(key), default)

    def optional_text(self, key: str) -> str | None:
        """Returns the value of a STRING or PASSWORD; None if it is missing or empty."""
        return self.values.text(self.name(key)) or None

    def names(self, key: str, default: str) -> list[str]:
        """Returns the items of a LIST; `default` is written as in a file."""
        name = self.name(key)
        return self.values.names(name) if self.values.has(name) else split_list(default)

    def int32(self, key: str, default: int, at_least: int | None = None) -> int:
        return self.values.int32(self.name(key), default, at_least)

    def int64(self, key: str, default: int, at_least: int | None = None) -> int:
        return self.values.int64(self.name(key), default, at_least)

    def boolean(self, key: str, *, default: bool) -> bool:
        """Returns the value of a BOOLEAN."""
        return self.values.boolean(self.name(key), default)

    def refuse(self, key: str, value: str, reason: str) -> None:
        """Notes that a value is bad."""
        self.values.refuse(self.name(key), value, reason)

    def refuse_secret(self, key: str, reason: str) -> None:
        """Notes a bad value that must not be shown."""
        self.values.errors.append(f"Invalid value [hidden] for configuration {self.name(key)}: {reason}")

    def missing(self, key: str, reason: str) -> None:
        """Notes a key that has to be set."""
        self.values.errors.append(f'Missing required configuration "{self.name(key)}": {reason}')
