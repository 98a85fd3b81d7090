"""The base of all generated messages: equality, text, checked encoding, reflection over fields."""

from __future__ import annotations

from typing import Any, ClassVar

from mypy_extensions import i64, mypyc_attr

from kraftctl_protocol.primitives import EncodeError, Reader, Writer

VERSION_MAX = 32767
"""Open ranges end here, because versions travel as int16."""


class Field:
    """One field of a message or struct, for code that walks over all of them (JSON, tests, exporters).

    Ranges are inclusive pairs; an absent range is (0, -1). `type` is the schema's: "int32", "[]TopicData".
    `struct` is the class of the field's, or its elements', values, if they are structs. `tag` is -1 for a
    field without one. `default` is () where it is an empty array or a struct with all of its own defaults.
    """

    def __init__(
        self,
        name: str,
        wire_name: str,
        type: str,
        *,
        versions: tuple[int, int] = (0, VERSION_MAX),
        nullable: tuple[int, int] = (0, -1),
        tagged: tuple[int, int] = (0, -1),
        tag: int = -1,
        default: Any = 0,
        ignorable: bool = False,
        struct: type[Message] | None = None,
    ) -> None:
        self.name = name
        self.wire_name = wire_name
        self.type = type
        self.lowest_version, self.highest_version = versions
        self.lowest_nullable, self.highest_nullable = nullable
        self.lowest_tagged, self.highest_tagged = tagged
        self.tag = tag
        self.default = default
        self.ignorable = ignorable
        self.struct = struct

    def is_default(self, value: Any) -> bool:
        """Returns whether `value` is the default of the field."""
        if self.default == ():
            if isinstance(value, Message):
                assert self.struct is not None
                return value == self.struct()
            return value is not None and len(value) == 0
        return bool(value == self.default)

    def in_version(self, version: int) -> bool:
        return self.lowest_version <= version <= self.highest_version

    def nullable_in(self, version: int) -> bool:
        return self.lowest_nullable <= version <= self.highest_nullable

    def tagged_in(self, version: int) -> bool:
        return self.lowest_tagged <= version <= self.highest_tagged

    def __repr__(self) -> str:
        return f"Field({self.wire_name}: {self.type})"


@mypyc_attr(acyclic=True)
class Message:
    """Base of every message, record and nested struct. Values are equal when all their fields are."""

    NAME: ClassVar[str] = ""
    API_KEY: ClassVar[int] = -1
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = -1
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = VERSION_MAX
    FIELDS: ClassVar[tuple[Field, ...]] = ()

    unknown_tagged_fields: list[tuple[int, bytes]] | None
    """(tag, value) of each field that only newer versions know; written back unchanged."""

    def write(self, writer: Writer, version: i64) -> None:
        """Appends this message. Overridden by every generated class."""
        raise AssertionError("not a message of its own")

    @staticmethod
    def read(reader: Reader, version: i64) -> Message:
        """Reads one message; DecodeError if there is none. Overridden by every generated class."""
        raise AssertionError("not a message of its own")

    @staticmethod
    def decode(data: bytes, version: i64) -> Message:
        """Reads one message that fills `data` exactly. Overridden by every generated class."""
        raise AssertionError("not a message of its own")

    def encode(self, version: i64) -> bytes:
        """Returns the bytes of this message; EncodeError if `version` cannot express it."""
        writer = Writer()
        try:
            self.write(writer, version)
        except (TypeError, ValueError, AttributeError, OverflowError) as error:
            raise EncodeError(f"{self.NAME} version {version}: {error}") from error
        return writer.getvalue()

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return False
        assert isinstance(other, Message)
        if (self.unknown_tagged_fields or None) != (other.unknown_tagged_fields or None):
            return False
        return all(getattr(self, field.name) == getattr(other, field.name) for field in self.FIELDS)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __repr__(self) -> str:
        parts = [f"{field.name}={getattr(self, field.name)!r}" for field in self.FIELDS]
        if self.unknown_tagged_fields:
            parts.append(f"unknown_tagged_fields={self.unknown_tagged_fields!r}")
        return f"{type(self).__name__}({', '.join(parts)})"
