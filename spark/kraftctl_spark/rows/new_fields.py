"""Whether a message has tagged fields that this release does not know, in itself or in its structs."""

from __future__ import annotations

from functools import cache

from kraftctl_protocol.message import Message


def has_new_fields(message: Message) -> bool:
    """Returns whether a later release knows more fields of it."""
    if message.unknown_tagged_fields is not None:
        return True
    for name in _structs_of(type(message)):
        value = getattr(message, name)
        structs = value if isinstance(value, list) else [] if value is None else [value]
        if any(has_new_fields(one) for one in structs):
            return True
    return False


@cache
def _structs_of(message: type[Message]) -> tuple[str, ...]:
    """Returns the names of the fields whose values are structs, or lists of them."""
    return tuple(field.name for field in message.FIELDS if field.struct is not None)
