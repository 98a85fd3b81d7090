"""Only the first stall after the last contact of a broker prolongs its session."""

from __future__ import annotations

from kraftctl.controller.cluster_control.stalls import Stalls


def test_the_first_stall_after_the_contact_counts():
    stalls = Stalls(4_000)
    for end_ms in (10_000, 20_000, 30_000):
        stalls.note_timer(end_ms - 1_001, end_ms)
    assert [stalls.fence_not_before_ms(contact_ms) for contact_ms in (0, 9_999, 10_000, 29_999, 30_000)] == [
        14_000, 14_000, 24_000, 34_000, None,
    ]  # fmt: skip


def test_a_timer_that_is_a_second_late_is_no_stall():
    stalls = Stalls(4_000)
    stalls.note_timer(9_000, 10_000)
    assert stalls.fence_not_before_ms(0) is None


def test_one_stall_is_noted_once_however_many_timers_it_delayed():
    stalls = Stalls(4_000)
    for due_ms in (0, 5_000):
        stalls.note_timer(due_ms, 10_000)
    stalls.forget_before(9_999)
    assert stalls.fence_not_before_ms(9_999) == 14_000
    stalls.forget_before(10_000)
    assert stalls.fence_not_before_ms(0) is None


def test_later_stalls_are_remembered():
    stalls = Stalls(4_000)
    for end_ms in (10_000, 20_000):
        stalls.note_timer(0, end_ms)
    stalls.forget_before(15_000)
    assert stalls.fence_not_before_ms(15_000) == 24_000


def test_without_sessions_no_stall_is_remembered():
    stalls = Stalls(4_000)
    stalls.note_timer(0, 10_000)
    stalls.forget_before(None)
    assert stalls.fence_not_before_ms(0) is None
