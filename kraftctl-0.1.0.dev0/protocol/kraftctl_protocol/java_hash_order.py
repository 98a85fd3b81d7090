"""The order in which Java's HashMap, and Kafka's TimelineHashMap, walk over their keys.

Kafka writes some responses and records in it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

CAPACITY: Final = 16
"""The buckets of a map that is made without a size."""

ORDERED_KEYS_MAX: Final = 4_096
"""More keys stay in the order in which they come: to order them takes too long for one turn."""

ORDERED_CHARACTERS_MAX: Final = 131_072
"""Nor are keys ordered that have more characters together: peers may send names of any length."""

UNSIGNED: Final = 0xFFFFFFFF

TIMELINE_FACTOR: Final = -7046029254386353131
"""The multiplier of TimelineHashMap: the highest bits of the product are the place."""

UNSIGNED_64: Final = 0xFFFFFFFFFFFFFFFF


def string_hash(text: str | None) -> int:
    """Returns the hash code of a string as an unsigned number; that of null is 0.

    Java's characters are units of UTF-16. The codec is not used: its first use opens a file.
    """
    if text is None:
        return 0
    hashed = 0
    for character in text:
        unit = ord(character)
        if unit > 0xFFFF:
            hashed = (31 * hashed + 0xD7C0 + (unit >> 10)) & UNSIGNED
            unit = 0xDC00 | unit & 0x3FF
        hashed = (31 * hashed + unit) & UNSIGNED
    return hashed


def can_be_ordered(keys: Iterable[str | None]) -> bool:
    """Returns whether there are few enough keys, and characters in them, for one turn."""
    count = characters = 0
    for key in keys:
        count += 1
        characters += 0 if key is None else len(key)
    return count <= ORDERED_KEYS_MAX and characters <= ORDERED_CHARACTERS_MAX


def map_hash(entries: dict[str, str | None]) -> int:
    """Returns the hash code of a map as an unsigned number."""
    return sum([string_hash(key) ^ string_hash(value) for key, value in entries.items()]) & UNSIGNED


def in_hash_order(names: list[str], capacity: int = CAPACITY) -> list[str]:
    """Returns the distinct names as a map has them that was made for `capacity` keys."""
    distinct = list(dict.fromkeys(names))
    if len(distinct) < 2 or not can_be_ordered(distinct):
        return distinct
    return [distinct[place] for place in hash_order([string_hash(name) for name in distinct], capacity)]


def hash_order(hashes: list[int], capacity: int = CAPACITY) -> list[int]:
    """Returns the places of distinct keys, which have these hash codes, in the order of the map.

    Keys of one bucket stay in the order in which they come. A bucket of more than eight is ordered otherwise
    in Java.
    """
    if len(hashes) > ORDERED_KEYS_MAX:
        return list(range(len(hashes)))
    buckets = 1
    while buckets < capacity:
        buckets *= 2
    while 4 * len(hashes) > 3 * buckets:
        buckets *= 2
    places = [((hashed ^ hashed >> 16) & (buckets - 1), place) for place, hashed in enumerate(hashes)]
    return [place for _, place in sorted(places)]


def in_timeline_order(names: list[str]) -> list[str]:
    """Returns the distinct names as a TimelineHashMap has them that was never larger."""
    if not can_be_ordered(names):
        return names
    return [names[place] for place in _timeline_order([string_hash(name) for name in names])]


def in_timeline_order_of_numbers(numbers: list[int]) -> list[int]:
    """Returns the distinct numbers as a TimelineHashMap has them."""
    return [numbers[place] for place in _timeline_order(numbers)]


def _timeline_order(hashes: list[int]) -> list[int]:
    """Returns the places of distinct keys in the order of the map: the last of a slot comes first."""
    if len(hashes) > ORDERED_KEYS_MAX:
        return list(range(len(hashes)))
    bits = 1
    slots: list[list[int]] = [[], []]
    for place, hashed in enumerate(hashes):
        if 3 * (place + 1) > 4 << bits:
            bits += 1
            larger: list[list[int]] = [[] for _ in range(1 << bits)]
            for slot in slots:
                for moved in slot:
                    larger[_slot(hashes[moved], bits)].append(moved)
            slots = larger
        slots[_slot(hashed, bits)].append(place)
    return [place for slot in slots for place in reversed(slot)]


def _slot(hashed: int, bits: int) -> int:
    signed = hashed - (1 << 32) if hashed >= 1 << 31 else hashed
    return (signed * TIMELINE_FACTOR & UNSIGNED_64) >> 64 - bits
