"""The texts of a decoded record, each with what its field has: a topic, a principal, anything."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from kraftctl_protocol.generated.config_record import ConfigRecord
from kraftctl_protocol.message import Field, Message
from kraftctl_protocol.record_types import (
    ACL_RESOURCE,
    CONFIG_RESOURCE,
    FREE_TEXT,
    OTHER,
    QUOTA_ENTITY,
    RECORD_TYPES_BY_NAME,
    TOPIC_NAME,
    USER,
)
from kraftctl_protocol.secrets import REDACTED
from kraftctl_spark.forgetting.wanted_name import WantedName
from kraftctl_spark.rows.redaction import is_redacted

TOPIC_RESOURCE: Final = 2
LITERAL: Final = 3
USER_ENTITY: Final = "user"

_TEXTS: Final = ("string", "[]string")

_DEPENDS: Final[dict[str, tuple[Callable[[Any], bool], str]]] = {
    ACL_RESOURCE: (
        lambda one: one.resource_type == TOPIC_RESOURCE and one.pattern_type == LITERAL,
        TOPIC_NAME,
    ),
    CONFIG_RESOURCE: (lambda one: one.resource_type == TOPIC_RESOURCE, TOPIC_NAME),
    QUOTA_ENTITY: (lambda one: one.entity_type == USER_ENTITY, USER),
}
"""When a field has a name of this kind, by the message that it is in."""


def text_fields(message: type[Message], above: str = "") -> Iterator[tuple[str, Field]]:
    """Yields the fields with texts, by their names; those of structs behind a period."""
    for field in message.FIELDS:
        if field.struct is not None:
            yield from text_fields(field.struct, f"{above}{field.name}.")
        elif field.type in _TEXTS:
            yield f"{above}{field.name}", field


def kinds_of(message: type[Message]) -> dict[str, str]:
    """Returns what each field of a record's type has. Control records only have names of hosts."""
    row = RECORD_TYPES_BY_NAME.get(message.NAME)
    return {path: OTHER if row is None else row.texts[path] for path, _ in text_fields(message)}


def texts_of(
    message: Message, above: str = "", kinds: dict[str, str] | None = None
) -> Iterator[tuple[str, str]]:
    """Yields each text of a record with its kind."""
    known = kinds_of(type(message)) if kinds is None else kinds
    for field in message.FIELDS:
        value = getattr(message, field.name)
        several = value if isinstance(value, list) else [] if value is None else [value]
        if field.struct is not None:
            for one in several:
                yield from texts_of(one, f"{above}{field.name}.", known)
        elif field.type in _TEXTS:
            kind = _kind(message, known.get(above + field.name, FREE_TEXT))
            for text in several:
                yield text, kind


def _kind(message: Message, kind: str) -> str:
    """Returns the kind of a field in this message."""
    if kind not in _DEPENDS:
        return kind
    holds, then = _DEPENDS[kind]
    return then if holds(message) else OTHER


def unknown_bytes(message: Message) -> Iterator[bytes]:
    """Yields the tagged fields that this release does not know, those of structs, too."""
    yield from _unknown_in(message)
    for field in message.FIELDS:
        value = getattr(message, field.name)
        if field.struct is not None and value is not None:
            for one in value if isinstance(value, list) else [value]:
                yield from unknown_bytes(one)


def _unknown_in(message: Message) -> list[bytes]:
    return [data for _, data in message.unknown_tagged_fields or ()]


def replace_name(record: Message, name: WantedName) -> tuple[bool, bool]:
    """Replaces the name in place; returns whether that changed anything, and whether bytes were removed.

    Tagged fields that this release does not know may have it by accident: they are removed on demand.
    """
    changes = _Changes(name, kinds_of(type(record)))
    changes.make(record, "")
    if changes.texts and isinstance(record, ConfigRecord) and is_redacted(record.value or ""):
        record.value = REDACTED  # A digest is one of the name, too.
    return changes.texts + changes.removed > 0, changes.removed > 0


class _Changes:
    def __init__(self, name: WantedName, kinds: dict[str, str]) -> None:
        self._name = name
        self._kinds = kinds
        self.texts = 0
        self.removed = 0

    def make(self, message: Message, above: str) -> None:
        if self._name.everywhere and any(self._name.bare_bytes in data for data in _unknown_in(message)):
            message.unknown_tagged_fields = None
            self.removed += 1
        for field in message.FIELDS:
            value = getattr(message, field.name)
            if value is None:
                continue
            if field.struct is not None:
                for one in value if isinstance(value, list) else [value]:
                    self.make(one, f"{above}{field.name}.")
            elif field.type in _TEXTS:
                kind = self._kinds.get(above + field.name, FREE_TEXT)
                self._replace(message, field, value, _kind(message, kind))

    def _replace(self, message: Message, field: Field, value: Any, kind: str) -> None:
        is_list = isinstance(value, list)
        texts = value if is_list else [value]
        new = [self._name.without(text, kind) for text in texts]
        if new != texts:
            setattr(message, field.name, new if is_list else new[0])
            self.texts += 1
