"""What a response says of each thing that was asked for: error codes, and the names that have them."""

from __future__ import annotations

from typing import Final

from kraftctl.controller.audit.change_list import TEXT_LENGTH_MAX
from kraftctl.controller.results.failures import shortened
from kraftctl_protocol.errors import Errors, error_of
from kraftctl_protocol.message import Message

NAMES_MAX: Final = 20
"""Named of each error; the others are counted."""

CHARACTERS_MAX: Final = 3_000
"""The names of one line have this many characters at most; the others are counted."""

LABELS: Final = (
    "name",
    "resource_name",
    "topic_name",
    "topic",
    "user",
    "feature",
    "partition_index",
    "partition_id",
)
"""The field that names a part of a response: the first of these that it has."""

ERROR_CODE: Final = "error_code"


class Shape:
    """Where the error codes of a message are: in itself, and in fields that hold messages with some."""

    def __init__(self, kind: type[Message]) -> None:
        self.has_code = False
        self.label = ""
        self.parts: list[tuple[str, Shape]] = []
        names = {field.name for field in kind.FIELDS}
        self.has_code = ERROR_CODE in names
        for label in LABELS:
            if label in names:
                self.label = label
                break
        for field in kind.FIELDS:
            if field.struct is not None:
                part = shape_of(field.struct)
                if part.has_code or part.parts:
                    self.parts.append((field.name, part))


_SHAPES: Final[dict[type[Message], Shape]] = {}


def shape_of(kind: type[Message]) -> Shape:
    """The shape of a class, made when it is first asked for."""
    shape = _SHAPES.get(kind)
    if shape is None:
        shape = Shape(kind)
        _SHAPES[kind] = shape
    return shape


class ResponseErrors:
    """`counts` has the number of things by error code; each has a name unless there are too many."""

    def __init__(self, response: Message) -> None:
        self.counts: dict[int, int] = {}
        self._names: dict[int, list[str]] = {}
        self._characters_left = CHARACTERS_MAX
        self._walk(response, shape_of(type(response)), "")

    def has(self, error: Errors) -> bool:
        return int(error) in self.counts

    def names(self) -> list[str]:
        """The names of the errors."""
        return [error_of(code).name for code in self.counts]

    def results(self) -> list[dict[str, object]]:
        """As in the line: the errors in the order in which they come in the response."""
        return [
            {"error": error_of(code).name, "count": count, "resources": self._names.get(code, [])}
            for code, count in self.counts.items()
        ]

    def _walk(self, message: Message, shape: Shape, name: str) -> bool:
        """Note the errors in `message`; whether there were any. A part without a code contains others."""
        found = False
        for field, part in shape.parts:
            value = getattr(message, field)
            if isinstance(value, Message):
                found = self._walk(value, part, name) or found
            elif isinstance(value, list):
                for index, item in enumerate(value):
                    self._walk(item, part, _joined(name, item, part, index))
                    found = True
        if shape.has_code:
            code: int = getattr(message, ERROR_CODE)
            # NONE for the whole request says nothing while its parts have codes of their own.
            if code != Errors.NONE or not found:
                self._note(code, name)
                found = True
        return found

    def _note(self, code: int, name: str) -> None:
        count = self.counts.get(code, 0)
        self.counts[code] = count + 1
        if name and count < NAMES_MAX and self._characters_left > 0:
            shown = shortened(name, TEXT_LENGTH_MAX)
            self._characters_left -= len(shown)
            self._names.setdefault(code, []).append(shown)


def _joined(outer: str, item: Message, shape: Shape, index: int) -> str:
    label = str(getattr(item, shape.label)) if shape.label else f"[{index}]"
    return f"{outer}-{label}" if outer else label
