"""Whether a message has tagged fields that this release does not know, in itself or in its structs."""

from __future__ import annotations

from kraftctl_protocol.message import Message

_STRUCTS: dict[type[Message], list[str]] = {}
"""By type, the names of the fields whose values are structs, or lists of them."""


def has_new_fields(message: Message) -> bool:
    """Returns whether a later release knows more fields of it."""
    if message.unknown_tagged_fields is not None:
        return True
    kind = type(message)
    if (names := _STRUCTS.get(kind)) is None:
        names = _STRUCTS[kind] = [field.name for field in kind.FIELDS if field.struct is not None]
    for name in names:
        value = getattr(message, name)
        structs = value if isinstance(value, list) else [] if value is None else [value]
        if any(has_new_fields(one) for one in structs):
            return True
    return False
