"""The order of Java's maps is imitated only where that takes no time: peers send names of any length."""

from __future__ import annotations

import pytest

from kraftctl_protocol.java_hash_order import (
    ORDERED_CHARACTERS_MAX,
    ORDERED_KEYS_MAX,
    can_be_ordered,
    in_hash_order,
    in_timeline_order,
    string_hash,
)

SHORT = ["delta", "alpha", "foxtrot"]
LONG = ["x" * ORDERED_CHARACTERS_MAX, *SHORT]


def test_few_names_are_ordered() -> None:
    assert in_hash_order(SHORT) != SHORT
    assert sorted(in_hash_order(SHORT)) == sorted(in_timeline_order(SHORT)) == sorted(SHORT)


def test_long_names_stay_in_the_order_in_which_they_come() -> None:
    assert in_hash_order(LONG) == in_timeline_order(LONG) == LONG


@pytest.mark.parametrize("text", ["", "a", "topic-1", "\u00e9\uffff", "\U0001f600\U00010000", "\ud800", None])
def test_a_hash_is_of_the_units_of_utf_16(text: str | None) -> None:
    units = (text or "").encode("utf-16-be", "surrogatepass")
    expected = 0
    for high, low in zip(units[::2], units[1::2], strict=True):
        expected = 31 * expected + (high << 8 | low)
    assert string_hash(text) == expected & 0xFFFFFFFF


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        pytest.param([], True, id="none"),
        pytest.param([None, "a"], True, id="null"),
        pytest.param(["a"] * ORDERED_KEYS_MAX, True, id="most-keys"),
        pytest.param(["a"] * (ORDERED_KEYS_MAX + 1), False, id="too-many-keys"),
        pytest.param(["a" * ORDERED_CHARACTERS_MAX], True, id="most-characters"),
        pytest.param(LONG, False, id="too-many-characters"),
    ],
)
def test_what_can_be_ordered(keys: list[str | None], expected: bool) -> None:
    assert can_be_ordered(keys) is expected
