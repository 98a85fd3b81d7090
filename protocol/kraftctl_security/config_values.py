"""Reads string properties with Kafka's types, ranges and error texts."""

from __future__ import annotations

from kraftctl_protocol.java_values import parse_boolean, parse_integer, split_list, trim
from kraftctl_security.resolved_properties import HIDDEN, ResolvedProperties

INT_MAX = 2**31 - 1


class ConfigException(Exception):
    """Properties that a controller cannot start with; `errors` names every bad key, not only the first."""

    def __init__(self, errors: list[str]) -> None:
        super().__init__("\n".join(errors))
        self.errors = errors


def invalid_value(key: str, value: str | None, reason: str) -> str:
    """Returns Kafka's sentence for a value that a key does not take."""
    return f"Invalid value {'null' if value is None else value} for configuration {key}: {reason}"


class ConfigValues:
    """Reads keys one at a time, remembers which were asked for and collects what is wrong.

    Every reader returns something of the right type even when the value is bad, so that one pass finds all
    mistakes; call `raise_errors` before using anything that was read. Errors do not show values that came
    from config providers.
    """

    def __init__(self, properties: dict[str, str]) -> None:
        self.properties = properties
        self.read: set[str] = set()
        self.errors: list[str] = []
        self._resolved = properties if isinstance(properties, ResolvedProperties) else None
        if self._resolved is not None:
            self.read.update(self._resolved.provider_keys)
        self._refused: set[str] = set()

    def has(self, key: str) -> bool:
        """Returns whether the file sets `key`; asking counts as reading it."""
        self.read.add(key)
        return key in self.properties

    def text(self, key: str, default: str = "") -> str:
        """Returns the value of a STRING, trimmed."""
        return trim(self.properties[key]) if self.has(key) else default

    def optional_text(self, key: str) -> str | None:
        """Returns the value of a STRING without default."""
        return trim(self.properties[key]) if self.has(key) else None

    def choice(self, key: str, default: str, allowed: list[str]) -> str:
        """Returns the value of a STRING that must be one of `allowed`."""
        value = self.text(key, default)
        if value not in allowed:
            self.refuse(key, value, f"it must be one of {', '.join(allowed)}")
        return value

    def int32(self, key: str, default: int, at_least: int | None = None) -> int:
        """Returns the value of an INT."""
        return self._number(key, default, at_least, 32, "INT")

    def int64(self, key: str, default: int, at_least: int | None = None) -> int:
        """Returns the value of a LONG."""
        return self._number(key, default, at_least, 64, "LONG")

    def optional_int32(self, key: str) -> int | None:
        """Returns the value of an INT without default."""
        return self.int32(key, 0) if self.has(key) else None

    def boolean(self, key: str, default: bool) -> bool:
        """Returns the value of a BOOLEAN: true or false in any case, nothing else."""
        if not self.has(key):
            return default
        value = parse_boolean(trim(self.properties[key]))
        if value is None:
            self.refuse(key, self.properties[key], "it is neither true nor false")
        return value is True

    def names(self, key: str, required: bool = False) -> list[str]:
        """Returns a LIST of distinct non-empty values; `required` lists may not be empty."""
        values = split_list(self.properties[key]) if self.has(key) else []
        if "" in values:
            self._note(key, f"{key} has an empty item.")
        if required and not values:
            self.missing(key)
        return list(dict.fromkeys(values))

    def refuse(self, key: str, value: str | None, reason: str) -> None:
        """Notes that a value is bad."""
        if self._resolved is not None and key in self._resolved.provided_keys:
            value = HIDDEN
        self._note(key, invalid_value(key, value, reason))

    def missing(self, key: str) -> None:
        """Notes a key that has no default and is missing or empty."""
        if key in self.properties:
            self._note(key, f"Configuration '{key}' must not be empty.")
        else:
            self._note(key, f'Missing required configuration "{key}": it has no default.')

    def adopt(self, errors: list[str], refused: set[str]) -> None:
        """Notes errors that were found before; for a key in `refused`, no further error is noted."""
        self.errors += errors
        self._refused |= refused

    def raise_errors(self) -> None:
        """Raises ConfigException if anything read so far was wrong."""
        if self.errors:
            raise ConfigException([self.hide(error) for error in self.errors])

    def hide(self, error: str) -> str:
        """Returns the text of an error without values that came from config providers."""
        return error if self._resolved is None else self._resolved.hide(error)

    def unread(self) -> list[str]:
        """Returns keys of the file that were not read, sorted."""
        return sorted(key for key in self.properties if key not in self.read)

    def _note(self, key: str, error: str) -> None:
        if key not in self._refused:
            self.errors.append(error)

    def _number(self, key: str, default: int, at_least: int | None, bits: int, kind: str) -> int:
        if not self.has(key):
            return default
        value = trim(self.properties[key])
        number = parse_integer(value, bits)
        if number is None:
            self.refuse(key, value, f"it is no {kind}")
            return default
        if at_least is not None and number < at_least:
            self.refuse(key, value, f"it must be at least {at_least}")
            return default
        return number
