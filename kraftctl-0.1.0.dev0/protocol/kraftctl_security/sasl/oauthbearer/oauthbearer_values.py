"""Reads keys of OAUTHBEARER under several prefixes: of listener and mechanism, of the listener, and without
one.
"""

from __future__ import annotations

from kraftctl_security.config_values import ConfigValues
from kraftctl_security.prefixed_values import PrefixedValues
from kraftctl_security.sasl.java_classes import refuse_other


class OAuthBearerValues(PrefixedValues):
    """The first of `prefixes` under which a key is set decides; without one, the plain key."""

    def __init__(self, values: ConfigValues, prefixes: list[str]) -> None:
        super().__init__(values, *prefixes)

    def bounded_int32(self, key: str, default: int, *, at_least: int, at_most: int) -> int:
        """Returns the value of an INT or SHORT with a range."""
        value = self.int32(key, default, at_least)
        if value > at_most:
            self.refuse(key, str(value), f"it must be at most {at_most}")
            return default
        return value

    def optional_int32(self, key: str, *, at_least: int) -> int | None:
        """Returns the value of an INT without default."""
        return self.int32(key, at_least, at_least) if self.has(key) else None

    def fraction(self, key: str, default: float, *, at_least: float, at_most: float) -> float:
        """Returns the value of a DOUBLE."""
        if not self.has(key):
            return default
        text = self.text(key, "")
        try:
            value = float(text)
        except ValueError:
            self.refuse(key, text, "it is no DOUBLE")
            return default
        if not at_least <= value <= at_most:
            self.refuse(key, text, f"it must be from {at_least} to {at_most}")
            return default
        return value

    def boolean(self, key: str, default: bool) -> bool:
        """Returns the value of a BOOLEAN."""
        return self.values.boolean(self.name(key), default)

    def class_name(self, key: str, allowed: tuple[str, ...], default: str | None) -> str | None:
        """Returns a CLASS: its rules are built in, and no other can be loaded. None if it is missing.

        A `default` of None is Kafka's default that is not supported: the key has to be set.
        """
        name = self.optional_text(key) or default
        choices = " or ".join(allowed)
        if name is None:
            self.missing(key, f"Kafka's default is for tokens without a signature. Set {choices}")
        refuse_other(self.values, self.name(key), allowed)
        return name

    def note(self, errors: list[str]) -> None:
        """Notes errors that others have found, as they are."""
        self.values.errors.extend(errors)
