"""The rules for configuration values, in the kinds that Kafka has."""

from __future__ import annotations

import re

THROTTLED_REPLICA = re.compile(r"([0-9]+:[0-9]+)?")

DURATION = re.compile(
    r"([-+]?)P(?=.)(?:[-+]?[0-9]+D)?(T(?=.)(?:[-+]?[0-9]+H)?(?:[-+]?[0-9]+M)?(?:[-+]?[0-9]+(?:[.,][0-9]{0,9})?S)?)?",
    re.IGNORECASE,
)
"""Java reads ISO 8601 durations like this: days and a time part."""


class Validator:
    """A rule for values. The base class accepts everything."""

    def why_invalid(self, value: object) -> str | None:
        """Returns why `value` breaks the rule; None if it does not."""
        return None

    def error(self, name: str, text: str, value: object) -> str | None:
        """Returns Kafka's sentence if `value`, read from `text` for the key `name`, breaks the rule."""
        reason = self.why_invalid(value)
        return None if reason is None else f"Invalid value {text} for configuration {name}: {reason}"


class AnyValue(Validator):
    """A rule that accepts every value."""


class Range(Validator):
    """A rule for a number between two inclusive bounds; None is no bound."""

    def __init__(self, minimum: int | float | None, maximum: int | float | None = None) -> None:
        self.minimum = minimum
        self.maximum = maximum

    def why_invalid(self, value: object) -> str | None:
        assert isinstance(value, (int, float)), value
        if self.minimum is not None and value < self.minimum:
            return f"it must be at least {self.minimum}"
        if self.maximum is not None and value > self.maximum:
            return f"Value must be no more than {self.maximum}"
        return None


class RangeOr(Validator):
    """A rule for a number between two inclusive bounds, or one special number."""

    def __init__(self, minimum: int, maximum: int, special: int) -> None:
        self.minimum = minimum
        self.maximum = maximum
        self.special = special

    def why_invalid(self, value: object) -> str | None:
        assert isinstance(value, int), value
        if value == self.special or self.minimum <= value <= self.maximum:
            return None
        return f"Value must be between {self.minimum} and {self.maximum} or equal to {self.special}"


class OneOf(Validator):
    """A rule that allows the given words."""

    def __init__(self, words: list[str]) -> None:
        self.words = words

    def why_invalid(self, value: object) -> str | None:
        if value in self.words:
            return None
        return f"String must be one of: {', '.join(self.words)}"


class OneOfInAnyCase(Validator):
    """A rule that allows the given words, upper case here, in any case."""

    def __init__(self, words: list[str]) -> None:
        self.words = words

    def why_invalid(self, value: object) -> str | None:
        if str(value).upper() in self.words:
            return None
        return f"it must be one of, in any case, {', '.join(self.words)}"


class NotEmpty(Validator):
    """A rule for any text but the empty one."""

    def why_invalid(self, value: object) -> str | None:
        return None if value else "String must be non-empty"


class ListOf(Validator):
    """A rule for a list without blanks, of certain words when there are any. Kafka drops repetitions."""

    def __init__(self, words: list[str], empty_allowed: bool = True) -> None:
        self.words = words
        self.empty_allowed = empty_allowed

    def why_invalid(self, value: object) -> str | None:
        return self.error("", "", value)

    def error(self, name: str, text: str, value: object) -> str | None:
        assert isinstance(value, list), value
        if not value and not self.empty_allowed:
            valid = f"[{', '.join(self.words)}]" if self.words else "any non-empty value"
            return f"{name} must have an item: {valid}"
        for item in value:
            if not item:
                return f"{name} has an empty item."
            if self.words and item not in self.words:
                reason = f"String must be one of: {', '.join(self.words)}"
                return f"Invalid value {item} for configuration {name}: {reason}"
        return None


class ThrottledReplicas(Validator):
    """A rule for `*` or a list of partition:broker."""

    def why_invalid(self, value: object) -> str | None:
        assert isinstance(value, list), value
        items = [str(item).strip() for item in value]
        if "".join(items) == "*" or all(THROTTLED_REPLICA.fullmatch(item) is not None for item in items):
            return None
        return "must be '*' or a list of partition:broker pairs"


class OffsetResetStrategy(Validator):
    """KIP-932, KIP-1106: a share group starts at the latest, earliest or a duration ago."""

    def why_invalid(self, value: object) -> str | None:
        text = str(value)
        if text in ("latest", "earliest"):
            return None
        if text.startswith("by_duration:"):
            match = DURATION.fullmatch(text.removeprefix("by_duration:"))
            if match is not None and "-" not in text:
                return None
        return "must be latest, earliest or by_duration: and a duration of the form PnDTnHnMn.nS"
