"""The key that a misspelt one is probably meant to be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

EDITS_MAX: Final = 4
LETTERS_PER_EDIT: Final = 6
EDITS_MIN: Final = 2
"""The number of letters that may differ: one of six, at least two, and at most four of a long key."""


class KnownKeys:
    """Existing keys, prepared for many lookups."""

    def __init__(self, keys: Iterable[str]) -> None:
        self._by_letters: dict[str, str] = {}
        for key in sorted(keys):
            self._by_letters.setdefault(letters(key), key)
        self._counts = [(text, Counter(text)) for text in self._by_letters]

    def nearest(self, name: str) -> str | None:
        """Returns the most similar key, ignoring case and separators; None if all differ much."""
        wanted = letters(name)
        if wanted in self._by_letters:
            return self._by_letters[wanted]
        limit = max(EDITS_MIN, min(EDITS_MAX, len(wanted) // LETTERS_PER_EDIT))
        found: tuple[int, str] | None = None
        count = Counter(wanted)
        for text, other in self._counts:
            if abs(len(text) - len(wanted)) > limit or _bag_distance(count, other) > limit:
                continue
            candidate = (edits(wanted, text), text)
            if candidate[0] <= limit and (found is None or candidate < found):
                found = candidate
        return None if found is None else self._by_letters[found[1]]


def letters(name: str) -> str:
    """Returns letters and digits, in lower case."""
    return "".join(character for character in name.lower() if character.isalnum())


def edits(one: str, other: str) -> int:
    """Returns how many letters have to be added, removed, replaced, or swapped with their neighbour."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, left in enumerate(one, 1):
        before, last, row = row, before, [i]
        for j, right in enumerate(other, 1):
            count = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (left != right))
            if i > 1 and j > 1 and left == other[j - 2] and one[i - 2] == right:
                count = min(count, last[j - 2] + 1)
            row.append(count)
    return row[-1]


def _bag_distance(one: Counter[str], other: Counter[str]) -> int:
    """Returns a lower bound of the edits that is cheap: how many letters one side has more than the other."""
    missing = sum(count - one[letter] for letter, count in other.items() if count > one[letter])
    surplus = sum(count - other[letter] for letter, count in one.items() if count > other[letter])
    return max(missing, surplus)
