"""Version ranges as Kafka's schemas write them ("0-3", "4+", "2", "none") and their algebra."""

from __future__ import annotations

import re
from dataclasses import dataclass

VERSION_MAX = 32767
"""Versions travel as int16; an open range ends here."""

_RANGE = re.compile(r"(\d+)(?:(\+)|-(\d+))?")


@dataclass(frozen=True)
class Versions:
    """All versions from `lowest` to `highest`, both inclusive; empty when `lowest > highest`.

    >>> Versions.parse("2+") & Versions.parse("0-3")
    Versions('2-3')
    >>> 4 in Versions.parse("0-3")
    False
    """

    lowest: int
    highest: int

    @staticmethod
    def parse(text: str) -> Versions:
        """Reads one range; ValueError for anything a schema may not say."""
        text = text.strip()
        if text == "none":
            return NONE
        match = _RANGE.fullmatch(text)
        if match is None:
            raise ValueError(f"not a version range: {text!r}")
        lowest = int(match[1])
        highest = VERSION_MAX if match[2] else int(match[3] or lowest)
        if lowest > highest or highest > VERSION_MAX:
            raise ValueError(f"version range out of order: {text!r}")
        return Versions(lowest, highest)

    def __bool__(self) -> bool:
        return self.lowest <= self.highest

    def __contains__(self, version: int) -> bool:
        return self.lowest <= version <= self.highest

    def __and__(self, other: Versions) -> Versions:
        both = Versions(max(self.lowest, other.lowest), min(self.highest, other.highest))
        return both if both else NONE

    def covers(self, other: Versions) -> bool:
        """Returns whether every version of `other` is in here."""
        return self & other == other

    def hull(self, other: Versions) -> Versions:
        """Returns the one range holding both; ValueError if versions of neither lie between them."""
        if not self or not other:
            return self or other
        if max(self.lowest, other.lowest) > min(self.highest, other.highest) + 1:
            raise ValueError(f"no single range for {self} and {other}")
        return Versions(min(self.lowest, other.lowest), max(self.highest, other.highest))

    def __str__(self) -> str:
        if not self:
            return "none"
        if self.highest == VERSION_MAX:
            return f"{self.lowest}+"
        return str(self.lowest) if self.lowest == self.highest else f"{self.lowest}-{self.highest}"

    def __repr__(self) -> str:
        return f"Versions({str(self)!r})"


NONE = Versions(0, -1)
