"""From which looks it follows that a leader does not commit."""

from __future__ import annotations

import pytest

from kraftctl.explain.commit_watch import CommitWatch

Look = tuple[int, int, int, int]
"""The epoch, the end of the log, the high watermark, and the time."""


@pytest.mark.parametrize(
    ("looks", "uncommitted_ms", "is_open"),
    [
        pytest.param([(1, 9, 9, 0)], 0, False, id="all-is-committed"),
        pytest.param([(1, 9, 5, 0)], 0, True, id="a-first-look"),
        pytest.param([(1, 9, 5, 0), (1, 20, 9, 500)], 0, False, id="another-batch-waits"),
        pytest.param([(1, 9, 5, 0), (1, 20, 8, 500)], 500, True, id="half-a-second"),
        pytest.param([(1, 9, 5, 0), (1, 20, 8, 2_000)], 2_000, False, id="too-long"),
        pytest.param([(1, 9, 9, 0), (1, 9, 9, 60_000), (1, 10, 9, 60_500)], 0, False, id="no-idle-records"),
        pytest.param([(1, 9, 5, 0), (2, 20, 5, 2_000)], 0, True, id="a-new-leader"),
    ],
)
def test_records_count_from_the_look_that_saw_them(
    looks: list[Look], uncommitted_ms: int, is_open: bool
) -> None:
    watch = CommitWatch()
    for epoch, end, committed, now_ms in looks:
        found = watch.note(epoch=epoch, end_offset=end, high_watermark=committed, now_ms=now_ms)
    assert (found, watch.is_open) == (uncommitted_ms, is_open)
