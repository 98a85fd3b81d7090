"""The key that a misspelt one is probably meant to be."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Final

SIMILARITY_MIN: Final = 0.8
"""A ratio of difflib: one letter of five differs."""

COMPARED_COUNT: Final = 5


def nearest_key(name: str, known: Iterable[str]) -> str | None:
    """The key of `known` that differs least, without regard to case and separators; None if all differ much."""
    by_letters: dict[str, str] = {}
    for key in sorted(known):
        by_letters.setdefault(letters(key), key)
    wanted = letters(name)
    if wanted in by_letters:
        return by_letters[wanted]
    similar = difflib.get_close_matches(wanted, by_letters, n=COMPARED_COUNT, cutoff=SIMILARITY_MIN)
    return by_letters[min(similar, key=lambda each: edits(wanted, each))] if similar else None


def letters(name: str) -> str:
    """In lower case, without dots, hyphens, underscores and blanks."""
    return "".join(character for character in name.lower() if character.isalnum())


def edits(one: str, other: str) -> int:
    """How many letters have to be added, removed, replaced, or swapped with their neighbour."""
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
