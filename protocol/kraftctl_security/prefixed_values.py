"""Keys that a prefix may override for one listener: `listener.name.controller.ssl.keystore.type`."""

from __future__ import annotations

from kraftctl_security.config_values import ConfigValues, split_list


class PrefixedValues:
    """A key with the prefix decides; the plain key applies where there is none. The prefix may be empty."""

    def __init__(self, values: ConfigValues, prefix: str) -> None:
        self._values = values
        self._prefix = prefix

    def name(self, key: str) -> str:
        """The key that decides, as the file has it. Asking counts as reading both."""
        self._values.has(key)
        prefixed = self._prefix + key
        return prefixed if self._values.has(prefixed) else key

    def has(self, key: str) -> bool:
        return self._values.has(self.name(key))

    def text(self, key: str, default: str) -> str:
        """A STRING, trimmed; it may be empty."""
        return self._values.text(self.name(key), default)

    def optional_text(self, key: str) -> str | None:
        """A STRING or PASSWORD; None without one, or with an empty one."""
        return self._values.text(self.name(key)) or None

    def names(self, key: str, default: str) -> list[str]:
        """A LIST; `default` is as in a file."""
        name = self.name(key)
        return self._values.names(name) if self._values.has(name) else split_list(default)

    def refuse(self, key: str, value: str, reason: str) -> None:
        """Note a bad value."""
        self._values.refuse(self.name(key), value, reason)

    def refuse_secret(self, key: str, reason: str) -> None:
        """Note a bad value that must not be shown."""
        self._values.errors.append(f"Invalid value [hidden] for configuration {self.name(key)}: {reason}")

    def missing(self, key: str, reason: str) -> None:
        """Note a key that has to be set."""
        self._values.errors.append(f'Missing required configuration "{self.name(key)}": {reason}')
