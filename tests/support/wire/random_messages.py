"""Random but well-formed requests, often with values that exist in the controller."""

from __future__ import annotations

import random
from typing import Any

from kraftctl_protocol.message import Field, Message

INT_LIMITS = {"int8": 1 << 7, "int16": 1 << 15, "int32": 1 << 31, "int64": 1 << 63}


class RandomMessages:
    """Fills messages by their field lists. `words`, `ids` and `numbers` are values that may hit something.

    `hints` maps field names to values that mostly do.
    """

    def __init__(
        self,
        rng: random.Random,
        words: list[str],
        ids: list[bytes],
        numbers: list[int],
        hints: dict[str, list[Any]],
    ) -> None:
        self._rng = rng
        self._hints = hints
        self._words = words
        self._ids = ids
        self._numbers = numbers

    def message(self, kind: type[Message], version: int, depth: int = 0) -> Any:
        """One of `kind`, with the fields that `version` has."""
        message = kind()
        for field in kind.FIELDS:
            if field.in_version(version) and self._rng.random() < 0.9:
                setattr(message, field.name, self._value(field, version, depth))
        return message

    def _value(self, field: Field, version: int, depth: int) -> Any:
        hints = self._hints.get(field.name)
        if hints is not None and self._rng.random() < 0.9:
            hint = self._rng.choice(hints)
            if _fits(field, hint, version):
                return hint
        if field.nullable_in(version) and self._rng.random() < 0.1:
            return None
        if not field.type.startswith("[]"):
            return self._single(field, field.type, version, depth)
        count = self._rng.choice((0, 1, 1, 1, 1, 2, 3)) if depth < 4 else 0
        return [self._single(field, field.type[2:], version, depth) for _ in range(count)]

    def _single(self, field: Field, type_: str, version: int, depth: int) -> Any:
        if field.struct is not None:
            return self.message(field.struct, version, depth + 1)
        if type_ in INT_LIMITS:
            return self._integer(INT_LIMITS[type_])
        if type_ == "uint16":
            return self._rng.choice((0, 1, 9092, 65_535))
        if type_ == "uint32":
            return self._rng.choice((0, 1, (1 << 32) - 1))
        if type_ == "bool":
            return self._rng.random() < 0.3
        if type_ == "float64":
            return self._rng.choice((0.0, 1.0, -1.0, 0.5, 1e300, float("inf"), float("nan")))
        if type_ == "string":
            return self._rng.choice(self._words)
        if type_ == "uuid":
            return self._rng.choice(self._ids)
        assert type_ in ("bytes", "records"), type_
        return self._rng.randbytes(self._rng.choice((0, 1, 4, 32)))

    def _integer(self, limit: int) -> int:
        if self._rng.random() < 0.9:
            value = self._rng.choice(self._numbers)
            if -limit <= value < limit:
                return value
        return self._rng.choice((-limit, limit - 1, -1, 0, 1))


def _fits(field: Field, hint: Any, version: int) -> bool:
    """Whether a hint for fields of that name is of this field's type."""
    if hint is None:
        return field.nullable_in(version)
    if isinstance(hint, list):
        return field.type.startswith("[]") and all(_fits_type(field.type[2:], item) for item in hint)
    return _fits_type(field.type, hint)


def _fits_type(type_: str, value: Any) -> bool:
    if isinstance(value, bool):
        return type_ == "bool"
    if isinstance(value, int):
        return type_ in INT_LIMITS and -INT_LIMITS[type_] <= value < INT_LIMITS[type_]
    return type_ == ("string" if isinstance(value, str) else "uuid")
