"""A find is shrunk to what it needs, whatever is around it."""

from __future__ import annotations

import random

import pytest

from tests.differential.call import Call
from tests.differential.shrink import minimal


@pytest.mark.parametrize("seed", range(20))
def test_only_what_is_needed_is_left(seed: int) -> None:
    chance = random.Random(seed)
    calls = [Call("A", 0, {"number": number}) for number in range(chance.randint(1, 60))]
    needed = chance.sample(calls, chance.randint(0, min(4, len(calls))))
    tried = 0

    def repeats(some: list[Call]) -> bool:
        nonlocal tried
        tried += 1
        return all(each in some for each in needed)

    assert sorted(each.body["number"] for each in minimal(calls, repeats)) == sorted(
        each.body["number"] for each in needed
    )
    assert tried < 150


def test_it_ends_when_there_are_no_attempts_left() -> None:
    calls = [Call("A", 0, {"number": number}) for number in range(50)]
    attempts = 0

    def repeats(some: list[Call]) -> bool:
        nonlocal attempts
        attempts += 1
        return calls[17] in some

    left = minimal(calls, repeats, lambda: attempts >= 3)
    assert calls[17] in left
    assert attempts == 3
