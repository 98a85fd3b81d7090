"""Well-formed hostile requests: a valid one, some of whose fields are then made extreme."""

from __future__ import annotations

import random
from typing import Any

from kraftctl_protocol.message import Field, Message
from tests.support.wire.random_messages import INT_LIMITS

SURROGATE_MARK = "\ue000"
"""Three bytes in UTF-8, as many as half a surrogate pair, with which `with_surrogates` replaces it."""

ENTRIES_MANY = 10_001
"""One more than a batch of records may have."""

ENTRIES_WALKED_MAX = 3

STRINGS = [
    *("", "\0", "a\0b", " ", "\n", ".", "..", "*", ":", "User:", "/", "%s", "{}", "a" * 249, "a" * 250),
    *("x" * 32_764, "x" * 32_765, "x" * 32_766, "x" * 32_767, "é" * 16_383, "😀" * 8_191, "a" * 300),
    *("\u202eabc", "ｔ", "\ufeff1", "e\u0301", SURROGATE_MARK, "a" + SURROGATE_MARK + "b", "\uffff"),
    *("abc", "-1", "9" * 400, "NaN", "1e999", "inf", "1_000", "+1", "0x10", "１", "١", "1.5", "true,false"),
    *("t", "T", "t.u", "t_u", "__cluster_metadata", "compact,", "compact,compact", "0:1", "0:1,", "*:*"),
    *("User:ANONYMOUS", "[::1]", "2001:db8::1", "256.256.256.256", "127.0.0.1:9092", "a..b", "-"),
]

FLOATS = [0.0, -0.0, 5e-324, -1.0, 1e308, float("inf"), float("-inf"), float("nan")]

IDS = [bytes(16), bytes(15) + b"\1", bytes(15) + b"\2", b"\xff" * 16]

BYTES = [b"", b"\0", b"\0" * 64, b"\xff" * 64, b"\xed\xa0\x80", b"x" * 70_000]


class HostileEdits:
    """Decides by `rng` alone."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._many = False

    def edited(self, message: Message, version: int) -> Message:
        """`message` itself, with one to four fields changed to extreme values."""
        self._many = False
        for _ in range(self._rng.choice((1, 1, 2, 4))):
            places = _places(message, version)
            if places:
                owner, field = self._rng.choice(places)
                setattr(owner, field.name, self._value(field, getattr(owner, field.name), version))
        return message

    def _value(self, field: Field, value: Any, version: int) -> Any:
        if field.nullable_in(version) and self._rng.random() < 0.25:
            return None
        if field.type.startswith("[]"):
            return self._list(field, list(value or ()))
        return value if field.struct is not None else self._single(field.type)

    def _list(self, field: Field, values: list[Any]) -> list[Any]:
        if self._rng.random() < 0.2:
            return []
        if field.struct is None and self._rng.random() < 0.5:
            return [self._single(field.type[2:]) for _ in range(self._rng.choice((1, 2, 5)))]
        if self._rng.random() < 0.03 and not self._many:
            # Once in a message: a list of lists would be a hundred million.
            self._many = True
            return (values[:1] or [self._entry(field)]) * ENTRIES_MANY
        return [*values, *(values or [self._entry(field)])]

    def _entry(self, field: Field) -> Any:
        return self._single(field.type[2:]) if field.struct is None else field.struct()

    def _single(self, type_: str) -> Any:
        rng = self._rng
        if type_ in INT_LIMITS:
            limit = INT_LIMITS[type_]
            return rng.choice((-limit, limit - 1, limit - 2, -2, -1, 0, 1, limit >> 1))
        if type_ == "uint16":
            return rng.choice((0, 1, 65_535))
        if type_ == "uint32":
            return rng.choice((0, 1, (1 << 31), (1 << 32) - 1))
        if type_ == "bool":
            return rng.random() < 0.5
        if type_ == "float64":
            return rng.choice(FLOATS)
        if type_ == "uuid":
            return rng.choice(IDS)
        return rng.choice(STRINGS if type_ == "string" else BYTES)


def _places(message: Message, version: int) -> list[tuple[Message, Field]]:
    """Every field of that version, at any depth; of long lists the first entries only."""
    found: list[tuple[Message, Field]] = []
    for field in message.FIELDS:
        if not field.in_version(version):
            continue
        found.append((message, field))
        if field.struct is not None:
            value = getattr(message, field.name)
            entries = [value] if isinstance(value, Message) else list(value or ())[:ENTRIES_WALKED_MAX]
            for entry in entries:
                found += _places(entry, version)
    return found


def with_surrogates(data: bytes) -> bytes:
    """Half a surrogate pair at each mark: no encoder writes that, but a client can send it."""
    return data.replace(SURROGATE_MARK.encode(), b"\xed\xa0\x80")
