"""Counts and ids in sentences for people: `1 partition`, `1,200 partitions`, `brokers 1, 2 and 4`."""

from __future__ import annotations

from collections.abc import Sequence


def counted(count: int, noun: str) -> str:
    """Returns the count with the noun, which is in the plural unless it is one."""
    return f"{count:,} {one_or_many(count, noun, _plural(noun))}"


def one_or_many(count: int, one: str, many: str) -> str:
    """Returns the word that fits a count, such as a verb."""
    return one if count == 1 else many


def named_by_id(noun: str, ids: Sequence[int]) -> str:
    """Returns `broker 3`, or `brokers 1, 2 and 4`."""
    return f"{one_or_many(len(ids), noun, _plural(noun))} {listed(ids)}"


def listed(numbers: Sequence[int]) -> str:
    """Returns `3`, or `1, 2 and 4`."""
    first = ", ".join(str(each) for each in numbers[:-1])
    return f"{first} and {numbers[-1]}" if first else str(numbers[-1])


def _plural(noun: str) -> str:
    return f"{noun[:-1]}ies" if noun.endswith("ry") else f"{noun}s"
