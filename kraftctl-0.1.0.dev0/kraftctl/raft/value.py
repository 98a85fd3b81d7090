"""Gives effects and events equality and a readable form, for comparisons in tests and for logs."""

from __future__ import annotations

from typing import Final

BYTES_SHOWN: Final = 16
"""A directory id fits in this many bytes."""

TEXT_SHOWN: Final = 400
"""At most this many characters of a field are shown: a whole Vote, the beginning of what a Fetch carries."""


class Value:
    """A value equals another of its class when all fields are equal, and is not hashable.

    Nothing of this costs at construction: a subclass sets its fields in a plain `__init__`.
    """

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return False
        return all(getattr(self, name) == getattr(other, name) for name in field_names(self))

    def __repr__(self) -> str:
        fields = [f"{name}={_shown(getattr(self, name))}" for name in field_names(self)]
        return f"{type(self).__name__}({', '.join(fields)})"


def field_names(value: object) -> list[str]:
    """Returns the attributes of `value` in the order of its `__init__`, whether it is compiled or not."""
    names: list[str] = list(getattr(value, "__mypyc_attrs__", ()) or getattr(value, "__dict__", ()))
    return names


def _shown(value: object) -> str:
    if isinstance(value, bytes):
        if len(value) > BYTES_SHOWN:
            return f"<{len(value)} bytes>"
        return repr(value)
    if isinstance(value, list):
        text = f"[{', '.join([_shown(each) for each in value])}]"
    else:
        text = repr(value)
    return text if len(text) <= TEXT_SHOWN else f"{text[:TEXT_SHOWN]}..."
