"""`${provider:[path:]key}` in the value of a configuration, found as Kafka's ConfigTransformer finds it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

OPENING: Final = "${"
CLOSING: Final = "}"

_BEGINNING: Final = re.compile(r"\$\{\s*([^\s{}\"'=;,:]*)\s*:")
"""A variable begins with this. A password may contain `${` alone, which is not one."""


class Variable:
    """`start` and `end` are its place in the value; `text` is all of it, with the braces."""

    def __init__(self, text: str, *, start: int, end: int) -> None:
        self.text = text
        self.start = start
        self.end = end
        self.provider, _, rest = text[len(OPENING) : -len(CLOSING)].partition(":")
        path, colon, key = rest.partition(":")
        self.path = path if colon else ""
        self.key = key if colon else rest


def find_variables(value: str) -> Iterator[Variable]:
    r"""Yields the matches of `\$\{([^}]*?):(([^}]*?):)?([^}]*?)\}`, from left to right, in linear time."""
    position = value.find(OPENING)
    while position >= 0:
        closing = value.find(CLOSING, position)
        if closing < 0:
            return
        end = closing + len(CLOSING)
        # Without a colon it is none, and neither is what begins later and ends at the same brace.
        if ":" in value[position:end]:
            yield Variable(value[position:end], start=position, end=end)
        position = value.find(OPENING, end)


def provider_begun(text: str) -> str | None:
    """Returns the provider that the first variable in `text` is meant for; None without a variable."""
    found = _BEGINNING.search(text)
    return None if found is None else found.group(1)
