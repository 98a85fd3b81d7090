"""The differences that stay, each with its reason, from known_differences.toml."""

from __future__ import annotations

import fnmatch
import tomllib
from dataclasses import dataclass
from pathlib import Path

from tests.differential.compare import Difference

FILE = Path(__file__).with_name("known_differences.toml")


@dataclass
class Known:
    """One entry of the file, and how often it occurred."""

    name: str
    reason: str
    api: str = "*"
    place: str = "*"
    java: str = "*"
    kraftctl: str = "*"
    kafka: str = "*"
    text: str = "*"
    """A text of one side in the same response, as kraftctl's or Kafka's."""

    avoided: str = ""
    """Only for calls that are known to differ in this (calls/avoided.py)."""

    rare: bool = False
    """Occurs too seldom to be missed in a long run."""

    count: int = 0

    def covers(self, difference: Difference, kafka: str, texts: list[str]) -> bool:
        return (
            (not self.avoided or self.avoided in difference.avoided)
            and (self.text == "*" or any(fnmatch.fnmatchcase(text, self.text) for text in texts))
            and fnmatch.fnmatchcase(difference.api, self.api)
            and fnmatch.fnmatchcase(difference.place, self.place)
            and fnmatch.fnmatchcase(repr(difference.java), self.java)
            and fnmatch.fnmatchcase(repr(difference.kraftctl), self.kraftctl)
            and fnmatch.fnmatchcase(kafka, self.kafka)
        )


class KnownDifferences:
    """All entries."""

    def __init__(self, kafka: str, file: Path = FILE) -> None:
        self._kafka = kafka
        self.entries = [Known(**entry) for entry in tomllib.loads(file.read_text()).get("difference", [])]

    def covers(self, difference: Difference, texts: list[str]) -> bool:
        """Whether an entry covers it; the entry counts it."""
        for entry in self.entries:
            if entry.covers(difference, self._kafka, texts):
                entry.count += 1
                return True
        return False

    def unknown(self, found: list[Difference]) -> list[Difference]:
        """Returns which differences of one call are new.

        If errors differ, and only as is known, so does the rest: one controller did what the other refused.
        """
        differing = [each for each in found if each.place.endswith("ErrorMessage")]
        texts = [str(side) for each in differing for side in (each.java, each.kraftctl) if side is not None]
        new = [each for each in found if not self.covers(each, texts)]
        errors = [each for each in found if each.is_an_error]
        if errors and not any(each in new for each in errors):
            return []
        return new

    def stale(self) -> list[Known]:
        """Returns the entries that did not occur, though this release could have them."""
        return [
            entry
            for entry in self.entries
            if not entry.count and not entry.rare and fnmatch.fnmatchcase(self._kafka, entry.kafka)
        ]
