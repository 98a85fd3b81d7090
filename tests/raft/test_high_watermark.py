"""Voters' end offsets -> high watermark: a table, and what a majority means, by brute force."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftctl.raft.high_watermark import UNKNOWN_OFFSET, high_watermark


@pytest.mark.parametrize(
    ("end_offsets", "expected"),
    [
        pytest.param([7], 7, id="one-voter-is-its-own-majority"),
        pytest.param([UNKNOWN_OFFSET], UNKNOWN_OFFSET, id="one-voter-not-flushed"),
        pytest.param([7, 5], 5, id="two-voters-need-both"),
        pytest.param([7, UNKNOWN_OFFSET], UNKNOWN_OFFSET, id="two-voters-one-silent"),
        pytest.param([7, 5, 3], 5, id="three-voters-need-two"),
        pytest.param([7, UNKNOWN_OFFSET, 3], 3, id="three-voters-one-silent"),
        pytest.param([7, UNKNOWN_OFFSET, UNKNOWN_OFFSET], UNKNOWN_OFFSET, id="three-voters-two-silent"),
        pytest.param([9, 8, 7, 6], 7, id="four-voters-need-three"),
        pytest.param([9, 8, 7, 6, 5], 7, id="five-voters-need-three"),
    ],
)
def test_table(end_offsets: list[int], expected: int) -> None:
    assert high_watermark(end_offsets) == expected


@given(st.lists(st.integers(min_value=UNKNOWN_OFFSET, max_value=20), min_size=1, max_size=7))
def test_it_is_the_highest_offset_that_a_majority_has(end_offsets: list[int]) -> None:
    majority = len(end_offsets) // 2 + 1
    reached = [offset for offset in range(-1, 21) if sum(end >= offset for end in end_offsets) >= majority]
    assert high_watermark(end_offsets) == max(reached)
